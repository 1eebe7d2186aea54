"""The algebra of a trained machine: against dense matrices, and against central differences."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from machine.problems import LOSSES, cloud, weightings
from svmselect.kernels import RBF, Constant, Kernel
from svmselect.machine import ActiveSystem, Solution, solve
from svmselect.types import Sensitivity

N = 24


@dataclass(frozen=True)
class Regime:
    """A problem, and what its solution must look like for the regime to deserve its name."""

    C: float
    loss: str
    fit_intercept: bool
    holds: Callable[[Solution], bool]
    kernel: Kernel = field(default_factory=lambda: Constant(1.3) * RBF(0.8))
    weights: np.ndarray = field(default_factory=lambda: np.ones(N))
    y: np.ndarray = field(default_factory=lambda: np.tile([1.0, -1.0], N // 2))
    shift: float = 0.0

    @property
    def X(self) -> np.ndarray:
        return cloud(N, seed=12)[0] + self.shift * self.y[:, None]

    def at(self, theta: np.ndarray) -> tuple[np.ndarray, Solution]:
        """Train at theta = (log C, *kernel.theta)."""
        K = self.kernel.at(theta[1:])(self.X)
        C = float(np.exp(theta[0]))
        return K, solve(K, self.y, C, self.loss, self.fit_intercept, self.weights)

    @property
    def theta(self) -> np.ndarray:
        return np.concatenate([[np.log(self.C)], self.kernel.theta])


HELD_OUT = np.where(np.arange(N) % 5 == 0, 0.0, 1.0)
UNEVEN = weightings(np.ones(N), seed=2)["uneven"]
RARE = np.where(np.arange(N) % 4 == 0, 1.0, -1.0)
HALF = np.where(np.arange(N) == 3, 0.5, 1.0)


def _mixed(s: Solution) -> bool:
    return len(s.free) > 2 and len(s.bound) > 2 and len(s.support) < np.sum(s.weights > 0)


def _all_bounded(s: Solution) -> bool:
    return not len(s.free) and len(s.bound) == N


def _none_bounded(s: Solution) -> bool:
    return len(s.free) > 2 and not len(s.bound)


def _one_free(s: Solution) -> bool:
    return len(s.free) == 1 and len(s.bound) > 2


def _none_free(s: Solution) -> bool:
    return not len(s.free) and len(s.ends) == 2 and 2 < len(s.bound) < N


WIDE, FLAT = Constant(1.3) * RBF(8.0), Constant(1.3) * RBF(20.0)
REGIMES = {
    "mixed": Regime(1.0, "hinge", True, _mixed),
    "mixed, no intercept": Regime(1.0, "hinge", False, _mixed),
    "mixed, uneven weights": Regime(1.5, "hinge", True, _mixed, weights=UNEVEN),
    "mixed, held-out rows": Regime(1.0, "hinge", True, _mixed, weights=HELD_OUT),
    "mixed, held-out rows, no intercept": Regime(1.0, "hinge", False, _mixed, weights=HELD_OUT),
    "all bounded": Regime(1e-2, "hinge", True, _all_bounded),
    "all bounded, no intercept": Regime(1e-2, "hinge", False, _all_bounded),
    "none bounded": Regime(1e4, "hinge", True, _none_bounded),
    "none bounded, no intercept": Regime(1e4, "hinge", False, _none_bounded),
    "none bounded, held-out rows": Regime(1e4, "hinge", True, _none_bounded, weights=HELD_OUT),
    "one free": Regime(1e-2, "hinge", True, _one_free, weights=HALF),
    "one free, wide": Regime(0.3, "hinge", True, _one_free, WIDE, weights=HALF),
    "none free": Regime(0.1, "hinge", True, _none_free, FLAT, y=RARE, shift=3.0),
    "none free, held-out rows": Regime(
        0.1, "hinge", True, _none_free, FLAT, weights=HELD_OUT, y=RARE, shift=3.0
    ),
    "squared": Regime(1.0, "squared_hinge", True, _none_bounded),
    "squared, no intercept": Regime(1.0, "squared_hinge", False, _none_bounded),
    "squared, weights": Regime(3.0, "squared_hinge", True, _none_bounded, weights=UNEVEN),
    "squared, held out": Regime(3.0, "squared_hinge", False, _none_bounded, weights=HELD_OUT),
    "squared, small C": Regime(1e-3, "squared_hinge", True, lambda s: len(s.free) == N),
    "squared, large C": Regime(1e4, "squared_hinge", True, _none_bounded),
    "logistic": Regime(1.0, "logistic", True, _none_bounded),
    "logistic, no intercept": Regime(1.0, "logistic", False, _none_bounded),
    "logistic, weights": Regime(3.0, "logistic", True, _none_bounded, weights=UNEVEN),
    "logistic, held out": Regime(3.0, "logistic", False, _none_bounded, weights=HELD_OUT),
    "logistic, small C": Regime(1e-3, "logistic", True, _none_bounded),
    "logistic, large C": Regime(1e3, "logistic", True, _none_bounded),
}


class Number:
    """phi(decision, beta, b, log C, K), nonlinear in each, and its partial derivatives."""

    def __init__(self, parts: str) -> None:
        rng = np.random.default_rng(0)
        self.parts = parts
        self.p, self.q, self.r = rng.normal(size=(3, N))
        self.G = rng.normal(size=(N, N))

    def value(self, K: np.ndarray, s: Solution) -> float:
        terms = {
            "decision": self.p @ np.tanh(s.decision),
            "beta": self.q @ s.beta + 0.5 * self.r @ (s.beta / s.C) ** 2,
            "intercept": np.sin(2.0 * s.intercept),
            "log C": np.log(s.C) ** 2,
            "gram": 0.5 * np.sum(self.G * K**2),
        }
        return float(sum(v for k, v in terms.items() if k in self.parts))

    def total(self, K: np.ndarray, s: Solution) -> Sensitivity:
        on_C = -(self.r @ (s.beta / s.C) ** 2) if "beta" in self.parts else 0.0
        on_C += 2.0 * np.log(s.C) if "log C" in self.parts else 0.0
        return ActiveSystem.of(K, s).pullback(
            decision=self.p / np.cosh(s.decision) ** 2 if "decision" in self.parts else None,
            beta=self.q + self.r * s.beta / s.C**2 if "beta" in self.parts else None,
            intercept=2.0 * np.cos(2.0 * s.intercept) if "intercept" in self.parts else 0.0,
            log_C=on_C,
            gram=self.G * K if "gram" in self.parts else None,
        )


PARTS = ("decision", "beta", "intercept", "log C", "gram", "decision beta intercept log C gram")


@pytest.mark.parametrize("name", REGIMES)
def test_pullback_is_the_derivative(name: str) -> None:
    regime = REGIMES[name]
    theta = regime.theta
    K, s = regime.at(theta)
    assert regime.holds(s), (s.free, s.bound, s.ends)
    step = 1e-5
    neighbours = []
    for i in range(len(theta)):
        e = np.eye(len(theta))[i] * step
        neighbours.append((regime.at(theta + e), regime.at(theta - e)))
        for _, t in neighbours[-1]:
            np.testing.assert_array_equal(t.free, s.free)
            assert t.ends == s.ends
    for parts in PARTS:
        phi = Number(parts)
        slope = phi.total(K, s)
        found = np.append(slope.log_C, regime.kernel.pullback(regime.X, slope.gram))
        expected = [(phi.value(*a) - phi.value(*b)) / (2 * step) for a, b in neighbours]
        scale = max(np.abs(expected).max(), 1e-3)
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6 * scale, err_msg=parts)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("fit_intercept", [True, False], ids=["intercept", "no intercept"])
def test_pullback_sees_each_entry_of_the_gram_matrix(loss: str, fit_intercept: bool) -> None:
    X, y = cloud(14, seed=13)
    K = RBF(0.8)(X) + 0.1 * np.eye(14)
    p = np.random.default_rng(0).normal(size=14)
    weights = np.where(np.arange(14) == 5, 0.0, 1.0)
    s = solve(K, y, 1.0, loss, fit_intercept, weights)
    gram = ActiveSystem.of(K, s).pullback(decision=p).gram
    step = 1e-5
    for i in range(14):
        for j in range(i + 1):
            E = np.zeros((14, 14))
            E[i, j] = E[j, i] = step
            up, down = (solve(K + e, y, 1.0, loss, fit_intercept, weights) for e in (E, -E))
            slope = p @ (up.decision - down.decision) / (2 * step)
            expected = gram[i, j] + gram[j, i] if i != j else gram[i, i]
            assert slope == pytest.approx(expected, abs=1e-6 * np.abs(gram).max()), (i, j)


@pytest.mark.parametrize("loss", LOSSES)
def test_duplicated_points_have_the_derivative_of_one_weighted_point(loss: str) -> None:
    # the dual is not unique, the machine is
    X, y = cloud(20, seed=14)
    X, y = np.vstack([X, X[:8]]), np.append(y, y[:8])
    kernel, C = RBF(0.9), 1.0
    p = np.random.default_rng(1).normal(size=28)

    def value(theta: np.ndarray) -> float:
        return float(p @ solve(kernel.at(theta[1:])(X), y, float(np.exp(theta[0])), loss).decision)

    K = kernel(X)
    slope = ActiveSystem.of(K, solve(K, y, C, loss)).pullback(decision=p)
    found = np.append(slope.log_C, kernel.pullback(X, slope.gram))
    theta = np.append(np.log(C), kernel.theta)
    steps = 1e-5 * np.eye(2)
    expected = [(value(theta + e) - value(theta - e)) / 2e-5 for e in steps]
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_with_no_free_vector_the_intercept_is_the_middle_of_its_interval() -> None:
    regime = REGIMES["none free"]
    K, s = regime.at(regime.theta)
    g, y = K @ s.beta, s.y
    # y f >= 1 where alpha = 0, y f <= 1 at the bound: an interval for b
    least = max([(y - g)[i] for i in range(N) if (s.alpha[i] == 0) == (y[i] > 0)])
    most = min([(y - g)[i] for i in range(N) if (s.alpha[i] == 0) != (y[i] > 0)])
    assert least < most
    assert s.intercept == pytest.approx(0.5 * (least + most), abs=1e-14)
    np.testing.assert_allclose(sorted((y - g)[list(s.ends)]), [least, most], atol=1e-14)


@pytest.mark.parametrize("name", [n for n in REGIMES if "all bounded" not in n])
def test_solve_logdet_and_inverse_against_dense(name: str) -> None:
    regime = REGIMES[name]
    K, s = regime.at(regime.theta)
    system = ActiveSystem.of(K, s)
    F, m = s.free, len(s.free)
    cost = s.C * s.weights[F]
    p = s.alpha[F] / cost
    D = {
        "hinge": np.zeros(m),
        "squared_hinge": 1.0 / cost,
        "logistic": 1.0 / np.where(cost * p * (1 - p) > 0, cost * p * (1 - p), 1.0),
    }[s.loss]
    np.testing.assert_array_equal(system.free, F)
    np.testing.assert_allclose(system.ridge, D, rtol=1e-12)
    M = K[np.ix_(F, F)] + np.diag(D)
    if s.fit_intercept and m:
        M = np.block([[M, np.ones((m, 1))], [np.ones((1, m)), np.zeros((1, 1))]])
    inverse = np.linalg.inv(M)
    rtol = 1e-14 * max(np.linalg.cond(M), 1e3) if m else 0.0
    rng = np.random.default_rng(0)
    rhs, total = rng.normal(size=(m, 3)), rng.normal(size=3)
    x, shift = system.solve(rhs, total)
    expected = inverse @ (np.vstack([rhs, total]) if len(M) > m else rhs)
    np.testing.assert_allclose(x, expected[:m], atol=rtol * np.abs(expected).max(initial=0.0))
    if len(M) > m:
        np.testing.assert_allclose(shift, expected[m], atol=rtol * np.abs(expected).max())
    else:
        np.testing.assert_array_equal(shift, np.zeros(3))
    one, border = system.solve(rhs[:, 0], total[0])
    np.testing.assert_allclose(one, x[:, 0], rtol=1e-12)
    np.testing.assert_allclose(border, shift[0], rtol=1e-12)
    size = np.abs(inverse).max(initial=0.0)
    np.testing.assert_allclose(system.inverse, inverse[:m, :m], atol=rtol * size)
    np.testing.assert_allclose(system.inverse_diagonal(), inverse.diagonal()[:m], atol=rtol * size)
    assert system.logdet() == pytest.approx(np.linalg.slogdet(M)[1], abs=1e-9)


def test_the_spans_are_those_of_leaving_one_out() -> None:
    # alpha_p / [M^-1]_pp = y_p (f(x_p) - f^-p(x_p)) where the sets stay as they are
    X, y = cloud(40, seed=15)
    K, C = RBF(0.6)(X), 20.0
    s = solve(K, y, C, "squared_hinge")
    change = s.alpha[s.free] / ActiveSystem.of(K, s).inverse_diagonal()
    seen = 0
    for p, expected in zip(s.free, change, strict=True):
        left = solve(K, y, C, "squared_hinge", weights=np.where(np.arange(40) == p, 0.0, 1.0))
        if np.array_equal(left.free, np.setdiff1d(s.free, [p])):
            # S^2 - 1/C: the ridge of the point itself is no part of f
            expected = expected - s.alpha[p] / C
            assert y[p] * (s.decision[p] - left.decision[p]) == pytest.approx(expected, rel=1e-9)
            seen += 1
    assert seen > 3


def test_a_singular_system_leaves_out_what_depends_on_the_rest() -> None:
    # an inexact solution may name dependent points free; the algebra must go on without them
    X, y = cloud(12, seed=16)
    X = np.vstack([X, X[:3]])
    y = np.append(y, y[:3])
    K = RBF(0.5)(X)
    s = solve(K, y, 1e3)
    none = np.empty(0, dtype=np.intp)
    s = replace(s, free=np.arange(15), bound=none, dependent=none)
    system = ActiveSystem.of(K, s)
    assert len(system.free) == 12
    assert np.all(np.isfinite(system.inverse))
    sensitivity = system.pullback(decision=np.ones(15))
    assert np.all(np.isfinite(sensitivity.gram))
