"""Every regime, judged from beta and b alone in extended precision."""

from __future__ import annotations

import numpy as np
import pytest

from machine.exactness import judge
from machine.problems import LOSSES, PENALTIES, cloud, regimes, weightings
from svmselect.kernels import RBF
from svmselect.machine import solve

REGIMES = regimes()


@pytest.mark.parametrize("fit_intercept", [True, False], ids=["intercept", "no intercept"])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("name", REGIMES)
def test_every_regime_is_solved_exactly(name: str, loss: str, fit_intercept: bool) -> None:
    K, y = REGIMES[name]
    for kind, weights in weightings(y).items():
        for C in PENALTIES:
            s = solve(K, y, C, loss, fit_intercept, weights)
            found = judge(K, s)
            assert s.status.ok, (kind, C, s.status)
            assert found.exact, (kind, C, found)
            # what the record says of itself is what the judge finds, up to rounding
            assert abs(s.gap - abs(found.gap)) <= found.gap_limit, (kind, C)
            assert abs(s.kkt - found.kkt) <= found.kkt_limit, (kind, C)


@pytest.mark.parametrize("n", [2, 3, 5])
def test_a_handful_of_points(n: int) -> None:
    for name, (K, y) in regimes(n, seed=3).items():
        if len(set(y)) < 2:  # a pair of twins of one class
            continue
        for loss in LOSSES:
            for C in PENALTIES:
                s = solve(K, y, C, loss)
                assert s.status.ok, (name, loss, C)
                assert judge(K, s).exact, (name, loss, C)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_larger_problem_of_condition_1e16(loss: str) -> None:
    # Kobayashi & Komaki: columns of unit norm, sigma = 10, C up to 10^7.5
    X, y = cloud(120, seed=2, shift=0.3)
    K = RBF(10.0)(X / np.linalg.norm(X, axis=0))
    assert np.linalg.cond(K) > 1e15
    for C in (10**2.5, 10**5.0, 10**7.5):
        s = solve(K, y, C, loss)
        assert s.status.ok, C
        assert judge(K, s).exact, C


@pytest.mark.parametrize("C", [1e-8, 1e-6, 1e-4])
def test_the_sum_is_right_where_the_kernel_is_weak(C: float) -> None:
    # alpha is of size C and a difference of numbers of size 1 / K
    X, y = cloud(30)
    s = solve(1e-6 * RBF(1.0)(X), y, C, weights=weightings(y)["uneven"])
    assert abs(s.beta.sum()) <= 1e-14 * np.abs(s.beta).sum()


def test_impossible_scales_are_owned_up_to() -> None:
    # C K exceeds 1 / eps: what is not exact must not be called so
    X, y = cloud(8, seed=1)
    X = X * [1e-4, 1.0, 1e4]
    called = set()
    for loss in LOSSES:
        for fit_intercept in (True, False):
            for C in (1e-3, 1e8):
                s = solve(X @ X.T, y, C, loss, fit_intercept)
                assert np.all(np.isfinite(s.decision))
                called.add(s.status.name)
                assert s.status.ok or ("rescale the inputs" in s.status.advice)
                assert not s.status.ok or s.gap <= 1e-3
    assert called == {"ok", "inexact"}
