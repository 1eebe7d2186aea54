"""A fitted model in words: what was chosen, why, what it cost, what to try next."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from svmselect.estimators.rest import against_rest
from svmselect.kernels.words import kernel_form
from svmselect.selection.result import Selection

PREFERENCE = (
    "Where the data do not say, C near 1 and a length scale near the typical distance between rows "
    "are preferred. "
)
_FEW = 20  # members of a class, below which folds say little
_FLAT = 0.1  # slope of a sigmoid times the spread of f, below which it is as good as flat


def explanation(model: Any) -> str:
    """Paragraphs, one idea each."""
    selection = model.selection_
    parts = [_data(model, selection), _choice(model, selection), _inputs(model), _machine(model)]
    parts += [_cost(selection), _advice(model, selection)]
    return "\n".join(part for part in parts if part)


def _data(model: Any, selection: Selection) -> str:
    k = len(model.classes_)
    merged = selection.rows - selection.kept
    same = f" ({merged} of weight zero or copies of others)" if merged else ""
    scaled = "standardised" if selection.standardised else "not standardised"
    if selection.one_unit:
        scaled = "centred and divided by one number, as they share a unit"
    bent = 0 if model.bend_ is None else int((model.bend_[2] != 1.0).sum())
    if bent:
        scaled = f"{bent} of them bent until they lean to no side, then {scaled}"
    how = ""
    if k > 2:
        apart = isinstance(model.kernel_, tuple)
        each = "each with hyperparameters of its own" if apart else "all with one C and one kernel"
        how = f" One machine for each of {k * (k - 1) // 2} pairs of classes, {each}."
    return (
        f"{type(model).__name__} on {selection.rows} rows{same} of {model.n_features_in_} inputs, "
        f"{scaled}, in {k} classes.{how}"
    )


def _choice(model: Any, selection: Selection) -> str:
    by = f"{selection.criterion!r} ({model.best_score_:.4g})"
    folds = f", in {selection.folds} folds" if selection.folded else ""
    folds += f", {selection.rounds} times over" if selection.rounds > 1 else ""
    if isinstance(model.kernel_, tuple):
        C = np.asarray(model.C_)
        what = f"C between {C.min():.3g} and {C.max():.3g} and a kernel for each pair"
    else:
        what = f"C = {model.C_:.4g} and {_kernel(model)}"
    if loss := chosen_loss(model):
        what = f"the {loss} loss, {what}"
    leaning = PREFERENCE if selection.strategy == "auto" else ""
    return f"Chosen by {by}{folds}: {what}. {leaning}{_error(selection)}"


def chosen_loss(model: Any) -> str:
    """The loss, where it was chosen among several; else nothing."""
    if model.get_params().get("loss") != "auto":
        return ""
    return str(model.selection_.loss).replace("_", " ")


def _error(selection: Selection) -> str:
    estimate = selection.error
    assert estimate is not None
    of = "held-out rows"
    if estimate.of == "pairs":
        of += " in a pair of classes, on average"
    about = f"{estimate.error:.1%}, give or take {estimate.standard_error:.1%}"
    if estimate.seen is None:
        return f"Error of {of}: {about}."
    said = f"{estimate.seen:.1%} of the {of} were wrong, which had a say in the choice"
    return f"Expected error of new rows: {about} ({said})."


def _kernel(model: Any) -> str:
    length = model.length_scale_
    if isinstance(length, float):
        scale = f"one length scale for all inputs, {length:.4g}"
        return f"a {kernel_form(model.kernel_)} kernel with {scale}"
    if isinstance(length, np.ndarray):
        scales = f"a length scale for each input, from {length.min():.3g} to {length.max():.3g}"
        return f"a {kernel_form(model.kernel_)} kernel with {scales}"
    return f"the kernel {model.kernel_!r}"


def _inputs(model: Any) -> str:
    shares = model.feature_importances_
    flat = np.flatnonzero(shares == 0)
    names = input_names(model)
    text = ""
    if float(shares.max()) > 1.5 / len(shares) and len(shares) > 1 and not weighed_alike(model):
        order = np.argsort(-shares, kind="stable")[:5]
        listed = ", ".join(f"{names[a]} {shares[a]:.0%}" for a in order if shares[a] > 0)
        text = f"The inputs that count most: {listed}."
    if len(flat):
        listed = ", ".join(names[a] for a in flat[:5]) + (", ..." if len(flat) > 5 else "")
        text += f"{' ' if text else ''}Inputs that do not vary: {listed}."
    return text


def weighed_alike(model: Any) -> bool:
    """Whether no input counts for more than another: one length scale, and all standardised.

    The columns of a category or a date are then further apart or nearer than a number's, which says
    nothing of what they tell.
    """
    shares = model.feature_importances_
    if float(shares.max()) <= 1.01 / len(shares):
        return True
    selection = model.selection_
    return (
        isinstance(model.length_scale_, float) and selection.standardised and not selection.one_unit
    )


def input_names(model: Any) -> list[str]:
    """What the inputs are called: by the data, else by number."""
    known = vars(model).get("feature_names_in_")
    return [f"input {a}" for a in range(model.n_features_in_)] if known is None else list(known)


def _machine(model: Any) -> str:
    total = int(model.n_support_.sum())
    share = total / model.selection_.kept
    source = (
        "come from a sigmoid of the held-out decision values, and its threshold is in intercept_"
    )
    if model.selection_.normalised is not None:
        source = "are averages over the posterior of the latent function, and so is the prediction"
    return f"{total} support vectors, {share:.0%} of the rows. The probabilities {source}."


def _cost(selection: Selection) -> str:
    return f"{selection.evaluations} evaluations, {selection.seconds:.2g} s in all."


def _advice(model: Any, selection: Selection) -> str:
    notes = [str(note) for note in selection.notes] + weaknesses(model)
    return "\n".join(f"Note: {note}." for note in notes)


def weaknesses(model: Any) -> list[str]:
    """What a fitted model is known to rest on little for: classes of few rows, or hardly told."""
    selection = model.selection_
    labels, members = model.classes_.tolist(), np.asarray(selection.members)
    found = []
    few = [repr(labels[i]) for i in np.flatnonzero(members < _FEW)]
    if few:
        found.append(f"{_first(few)}: fewer than {_FEW} rows, so other folds may choose otherwise")
    weak = [-one.slope * one.spread < _FLAT for one in selection.calibration]
    if any(weak):
        judged = labels if selection.problem is None else selection.problem.classes.tolist()
        named = [f"{a!r} from {b!r}" for a, b in combinations(judged, 2)]
        if against_rest(model.dual_coef_, len(labels)):
            named = [f"{label!r} from the others" for label in labels]
        apart = "the classes apart" if all(weak) else "some classes apart"
        # classes of a row or two were not judged, and a loaded model no longer knows which
        if not all(weak) and len(named) == len(weak):
            apart = _first([one for one, poor in zip(named, weak, strict=True) if poor])
        found.append(f"the held-out decision values hardly tell {apart}; other inputs may")
    return found


def _first(names: list[str]) -> str:
    return ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
