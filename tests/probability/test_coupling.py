"""Pairwise coupling against exact arithmetic and against what it must recover."""

from fractions import Fraction

import numpy as np
import pytest

from svmselect.probability import coupling
from svmselect.probability.coupling import SMALLEST, couple


def pairwise_of(p: np.ndarray) -> np.ndarray:
    """r_ij = p_i / (p_i + p_j)."""
    return p[:, :, None] / (p[:, :, None] + p[:, None, :])


def exact(r: list[list[Fraction]]) -> list[Fraction]:
    """Solve p_i (k - 1) = sum_j (p_i + p_j) r_ij, sum p = 1, in rationals."""
    k = len(r)
    A = [[Fraction(0)] * k + [Fraction(0)] for _ in range(k)]
    for i in range(k):
        for j in range(k):
            if i != j:
                A[i][i] += r[i][j] - 1
                A[i][j] += r[i][j]
    A[-1] = [Fraction(1)] * k + [Fraction(1)]
    for c in range(k):
        pivot = next(row for row in range(c, k) if A[row][c] != 0)
        A[c], A[pivot] = A[pivot], A[c]
        for row in range(k):
            if row != c and A[row][c] != 0:
                factor = A[row][c] / A[c][c]
                A[row] = [a - factor * b for a, b in zip(A[row], A[c], strict=True)]
    return [A[i][-1] / A[i][i] for i in range(k)]


@pytest.mark.parametrize("k", [2, 3, 5, 10, 25])
def test_consistent_pairs_give_their_probabilities_back(k):
    p = np.random.default_rng(k).dirichlet(np.full(k, 0.5), size=50) + 1e-6
    p /= p.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(couple(pairwise_of(p)), p, rtol=1e-12)


@pytest.mark.parametrize("k", [3, 4, 6])
def test_inconsistent_pairs_against_exact_arithmetic(k):
    rng = np.random.default_rng(k)
    r = np.full((8, k, k), 0.5)
    i, j = np.triu_indices(k, 1)
    # from 1e-12 to nearly one: probabilities far apart
    r[:, i, j] = 10.0 ** -rng.uniform(0.01, 12, size=(8, len(i)))
    r[:, j, i] = 1.0 - r[:, i, j]
    for row, found in zip(r, couple(r), strict=True):
        wanted = [float(p) for p in exact([[Fraction(v) for v in line] for line in row.tolist()])]
        # each entry to full relative precision, the smallest included
        np.testing.assert_allclose(found, wanted, rtol=1e-13 * k)


def test_certain_pairs_leave_every_class_possible():
    r = np.full((1, 3, 3), 0.5)
    r[0] = [[0.5, 1.0, 1.0], [0.0, 0.5, 1.0], [0.0, 0.0, 0.5]]
    p = couple(r)[0]
    assert p.argmax() == 0
    assert p[0] > 1 - 1e-12
    assert p[1] > 0
    assert 0 < p[2] < 10 * SMALLEST


def test_a_cycle_is_a_tie():
    r = np.array([[[0.5, 0.9, 0.1], [0.1, 0.5, 0.9], [0.9, 0.1, 0.5]]])
    np.testing.assert_allclose(couple(r), 1 / 3, rtol=1e-14)


def test_many_rows_in_blocks_are_as_each_for_itself(monkeypatch):
    r = np.random.default_rng(0).random((30, 6, 6))
    r /= r + r.transpose(0, 2, 1)
    monkeypatch.setattr(coupling, "_BLOCK", 7 * 36)
    together = couple(r)
    monkeypatch.setattr(coupling, "_BLOCK", 30 * 36)
    np.testing.assert_array_equal(together, couple(r))
    np.testing.assert_array_equal(together, np.concatenate([couple(one[None]) for one in r]))
