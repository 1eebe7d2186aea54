"""Fitted machines of all pairs of classes: training, decision values, sigmoids, probabilities."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from scipy import sparse

from svmselect.clock import look
from svmselect.kernels import Kernel
from svmselect.kernels.expansion import Expansion
from svmselect.kernels.sparse import SparseExpansion
from svmselect.parallel import on_threads
from svmselect.probability import sigmoid_probability
from svmselect.probability.coupling import couple
from svmselect.probability.recalibration import Recalibration
from svmselect.types import Array, IntArray

BLOCK = 2**17
"""Numbers that a block of rows or its decisions may have when predicting: 1 MiB, for the cache."""
TABLES = 2**20
"""Probabilities of pairs that are made at once: 8 MiB."""


@dataclass(frozen=True, eq=False)
class Machines:
    """f_p(x) = sum_s coefficients[s, p] k_p(x, vectors_s) + intercepts[p], one a pair of classes.

    Pairs come as (0, 1), (0, 2), ..., (1, 2), ...; f_p > 0 speaks for the later class, with
    probability 1 / (1 + exp(slopes[p] f_p)), slopes < 0. ``kernels`` are one for all or one a pair.
    Class probabilities are coupled from those, then recalibrated.
    """

    kernels: tuple[Kernel, ...]
    vectors: Any  # an array, or a sparse matrix
    coefficients: Array
    intercepts: Array
    slopes: Array
    n_classes: int
    recalibration: Recalibration | None = None

    @cached_property
    def _expansions(self) -> tuple[tuple[slice, Expansion | SparseExpansion], ...]:
        """The pairs that share a kernel, and their functions without intercepts."""
        make = SparseExpansion if sparse.issparse(self.vectors) else Expansion
        if len(self.kernels) == 1:
            pairs = slice(0, len(self.intercepts))
            return ((pairs, make(self.kernels[0], self.vectors, self.coefficients)),)
        made = []
        for p, kernel in enumerate(self.kernels):
            used, pair = np.flatnonzero(self.coefficients[:, p]), slice(p, p + 1)
            vectors, coefficients = self.vectors[used], self.coefficients[used, pair]
            made.append((pair, make(kernel, vectors, coefficients)))
        return tuple(made)

    def decisions(self, X: Array) -> Array:
        """All pairs' decision values of standardised rows, (n, pairs).

        A value too small to move its probability off 1/2 is zero, so that the sign of the decision
        and the larger probability are always one answer.
        """
        f = np.empty((X.shape[0], len(self.intercepts)))
        for pairs, expansion in self._expansions:
            f[:, pairs] = expansion(X)
        f += self.intercepts
        f[sigmoid_probability(f, self.slopes, 0.0) == 0.5] = 0.0
        return np.asarray(f)

    def probabilities(self, decisions: Array) -> Array:
        """Class probabilities, (n, classes), for these decision values."""
        coupled = class_probabilities(decisions, self.slopes, self.n_classes)
        return coupled if self.recalibration is None else self.recalibration(coupled)

    def in_blocks(self, X: Any, scaled: Callable[[Any], Array], n_jobs: int | None = None) -> Array:
        """``decisions`` of many rows, in blocks of bounded memory; ``scaled`` prepares a block."""
        widest = max(X.shape[1], len(self.intercepts))
        return blockwise(self.decisions, X, scaled, BLOCK // widest, n_jobs)


def blockwise(
    decisions: Callable[[Array], Array],
    X: Any,
    scaled: Callable[[Any], Array],
    size: int,
    n_jobs: int | None = None,
) -> Array:
    """Decisions of many rows, so many at a time, on threads."""
    n, size = X.shape[0], max(1, size)
    if n <= size:
        return decisions(scaled(X))
    starts = range(0, n, size)
    parts = on_threads(lambda s: decisions(scaled(X[s : s + size])), starts, n_jobs)
    return np.concatenate(parts)


def ready(X: Any, width: int) -> bool:
    """Whether X is rows to predict as they stand, so that no further check is needed.

    scikit-learn's checks take longer than the prediction of a single row.
    """
    plain = type(X) is np.ndarray and X.dtype == np.float64 and X.ndim == 2 and len(X) > 0
    return plain and X.shape[1] == width and bool(np.isfinite(X).all())


def class_probabilities(decisions: Array, slopes: Array, k: int) -> Array:
    """Probabilities of k classes: those of the one pair, or coupled over all pairs."""
    size = max(1, TABLES // k**2)
    if k > 2 and len(decisions) > size:
        parts = range(0, len(decisions), size)
        return np.concatenate(
            [class_probabilities(decisions[at : at + size], slopes, k) for at in parts]
        )
    look()
    later = sigmoid_probability(decisions, slopes, 0.0)
    earlier = sigmoid_probability(decisions, -slopes, 0.0)
    if k == 2:
        return np.hstack([earlier, later])
    pairwise = np.full((len(later), k, k), 0.5)
    i, j = np.triu_indices(k, 1)
    pairwise[:, j, i], pairwise[:, i, j] = later, earlier
    return couple(pairwise)


def to_dual_coef(coefficients: Array, member: IntArray, n_classes: int) -> Array:
    """Pack coefficients, (vectors, pairs), as scikit-learn does: (classes - 1, vectors).

    Row r of a vector of class i is its coefficient against the r-th of the other classes. For three
    classes or more f > 0 speaks for the *earlier* class there.
    """
    if n_classes == 2:
        return np.ascontiguousarray(coefficients.T)
    packed = np.zeros((n_classes - 1, len(member)))
    for p, (i, j) in enumerate(combinations(range(n_classes), 2)):
        packed[j - 1, member == i] = -coefficients[member == i, p]
        packed[i, member == j] = -coefficients[member == j, p]
    return packed


def from_dual_coef(packed: Array, member: IntArray, n_classes: int) -> Array:
    """Undo ``to_dual_coef``."""
    if n_classes == 2:
        return np.ascontiguousarray(packed.T)
    pairs = list(combinations(range(n_classes), 2))
    coefficients = np.zeros((len(member), len(pairs)))
    for p, (i, j) in enumerate(pairs):
        coefficients[member == i, p] = -packed[j - 1, member == i]
        coefficients[member == j, p] = -packed[i, member == j]
    return coefficients
