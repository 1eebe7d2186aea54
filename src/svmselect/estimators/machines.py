"""Fitted machines of all pairs of classes: training, decision values, sigmoids, probabilities."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from svmselect.data import Pair
from svmselect.kernels import Kernel
from svmselect.machine import Solution
from svmselect.machine.train import train
from svmselect.probability import sigmoid_probability
from svmselect.probability.coupling import couple
from svmselect.probability.temperature import sharpened
from svmselect.types import Array, IntArray

BLOCK = 2**22
"""Kernel values held at a time when predicting: 32 MiB."""


@dataclass(frozen=True, eq=False)
class Machines:
    """f_p(x) = sum_s coefficients[s, p] k_p(x, vectors_s) + intercepts[p], one a pair of classes.

    Pairs come as (0, 1), (0, 2), ..., (1, 2), ...; f_p > 0 speaks for the later class, with
    probability 1 / (1 + exp(slopes[p] f_p)), slopes < 0. ``kernels`` are one for all or one a pair.
    Class probabilities are coupled from those, then raised to the power ``sharpness``.
    """

    kernels: tuple[Kernel, ...]
    vectors: Array
    coefficients: Array
    intercepts: Array
    slopes: Array
    n_classes: int
    sharpness: float = 1.0

    def decisions(self, X: Array) -> Array:
        """All pairs' decision values of standardised rows, (n, pairs).

        A value too small to move its probability off 1/2 is zero, so that the sign of the decision
        and the larger probability are always one answer.
        """
        if len(self.kernels) == 1:
            f = self.kernels[0](X, self.vectors) @ self.coefficients
        else:
            f = np.empty((len(X), len(self.intercepts)))
            for p, kernel in enumerate(self.kernels):
                used = np.flatnonzero(self.coefficients[:, p])
                f[:, p] = kernel(X, self.vectors[used]) @ self.coefficients[used, p]
        f += self.intercepts
        f[sigmoid_probability(f, self.slopes, 0.0) == 0.5] = 0.0
        return np.asarray(f)

    def probabilities(self, decisions: Array) -> Array:
        """Class probabilities, (n, classes), for these decision values."""
        coupled = class_probabilities(decisions, self.slopes, self.n_classes)
        return sharpened(coupled, self.sharpness)

    def in_blocks(self, X: Any, scaled: Callable[[Any], Array]) -> Array:
        """``decisions`` of many rows, in blocks of bounded memory; ``scaled`` prepares a block."""
        return blockwise(self.decisions, X, scaled, len(self.vectors))


def blockwise(
    decisions: Callable[[Array], Array], X: Any, scaled: Callable[[Any], Array], vectors: int
) -> Array:
    """Decisions of many rows that are compared with so many vectors."""
    size = max(1, BLOCK // max(vectors, X.shape[1], 1))
    parts = [decisions(scaled(X[s : s + size])) for s in range(0, X.shape[0], size)]
    return np.concatenate(parts)


def class_probabilities(decisions: Array, slopes: Array, k: int) -> Array:
    """Probabilities of k classes: those of the one pair, or coupled over all pairs."""
    later = sigmoid_probability(decisions, slopes, 0.0)
    earlier = sigmoid_probability(decisions, -slopes, 0.0)
    if k == 2:
        return np.hstack([earlier, later])
    pairwise = np.full((len(later), k, k), 0.5)
    for p, (i, j) in enumerate(combinations(range(k), 2)):
        pairwise[:, j, i], pairwise[:, i, j] = later[:, p], earlier[:, p]
    return couple(pairwise)


def train_pair(
    X: Array, pair: Pair, kernel: Kernel, C: float, loss: str, fit_intercept: bool
) -> Solution:
    """The machine of one pair, on all its rows. O(n^2 d), then the solver's."""
    return train(kernel(X[pair.rows]), pair.y, C, loss, fit_intercept, pair.weights)


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
