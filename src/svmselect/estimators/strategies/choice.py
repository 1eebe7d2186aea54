"""What a strategy gives back, and how it comes from where the search ended."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from svmselect.criteria.likelihood import Unfolded
from svmselect.data import Pair
from svmselect.estimators.strategies.steps import Place, Steps
from svmselect.estimators.strategies.task import Task
from svmselect.kernels import Kernel
from svmselect.machine import Solution
from svmselect.priors import Prior, Shrinkage
from svmselect.search.trace import Record
from svmselect.selection.hierarchy import isotropic, per_input
from svmselect.selection.optimism import tempered
from svmselect.selection.pairwise import Pairwise
from svmselect.types import Array, ErrorEstimate, Evaluation, Note

EARLY = Note("early", "the search was stopped early; this is the best it had found")


@dataclass(frozen=True, eq=False)
class Choice:
    """What was chosen. P(+1 | f) = 1 / (1 + exp(slope f + offset)), one sigmoid a pair.

    ``C`` is for the final machines, trained on every row. ``value`` is the mean held-out
    log-likelihood, ``error`` the held-out error of p > 1/2, ``held_out`` the decision values behind
    both (NaN where a row is in no fold), ``tau`` the spread given to the log length scales (0: one
    length scale for all inputs), ``marginal`` the negative log marginal likelihood that kernels are
    compared by, ``charge`` the part of it that is no likelihood; ``hurried`` if there was no time
    to judge it on all folds. ``prior`` is what spoke beside the likelihood, ``trained`` the
    machines of the folds, by name; ``common`` is C, the kernel and ``marginal`` of one length scale
    for all inputs, where there is one for each.
    """

    C: float
    kernel: Kernel
    sigmoids: tuple[tuple[float, float], ...]
    value: float
    error: ErrorEstimate
    held_out: tuple[Array, ...]
    tau: float
    records: tuple[Record, ...]
    notes: tuple[Note, ...]
    seconds: float
    marginal: float = np.nan
    charge: float = 0.0
    hurried: bool = False
    prior: Prior | None = None
    trained: Mapping[Hashable, Solution] = field(default_factory=dict, repr=False)
    common: tuple[float, Kernel, float] | None = None


def conclude(steps: Steps, best: Place, notes: list[Note], common: Place | None = None) -> Choice:
    """Fit the sigmoids to what the folds' machines say at this place, and count errors."""
    kernel = best.posterior.objective.kernel
    full = steps.posterior(kernel).objective
    made = full.kernel.at(best.answer.point[1:])
    C = float(np.exp(best.answer.point[0]))
    standing = None if best.outcome is None else best.outcome.standing
    # the machines of that evaluation, which may have looked at fewer folds
    trained = None if standing is None else standing.machines()
    folds = _affordable(steps, best.answer)
    context = full.context(made, C, trained=trained)
    unfolded = steps.task.unfold(context, best.tau > 0.0, folds)
    prior = best.posterior.prior
    if best.tau > 0.0:
        prior = steps.under(best.posterior, Shrinkage(best.tau)).prior
        precision = -prior.hessian(best.answer.point, full.names)
        sigmoids = tempered(unfolded, precision, steps.task.overlap)
    else:
        sigmoids = tuple((one.fit.slope, one.fit.offset) for one in unfolded)
    notes += _edges(steps, best.answer.point)
    judge = full.criterion
    if isinstance(judge, Pairwise) and judge.sample is not None:
        said = f"chosen on {len(judge.sample)} of {len(judge.parts)} pairs of classes"
        notes.append(Note("course", f"{said}, each class in equally many"))
    if not steps.going:
        notes.append(EARLY)
    mass = np.array([one.held.weights.sum() for one in unfolded])
    value = float(mass @ [one.fit.value for one in unfolded]) / float(mass.sum())
    marginal = best.marginal if best.tau > 0.0 else best.height
    count = len(isotropic(kernel).theta) + 1 + (best.tau > 0.0)
    choice = _choice(
        steps.task, unfolded, sigmoids, C * steps.task.share, made, value, best.tau,
        marginal + count, marginal + count - _loss(best), notes, folds is not None,
    )  # fmt: skip
    before = None
    if best.tau > 0.0 and common is not None and np.isfinite(common.answer.value):
        log_C, *theta = common.answer.point.tolist()
        alike = steps.task.kernel.at(np.array(theta))
        before = float(np.exp(log_C)) * steps.task.share, alike, common.height + len(theta) + 1
    return replace(choice, prior=prior, trained=context.trained, common=before)


def _loss(place: Place) -> float:
    """The negative log-likelihood of all data there, without any prior."""
    return place.height + place.answer.details.get("log_prior", 0.0)


def _affordable(steps: Steps, answer: Evaluation) -> int | None:
    """How many folds to judge the choice on: all, or those seen already if time is over."""
    session, seen = steps.session, answer.details.get("folds")
    if session.max_time is None or steps.going:
        return None
    if seen is None:  # nothing was evaluated: one fold, for the sigmoids
        return None if np.isfinite(answer.value) else 1
    every = steps.task.first_round * steps.task.rounds
    c, judge = steps.constants, steps.task.objective(steps.task.kernel).criterion
    more = len(judge.parts) / len(judge.looked_at) if isinstance(judge, Pairwise) else 1.0
    if more * answer.seconds * every / seen <= max(c.overtime * session.max_time, c.grace):
        return None
    return int(seen)


def _edges(steps: Steps, point: Array) -> list[Note]:
    """Say what ended on the edge of the range that was searched."""
    c = steps.constants
    told: list[Note] = []
    kernel = _kernel_at(steps, point)
    scaled = steps.lengths(kernel)
    C_low, C_high = np.log(c.C_range)
    ranges = [("C", float(point[0]), (float(C_low), float(C_high)))]
    if scaled.any():
        middle = float(steps.typical(kernel)[scaled].mean())
        reach, mean = float(np.log(c.width_range)), float(point[scaled].mean())
        ranges.append(("the length scale", mean, (middle - reach, middle + reach)))
    for name, value, (low, high) in ranges:
        if value <= low + 1e-9 or value >= high - 1e-9:
            side = "lower" if value <= low + 1e-9 else "upper"
            told.append(Note("edge", f"{name} is at the {side} edge of the range searched"))
    return told


def _kernel_at(steps: Steps, point: Array) -> Kernel:
    """The isotropic kernel, or that with vectors, whichever has as many parameters."""
    kernel = steps.task.kernel
    if len(point) - 1 == len(kernel.names):
        return kernel
    return per_input(kernel, steps.task.data.X.shape[1])


def _choice(
    task: Task,
    unfolded: Sequence[Unfolded],
    sigmoids: tuple[tuple[float, float], ...],
    C: float,
    kernel: Kernel,
    value: float,
    tau: float,
    marginal: float,
    charge: float,
    notes: list[Note],
    hurried: bool,
) -> Choice:
    """Gather the final record; the error is of p > 1/2, its spread that of a mean over rows."""
    held_out = task.held_out(unfolded)
    wrong, weight = [], []
    for pair, f, (slope, offset) in zip(task.pairs, held_out, sigmoids, strict=True):
        seen = np.isfinite(f)
        wrong.append(pair.y[seen] * -(slope * f[seen] + offset) <= 0)
        weight.append(pair.weights[seen])
    w = np.concatenate(weight)
    error = float(w @ np.concatenate(wrong)) / float(w.sum())
    estimate = ErrorEstimate(error, task.overlap * float(w.sum()), _of(task.pairs))
    return Choice(
        C,
        kernel,
        sigmoids,
        value,
        estimate,
        held_out,
        tau,
        (),
        tuple(notes),
        0.0,
        marginal,
        charge,
        hurried,
    )


def _of(pairs: Sequence[Pair]) -> str:
    """What an error counted pair by pair is of."""
    return "classes" if len(pairs) == 1 else "pairs"
