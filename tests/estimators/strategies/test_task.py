"""The likelihood as the strategy sees it: against retraining by hand and central differences."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import minimize

from estimators.strategies.landscape import Landscape, prior_at
from svmselect import AutoSVC
from svmselect.data import Pair, stratified_folds
from svmselect.estimators.strategies import task
from svmselect.kernels import RBF
from svmselect.kernels.tangents import directional
from svmselect.machine import ActiveSystem, solve
from svmselect.machine.forward import decision_jacobian
from svmselect.probability import fit_sigmoid, sigmoid_probability
from svmselect.types import Array


def tangent_of(X: Array, kernel: RBF, beta: Array) -> Array:
    """(dK/dtheta) beta at all rows."""
    everyone = np.arange(len(X))
    return directional(kernel.tangents(X, kernel(X), {}), everyone, everyone, beta)


def problem(n: int = 60, d: int = 3, seed: int = 0) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.where(X[:, 0] - 0.5 * X[:, 1] + 0.8 * rng.normal(size=n) > 0, 1.0, -1.0)
    return X, y


def whole(y: Array, k: int = 4) -> Pair:
    return Pair(np.arange(len(y)), y, np.ones(len(y)), stratified_folds(y, k, 0))


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("C", [1e-3, 1.0, 100.0])
def test_decision_jacobian(loss: str, intercept: bool, C: float) -> None:
    X, y = problem()
    weights = np.ones(len(y))
    weights[5:15], weights[20:30] = 0.0, 2.5
    scale = np.array([1.0, 2.0, 1.5])
    rows = np.arange(0, 12)

    def decision(point: Array) -> Array:
        K = RBF(tuple(np.exp(point[1:])))(X)
        return solve(K, y, np.exp(point[0]), loss, intercept, weights).decision[rows]

    point = np.concatenate([[np.log(C)], np.log(scale)])
    K = RBF(tuple(scale))(X)
    solution = solve(K, y, C, loss, intercept, weights)
    tangent = tangent_of(X, RBF(tuple(scale)), solution.beta)
    J = decision_jacobian(ActiveSystem.of(K, solution), rows, tangent)
    h = 1e-5
    numeric = np.column_stack(
        [(decision(point + h * e) - decision(point - h * e)) / (2 * h) for e in np.eye(4)]
    )
    np.testing.assert_allclose(J, numeric, rtol=1e-6, atol=1e-6 * np.abs(numeric).max())


def test_decision_jacobian_without_a_free_vector() -> None:
    X, y = problem()
    y = np.where(np.arange(len(y)) % 2, 1.0, -1.0)
    log_scale = np.log([3.0])

    def decision(point: Array) -> Array:
        K = RBF(float(np.exp(point[1])))(X)
        return solve(K, y, np.exp(point[0])).decision

    point = np.array([np.log(1e-3), log_scale[0]])
    K = RBF(3.0)(X)
    solution = solve(K, y, 1e-3)
    assert not len(solution.free)
    tangent = tangent_of(X, RBF(3.0), solution.beta)
    J = decision_jacobian(ActiveSystem.of(K, solution), np.arange(len(y)), tangent)
    h = 1e-5
    numeric = np.column_stack(
        [(decision(point + h * e) - decision(point - h * e)) / (2 * h) for e in np.eye(2)]
    )
    np.testing.assert_allclose(J, numeric, rtol=1e-6, atol=1e-7 * np.abs(numeric).max())


@pytest.mark.parametrize("scale", [[0.7], [0.7, 1.3, 2.0]])
def test_tangent_against_the_kernel(scale: list[float]) -> None:
    X, _ = problem()
    beta = np.random.default_rng(1).normal(size=len(X))
    kernel = RBF(scale[0] if len(scale) == 1 else tuple(scale))
    tangent = tangent_of(X, kernel, beta)
    # against pullback: u'(dK)beta for a random u
    u = np.random.default_rng(2).normal(size=len(X))
    np.testing.assert_allclose(u @ tangent, kernel.pullback(X, np.outer(u, beta)), rtol=1e-11)


def test_reading_is_the_pooled_likelihood() -> None:
    X, y = problem()
    pair = whole(y)
    landscape = Landscape.of(X, [pair])
    reading = landscape.read(0.5, np.log([1.5]))
    f = np.empty(len(y))
    K = RBF(1.5)(X)
    for test in pair.tests:
        train = np.setdiff1d(np.arange(len(y)), test)
        s = solve(K[np.ix_(train, train)], y[train], np.exp(0.5))
        f[test] = K[np.ix_(test, train)] @ s.beta + s.intercept
    (one,) = unfolded = landscape.unfold(reading)
    np.testing.assert_allclose(landscape.task.held_out(unfolded)[0], f, atol=1e-10)
    slope, offset = fit_sigmoid(f, y, targets="platt")
    np.testing.assert_allclose((one.fit.slope, one.fit.offset), (slope, offset), rtol=1e-6)
    p = sigmoid_probability(f, slope, offset)
    plus = int((y > 0).sum())
    t = np.where(y > 0, (plus + 1) / (plus + 2), 1 / (len(y) - plus + 2))
    np.testing.assert_allclose(reading.loss, -np.sum(t * np.log(p) + (1 - t) * np.log(1 - p)))


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
@pytest.mark.parametrize("log_scale", [[0.3], [0.3, 0.6, 0.1]])
def test_gradient(loss: str, log_scale: list[float]) -> None:
    X, y = problem()
    weights = np.where(np.arange(len(y)) % 3, 1.0, 2.0)
    pair = Pair(np.arange(len(y)), y, weights, stratified_folds(y, 3, 1))
    landscape = Landscape.of(X, [pair], loss)
    point = np.array([0.7, *log_scale])
    reading = landscape.read(point[0], point[1:])

    def value(p: Array) -> float:
        return landscape.read(p[0], p[1:], slopes=False).loss

    h = 1e-5
    numeric = [(value(point + h * e) - value(point - h * e)) / (2 * h) for e in np.eye(len(point))]
    np.testing.assert_allclose(reading.gradient, numeric, rtol=1e-5, atol=1e-5)


def test_hessian_is_that_of_a_linear_model() -> None:
    # Where the decisions are nearly linear in the parameters Gauss and Newton's Hessian is exact:
    # here for the logistic loss at small C, in log C, where f is proportional to C.
    X, y = problem(80)
    landscape = Landscape.of(X, [whole(y)], "logistic")
    reading = landscape.read(np.log(1e-4), np.log([1.5]))
    # f -> (1 + t) f is what the sigmoid follows: no curvature, no slope
    assert abs(reading.hessian[0, 0]) < 1e-4
    assert abs(reading.gradient[0]) < 1e-3 * reading.loss
    assert np.linalg.eigvalsh(reading.hessian).min() > -1e-8


def test_three_pairs_share_rows() -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 2))
    label = rng.integers(0, 3, 60)
    pairs = []
    for a, b in ((0, 1), (0, 2), (1, 2)):
        rows = np.flatnonzero((label == a) | (label == b))
        y = np.where(label[rows] == b, 1.0, -1.0)
        pairs.append(Pair(rows, y, np.ones(len(rows)), stratified_folds(y, 3, 0)))
    landscape = Landscape.of(X, pairs)
    assert landscape.total == pytest.approx(60.0)
    together = landscape.read(0.0, np.log([1.0]))
    apart = [Landscape.of(X, [pair]).read(0.0, np.log([1.0])).loss for pair in pairs]
    assert together.loss == pytest.approx(0.5 * sum(apart))
    np.testing.assert_allclose(landscape.read(0.0, np.log([1.0]), together).loss, together.loss)


def test_of_very_many_pairs_a_sample_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(task, "_MOST", 6)
    rng = np.random.default_rng(0)
    y = np.arange(90) % 6
    X = rng.normal(size=(90, 2)) + 2.0 * np.column_stack([np.cos(y), np.sin(y)])
    model = AutoSVC(random_state=0).fit(X, y)
    assert "chosen on 6 of 15 pairs of classes, each class in equally many" in model.explain()
    assert model.sigmoid_slope_.shape == (15,)
    assert np.isfinite(model.held_out_proba_).all()


def test_level_three_by_hand() -> None:
    X, y = problem()
    reading = Landscape.of(X, [whole(y)]).read(0.5, np.array([0.2, 0.5, 0.8]))
    P = np.eye(3) - 1 / 3
    h = np.linalg.eigvalsh(P @ reading.hessian[1:, 1:] @ P)
    deviations = reading.point[1:] - 0.5
    expected = reading.loss + 0.5 * ((0.5 / 2.0) ** 2 + ((0.5 - 0.1) / 0.5) ** 2)
    expected += 0.5 * float(deviations @ deviations) / 0.4**2
    expected += 0.5 * np.log1p(0.4**2 * h.clip(0)).sum()
    assert reading.level_three(0.1, 0.4) == pytest.approx(expected)
    # tied completely, the model stays where it is allowed to be: at equal scales
    isotropic = Landscape.of(X, [whole(y)]).read(0.5, np.full(3, 0.5))
    height = isotropic.loss + 0.5 * ((0.5 / 2.0) ** 2 + ((0.5 - 0.1) / 0.5) ** 2)
    assert isotropic.expected(0.1, 1e-6) == pytest.approx(height)
    assert isotropic.expected(0.1, 0.3) < isotropic.level_three(0.1, 0.3)


def test_the_expected_level_three_is_that_of_the_quadratic_model() -> None:
    X, y = problem()
    at = Landscape.of(X, [whole(y)]).read(0.5, np.array([0.2, 0.5, 0.8]))
    prior, names = prior_at(0.1, 0.4, 3), ("log C", *RBF((1.0,) * 3).names)
    basis = np.linalg.svd(np.ones((1, 3)))[2][1:].T
    h = np.maximum(np.linalg.eigvalsh(basis.T @ at.hessian[1:, 1:] @ basis), 0.0)

    def model(u: Array) -> float:
        x = basis @ u
        moved = at.point + np.concatenate([[0.0], x])
        likelihood = at.loss + at.gradient[1:] @ x + 0.5 * x @ at.hessian[1:, 1:] @ x
        return float(likelihood - prior.log_density(moved, names)[0])

    lowest = minimize(model, np.zeros(2), tol=1e-12).fun
    expected = lowest + 0.5 * np.log1p(0.4**2 * h).sum()
    assert at.expected(0.1, 0.4) == pytest.approx(expected, abs=1e-6)


def test_rounds_of_folds_are_averaged() -> None:
    X, y = problem()
    one, two = stratified_folds(y, 4, 0), stratified_folds(y, 4, 1)
    rows, ones = np.arange(len(y)), np.ones(len(y))
    both = Landscape.of(X, [Pair(rows, y, ones, one, two)])
    assert both.total == pytest.approx(len(y))
    point = (0.5, np.array([0.2, 0.5, 0.8]))
    reading = both.read(*point)
    parts = []
    for tests in (one, two):
        pair = Pair(rows, y, ones, tests)
        landscape = Landscape.of(X, [pair])
        seen = landscape.unfold(landscape.read(*point))
        parts.append(landscape.task.held_out(seen)[0])
    f = np.concatenate(parts)
    labels = np.tile(y, 2)
    slope, offset = fit_sigmoid(f, labels, np.full(len(f), 0.5), targets="platt")
    (fit,) = (one.fit for one in both.unfold(reading))
    assert (fit.slope, fit.offset) == pytest.approx((slope, offset), rel=1e-6)
    # one round at a time: the first is what a landscape of so many folds sees
    first = Landscape.of(X, [Pair(rows, y, ones, one, two)], most=4).read(*point)
    alone = Landscape.of(X, [Pair(rows, y, ones, one)]).read(*point)
    assert first.loss == alone.loss
    # warm from a reading of fewer folds, the same as cold
    assert both.read(*point, start=first).loss == pytest.approx(reading.loss, rel=1e-9)


def test_equal_rows_are_merged() -> None:
    rng = np.random.default_rng(4)
    X = rng.integers(0, 2, size=(80, 3)).astype(float)
    y = np.where(rng.random(80) < 0.2 + 0.6 * X[:, 0], 1.0, -1.0)
    pair = Pair(np.arange(80), y, rng.integers(1, 3, 80).astype(float), stratified_folds(y, 4, 0))
    merged = Landscape.of(X, [pair])
    assert len(merged.task.halves[0].rows) <= 16
    apart = Landscape.of(X + 1e-9 * rng.normal(size=X.shape), [pair])
    assert len(apart.task.halves[0].rows) == 80
    assert merged.total == pytest.approx(apart.total)
    a, b = (landscape.read(0.3, np.log([1.5, 1.0, 2.0])) for landscape in (merged, apart))
    assert a.loss == pytest.approx(b.loss, rel=1e-6)
    np.testing.assert_allclose(
        merged.task.held_out(merged.unfold(a))[0],
        apart.task.held_out(apart.unfold(b))[0],
        atol=1e-5,
    )
    np.testing.assert_allclose(a.gradient, b.gradient, atol=1e-3)


@pytest.mark.parametrize("scale", [[0.5], [0.2, 0.5, 0.8]])
def test_threads_see_the_same(scale: list[float]) -> None:
    X, y = problem()
    found = []
    for threads in (1, 3):
        landscape = Landscape.of(X, [whole(y)], threads=threads)
        first = landscape.read(0.0, np.array(scale))
        found.append(landscape.read(0.3, np.array(scale) + 0.1, first))
    one, several = found
    assert one.loss == several.loss
    assert one.gradient is not None
    assert several.gradient is not None
    assert (one.gradient == several.gradient).all()


@pytest.mark.parametrize("classes", [2, 7])
@pytest.mark.parametrize("noise", [0.0, 0.4])
def test_continuous_along_random_lines(classes: int, noise: float) -> None:
    """Between neighbours on a line the height changes as its slope says, and never by a jump."""
    rng = np.random.default_rng(classes)
    label = np.repeat(np.arange(classes), 113)
    corners = (
        10.0 * rng.normal(size=(classes, 3)) if classes > 2 else np.outer([0.0, 5.0], np.ones(4))
    )
    X = corners[label] + rng.normal(size=(len(label), corners.shape[1]))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    label = np.where(rng.random(len(label)) < noise, rng.integers(classes, size=len(label)), label)
    tests = stratified_folds(label, 4, 0)
    pairs = []
    for i, j in combinations(range(classes), 2):
        rows = np.flatnonzero((label == i) | (label == j))
        place = np.full(len(label), -1)
        place[rows] = np.arange(len(rows))
        held = tuple(place[test][place[test] >= 0] for test in tests)
        y = np.where(label[rows] == j, 1.0, -1.0)
        pairs.append(Pair(rows, y, np.ones(len(rows)), held))
    landscape = Landscape.of(X, pairs)
    h = 2e-2
    for line in range(10 if classes == 2 else 2):
        middle = np.concatenate(
            [rng.uniform(-1, 6, 1), rng.uniform(-2, 2, 1 if line % 2 else X.shape[1])]
        )
        away = rng.normal(size=len(middle))
        at = [middle + h * k * away / np.linalg.norm(away) for k in range(-20, 21)]
        readings = [landscape.read(float(point[0]), point[1:]) for point in at]
        values = np.array([reading.loss for reading in readings]) / landscape.total
        slopes = np.array([reading.gradient @ away for reading in readings])
        steepest = np.abs(slopes).max() / np.linalg.norm(away) / landscape.total
        assert np.abs(np.diff(values)).max() <= 2.0 * h * steepest + 1e-3
