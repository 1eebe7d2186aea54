"""Properties of the optimum over random problems."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from machine.exactness import judge
from svmselect.kernels import RBF, Linear, Polynomial
from svmselect.machine import Solution, solve


@dataclass(frozen=True)
class Case:
    K: np.ndarray
    y: np.ndarray
    weights: np.ndarray
    C: float
    loss: str
    fit_intercept: bool

    def solve(self, **changed: object) -> Solution:
        return solve(**{**vars(self), **changed})  # type: ignore[arg-type]


@st.composite
def cases(
    draw: st.DrawFn, losses: tuple[str, ...] = ("hinge", "squared_hinge", "logistic")
) -> Case:
    n = draw(st.integers(2, 25))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    y = np.where(rng.random(n) < draw(st.sampled_from([0.1, 0.5])), 1.0, -1.0)
    y[:2] = 1.0, -1.0
    X = rng.normal(size=(n, draw(st.integers(1, 4))))
    X += draw(st.sampled_from([0.0, 0.5, 4.0])) * y[:, None]
    if draw(st.booleans()):
        X = np.round(X)  # coincident points, singular matrices
    kernel = draw(
        st.sampled_from(
            [RBF(0.3), RBF(1.0), RBF(50.0), Linear(), Polynomial(3), Polynomial(2, 0.1)]
        )
    )
    weights = draw(
        st.sampled_from([np.ones(n), rng.integers(0, 3, n).astype(float), rng.exponential(size=n)])
    )
    weights = np.where(np.arange(n) < 2, 1.0, weights)
    C = 10.0 ** draw(st.floats(-4, 6))
    return Case(kernel(X), y, weights, C, draw(st.sampled_from(losses)), draw(st.booleans()))


@settings(max_examples=300)
@given(cases())
def test_exact(case: Case) -> None:
    s = case.solve()
    assert s.status.ok
    assert judge(case.K, s).exact
    # the sets say what alpha says
    everyone = np.concatenate([s.free, s.bound, np.flatnonzero(s.alpha == 0)])
    if case.loss != "logistic":
        inside = (s.alpha > 0) & (s.alpha < case.C * case.weights if case.loss == "hinge" else True)
        np.testing.assert_array_equal(s.bound, np.flatnonzero((s.alpha > 0) & ~inside))
        assert set(np.flatnonzero(inside)) <= set(s.free)
        assert set(everyone) == set(range(len(case.y)))
    assert set(s.dependent) <= set(s.free)


def close(one: np.ndarray, two: np.ndarray, s: Solution) -> None:
    # K beta is unique but a flat optimum lets it move by the root of what rounding does to the
    # objective; where K is well conditioned it is far better
    size = 1.0 + np.abs(one).max()
    np.testing.assert_allclose(one, two, atol=size * max(1e-8, 20 * np.sqrt(s.rounding)))


@given(cases(), st.integers(0, 2**32 - 1))
def test_the_order_of_the_points_does_not_matter(case: Case, seed: int) -> None:
    s = case.solve()
    p = np.random.default_rng(seed).permutation(len(case.y))
    t = case.solve(K=case.K[np.ix_(p, p)], y=case.y[p], weights=case.weights[p])
    assert t.objective == pytest.approx(s.objective, rel=2e-9 + 200 * s.rounding)
    close(case.K @ s.beta, (case.K[:, p] @ t.beta), s)


@given(cases())
def test_opposite_labels_give_the_opposite_machine(case: Case) -> None:
    s, t = case.solve(), case.solve(y=-case.y)
    assert t.objective == pytest.approx(s.objective, rel=2e-9 + 200 * s.rounding)
    close(case.K @ s.beta, -case.K @ t.beta, s)
    if len(s.free) and s.rounding < 1e-13 and case.loss != "hinge":
        close(s.decision, -t.decision, s)


@given(cases(("hinge", "squared_hinge")), st.sampled_from([0.25, 8.0, 1024.0]))
def test_penalty_and_kernel_scale_trade(case: Case, t: float) -> None:
    # 1/2 beta'K beta + C sum: with C -> tC, K -> K/t and beta -> t beta all of it is t times itself
    s = case.solve()
    u = case.solve(K=case.K / t, C=case.C * t)
    assert u.objective == pytest.approx(t * s.objective, rel=2e-9 + 200 * s.rounding)
    close(case.K @ s.beta, case.K / t @ u.beta, s)


@given(cases(), st.sampled_from([0.5, 3.0]))
def test_weights_scale_as_the_penalty_does(case: Case, t: float) -> None:
    s = case.solve()
    u = case.solve(weights=case.weights * t, C=case.C / t)
    assert u.objective == pytest.approx(s.objective, rel=2e-9 + 200 * s.rounding)


@given(cases())
def test_with_an_intercept_a_constant_in_the_kernel_is_idle(case: Case) -> None:
    s = case.solve(fit_intercept=True)
    t = case.solve(K=case.K + 1.7, fit_intercept=True)
    assert t.objective == pytest.approx(s.objective, rel=2e-9 + 200 * (s.rounding + t.rounding))


@given(cases())
def test_the_objective_grows_with_the_penalty(case: Case) -> None:
    s, t = case.solve(), case.solve(C=2.0 * case.C)
    assert s.objective <= t.objective * (1 + 1e-9 + 100 * t.rounding)
    assert t.objective <= 2.0 * s.objective * (1 + 1e-9 + 100 * s.rounding)
