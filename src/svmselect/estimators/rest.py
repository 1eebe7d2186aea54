"""Fitted machines of one class against the rest each, whose decision values are logits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from scipy.special import softmax

from svmselect.estimators.machines import BLOCK, blockwise
from svmselect.kernels import Kernel
from svmselect.kernels.expansion import Expansion
from svmselect.types import Array


@dataclass(frozen=True, eq=False)
class Rest:
    """logit_c(x) = sum_s coefficients[s, c] k(x, vectors_s) + intercepts[c].

    To the outside it speaks in pairs of classes, as ``Machines`` do: f of a pair is the difference
    of two logits, above zero for the later class.
    """

    kernel: Kernel
    vectors: Array
    coefficients: Array
    intercepts: Array

    @cached_property
    def _expansion(self) -> Expansion:
        return Expansion(self.kernel, self.vectors, self.coefficients)

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return len(self.intercepts)

    @property
    def slopes(self) -> Array:
        """Differences of logits go through the plain logistic function."""
        k = self.n_classes
        return np.full(k * (k - 1) // 2, -1.0)

    def decisions(self, X: Array) -> Array:
        """All pairs' decision values of standardised rows, (n, pairs)."""
        logits = self._expansion(X) + self.intercepts
        i, j = np.array(list(combinations(range(self.n_classes), 2))).T
        return np.asarray(logits[:, j] - logits[:, i])

    def probabilities(self, decisions: Array) -> Array:
        """Class probabilities, (n, classes), for these decision values."""
        k = self.n_classes
        first = decisions[:, : k - 1]  # against the first class
        return np.asarray(softmax(np.hstack([np.zeros((len(first), 1)), first]), axis=1))

    def in_blocks(self, X: Any, scaled: Callable[[Any], Array], n_jobs: int | None = None) -> Array:
        """``decisions`` of many rows, in blocks of bounded memory; ``scaled`` prepares a block."""
        widest = max(X.shape[1], len(self.slopes))
        return blockwise(self.decisions, X, scaled, BLOCK // widest, n_jobs)


def against_rest(dual_coef: Array, k: int) -> bool:
    """Whether coefficients are one row a class; those of pairs are one less."""
    return k > 2 and len(dual_coef) == k
