"""What was chosen for all pairs of classes, by whatever way; and what the folds say of it."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np
from scipy.sparse import csr_array

from svmselect import clock
from svmselect.data import Pair
from svmselect.estimators.machines import Machines, class_probabilities
from svmselect.estimators.posteriors import Posteriors
from svmselect.estimators.problem import Problem
from svmselect.estimators.strategies.trainers import Expansion
from svmselect.kernels import Kernel
from svmselect.machine import Solution
from svmselect.machine.batch import Group
from svmselect.machine.train import train_together
from svmselect.priors import Prior
from svmselect.probability import sigmoid_likelihood
from svmselect.probability.calibration import Sigmoid, upright
from svmselect.probability.recalibration import Recalibration, fit_recalibration
from svmselect.search.trace import Record
from svmselect.selection.result import HeldOut
from svmselect.types import Array, ErrorEstimate, IntArray, Note

_MOST = 8000  # rows that one fold is held out of
_ENOUGH = 50  # rows of a class, of which that has all
_PARTS = 5


@dataclass(frozen=True, eq=False)
class Setting:
    """C for machines trained on every row, and a kernel: one of each, or one a pair of classes.

    ``trained`` are machines of the folds with it, by their names in a ``Task``, where there are.
    """

    C: tuple[float, ...]
    kernels: tuple[Kernel, ...]
    fit_intercept: bool = True
    trained: Mapping[Hashable, Solution] = field(default_factory=dict, repr=False, compare=False)

    def of(self, pair: int) -> tuple[float, Kernel]:
        """What the machine of this pair is trained with."""
        return self.C[min(pair, len(self.C) - 1)], self.kernels[min(pair, len(self.kernels) - 1)]


@dataclass(frozen=True, eq=False)
class Chosen:
    """A setting, a sigmoid a pair, and how they were found.

    ``value`` is that of ``criterion``, ``folded`` whether it looked at the folds; ``share`` is the
    factor from the C of the records to that of the setting, ``charge`` what the freedom of the
    hyperparameters costs, in log-likelihood. ``error`` is that of held-out rows,
    ``held_out`` what was said of them; ``recalibration`` is for class probabilities coupled from
    pairs. ``machines`` are there if they are trained already,
    ``posterior`` if it is to give the probabilities; ``prior`` is what spoke beside the criterion,
    None where each pair of classes has its own.
    """

    setting: Setting
    sigmoids: tuple[Sigmoid, ...]
    value: float
    criterion: str
    folded: bool
    records: tuple[Record, ...]
    notes: tuple[Note, ...]
    error: ErrorEstimate
    held_out: HeldOut | None = None
    share: float = 1.0
    charge: float = 0.0
    recalibration: Recalibration | None = None
    machines: tuple[Expansion, ...] = ()
    posterior: Posteriors | None = None
    prior: Prior | None = None


@dataclass(frozen=True, eq=False)
class OutOfFold:
    """Decision values of rows by machines that did not see them: all pairs', for every row.

    ``rows`` names a row as often as it is held out; ``decisions`` is (len(rows), pairs).
    """

    rows: IntArray
    decisions: Array

    def sigmoids(self, problem: Problem) -> tuple[Sigmoid, ...]:
        """Fit one sigmoid a pair to the held-out rows of its two classes, by Platt's targets."""
        fitted = []
        codes, weights = problem.codes[self.rows], problem.weights[self.rows]
        for p, (i, j) in enumerate(combinations(range(len(problem.classes)), 2)):
            member = (codes == i) | (codes == j)
            f, w = self.decisions[member, p], weights[member]
            y = np.where(codes[member] == j, 1.0, -1.0)
            if problem.splits.lone:  # one class only is held out; its sigmoid is made later
                fitted.append(Sigmoid(-1.0, 0.0, float(f.std()) or 1.0))
                continue
            if np.all(y == y[:1]):
                labels = problem.classes[[i, j]].tolist()
                raise ValueError(
                    f"cv does not hold out rows of both {labels[0]!r} and {labels[1]!r}, so there "
                    "is nothing to fit a probability to; hold out rows of every class"
                )
            fit = sigmoid_likelihood(f, y, w, "platt")
            fitted.append(upright(fit.slope, fit.offset, f, y, w))
        return tuple(fitted)

    def judged(
        self, problem: Problem, sigmoids: Sequence[Sigmoid]
    ) -> tuple[ErrorEstimate, HeldOut]:
        """The share of held-out rows whose most probable class is wrong; and what is said of them.

        Both as the record of the selection has them.
        """
        p = self.probabilities(sigmoids, len(problem.classes))
        held = HeldOut(self.rows, self.decisions, p)
        return ErrorEstimate(share_wrong(problem, held), float(problem.counts.sum())), held

    def likelihood(self, problem: Problem, sigmoids: Sequence[Sigmoid]) -> float:
        """The mean log-probability of the classes that the held-out rows are of."""
        p = self.probabilities(sigmoids, len(problem.classes))
        return mean_likelihood(problem, HeldOut(self.rows, self.decisions, p))

    def probabilities(self, sigmoids: Sequence[Sigmoid], k: int) -> Array:
        """Class probabilities of the held-out rows, by these sigmoids."""
        shifts = np.array([sigmoid.shift for sigmoid in sigmoids])
        slopes = np.array([sigmoid.slope for sigmoid in sigmoids])
        return class_probabilities(self.decisions + shifts, slopes, k)


def share_wrong(problem: Problem, held: HeldOut) -> float:
    """The share of held-out rows whose most probable class is not their own."""
    weights = problem.counts[held.rows]
    wrong = held.probabilities.argmax(axis=1) != problem.codes[held.rows]
    return float(weights @ wrong / weights.sum())


def mean_likelihood(problem: Problem, held: HeldOut) -> float:
    """The mean log-probability of the classes that held-out rows are of."""
    p, weights = held.probabilities, problem.counts[held.rows]
    given = np.maximum(p[np.arange(len(p)), problem.codes[held.rows]], 1e-300)
    return float(weights @ np.log(given) / weights.sum())


def hold_out(
    problem: Problem,
    pairs: Sequence[Pair],
    setting: Setting,
    loss: str,
    folds: int | None = None,
) -> OutOfFold:
    """Train every pair on every fold, and ask about all rows of the fold, of whatever class.

    A fold's machine gets C over its share of the weight, so that the penalty a row stays that of
    the final machine: otherwise, where most vectors are at the bound, values do not compare. Only
    the first ``folds`` are looked at if that is given.
    """
    tests = [np.flatnonzero(t) for t in problem.splits.test.T][:folds]
    found = [np.empty((len(test), len(pairs))) for test in tests]
    for (C, kernel), numbers in _by_kernel(pairs, setting):
        K, groups = kernel(problem.X), []
        for pair in (pairs[p] for p in numbers):
            clock.look()
            trained = problem.splits.train[pair.rows, : len(tests)].T * pair.weights
            shares = trained.sum(axis=1, keepdims=True) / pair.weights.sum()
            rows = None if len(pair.rows) == len(K) else pair.rows
            groups.append(Group(rows, pair.y, trained / shares, [None] * len(tests)))
        made = train_together(K, groups, C, loss, setting.fit_intercept)
        for k, test in enumerate(tests):
            clock.look()
            machines = [fold[k] for fold in made]
            columns = [pairs[p].rows[m.support] for p, m in zip(numbers, machines, strict=True)]
            values = np.concatenate([m.beta[m.support] for m in machines])
            ends = np.cumsum([0, *map(len, columns)])
            shape = len(machines), len(K)
            beta = csr_array((values, np.concatenate(columns), ends), shape)
            offsets = np.array([m.intercept for m in machines])
            found[k][:, list(numbers)] = (beta @ K[:, test]).T + offsets
    return OutOfFold(np.concatenate(tests), np.concatenate(found))


def recalibrated(
    problem: Problem, chosen: Chosen, loss: str, most: int, end: float | None
) -> Chosen:
    """With coupled probabilities that are as sure as the held-out rows say they may be.

    Where none were held out in all classes at once, as with more than ``most`` rows, one fold is,
    if there is time until ``end``.
    """
    if len(problem.classes) == 2 or chosen.posterior is not None:
        return chosen
    held = chosen.held_out
    if held is None and len(problem) > most:
        try:
            with clock.until(end):
                held = _of_one_fold(problem, chosen, loss)
        except clock.OutOfTimeError:
            return chosen
    if held is None:
        return chosen
    made, told = recalibration_of(problem, held)
    seen = problem.counts if chosen.held_out is not None else problem.counts[held.rows]
    error = ErrorEstimate(share_wrong(problem, told), float(seen.sum()))
    return replace(chosen, recalibration=made, held_out=told, error=error)


def recalibration_of(problem: Problem, held: HeldOut) -> tuple[Recalibration, HeldOut]:
    """Fit it to held-out rows; and what is said of these then."""
    rows, p = held.rows, held.probabilities
    groups = problem.splits.test[rows].argmax(axis=1)
    if (groups == groups[0]).all():  # folds of one that was held out alone
        groups = np.arange(len(rows)) % _PARTS
    # what the classes weigh is to be in the probabilities, as it is in the sigmoids
    made, told = fit_recalibration(p, problem.codes[rows], problem.weights[rows], groups)
    return made, replace(held, probabilities=told)


def _of_one_fold(problem: Problem, chosen: Chosen, loss: str) -> HeldOut:
    """Hold out the first fold; of more rows than ``_MOST`` a sample, of small classes all rows.

    Machines of much fewer rows than the final ones would say too little of these.
    """
    found = []
    for code, count in enumerate(np.bincount(problem.codes)):
        size = max(int(_MOST * count / len(problem)), _ENOUGH)
        rows = np.flatnonzero(problem.codes == code)
        found.append(rows[np.linspace(0, count - 1, min(size, int(count))).round().astype(np.intp)])
    rows = np.sort(np.concatenate(found))
    part = replace(
        problem, X=problem.X[rows], codes=problem.codes[rows], weights=problem.weights[rows],
        counts=problem.counts[rows], first=problem.first[rows], splits=problem.splits.at(rows),
        coarse=None,
    )  # fmt: skip
    held = hold_out(part, part.pairs(), chosen.setting, loss, folds=1)
    p = held.probabilities(chosen.sigmoids, len(problem.classes))
    return HeldOut(rows[held.rows], held.decisions, p)


def _by_kernel(
    pairs: Sequence[Pair], setting: Setting
) -> list[tuple[tuple[float, Kernel], Sequence[int]]]:
    """C and kernel, with the numbers of the pairs that they are for."""
    if len(setting.kernels) == 1:
        return [(setting.of(0), range(len(pairs)))]
    return [(setting.of(p), (p,)) for p in range(len(pairs))]


def fitted_machines(
    problem: Problem, pairs: Sequence[Pair], chosen: Chosen, loss: str
) -> tuple[Machines, IntArray]:
    """Train the final machines; also which rows are support vectors, sorted by class."""
    setting = chosen.setting
    coefficients = np.zeros((len(problem), len(pairs)))
    intercepts = np.array([sigmoid.shift for sigmoid in chosen.sigmoids])
    for p, trained in enumerate(chosen.machines):
        coefficients[trained.rows, p] = trained.coefficients
        intercepts[p] += trained.intercept
    for (C, kernel), numbers in () if chosen.machines else _by_kernel(pairs, setting):
        rows = np.unique(np.concatenate([pairs[p].rows for p in numbers]))
        groups = []
        for pair in (pairs[p] for p in numbers):
            at = None if len(pair.rows) == len(rows) else np.searchsorted(rows, pair.rows)
            groups.append(Group(at, pair.y, pair.weights[None], (None,)))
        K = kernel(problem.X[rows])
        made = train_together(K, groups, C, loss, setting.fit_intercept)
        for p, (machine,) in zip(numbers, made, strict=True):
            coefficients[pairs[p].rows, p] = machine.beta
            intercepts[p] += machine.intercept
    used = np.flatnonzero(coefficients.any(axis=1))
    used = used[np.lexsort((problem.first[used], problem.codes[used]))]
    slopes = np.array([sigmoid.slope for sigmoid in chosen.sigmoids])
    machines = Machines(
        setting.kernels, problem.X[used], coefficients[used], intercepts, slopes,
        len(problem.classes), chosen.recalibration,
    )  # fmt: skip
    return machines, used
