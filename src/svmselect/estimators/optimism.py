"""How much less a row's own class would be given had the row had no say in the hyperparameters.

Held-out probabilities are by machines that did not see the row, but its fold has helped to choose
C, the kernel and the sigmoids, which makes them a little too good: too good for prediction sets
that are to hold the true class as often as they say. The choice without each fold in turn is one
Newton step away (``selection.optimism``), for the price of one evaluation with its Jacobian.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from svmselect import clock
from svmselect.data import Pair
from svmselect.estimators.chosen import Chosen
from svmselect.estimators.problem import Problem
from svmselect.estimators.strategies.task import Task
from svmselect.kernels import Kernel
from svmselect.kernels.names import vectors
from svmselect.priors import Prior, Shrinkage
from svmselect.selection.optimism import without_each_fold
from svmselect.types import Array, IntArray, Note

_LOOSE = 0.05
"""Precision of log C and of the logarithms of the kernel's parameters, as under a vague prior."""
_LEAST_SPREAD = 0.1
"""The least spread that log length scales are taken to have been allowed."""
COUNTED_TWICE = 0.3
"""What machines trained on nearly the same rows add to the variance of their errors, as a share."""
_MOST = 50.0
"""Of log odds: more would overflow, and changes nothing."""


UNCORRECTED = Note(
    "time",
    "there was no time to allow for what the rows held out had to say in the choice: new rows may "
    "fare a little worse",
)


def lost_odds(
    problem: Problem, pairs: Sequence[Pair], chosen: Chosen, loss: str, end: float | None = None
) -> Array | None:
    """What the log odds of each row's class against each other class lose, (rows, classes).

    None if that takes longer than until ``end``.

    Of several machines that are averaged: what they lose by the heaviest.

    Zero against the class itself, and for rows that the first round of folds does not hold out.
    """
    try:
        with clock.until(end):
            return _lost_odds(problem, pairs, chosen, loss)
    except clock.OutOfTimeError:
        return None


def _lost_odds(problem: Problem, pairs: Sequence[Pair], chosen: Chosen, loss: str) -> Array:
    lost = np.zeros((len(problem), len(problem.classes)))
    labels = list(combinations(range(len(problem.classes)), 2))
    together = len(chosen.setting.kernels) == 1
    groups = [range(len(pairs))] if together else [[p] for p in range(len(pairs))]
    for group in groups:
        clock.look()
        C, kernel = chosen.setting.of(group[0])
        members = [pairs[p] for p in group]
        made = chosen.recalibration
        slopes = [
            chosen.sigmoids[p].slope * (1.0 if made is None else made.sharpness(*labels[p]))
            for p in group
        ]
        shifts = _shifts(problem.X, members, C, kernel, loss, slopes, chosen)
        for p, shift in zip(group, shifts, strict=True):
            (i, j), rows = labels[p], pairs[p].rows
            later = pairs[p].y > 0
            lost[rows[later], i] = -shift[later]
            lost[rows[~later], j] = shift[~later]
    return lost


def with_lost_odds(probabilities: Array, codes: IntArray, lost: Array) -> Array:
    """The probability of each row's own class when its log odds have lost so much, (rows,)."""
    return np.asarray(less_sure(probabilities, codes, lost)[np.arange(len(codes)), codes])


def less_sure(probabilities: Array, codes: IntArray, lost: Array) -> Array:
    """The probabilities of all classes when the log odds of each row's own have lost so much."""
    rows = np.arange(len(probabilities))
    made = probabilities * np.exp(np.minimum(lost, _MOST))
    made[rows, codes] = probabilities[rows, codes]
    return np.asarray(made / made.sum(axis=1, keepdims=True))


def _shifts(
    X: Array,
    pairs: Sequence[Pair],
    C: float,
    kernel: Kernel,
    loss: str,
    slopes: Sequence[float],
    chosen: Chosen,
) -> list[Array]:
    """Changes of the log odds of the later class, a value for each row of each pair."""
    task = Task.of(X, pairs, kernel, loss, 1)
    intercept = chosen.setting.fit_intercept
    objective = replace(task.objective(kernel, task.first_round), fit_intercept=intercept)
    context = objective.context(kernel, C / task.share, trained=chosen.setting.trained)
    unfolded = task.unfold(context, True, task.first_round)
    point = np.concatenate([[np.log(C / task.share)], kernel.theta])
    precision = _precision(chosen.prior, point, ("log C", *kernel.names))
    odds = without_each_fold(unfolded, precision, task.overlap)
    found = []
    for pair, half, one, z, slope in zip(pairs, task.halves, unfolded, odds, slopes, strict=True):
        # the final sigmoid may be milder than the one fitted here
        before = -(one.fit.slope * one.held.decision + one.fit.offset)
        ratio = slope / one.fit.slope if one.fit.slope < 0 else 0.0
        table = np.zeros((len(one.held.solutions), len(half.data)))
        table[one.held.fold, one.held.rows] = ratio * (z - before)
        sums, times = np.zeros(len(pair.rows)), np.zeros(len(pair.rows))
        for fold, test in enumerate(pair.tests):
            sums[test] += table[fold, half.where[test]]
            times[test] += 1.0
        found.append(sums / np.maximum(times, 1.0))
    return found


def _precision(prior: Prior | None, point: Array, names: tuple[str, ...]) -> Array:
    """That of the prior over (log C, parameters).

    Where none is known: vague, and length scales as free to part as they have been.
    """
    if prior is not None:
        return np.asarray(-prior.hessian(point, names))
    precision = np.diag(np.full(len(point), _LOOSE))
    groups = vectors(names)
    if groups:
        spread = max(float(np.std(point[group])) for group in groups)
        tight = Shrinkage(max(spread, _LEAST_SPREAD))
        precision = precision - tight.hessian(point, names)
    return precision
