"""A kernel as explicit features, by landmarks: k(x, z) ~ phi(x) phi(z)', in bounded memory.

phi(x) = k(x, landmarks) U v^-1/2 with U diag(v) U' the landmarks' Gram matrix (``nystrom.py``). A
linear machine theta on phi is a kernel machine whose support vectors are the landmarks, with
coefficients U v^-1/2 theta.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from svmselect.data import Pair
from svmselect.kernels import Kernel
from svmselect.kernels.nystrom import Nystrom
from svmselect.machine.primal import Features
from svmselect.types import Array, IntArray

_BLOCK = 2**21  # kernel values at a time: 16 MiB


@dataclass(frozen=True, eq=False)
class FeatureMap:
    """phi for one kernel and given landmarks, ``vectors``."""

    kernel: Kernel
    vectors: Array
    nystrom: Nystrom

    @classmethod
    def of(cls, kernel: Kernel, vectors: Array) -> FeatureMap:
        """Decompose the landmarks' Gram matrix. O(m^3)."""
        m = len(vectors)
        return cls(kernel, vectors, Nystrom.of(kernel(vectors), np.arange(m), m))

    def __call__(self, X: Array, single: bool = False) -> Features:
        """Give the features of rows, block by block. O(n m (d + m))."""
        dtype = np.float32 if single else np.float64
        Phi = np.empty((len(X), self.nystrom.components), dtype=dtype)
        size = max(1, _BLOCK // len(self.vectors))
        for at in range(0, len(X), size):
            rows = slice(at, at + size)
            Phi[rows] = self.nystrom.features(self.kernel(X[rows], self.vectors))
        return Phi

    def coefficients(self, theta: Array) -> Array:
        """Give the weights of the landmarks in f(x) = sum_s coefficients_s k(x, vectors_s)."""
        return self.nystrom.features(np.eye(len(self.vectors))) @ theta


def basis_of(kernel: Kernel, vectors: Array, single: bool = False) -> Array:
    """Give U v^-1/2 of the landmarks' Gram matrix, without what rounding would drown. O(m^3)."""
    values, U = np.linalg.eigh(kernel(vectors))
    # single precision rounds the features by 1e-7 of the largest
    least = 1e-6 if single else 1e-12
    kept = np.flatnonzero(values > least * values[-1])[::-1]
    return np.asarray(U[:, kept] / np.sqrt(values[kept]))


def landmark_count(n: int, wanted: int, budget: int) -> tuple[int, bool]:
    """How many landmarks n rows can have within ``budget`` bytes, and whether in single precision.

    Double precision while it fits, single beyond, fewer landmarks beyond that.
    """
    m = min(wanted, n)
    single = 8 * n * m > budget
    return (max(1, min(m, budget // (4 * n))) if single else m), single


def draw_landmarks(pairs: Sequence[Pair], m: int, rng: np.random.Generator) -> tuple[IntArray, ...]:
    """Rows of X that serve each pair as landmarks, about m a pair, drawn class by class.

    A row that serves one pair of its class serves them all, so that the vectors of a fitted model
    are few; the classes of a pair have landmarks in proportion to their rows.
    """
    largest = max(len(pair.rows) for pair in pairs)
    rank: dict[int, IntArray] = {}  # by the first row of a class: its rows in random order
    chosen = []
    for pair in pairs:
        parts = []
        for sign in (-1.0, 1.0):
            rows = pair.rows[pair.y == sign]
            key = int(rows[0])
            if key not in rank:
                rank[key] = rng.permutation(rows)
            count = round(m * len(rows) / largest)
            parts.append(rank[key][: min(max(count, 10), len(rows))])
        chosen.append(np.sort(np.concatenate(parts)))
    return tuple(chosen)
