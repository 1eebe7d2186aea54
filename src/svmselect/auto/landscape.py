"""The cross-validated likelihood as a landscape: height, slope and curvature at a point.

The held-out decisions f of all folds are smooth functions of (log C, log length scales) with a
Jacobian J that costs about as much as training the folds. So the likelihood has, besides its exact
gradient, a Gauss-Newton Hessian J'WJ that is never indefinite, and a handful of steps find an
optimum in any number of length scales.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from scipy.special import expit

from svmselect.kernels import RBF
from svmselect.kernels.tiles import squared_distances
from svmselect.machine import ActiveSystem, Solution
from svmselect.machine.forward import decision_jacobian
from svmselect.machine.train import train
from svmselect.probability import sigmoid_likelihood
from svmselect.types import Array, IntArray

T = TypeVar("T")

_MANY = 1000  # rows of a pair, from which on threads gain more than they cost


@dataclass(frozen=True, eq=False)
class Pair:
    """One two-class problem among the rows of X, and its folds.

    ``tests`` are positions within ``rows`` that are held out, one array a fold; weights are > 0.
    ``again`` are folds of further rounds: then all rounds count, and a row still counts once.
    """

    rows: IntArray
    y: Array
    weights: Array
    tests: tuple[IntArray, ...]
    again: tuple[IntArray, ...] = ()

    @property
    def share(self) -> float:
        """The part of the weight that a fold's machine is trained on, on average."""
        held_out = sum(float(self.weights[test].sum()) for test in self.tests)
        return 1.0 - held_out / (len(self.tests) * float(self.weights.sum()))


@dataclass(frozen=True, eq=False)
class Folds:
    """A pair as the landscape sees it.

    For each fold: the weights to train with, the rows to look at and what they count for. A row may
    be on both sides, some of its copies here and some there.
    """

    rows: IntArray
    y: Array
    train: tuple[Array, ...]
    held: tuple[IntArray, ...]
    count: tuple[Array, ...]
    where: IntArray  # the merged row of each row of the pair

    @classmethod
    def of(cls, pair: Pair, X: Array, most: int | None = None) -> Folds:
        """Merge equal rows of one class into one row that counts for all.

        ``most`` folds of the first round are looked at, or all rounds.
        """
        keyed = np.column_stack([X[pair.rows], pair.y])
        _, first, where = np.unique(keyed, axis=0, return_index=True, return_inverse=True)
        where = where.ravel()
        if len(first) == len(where):
            first = where = np.arange(len(where))

        def mass(positions: IntArray) -> Array:
            counts = np.bincount(where[positions], pair.weights[positions], len(first))
            return np.asarray(counts, dtype=np.float64)

        tests = (*pair.tests, *pair.again) if most is None else pair.tests[:most]
        once = sum(float(pair.weights[test].sum()) for test in pair.tests)
        every = sum(float(pair.weights[test].sum()) for test in tests)
        counts_for = min(once / every, 1.0)
        everyone = np.arange(len(where))
        held = tuple(np.unique(where[test]) for test in tests)
        return cls(
            rows=pair.rows[first],
            y=pair.y[first],
            train=tuple(mass(np.setdiff1d(everyone, test)) for test in tests),
            held=held,
            count=tuple(
                counts_for * mass(test)[rows] for test, rows in zip(tests, held, strict=True)
            ),
            where=where,
        )

    def part(self, matrix: Array) -> Array:
        """The rows and columns of these rows, of a matrix of all."""
        if len(self.rows) == len(matrix):
            return matrix
        return np.asarray(matrix[np.ix_(self.rows, self.rows)])


@dataclass(frozen=True, eq=False)
class Reading:
    """What the landscape shows at one point; ``solutions`` warm-start a neighbouring one.

    ``loss`` is the total held-out negative log-likelihood; ``gradient`` and ``hessian`` (that of
    Gauss and Newton) are by (log C, *log scales), None where they were not asked for.
    """

    log_C: float
    log_scale: Array
    loss: float
    sigmoids: tuple[tuple[float, float], ...]
    solutions: tuple[tuple[Solution, ...], ...]
    gradient: Array | None = None
    hessian: Array | None = None

    @property
    def point(self) -> Array:
        """(log C, *log scales): one scale if isotropic, else one an input."""
        return np.concatenate([[self.log_C], self.log_scale])


@dataclass(frozen=True, eq=False)
class Landscape:
    """The pooled held-out log-likelihood, each pair with its own sigmoid.

    Platt's targets keep the sigmoid and the likelihood finite where folds are separated, so that a
    perfect score on few points is not worth an infinity.
    """

    X: Array
    squares: Array  # squared distances between the rows
    folds: Sequence[Folds]
    loss: str = "hinge"
    threads: int = 1

    @classmethod
    def of(
        cls,
        X: Array,
        pairs: Sequence[Pair],
        loss: str = "hinge",
        most: int | None = None,
        threads: int = 1,
    ) -> Landscape:
        """The landscape of these pairs, on ``most`` folds of the first round or on all rounds.

        ``threads`` look at folds side by side, where these are large enough to gain by it; what
        they see does not depend on their number.
        """
        folds = [Folds.of(pair, X, most) for pair in pairs]
        return cls(X, squared_distances(X), folds, loss, threads)

    def on(self, pairs: Sequence[Pair], most: int) -> Landscape:
        """The same on ``most`` folds only."""
        return replace(self, folds=[Folds.of(pair, self.X, most) for pair in pairs])

    def gram(self, log_scale: Array) -> Array:
        """The kernel's matrix of all rows at a point."""
        if len(log_scale) > 1:
            return self.kernel(log_scale)(self.X)
        K = self.squares * (-0.5 * np.exp(-2.0 * log_scale[0]))
        return np.asarray(np.exp(K, out=K))

    @property
    def total(self) -> float:
        """The number of rows held out, each with its weight: what a mean divides by."""
        return self.overlap * sum(float(c.sum()) for folds in self.folds for c in folds.count)

    @property
    def overlap(self) -> float:
        """Each row is in (classes - 1) pairs and should count once."""
        k = len(self.folds)
        return 2.0 / (float(np.sqrt(8.0 * k + 1.0)) - 1.0)  # m (m + 1) / 2 pairs of m + 1 classes

    def kernel(self, log_scale: Array) -> RBF:
        """The Gaussian kernel at a point."""
        scale = np.exp(log_scale)
        return RBF(float(scale[0])) if len(scale) == 1 else RBF(tuple(scale.tolist()))

    def read(
        self, log_C: float, log_scale: Array, start: Reading | None = None, slopes: bool = True
    ) -> Reading:
        """Train every fold of every pair at one point. Warm from ``start`` if it is near."""
        K = self.gram(log_scale)
        C = float(np.exp(log_C))
        loss, sigmoids, solutions = 0.0, [], []
        p = 1 + len(log_scale)
        gradient, hessian = np.zeros(p), np.zeros((p, p))
        for i, folds in enumerate(self.folds):
            K_pair = folds.part(K)
            known = () if start is None else start.solutions[i]
            trained = self._train(K_pair, folds, C, known)
            f = np.concatenate(
                [s.decision[rows] for rows, s in zip(folds.held, trained, strict=True)]
            )
            y = np.concatenate([folds.y[rows] for rows in folds.held])
            count = np.concatenate(folds.count)
            fit = sigmoid_likelihood(f, y, count, "platt", one_sided=True)
            weight = float(count.sum()) * self.overlap
            loss -= fit.value * weight
            sigmoids.append((fit.slope, fit.offset))
            solutions.append(trained)
            if slopes:
                J = self._jacobian(folds, K_pair, trained, log_scale)
                gradient -= weight * (fit.gradient @ J)
                hessian += self.overlap * _curvature(J, f, fit.slope, fit.offset, count)
        return Reading(
            log_C,
            log_scale,
            loss,
            tuple(sigmoids),
            tuple(solutions),
            gradient if slopes else None,
            hessian if slopes else None,
        )

    def jacobians(self, reading: Reading) -> list[Array]:
        """d(held-out decisions)/d(log C, log scales) of each pair, in the order of its folds."""
        K = self.gram(reading.log_scale)
        return [
            self._jacobian(folds, folds.part(K), solutions, reading.log_scale)
            for folds, solutions in zip(self.folds, reading.solutions, strict=True)
        ]

    def held_out(self, reading: Reading, pairs: Sequence[Pair]) -> tuple[Array, ...]:
        """The decision value of every row of each pair, by a machine that did not see it."""
        decisions = []
        for pair, folds, solutions in zip(pairs, self.folds, reading.solutions, strict=True):
            f = np.full(len(pair.y), np.nan)
            for test, solution in zip(pair.tests, solutions, strict=False):  # the first round
                f[test] = solution.decision[folds.where[test]]
            decisions.append(f)
        return tuple(decisions)

    def _jacobian(
        self, folds: Folds, K: Array, trained: Sequence[Solution], log_scale: Array
    ) -> Array:
        """Of the held-out decisions of a pair whose Gram matrix is K, fold after fold."""
        X, common = self.X[folds.rows], None
        if len(log_scale) == 1:  # (dK/dlog l) beta = (K s / l^2) beta, s the squared distances
            slope = K * folds.part(self.squares)
            slope *= np.exp(-2.0 * log_scale[0])
            common = slope @ np.column_stack([s.beta for s in trained])

        def of_fold(j: int) -> Array:
            rows, s = folds.held[j], trained[j]
            system = ActiveSystem.of(K, s)
            if common is not None:
                return decision_jacobian(system, rows, common[:, j : j + 1])
            at = np.unique(np.concatenate([system.free, rows, np.array(s.ends, dtype=np.intp)]))
            tangent = np.zeros((len(K), len(log_scale)))
            tangent[at] = rbf_tangent(X, K, s.beta, log_scale, at)
            return decision_jacobian(system, rows, tangent)

        return np.concatenate(self._side_by_side(of_fold, range(len(trained)), len(K)))

    def _train(
        self, K: Array, folds: Folds, C: float, known: Sequence[Solution]
    ) -> tuple[Solution, ...]:
        """A machine a fold, warm from what is known or from the first of them."""

        def of_fold(j: int, other: Solution | None) -> Solution:
            start = known[j] if j < len(known) else other
            return train(K, folds.y, C, self.loss, True, folds.train[j], start)

        every = range(len(folds.train))
        if known:
            return tuple(self._side_by_side(lambda j: of_fold(j, known[0]), every, len(K)))
        first = of_fold(0, None)
        return first, *self._side_by_side(lambda j: of_fold(j, first), every[1:], len(K))

    def _side_by_side(self, task: Callable[[int], T], items: Sequence[int], rows: int) -> list[T]:
        """Do the same to each; on threads, where most of the work is done outside of Python."""
        if self.threads == 1 or rows < _MANY:
            return [task(item) for item in items]
        with ThreadPoolExecutor(self.threads) as pool:
            return list(pool.map(task, items))


def rbf_tangent(X: Array, K: Array, beta: Array, log_scale: Array, at: IntArray) -> Array:
    """(dK/dlog l) beta at some rows: one column for a common scale, one an input otherwise.

    dK_ij/dlog l_a = K_ij (x_ia - x_ja)^2 / l_a^2, so all columns are one matrix product.
    """
    S = X / np.exp(log_scale)
    used = np.flatnonzero(beta)
    b, T = beta[used], S[used]
    S, K = S[at], K[np.ix_(at, used)]
    d = X.shape[1]
    M = K @ np.column_stack([b, b[:, None] * T, b[:, None] * T * T])
    each = S * S * M[:, :1] - 2.0 * S * M[:, 1 : d + 1] + M[:, d + 1 :]
    return np.asarray(each if len(log_scale) > 1 else each.sum(axis=1, keepdims=True))


def _curvature(J: Array, f: Array, slope: float, offset: float, weights: Array) -> Array:
    """Gauss-Newton Hessian of the negative log-likelihood, the sigmoid's two parameters profiled.

    With W = slope^2 p (1-p) on f, a change of f that the sigmoid can follow, f -> a f + c, costs
    nothing: the directions f and 1 are projected out in the metric of W.
    """
    p = expit(-(slope * f + offset))
    root = abs(slope) * np.sqrt(weights * p * (1.0 - p))
    J = root[:, None] * J
    sigmoid = root[:, None] * np.column_stack([f, np.ones_like(f)])
    Q, R = np.linalg.qr(sigmoid)
    Q = Q[:, np.abs(R.diagonal()) > 1e-12 * max(float(np.abs(R).max()), 1e-300)]
    J = J - Q @ (Q.T @ J)
    return np.asarray(J.T @ J)
