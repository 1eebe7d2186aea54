"""Products in twice the working precision, against exact fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from svmselect.machine import doubled
from svmselect.machine.doubled import doubled_dot, doubled_product


def exact(a: np.ndarray, b: np.ndarray) -> float:
    terms = zip(a.tolist(), b.tolist(), strict=True)
    return float(sum((Fraction(x) * Fraction(z) for x, z in terms), Fraction(0)))


@pytest.mark.parametrize("n", [1, 2, 3, 7, 16, 101])
def test_what_cancels_keeps_its_digits(n: int) -> None:
    rng = np.random.default_rng(n)
    A = rng.normal(size=(5, n)) * 10.0 ** rng.integers(0, 12, (5, n))
    b = rng.normal(size=n)
    if n > 1:
        A[:, -1] = -(A[:, :-1] @ b[:-1]) / b[-1] + rng.normal(size=5) * 1e-3
    expected = np.array([exact(row, b) for row in A])
    np.testing.assert_allclose(doubled_product(A, b), expected, rtol=1e-14)
    assert doubled_dot(A[0], b) == pytest.approx(expected[0], rel=1e-14)
    assert n < 7 or np.abs(A @ b / expected - 1.0).max() > 1e-9  # which is why


def test_zeros_are_left_out_and_rows_come_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    K, beta = rng.normal(size=(40, 40)), np.where(rng.random(40) < 0.5, 0.0, 1.0)
    whole = doubled_product(K, beta)
    monkeypatch.setattr(doubled, "_ENTRIES", 50)
    np.testing.assert_array_equal(doubled_product(K, beta), whole)
    np.testing.assert_allclose(whole, K @ beta, atol=1e-14)
    np.testing.assert_array_equal(doubled_product(K, np.zeros(40)), np.zeros(40))
    assert doubled_dot(np.empty(0), np.empty(0)) == 0.0
