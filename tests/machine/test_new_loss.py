"""A new loss is one class: trained, differentiated and left out with nothing else written."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from machine.problems import cloud
from svmselect.kernels import RBF
from svmselect.machine import ActiveSystem, Solution, solve
from svmselect.machine.forward import decision_jacobian
from svmselect.machine.left_out import left_out
from svmselect.machine.losses import Loss, available, get_loss
from svmselect.machine.primal import fit_linear
from svmselect.posterior.ep import expectation_propagation
from svmselect.types import Array

DELTA = 0.5


@dataclass(frozen=True)
class Huber(Loss):
    """The hinge with a parabola between 1 - DELTA and 1: points at a bound, and a ridge."""

    name = "huber"
    quadratic = True
    curved = True
    smooth = False
    reaches_bound = True

    def value(self, z: Array) -> Array:
        inside = np.clip(1.0 - z, 0.0, DELTA)
        return np.asarray(inside**2 / (2.0 * DELTA) + np.maximum(1.0 - DELTA - z, 0.0))

    def slope(self, z: Array) -> Array:
        return np.clip((1.0 - z) / DELTA, 0.0, 1.0)

    def curvature(self, z: Array) -> Array:
        return ((z > 1.0 - DELTA) & (z < 1.0)) / DELTA

    def bound(self, C: Array) -> Array:
        return C

    def ridge(self, C: Array, alpha: Array) -> Array:
        return np.divide(DELTA, C, out=np.zeros_like(C), where=C > 0)

    def gap(self, z: Array, alpha: Array, C: Array) -> Array:
        return C * self.value(z) - alpha * (1.0 - z) + 0.5 * self.ridge(C, alpha) * alpha**2

    def log_kappa(self, C: float) -> tuple[float, float]:
        raise NotImplementedError


@dataclass(frozen=True)
class Hyperbola(Loss):
    """((4 + z^2)^1/2 - z) / 2: smooth everywhere."""

    name = "hyperbola"
    quadratic = False
    curved = True
    smooth = True
    reaches_bound = False

    def value(self, z: Array) -> Array:
        return 0.5 * (np.hypot(2.0, z) - z)

    def slope(self, z: Array) -> Array:
        return 0.5 * (1.0 - z / np.hypot(2.0, z))

    def curvature(self, z: Array) -> Array:
        return 2.0 / np.hypot(2.0, z) ** 3

    def bound(self, C: Array) -> Array:
        return C

    def ridge(self, C: Array, alpha: Array) -> Array:
        a = alpha / C
        return 1.0 / (2.0 * C * (a * (1.0 - a)) ** 1.5)

    def gap(self, z: Array, alpha: Array, C: Array) -> Array:
        a = np.clip(np.divide(alpha, C, out=np.zeros_like(C), where=C > 0), 0.0, 1.0)
        return C * (self.value(z) - 2.0 * np.sqrt(a * (1.0 - a)) + a * z)

    def log_kappa(self, C: float) -> tuple[float, float]:
        raise NotImplementedError


@pytest.fixture(params=[Huber(), Hyperbola()], ids=lambda loss: loss.name)
def loss(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setitem(available(), request.param.name, request.param)
    return str(request.param.name)


def machine(loss: str, theta: Array, fit_intercept: bool) -> tuple[Array, Solution]:
    X, y = cloud(25)
    K = RBF(np.exp(theta[1]))(X)
    weights = np.where(np.arange(25) == 4, 0.0, 1.0)
    return K, solve(K, y, float(np.exp(theta[0])), loss, fit_intercept, weights)


HERE = np.array([0.4, 0.2])


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_it_is_trained(loss: str, fit_intercept: bool) -> None:
    _, s = machine(loss, HERE, fit_intercept)
    assert s.status.ok
    assert s.gap < 1e-9
    there = s.weights > 0
    np.testing.assert_allclose(s.alpha[there], s.C * get_loss(loss).slope(s.margin[there]))
    assert len(s.free) > 0
    assert (len(s.bound) > 0) == get_loss(loss).reaches_bound


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_it_is_differentiated(loss: str, fit_intercept: bool) -> None:
    K, s = machine(loss, HERE, fit_intercept)
    h = 1e-5
    moved = [[machine(loss, HERE + t * axis, fit_intercept) for t in (h, -h)] for axis in np.eye(2)]
    expected = np.column_stack(
        [(up.decision - down.decision) / (2 * h) for (_, up), (_, down) in moved]
    )
    slope = (moved[1][0][0] - moved[1][1][0]) / (2 * h)  # of K
    system = ActiveSystem.of(K, s)
    found = decision_jacobian(system, np.arange(len(K)), (slope @ s.beta)[:, None])
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7)
    on_decision = np.cos(np.arange(len(K)))
    total = system.pullback(decision=on_decision)
    by_kernel = float(np.sum((total.left @ total.right.T) * slope))
    np.testing.assert_allclose([total.log_C, by_kernel], on_decision @ expected, rtol=1e-6)


def test_its_points_are_left_out(loss: str) -> None:
    K, s = machine(loss, HERE, True)
    rows = np.flatnonzero(s.weights > 0)
    margins = left_out(K, s, rows)
    if not get_loss(loss).quadratic:
        assert np.isnan(margins).all()  # each is to be trained
        return
    for i, margin in zip(rows, margins, strict=True):
        less = np.where(np.arange(len(K)) == i, 0.0, s.weights)
        alone = solve(K, s.y, s.C, loss, True, less)
        assert margin == pytest.approx(alone.margin[i], abs=1e-8)


def test_it_is_trained_on_features(loss: str) -> None:
    X, y = cloud(40)
    found = fit_linear(X, y, np.full(len(y), 0.7), loss)
    exact = solve(X @ X.T, y, 0.7, loss)
    assert found.objective == pytest.approx(exact.objective, rel=1e-6)


def test_without_a_row_in_the_table_it_has_no_posterior(loss: str) -> None:
    with pytest.raises(ValueError, match=f"loss='{loss}' has no posterior here; one of 'hinge'"):
        expectation_propagation(np.eye(4), np.array([-1.0, 1.0, 1.0, -1.0]), 1.0, loss)
