"""Folds, and the decision values of machines at the rows they did not see.

All folds share one Gram matrix: a fold is a vector of weights with zeros at the rows held out.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from numbers import Integral
from typing import Any, Protocol, runtime_checkable
from weakref import WeakKeyDictionary

import numpy as np

from svmselect.clock import look
from svmselect.criteria.base import Context, Criterion, refit_together
from svmselect.criteria.splits import as_pairs, check_range, check_trained, no_folds, row_numbers
from svmselect.data import Dataset, Folds, stratified_folds
from svmselect.kernels.tangents import directional
from svmselect.machine import ActiveSystem, Solution
from svmselect.machine.batch import Asked, jacobians_compiled
from svmselect.machine.forward import decision_jacobian
from svmselect.machine.joint_forward import jacobians_jointly
from svmselect.types import OK, Array, IntArray, Sensitivity, Status

Rows = tuple[int, ...]


@runtime_checkable
class Splitter(Protocol):
    """What scikit-learn calls a splitter."""

    def split(self, X: Any, y: Any) -> Iterator[tuple[Any, Any]]:
        """Yield (training rows, held-out rows)."""


@dataclass(frozen=True)
class Resampled(Criterion):
    """A criterion that trains on some rows and looks at others.

    Parameters
    ----------
    cv : int, splitter or iterable, default 5
        A number of stratified folds, an object with ``split(X, y)`` as scikit-learn's splitters
        have, or pairs of training rows and held-out rows.
    random_state : int or None, default 0
        Seed of the stratified folds. None draws a seed once, when the criterion is made, so that
        every point of a search sees the same folds.

    Notes
    -----
    A row's weight counts in training and where the row is held out; its copies are always on the
    same side.
    """

    cv: int | Splitter | Folds | Iterable[tuple[Any, Any]] = 5
    random_state: int | None = 0

    def __post_init__(self) -> None:
        """Refuse folds that mean nothing, or other folds at every call; keep ready ones."""
        object.__setattr__(self, "cv", _checked(self.cv))
        object.__setattr__(self, "random_state", _seed(self.random_state))

    def folds(self, data: Dataset) -> list[Fold]:
        """Make the folds for some data; rows of weight zero are in no part.

        Parameters
        ----------
        data : Dataset
            The data.

        Returns
        -------
        list of Fold
            The folds.
        """
        there = np.flatnonzero(data.weights > 0)
        if isinstance(self.cv, int):
            tests = _stratified(data.y[there].tobytes(), self.cv, self.random_state)
            return [Fold.holding_out(data, there[test]) for test in tests]
        if isinstance(self.cv, Folds):
            return list(_weighed(self.cv))
        pairs = self.cv.split(data.X, data.y) if isinstance(self.cv, Splitter) else self.cv
        folds = [Fold.of(data, *pair, i) for i, pair in enumerate(pairs)]
        if not sum(len(fold.test) for fold in folds):
            raise ValueError("cv holds out no row that has weight; give folds that do")
        return folds

    def held_out(self, context: Context) -> FoldDecisions:
        """Train a machine a fold and gather what it says of the rows it did not see.

        Parameters
        ----------
        context : Context
            The point, and all that may be asked there.

        Returns
        -------
        FoldDecisions
            The held-out rows and their decisions, all folds together.
        """
        at = self.layout(context)
        solutions = context.refit_all(at.weights, at.keys)
        decision = np.concatenate(
            [s.decision[test] for s, test in zip(solutions, at.tests, strict=True)]
        )
        return FoldDecisions(at.rows, at.fold, decision, at.y, at.count, tuple(solutions))

    def layout(self, context: Context) -> Layout:
        """Say what is to be trained and what is held out, once for all the points of a search.

        Parameters
        ----------
        context : Context
            A point.

        Returns
        -------
        Layout
            The folds as arrays.
        """
        key = "layout", id(self)
        judge, data, found = context.memo.get(key, (None, None, None))
        if judge is not self or data is not context.data:
            folds = self.folds(context.data)
            found = Layout.of(folds, context.y, self.once(folds, context.data))
            context.memo[key] = self, context.data, found
        made: Layout = found
        return made

    def once(self, folds: Sequence[Fold], data: Dataset) -> float:
        """Tell what a held-out row counts for, so that several rounds of folds count as one.

        Parameters
        ----------
        folds : sequence of Fold
            The folds.
        data : Dataset
            The data.

        Returns
        -------
        float
            The factor, 1 where no row is held out twice.
        """
        held = np.zeros(len(data))
        for fold in folds:
            np.add.at(held, fold.test, fold.count)
        return float(np.minimum(held, data.weights).sum() / held.sum())

    def mass(self, data: Dataset) -> float:
        folds = self.folds(data)
        return self.once(folds, data) * sum(float(fold.count.sum()) for fold in folds)


@dataclass(frozen=True, eq=False)
class Fold:
    """The weights to train with, the rows to look at, and what these count for.

    A row is on both sides only where it stands for copies that are.
    """

    weights: Array
    test: IntArray
    count: Array

    @classmethod
    def holding_out(cls, data: Dataset, test: IntArray) -> Fold:
        """Train on all rows but these."""
        weights = data.weights.copy()
        weights[test] = 0.0
        return cls(weights, test, data.weights[test])

    @classmethod
    def weighing(cls, train: Array, held: Array) -> Fold:
        """Some copies of a row here, some there."""
        test = np.flatnonzero(held)
        return cls(train, test, held[test])

    @classmethod
    def of(cls, data: Dataset, train: Any, test: Any, number: int) -> Fold:
        """Train on one list of rows, look at another; a row named twice counts twice."""
        n = len(data)
        parts = [row_numbers(part, number) for part in (train, test)]
        for part in parts:
            check_range(part, n, number)
        counts = np.bincount(parts[0], minlength=n)
        both = parts[1][counts[parts[1]] > 0]
        if len(both):
            raise ValueError(
                f"cv: split {number} has row {both[0]} in both parts; hold out rows that the "
                "machine is not trained on"
            )
        weights = counts * data.weights
        mass = np.array([weights[data.y == sign].sum() for sign in (-1.0, 1.0)])
        check_trained(mass, data.classes, number)
        test = parts[1][data.weights[parts[1]] > 0]
        return cls(weights, test, data.weights[test])


@dataclass(frozen=True, eq=False)
class Layout:
    """Folds as arrays: the weights and names of machines, a row each, and what each holds out.

    ``rows`` are the rows of all ``tests`` together, ``fold`` who holds them out, ``y`` their labels
    and ``count`` what they count for.
    """

    weights: Array
    keys: tuple[Hashable, ...]
    tests: tuple[IntArray, ...]
    rows: IntArray
    fold: IntArray
    y: Array
    count: Array

    @classmethod
    def of(cls, folds: Sequence[Fold], y: Array, once: float) -> Layout:
        """Gather them; ``once`` is what a row held out counts for."""
        tests = tuple(fold.test for fold in folds)
        rows = np.concatenate(tests)
        return cls(
            np.array([fold.weights for fold in folds]),
            tuple(("fold", i) for i in range(len(folds))),
            tests,
            rows,
            np.repeat(np.arange(len(folds)), [len(test) for test in tests]),
            y[rows],
            np.concatenate([fold.count for fold in folds]) * once,
        )


@dataclass(frozen=True, eq=False)
class FoldDecisions:
    """Decision values of rows by machines that were not trained on them, all folds together."""

    rows: IntArray
    fold: IntArray
    decision: Array
    y: Array
    weights: Array
    solutions: tuple[Solution, ...]

    @property
    def status(self) -> Status:
        """The first machine's that is not exact, if any."""
        return next((s.status for s in self.solutions if not s.status.ok), OK)

    @property
    def errors(self) -> Array:
        """1 where the sign is wrong, 1/2 where there is none."""
        return wrong(self.y * self.decision)

    def mean(self, values: Array) -> float:
        """Average over all held-out points, each counted with its weight."""
        return float(self.weights @ values) / float(self.weights.sum())

    def details(self) -> dict[str, Any]:
        """What was held out and how it went, fold by fold."""
        k = len(self.solutions)
        mass = np.bincount(self.fold, self.weights, k)
        errors = np.bincount(self.fold, self.weights * self.errors, k)
        by_fold = errors[mass > 0] / mass[mass > 0]
        # by hand, as numpy.std takes longer than all the rest of a small evaluation's bookkeeping
        away = by_fold - by_fold.sum() / max(len(by_fold), 1)
        spread = np.sqrt(away @ away / (len(by_fold) - 1)) if len(by_fold) > 1 else float("nan")
        return {
            "folds": k,
            "rows": self.rows,
            "fold": self.fold,
            "decision": self.decision,
            "fold_errors": by_fold,
            "error": float(errors.sum() / mass.sum()),
            "standard_error": float(spread / np.sqrt(len(by_fold))),
        }

    def jacobian(self, context: Context) -> Array:
        """d decision/d("log C", *kernel.names), a row for each that is held out."""
        count = len(self.solutions)
        prepare_jacobians([(context, [self.rows[self.fold == i] for i in range(count)])])
        return np.concatenate([context.jacobians["fold", i] for i in range(count)])

    def pullback(self, context: Context, partial: Array) -> Sensitivity:
        """Total derivative of a number whose partial derivatives by ``decision`` are given."""
        n = len(context.y)
        left, right, log_C = np.zeros((n, len(self.solutions))), [], 0.0
        for i, solution in enumerate(self.solutions):
            part = self.fold == i
            on_decision = np.bincount(self.rows[part], partial[part], n).astype(np.float64)
            one = ActiveSystem.of(context.K, solution).pullback(decision=on_decision)
            left[:, i] = one.left[:, 0]
            right.append(solution.beta)
            log_C += one.log_C
        return Sensitivity(left, np.column_stack(right), log_C)


_KNOWN: WeakKeyDictionary[Folds, tuple[Fold, ...]] = WeakKeyDictionary()


def prepare(wanted: Sequence[tuple[Context, Resampled]], jacobian: bool) -> None:
    """Train the folds' machines of several contexts at once, and find how their decisions move.

    Parameters
    ----------
    wanted : sequence of tuple
        Contexts of parts of one Gram matrix, each with a criterion, which then finds there what
        it asks for.
    jacobian : bool
        Whether the Jacobians of held-out decisions will be wanted.
    """
    folded = [(context, judge.layout(context)) for context, judge in wanted]
    refit_together([(context, at.weights, at.keys) for context, at in folded])
    if jacobian:
        prepare_jacobians([(context, at.tests) for context, at in folded])


def prepare_jacobians(wanted: Sequence[tuple[Context, Sequence[IntArray]]]) -> None:
    """Find d decision/d("log C", *kernel.names) at the rows that folds hold out, where missing.

    Parameters
    ----------
    wanted : sequence of tuple
        Contexts whose folds are trained, each with the rows held out, fold by fold.
    """
    missing = [
        (context, ("fold", i), rows)
        for context, folds in wanted
        for i, rows in enumerate(folds)
        if ("fold", i) not in context.jacobians
    ]
    if not missing:
        return
    one = missing[0][0].whole or missing[0][0]
    asked = [Asked(context.rows, context.trained[key], rows) for context, key, rows in missing]
    found = jacobians_jointly(one.K, asked, one.tangents, one.fit_intercept)
    left = [i for i, J in enumerate(found) if J is None]
    if left:
        rest = jacobians_compiled(one.K, [asked[i] for i in left], one.tangents, one.threads)
        for i, J in zip(left, rest, strict=True):
            found[i] = J
    for (context, key, rows), J in zip(missing, found, strict=True):
        made = _jacobian(context, context.trained[key], rows) if J is None else J
        context.jacobians[key] = made


def _jacobian(context: Context, s: Solution, rows: IntArray) -> Array:
    """The reference, and what serves where the compiled code does not."""
    look()
    system = ActiveSystem.of(context.K, s)
    at = np.unique(np.concatenate([system.free, rows, np.array(s.ends, dtype=np.intp)]))
    used = np.flatnonzero(s.beta)
    tangent = np.zeros((len(s.beta), len(context.kernel.theta)))
    tangent[at] = directional(context.tangents, at, used, s.beta[used])
    return decision_jacobian(system, rows, tangent)


def _weighed(folds: Folds) -> tuple[Fold, ...]:
    """Look at the weights once for all the points of a search, and for all its pairs of classes."""
    known = _KNOWN.get(folds)
    if known is None:
        sides = zip(folds.train.T, folds.held.T, strict=True)
        known = _KNOWN[folds] = tuple(Fold.weighing(*side) for side in sides)
    return known


@lru_cache(maxsize=16)
def _stratified(y: bytes, k: int, seed: int | None) -> tuple[IntArray, ...]:
    """Deal once for all the points of a search."""
    return stratified_folds(np.frombuffer(y), k, seed)


def wrong(margin: Array) -> Array:
    """The error of a margin y f: 1 below zero, 1/2 at zero exactly, where the machine is mute."""
    return np.where(margin < 0, 1.0, np.where(margin == 0, 0.5, 0.0))


def _seed(random_state: Any) -> int:
    if random_state is None:
        return int(np.random.SeedSequence().generate_state(1)[0])
    whole = isinstance(random_state, Integral) and not isinstance(random_state, bool)
    if not whole or random_state < 0:
        raise ValueError(f"random_state must be None or an integer from 0 on, got {random_state!r}")
    return int(random_state)


def _checked(cv: Any) -> Any:
    """A number, a splitter, or ready splits as nested tuples (a value, whatever they came as)."""
    if isinstance(cv, bool | str | bytes):  # a string has a split() of its own
        raise no_folds(cv)
    if isinstance(cv, Integral):
        if cv < 2:
            raise ValueError(f"cv={cv} makes no folds; choose 2 or more, 5 or 10 as a rule")
        return int(cv)
    if isinstance(cv, Folds):
        return cv
    if isinstance(cv, Splitter):
        if _restless(getattr(cv, "__dict__", {})):
            raise ValueError(
                f"cv={cv!r} shuffles anew at every call, and no two points of a search could be "
                "compared; give it an integer random_state"
            )
        return cv
    return tuple(
        tuple(tuple(row_numbers(part, i).tolist()) for part in pair)
        for i, pair in enumerate(as_pairs(cv))
    )


def _restless(options: Mapping[str, Any]) -> bool:
    """Whether a splitter with these attributes deals other folds each time it is asked."""
    if not options.get("shuffle", True) or "random_state" not in options:
        return False
    return not isinstance(options["random_state"], Integral)
