"""Very many rows: a classifier fitted to a sample of them is grown to all.

The rows may be anywhere (``svmselect.rows``). The sample's fit is complete in itself, by whatever
the default strategy does there, but for its last training; what follows takes its kernel, its C and
its scaling of the inputs over to all rows (``strategies/grown.py``).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from svmselect import clock
from svmselect.data import data_hash
from svmselect.devices import usable
from svmselect.estimators.by_criterion import on_device
from svmselect.estimators.by_default import MANY
from svmselect.estimators.callbacks import Watch
from svmselect.estimators.decisions import Held, Judged, rule
from svmselect.estimators.given import by_input
from svmselect.estimators.machines import to_dual_coef
from svmselect.estimators.options import is_default, shares
from svmselect.estimators.problem import class_factors
from svmselect.estimators.strategies.grown import (
    ADJUSTED_ON,
    FIRST,
    SAMPLE,
    SAMPLE_CELLS,
    Budget,
    Chosen,
    Grower,
    Grown,
)
from svmselect.estimators.strategies.journal import PassJournal, passes_file
from svmselect.machine.on_device import most_rows
from svmselect.probability.calibration import Sigmoid
from svmselect.probability.recalibration import fit_recalibration
from svmselect.rows import ArrayRows, Rows
from svmselect.rows.base import Told
from svmselect.rows.scan import Bound, Scan, scan
from svmselect.search.trace import STRATEGY, Record, Trace
from svmselect.selection.relevance import relevance, scales
from svmselect.tables import Encoder
from svmselect.types import Array, ErrorEstimate, Evaluation, Note

SEVERAL = 20_000
"""Rows beyond which a fit is grown from a sample."""
DOUBLE = 50_000
"""Rows beyond which kernel values are in single precision, which halves time, rounded to 1e-7."""
CHOSEN_ON = 12_000
"""The most rows of the sample that hyperparameters are chosen on; not all are looked at."""

_EACH = 1.5e-10  # seconds of training, for a row, a machine and a landmark's square
_LEAST = 50  # landmarks
_FOLDS = 5  # in which rows held out are held out from their own recalibration


@dataclass(frozen=True, eq=False)
class Many:
    """Rows to be grown to, once the sample has been fitted; ``encoder`` made them of a table."""

    rows: Rows
    sample: Scan
    seed: int
    encoder: Encoder | None = None
    notes: tuple[Note, ...] = ()
    began: float = field(default_factory=clock.now)

    @property
    def first(self) -> tuple[Array, NDArray[Any], Array]:
        """What the choice is made on: inputs, labels and weights."""
        part = slice(None, CHOSEN_ON)
        return self.sample.X[part], self.sample.y[part], self.sample.weights[part]


def look(
    rows: Rows,
    seed: int,
    told: Told | None = None,
    encoder: Encoder | None = None,
    notes: tuple[Note, ...] = (),
) -> Many:
    """The first pass: count, check, and draw the sample; refuses what cannot be classified."""
    began, most = clock.now(), max(CHOSEN_ON, min(SAMPLE, SAMPLE_CELLS // rows.width))
    found: Scan | None = rows.total(scan, seed, most, Bound(), told=told)
    if found is None or not found.rows:
        raise ValueError(f"{rows.title} has no rows; give at least some rows of two classes")
    found = found.cut()
    if len(found.labels) < 2:
        raise ValueError(
            f"{rows.title} has one class only, {next(iter(found.labels))!r}, in all "
            f"{found.rows:,} rows; a classifier needs rows of two classes or more"
        )
    there = np.unique(found.y[:CHOSEN_ON])
    if len(there) < len(found.labels):
        gone = next(name for name in found.labels if name not in set(there.tolist()))
        raise ValueError(
            f"the class {gone!r} has {found.labels[gone]:,} of {found.rows:,} rows, too few for a "
            "sample to meet it; leave it out, join it with another, or give such rows a weight "
            "and fewer of the others"
        )
    return Many(rows, found, seed, encoder, notes, began)


def of_arrays(
    model: Any, X: Any, y: Any, weights: Array | None, groups: Any, seed: int
) -> Many | None:
    """Rows in memory that are many enough to be grown to, None for others."""
    few = len(y) <= several(usable(model.device)[0])
    if few or not isinstance(X, np.ndarray) or refusal(model, groups) is not None:
        return None
    return look(ArrayRows(X, y, weights), seed)


def several(device: str) -> int:
    """Rows beyond which a fit is grown from a sample: on a card, those that have no room there."""
    return max(SEVERAL, most_rows(device) or 0)


def idle_device(model: Any, rows: int, many: bool) -> tuple[Note, ...]:
    """What is to be said where a device was asked for in vain."""
    on, said = usable(model.device)
    if said:
        warnings.warn(said, RuntimeWarning, stacklevel=2)
        return (Note("course", said),)
    if on == "cpu" or many or on_device(model.criterion) or (is_default(model) and rows > MANY):
        return ()
    said = (
        f"device={on!r} was not used: it is for fits of more than {MANY:,} rows by "
        "the default strategy, and for the evidence; all was computed on the processor"
    )
    return (Note("course", said),)


def refusal(model: Any, groups: Any) -> str | None:
    """Why this estimator cannot be grown to rows that are not in memory; None if it can."""
    if not is_default(model):
        return "a criterion, search or prior that is named needs a Gram matrix of all rows"
    if groups is not None or not isinstance(model.cv, int):
        return "groups and cv need all rows at once; rows are held out at random there"
    if not shares(model):
        return f"multi_class={model.multi_class!r} has hyperparameters for each pair of classes"
    if model.scoring is not None:
        return "scoring needs all rows at once"
    if model.probability in ("posterior", "moderated"):
        return f"probability={model.probability!r} needs a Gram matrix of all rows"
    return None


def grow(model: Any, many: Many, watch: Watch) -> None:
    """Replace the machines of a model that was fitted to the sample by machines of all rows."""
    selection, sample = model.selection_, many.sample
    codes = np.searchsorted(model.classes_, sample.y)
    factors = class_factors(
        model.class_weight,
        model.classes_,
        np.searchsorted(model.classes_, sample.y),
        sample.weights,
    )
    chosen = Chosen(
        model.kernel_, float(model.C_), selection.loss, model._scaling, model.classes_, factors
    )
    path = watch.checkpoint
    digest = data_hash(sample.X, codes, sample.weights)
    said = f"{digest} {chosen.kernel!r} {chosen.C!r} {chosen.loss}"
    journal = PassJournal(None if path is None else passes_file(path), said)
    spent = clock.now() - many.began
    left = None if model.max_time is None else max(0.0, model.max_time - spent)
    budget = Budget(seconds=left, device=usable(model.device)[0], single=sample.rows > DOUBLE)
    if left is not None and budget.device == "cpu":
        most = _affordable(left, sample.rows, len(model.classes_))
        budget = replace(budget, first=min(budget.first, most))
    grower = Grower(
        many.rows, sample, chosen, budget,
        seed=many.seed, journal=journal, passing=watch.passing,
    )  # fmt: skip
    _keep(model, grower.grow(), many, factors)


def _affordable(seconds: float, rows: int, classes: int) -> int:
    """With how many landmarks the first training, which is always completed, is in time."""
    each = _EACH * min(rows, ADJUSTED_ON) * (1 if classes == 2 else classes)
    return int(np.clip(np.sqrt(0.5 * seconds / each), _LEAST, FIRST))


def _keep(model: Any, grown: Grown, many: Many, factors: Array) -> None:
    """Store the machines as the model's own, landmarks as support vectors.

    ``factors`` are the weights of the classes.
    """
    sample = many.sample
    k = len(model.classes_)
    member = np.searchsorted(model.classes_, grown.labels)
    order = np.lexsort((grown.numbers, member))
    member, scale = member[order], grown.softmax.scale
    coefficients = grown.coefficients[order]
    model.C_, model.kernel_ = grown.C, grown.kernel
    lengths = scales(grown.kernel)
    model.length_scale_ = lengths[0] if len(lengths) == 1 else lengths or None
    model.support_ = grown.numbers[order]
    model.support_vectors_ = grown.raw[order]
    model.n_support_ = np.bincount(member, minlength=k).astype(np.int32)
    shifts = grown.softmax.shifts
    if k == 2:
        shift = float(shifts[1] - shifts[0]) / scale
        model.dual_coef_ = to_dual_coef(coefficients, member, k)
        model.intercept_ = grown.intercept + shift
        model.sigmoid_slope_ = np.array([-scale])
        spreads = [float(grown.decisions.std())]
        calibration: tuple[Sigmoid, ...] = (Sigmoid(-scale, shift, spreads[0]),)
        told = np.exp(grown.softmax.logs(grown.decisions))
    else:  # decision values are logits then, one a class
        weights = grown.counts * factors[grown.codes]
        folds = np.arange(len(grown.codes)) % _FOLDS
        p = np.exp(grown.softmax.logs(grown.decisions))
        made, told = fit_recalibration(p, grown.codes, weights, folds)
        # the matrix's rows sum to zero: what makes logarithms of logits falls out
        turn = scale * made.matrix
        model.dual_coef_ = np.ascontiguousarray(turn @ coefficients.T)
        model.intercept_ = turn @ grown.intercept + made.matrix @ shifts + made.offsets
        model.sigmoid_slope_ = np.full(k, -1.0)
        logits = grown.softmax.logits(grown.decisions) @ made.matrix.T + made.offsets
        calibration = tuple(Sigmoid(-1.0, 0.0, float(f.std())) for f in logits.T)
    model.recalibration_ = None
    wrong = told.argmax(axis=1) != grown.codes
    error = float(grown.counts @ wrong) / float(grown.counts.sum())
    model._posterior = None
    spread = np.std(model._scaling(sample.X), axis=0)
    model.feature_importances_ = by_input(model, relevance((grown.kernel,), spread))
    model.best_score_ = grown.value
    names = grown.kernel.names
    values = np.exp(grown.kernel.theta).tolist()
    model.best_params_ = {"C": grown.C, **dict(zip(names, values, strict=True))}
    before = model.selection_
    notes = [note for note in before.notes if note.kind != "training"]
    records = (*before.trace.records, *_records(grown))
    model.selection_ = replace(
        before,
        C=grown.C,
        kernel=grown.kernel,
        value=grown.value,
        trace=Trace(records, before.trace.provenance, before.trace.path),
        notes=(*notes, *many.notes, *grown.notes),
        error=ErrorEstimate(error, float(grown.counts.sum())),
        calibration=calibration,
        held_out=None,
        normalised=None,
        problem=None,
        rows=sample.rows,
        kept=sample.rows,
        members=tuple(float(sample.labels[name]) for name in model.classes_.tolist()),
    )
    _decide(model, grown, sample, told)
    model._judge = model._unpacked()


def _decide(model: Any, grown: Grown, sample: Scan, p: Array) -> None:
    """What is decided by rows held out: the threshold, and how far sets of classes reach."""
    held = Held(model.classes_, grown.codes, grown.counts)
    judged = Judged(p, np.arange(len(p)))
    decided = rule(model.threshold, held, judged)
    model._utilities = None if decided is None else decided.utilities
    model._given = judged.given(held)
    if decided is not None:
        notes = (*model.selection_.notes, decided.note)
        model.selection_ = replace(model.selection_, notes=notes, error=decided.error)
    k = len(model.classes_)
    model.held_out_proba_ = None
    if sample.read * k <= SAMPLE_CELLS:
        model.held_out_proba_ = np.full((sample.read, k), np.nan)
        model.held_out_proba_[sample.numbers[: len(p)]] = p


def _records(grown: Grown) -> list[Record]:
    """The trainings as evaluations: what the rows held out said of each."""
    made = []
    for i, step in enumerate(step for step in grown.steps if np.isfinite(step.value)):
        where = np.concatenate([[np.log(step.C)], step.kernel.theta])
        details = {"value": step.value, "landmarks": step.landmarks, "rows": step.rows}
        answer = Evaluation(where, -step.value, seconds=step.seconds, details=details)
        names = ("log C", *step.kernel.names)
        made.append(Record(f"{STRATEGY}/all rows", i, names, answer))
    return made
