"""The report in plain words: what was chosen, why, and what it means."""

from __future__ import annotations

from typing import Any

import numpy as np

from svmselect.criteria import available
from svmselect.estimators.words import PREFERENCE, chosen_loss
from svmselect.kernels.words import kernel_form, kernel_words
from svmselect.plots.data.learning import LearningData
from svmselect.report.record import Fact

_MEANING = {
    "likelihood": (
        "Rows were held out in turn, and the setting was taken under which their labels are most "
        "probable."
    ),
}


def number(value: float, digits: int = 3, trim: bool = False) -> str:
    """A number as a reader wants it: few digits, no exponent unless it is needed.

    ``trim`` drops zeros at the end, as ticks want it.
    """
    if value == 0 or not np.isfinite(value):
        return "0" if value == 0 else str(value)
    rounded = float(f"{value:.{digits}g}")
    if 1e-3 <= abs(rounded) < 1e5:
        decimals = max(0, digits - 1 - int(np.floor(np.log10(abs(rounded)))))
        text = f"{rounded:,.{decimals}f}".replace(",", "\u202f")
        return _minus(_trimmed(text) if trim or rounded == int(rounded) >= 100 else text)
    mantissa, exponent = f"{rounded:.{digits - 1}e}".split("e")
    raised = str(int(exponent)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return _minus(f"{_trimmed(mantissa)}·10{raised}")


def _trimmed(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text


def _minus(text: str) -> str:
    return text.replace("-", "−")


def percent(share: float) -> str:
    """A share in per cent, one decimal below ten; a dash where there is none, such as 0 of 0."""
    if share != share:
        return "–"
    return f"{100 * share:.1f}\u202f%" if share < 0.0995 else f"{100 * share:.0f}\u202f%"


def seconds(value: float) -> str:
    """A duration."""
    if value < 1:
        return f"{1000 * value:.0f} ms"
    if value < 120:
        return f"{value:.2g} s" if value < 10 else f"{value:.0f} s"
    return f"{value / 60:.0f} min" if value < 7200 else f"{value / 3600:.1f} h"


def more_rows(learning: LearningData) -> str:
    """What twice as many rows would bring, as far as half of them tell."""
    before, now = learning.log_loss[-2], learning.log_loss[-1]
    losses = f"log loss {number(float(before))} with half the rows, {number(float(now))} with all"
    if learning.gain > 2.0 * learning.spread:
        return (
            "More rows would help: held-out rows were told better when twice as many were trained "
            f"on ({losses})."
        )
    return (
        "More rows of this kind would bring little: from half of them to all, held-out rows were "
        f"not told better by more than chance ({losses}). Other inputs may bring more."
    )


def why(criterion: str) -> str:
    """What a criterion looks at, in a sentence."""
    if criterion in _MEANING:
        return _MEANING[criterion]
    cls = available().get(criterion)
    if cls is None:
        return f"The setting is the best that was found by {criterion}."
    first = (cls.__doc__ or "").split("\n\n")[0].replace("\n", " ").strip()
    better = "largest" if cls.greater_is_better else "smallest"
    return f"The setting is where {criterion} is {better}: {first[:1].lower()}{first[1:]}"


def of_model(model: Any) -> tuple[str, ...]:
    """Paragraphs on a fitted AutoSVC or AutoKLR."""
    selection, k = model.selection_, len(model.classes_)
    notes = [f"{m[:1].upper()}{m[1:]}." for m in selection.notes if m.kind == "choice"]
    if selection.strategy == "auto":
        notes.insert(0, PREFERENCE.strip())
    paragraphs = [" ".join([_choice(model), why(selection.criterion), *notes])]
    meaning = (
        "C says how much a row on the wrong side may cost: a larger one follows the rows more "
        "closely, a smaller one gives a smoother boundary."
    )
    if model.length_scale_ is not None:
        unit = "in standard deviations of the input" if selection.standardised else "in its units"
        if selection.one_unit:
            unit = "in units that all inputs share"
        meaning += (
            f" A length scale is the distance, {unit}, over which the answer changes: the longer "
            "it is, the less the input matters."
        )
    paragraphs.append(meaning)
    if k > 2:
        apart = isinstance(model.kernel_, tuple)
        each = "each with a setting of its own" if apart else "all with this one setting"
        pairs = k * (k - 1) // 2
        paragraphs.append(
            f"There are {k} classes, so {pairs} machines, one for each pair of classes, {each}; "
            "their answers are combined into one probability for each class."
        )
    return tuple(paragraphs)


def _choice(model: Any) -> str:
    length = model.length_scale_
    if isinstance(model.kernel_, tuple):
        C = np.asarray(model.C_)
        return (
            f"Each of {len(C)} pairs of classes has its own penalty, C between {number(C.min())} "
            f"and {number(C.max())}, and its own kernel."
        )
    loss = chosen_loss(model)
    start = f"The penalty C = {number(float(model.C_))} was chosen, "
    start += f"the {loss} loss, and " if loss else "and "
    if len(list(model.kernel_.leaves())) == 1:
        form = f"a {kernel_form(model.kernel_)} kernel with"
        if isinstance(length, float):
            return start + f"{form} one length scale for all inputs, {number(length)}."
        if isinstance(length, np.ndarray):
            low, high = number(float(length.min())), number(float(length.max()))
            return start + f"{form} a length scale for each input, from {low} to {high}."
    return start + f"the kernel {kernel_words(model.kernel_)}."


def short(model: Any) -> str:
    """The choice in a few words, for a table."""
    length = model.length_scale_
    if isinstance(model.kernel_, tuple):
        return "C and a kernel for each pair of classes"
    start = f"C = {number(float(model.C_))}, "
    if isinstance(length, float):
        return f"{start}length scale {number(length)}"
    if isinstance(length, np.ndarray):
        return f"{start}a length scale for each input"
    return start + kernel_words(model.kernel_)


def facts_of_model(model: Any) -> tuple[Fact, ...]:
    """The chosen numbers, large."""
    selection, length = model.selection_, model.length_scale_
    made = []
    if isinstance(model.kernel_, tuple):
        C = np.asarray(model.C_)
        made.append(Fact("Penalty C", f"{number(C.min(), 2)} – {number(C.max(), 2)}", "over pairs"))
    else:
        made.append(Fact("Penalty C", number(float(model.C_)), "of the final machine"))
    if isinstance(length, float):
        made.append(Fact("Length scale", number(length), "one for all inputs"))
    elif isinstance(length, np.ndarray):
        low, high = number(float(length.min()), 2), number(float(length.max()), 2)
        made.append(Fact("Length scales", f"{low} – {high}", "one for each input"))
    total = int(model.n_support_.sum())
    share = percent(total / selection.kept)
    made.append(Fact("Support vectors", f"{total}", f"{share} of the rows"))
    n = selection.evaluations
    made.append(Fact("Time", seconds(selection.seconds), f"{n} evaluations"))
    return tuple(made)
