"""Small problems in named regimes of the active sets, and what may be done to them.

A regime is found, not hoped for: C is searched on a grid until the machine with the hinge loss has
the sets that the name promises, and keeps them when C moves by a percent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Any

import numpy as np

from svmselect.criteria import Criterion
from svmselect.data import Dataset
from svmselect.kernels import RBF, Constant, Kernel
from svmselect.machine import Solution, solve
from svmselect.selection.objective import Objective
from svmselect.types import Array, IntArray, Score

_N_FOLDS = 4


@dataclass(frozen=True)
class Folds:
    """A splitter with ready folds, as scikit-learn's ``PredefinedSplit``.

    Permuting rows permutes their folds, and copies of a row are held out together, so a criterion
    that resamples can be asked the same question of transformed data.

    Parameters
    ----------
    fold : tuple of int
        For each row the number of the fold that holds it out.
    """

    fold: tuple[int, ...]

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Any, Any]]:
        """Iterate over the folds.

        Parameters
        ----------
        X : array-like
            Not used.
        y : array-like, optional
            Not used.
        groups : array-like, optional
            Not used.

        Yields
        ------
        train : ndarray of int
            The training rows.
        test : ndarray of int
            The rows that are held out.
        """
        member = np.array(self.fold)
        for k in np.unique(member):
            yield np.flatnonzero(member != k), np.flatnonzero(member == k)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of folds.

        Parameters
        ----------
        X : array-like, optional
            Not used.
        y : array-like, optional
            Not used.
        groups : array-like, optional
            Not used.

        Returns
        -------
        int
            The number of folds.
        """
        return len(set(self.fold))


@dataclass(frozen=True, eq=False)
class Case:
    """Data and one setting of the hyperparameters.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The inputs.
    y : ndarray of shape (n,)
        The labels, -1 and +1.
    C : float
        The penalty.
    kernel : Kernel
        The kernel.
    loss : str
        The name of the loss.
    fit_intercept : bool
        Whether there is an intercept.
    fold : ndarray of int
        For each row the fold that holds it out.
    weights : ndarray of shape (n,), optional
        Sample weights.
    """

    X: Array
    y: Array
    C: float
    kernel: Kernel
    loss: str
    fit_intercept: bool
    fold: IntArray
    weights: Array | None = None

    def prepared(self, criterion: Criterion) -> Criterion:
        """Give a criterion these folds and a fixed seed, where it takes them.

        Parameters
        ----------
        criterion : Criterion
            The criterion.

        Returns
        -------
        Criterion
            The criterion with these options.
        """
        names = {option.name for option in fields(criterion)}
        known: dict[str, Any] = {}
        if "cv" in names:
            known["cv"] = Folds(tuple(self.fold.tolist()))
        if "random_state" in names:
            known["random_state"] = 0
        return replace(criterion, **known) if known else criterion

    def objective(self, criterion: Criterion) -> Objective:
        """Make the criterion a function of (C, kernel) on these data.

        Parameters
        ----------
        criterion : Criterion
            The criterion.

        Returns
        -------
        Objective
            The function.
        """
        data = Dataset.of(self.X, self.y, self.weights)
        made = self.prepared(criterion)
        return Objective(data, self.kernel, made, self.loss, self.fit_intercept)

    def score(self, criterion: Criterion, gradient: bool = False) -> Score:
        """Evaluate a criterion at this point.

        Parameters
        ----------
        criterion : Criterion
            The criterion.
        gradient : bool, default False
            Whether to compute the gradient.

        Returns
        -------
        Score
            The value.
        """
        return self.objective(criterion).score(self.C, self.kernel, gradient)[0]

    def solution(self) -> Solution:
        """Train the machine at this point.

        Returns
        -------
        Solution
            The machine.
        """
        K = self.kernel(self.X)
        return solve(K, self.y, self.C, self.loss, self.fit_intercept, self.weights)

    def rows(self, index: IntArray) -> Case:
        """Take some rows, in this order; one named twice is there twice.

        Parameters
        ----------
        index : ndarray of int
            The rows.

        Returns
        -------
        Case
            The case of these rows.
        """
        weights = None if self.weights is None else self.weights[index]
        return replace(
            self, X=self.X[index], y=self.y[index], fold=self.fold[index], weights=weights
        )

    def copied(self) -> Case:
        """Spell integer weights out: weight k as k copies of the row, weight 0 as its absence.

        Returns
        -------
        Case
            The same case without weights.
        """
        counts = np.ones(len(self.y)) if self.weights is None else self.weights
        index = np.repeat(np.arange(len(self.y)), counts.astype(int))
        return replace(self.rows(index), weights=None)

    def scaled(self, t: float) -> Case:
        """Multiply C by t and divide K by t, which leaves every decision value as it is.

        Parameters
        ----------
        t : float
            The factor.

        Returns
        -------
        Case
            The scaled case.
        """
        return replace(self, C=t * self.C, kernel=Constant(1.0 / t) * self.kernel)


Condition = Callable[[Solution], bool]


def _mixed(s: Solution) -> bool:
    return len(s.free) > 2 and len(s.bound) > 2 and len(s.support) < len(s.y) - 1


def _all_bounded(s: Solution) -> bool:
    return len(s.bound) == len(s.y)


def _none_bounded(s: Solution) -> bool:
    return len(s.bound) == 0 and 2 < len(s.free) < len(s.y)


def _one_free(s: Solution) -> bool:
    return len(s.free) == 1 and len(s.bound) > 0


def _none_free(s: Solution) -> bool:
    return len(s.free) == 0 and 0 < len(s.bound) < len(s.y)


REGIMES: dict[str, Condition] = {
    "mixed": _mixed,
    "all bounded": _all_bounded,
    "none bounded": _none_bounded,
    "one free": _one_free,
    "none free": _none_free,
}
"""By name, what the active sets of the machine with the hinge loss must satisfy."""

KERNELS: dict[str, Kernel] = {
    "isotropic": RBF(1.1),
    "ard": RBF([0.8, 1.7]),
    "amplitude": Constant(1.6) * RBF([0.9, 1.4]),
    "composed": Constant(1.6) * RBF([0.9, 1.4]) + Constant(0.3),
}
"""By name; the last is for a penalised offset, the one before it for a free one."""


@cache
def make_case(
    regime: str = "mixed",
    loss: str = "hinge",
    fit_intercept: bool = True,
    kernel: Kernel = KERNELS["amplitude"],
) -> Case:
    """Make a case of two inputs and some twenty points in the named regime of active sets.

    Parameters
    ----------
    regime : {"mixed", "all bounded", "none bounded", "one free", "none free"}, default "mixed"
        The regime. The sets are those of the hinge loss; the other losses are given the same data
        and the same C.
    loss : str, default "hinge"
        The name of the loss.
    fit_intercept : bool, default True
        Whether there is an intercept.
    kernel : Kernel, optional
        The kernel.

    Returns
    -------
    Case
        The case.

    Notes
    -----
    "one free" has fractional weights if there is an intercept: with whole ones the last free vector
    would lie at a bound, because the betas sum to zero.
    """
    condition = REGIMES[regime]
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X, y = _draw(regime, rng)
        weights = rng.uniform(0.6, 1.4, len(y)) if regime == "one free" and fit_intercept else None
        K = kernel(X)
        for C in np.geomspace(0.02, 200.0, 61):
            here = [solve(K, y, t * C, "hinge", fit_intercept, weights) for t in (1.0, 0.99, 1.01)]
            alike = all(active_sets(s) == active_sets(here[0]) for s in here[1:])
            if alike and condition(here[0]):
                fold = _deal(y, rng)
                return Case(X, y, float(C), kernel, loss, fit_intercept, fold, weights)
    raise ValueError(f"no case in the regime {regime!r} was found for {kernel!r}")


def weighted(p: Case) -> Case:
    """Give a case weights from 0 to 3, the zero where each training part keeps both classes.

    Parameters
    ----------
    p : Case
        The case.

    Returns
    -------
    Case
        The case with weights.
    """
    weights = 1.0 + (np.arange(len(p.y)) % 3).astype(np.float64)
    weights[[np.flatnonzero(p.y == sign)[0] for sign in (-1.0, 1.0)]] = 0.0
    return replace(p, weights=weights)


def twinned(p: Case) -> Case:
    """Give a case points that occur with both labels.

    Parameters
    ----------
    p : Case
        The case.

    Returns
    -------
    Case
        The case with these points.

    Notes
    -----
    Where one of the two is free its margin is 1, and that of the other is -1 up to rounding: a
    criterion that asks on which side of -1 it lies must not let the rounding decide.
    """
    for seed in range(20):
        chosen = np.random.default_rng(seed).choice(len(p.y), 4, replace=False)
        rows = p.rows(np.concatenate([np.arange(len(p.y)), chosen]))
        y = rows.y.copy()
        y[-len(chosen) :] *= -1.0
        both = replace(rows, y=y)
        if np.count_nonzero(np.abs(both.solution().margin + 1.0) < 1e-9) > 1:
            return both
    raise ValueError("no free vector has a twin of the other label; choose another case")


def active_sets(s: Solution) -> tuple[tuple[int, ...], ...]:
    """The index sets that must stay as they are for the solution to move smoothly."""
    parts = (s.free, s.bound, s.dependent)
    return (*(tuple(np.sort(part).tolist()) for part in parts), tuple(sorted(s.ends)))


def _draw(regime: str, rng: np.random.Generator) -> tuple[Array, Array]:
    """Two clouds; or two rings around a point that needs no alpha of its own (none free)."""
    y = np.repeat([-1.0, 1.0], 10 if regime != "none free" else 7)
    if regime == "none free":
        angle = np.arange(6) * np.pi / 3.0
        ring = rng.uniform(0.6, 1.4, 2) * np.column_stack([np.cos(angle), np.sin(angle)])
        star = np.vstack([ring, np.zeros(2)])
        X = np.vstack([star, star]) + 1.5 * y[:, None] + 0.05 * rng.normal(size=(14, 2))
    else:
        apart = 1.6 if regime == "none bounded" else 0.7
        X = rng.normal(size=(len(y), 2)) + apart * y[:, None] * np.array([1.0, 0.5])
    mix = rng.permutation(len(y))
    return X[mix], y[mix]


def _deal(y: Array, rng: np.random.Generator) -> IntArray:
    """Stratified folds, as labels."""
    fold = np.empty(len(y), dtype=np.intp)
    for sign in (-1.0, 1.0):
        members = rng.permutation(np.flatnonzero(y == sign))
        fold[members] = np.arange(len(members)) % _N_FOLDS
    return fold
