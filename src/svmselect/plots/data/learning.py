"""What more data would bring: the held-out error of machines trained on part of the rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from svmselect.data import Pair
from svmselect.estimators.chosen import Setting, hold_out
from svmselect.estimators.problem import Problem
from svmselect.parallel import single_threaded
from svmselect.probability.intervals import wilson
from svmselect.types import Array, BoolArray, IntArray

PARTS = (0.125, 0.25, 0.5, 1.0)
"""Of the rows that a fold trains on."""
FEWEST = 4
"""Rows of a class without which there is nothing to learn from a part."""


@dataclass(frozen=True, eq=False)
class LearningData:
    """Held-out error and log loss by the number of rows trained on, with 95 % intervals.

    ``gain`` is how much the log loss of a held-out row fell from half the rows to all of them, on
    average, and ``spread`` the standard error of that.
    """

    rows: Array
    error: Array
    low: Array
    high: Array
    log_loss: Array
    gain: float
    spread: float


def learning_data(
    problem: Problem, pairs: Sequence[Pair], setting: Setting, loss: str, seed: int = 0
) -> LearningData | None:
    """Train the chosen machines on parts of each fold's rows, by class; ask about the same rows.

    C, the kernel and the folds are those of all rows, the sigmoids are fitted anew. None where some
    class is too small for two parts at least. Costs less than two evaluations.
    """
    rng = np.random.default_rng(seed)
    ranks = rng.permutation(len(problem))
    sizes, losses, wrongs = [], [], []
    weights: Array = np.empty(0)
    for part in PARTS:
        kept = _part(problem, ranks, part)
        if part < 1.0 and (_fewest(problem, kept) < FEWEST):
            continue
        thinned = replace(
            problem, splits=replace(problem.splits, train=problem.splits.train * kept)
        )
        held = single_threaded(hold_out, thinned, pairs, setting, loss)
        p = held.probabilities(held.sigmoids(problem), len(problem.classes))
        codes, weights = problem.codes[held.rows], problem.counts[held.rows]
        losses.append(-np.log(np.maximum(p[np.arange(len(p)), codes], 1e-15)))
        wrongs.append(p.argmax(axis=1) != codes)
        trained = (thinned.splits.train * problem.counts[:, None]).sum(axis=0)
        sizes.append(float(trained.mean()))
    if len(sizes) < 2:
        return None
    mass = float(weights.sum())
    error = np.array([float(weights @ wrong) for wrong in wrongs]) / mass
    low, high = wilson(error, mass)
    fell = losses[-2] - losses[-1]
    gain = float(weights @ fell) / mass
    spread = float(np.sqrt(weights @ (fell - gain) ** 2 / mass / mass))
    told = np.array([float(weights @ one) for one in losses]) / mass
    return LearningData(np.array(sizes), error, low, high, told, gain, spread)


def _part(problem: Problem, ranks: IntArray, part: float) -> BoolArray:
    """Which rows each fold keeps: the first so many of each class, in a fixed random order."""
    kept = np.zeros_like(problem.splits.test)
    for fold, trained in enumerate(problem.splits.train.T > 0):
        for code in range(len(problem.classes)):
            members = np.flatnonzero(trained & (problem.codes == code))
            order = members[np.argsort(ranks[members])]
            kept[order[: int(np.ceil(part * len(order)))], fold] = True
    return kept


def _fewest(problem: Problem, kept: BoolArray) -> int:
    """The rows of the smallest class in the smallest part."""
    k = len(problem.classes)
    return min(int(np.bincount(problem.codes[fold], minlength=k).min()) for fold in kept.T)
