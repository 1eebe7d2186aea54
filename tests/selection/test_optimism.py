"""Sigmoids tempered by a Newton step, beside hyperparameters really chosen again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit

from estimators.strategies.landscape import Landscape, Reading, kernel_at, prior_at
from svmselect.data import Pair, stratified_folds
from svmselect.probability import sigmoid_likelihood, sigmoid_targets
from svmselect.selection import optimism
from svmselect.types import Array

MIDDLE, TAU = 0.5, 0.3


def noise(n: int, d: int, seed: int = 0) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.where(X[:, 0] + 0.7 * rng.normal(size=n) > 0, 1.0, -1.0)


def fitted(
    X: Array, pairs: list[Pair], loss: str, middle: float = MIDDLE, tau: float = TAU
) -> tuple[Landscape, Reading]:
    landscape = Landscape.of(X, pairs, loss)
    at = landscape.read(0.0, np.full(X.shape[1], 0.5))
    return landscape, landscape.descend(at, prior_at(middle, tau, X.shape[1]))


def precision(at: Reading, middle: float = MIDDLE, tau: float = TAU) -> Array:
    d = len(at.point) - 1
    return -prior_at(middle, tau, d).hessian(at.point, ("log C", *kernel_at(at.point[1:]).names))


def without_each_fold(
    landscape: Landscape, at: Reading, middle: float = MIDDLE, tau: float = TAU
) -> list[Array]:
    unfolded = landscape.unfold(at)
    return optimism.without_each_fold(unfolded, precision(at, middle, tau), landscape.task.overlap)


def tempered(
    landscape: Landscape, at: Reading, middle: float = MIDDLE, tau: float = TAU
) -> tuple[tuple[float, float], ...]:
    unfolded = landscape.unfold(at)
    return optimism.tempered(unfolded, precision(at, middle, tau), landscape.task.overlap)


def sigmoids(landscape: Landscape, at: Reading) -> list[tuple[float, float]]:
    return [(one.fit.slope, one.fit.offset) for one in landscape.unfold(at)]


def pair_of(y: Array, k: int = 4) -> Pair:
    return Pair(np.arange(len(y)), y, np.ones(len(y)), stratified_folds(y, k, 0))


def chosen_again(landscape: Landscape, at: Reading, left_out: int) -> Array:
    """The log odds of a fold after choosing everything anew on the other folds.

    Everything: log C, scales, and a stretch and a shift of the first log odds. Platt's targets stay
    those of all rows, as the Newton step has them.
    """
    (one,) = landscape.unfold(at)
    own, rows = one.held.fold, one.held.rows
    t = sigmoid_targets(one.held.y, np.ones(len(rows)), "platt")
    prior = prior_at(MIDDLE, TAU, len(at.point) - 1)
    names = ("log C", *kernel_at(at.point[1:]).names)

    def odds(x: Array) -> Array:
        objective = landscape.objective(x[1:-2])
        kernel, C = objective.kernel.at(x[1:-2]), float(np.exp(x[0]))
        held = objective.criterion.held_out(objective.context(kernel, C, at.trained))
        return x[-2] * -(one.fit.slope * held.decision + one.fit.offset) + x[-1]

    def posterior(x: Array) -> float:
        z = odds(x)
        loss = np.logaddexp(0.0, z) - t * z
        vague = 0.5e-2 * ((x[-2] - 1.0) ** 2 + x[-1] ** 2)
        return float(loss[own != left_out].sum() - prior.log_density(x[:-2], names)[0] + vague)

    start = np.concatenate([at.point, [1.0, 0.0]])
    found = minimize(posterior, start, method="BFGS", options={"gtol": 1e-4})
    return odds(found.x)[own == left_out]


def test_a_newton_step_is_close_to_choosing_again() -> None:
    # the logistic loss has no kinks, so that one step goes more than half of the way
    X, y = noise(80, 4)
    landscape, at = fitted(X, [pair_of(y)], "logistic")
    step = without_each_fold(landscape, at)[0]
    (one,) = landscape.unfold(at)
    before = -(one.fit.slope * one.held.decision + one.fit.offset)
    for k in range(4):
        own = one.held.fold == k
        exact = chosen_again(landscape, at, k)
        assert np.abs(step[own] - exact).mean() < 0.5 * np.abs(before[own] - exact).mean()


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_many_scales_fitted_to_noise_promise_too_much(loss: str) -> None:
    X, y = noise(70, 25)
    free = (float(np.log(5.0)), 1.0)
    landscape, at = fitted(X, [pair_of(y)], loss, *free)
    (slope, offset), (milder, shift) = sigmoids(landscape, at)[0], tempered(landscape, at, *free)[0]
    assert slope < milder < 0.0
    assert milder / slope < 0.9
    assert offset / slope == pytest.approx(shift / milder)  # the threshold stays
    # and it was right: on new rows of the same kind the milder one is better
    X_new, y_new = noise(4000, 25, 1)
    (one,) = landscape.unfold(at)
    K = kernel_at(at.point[1:])(X_new, X[landscape.task.halves[0].rows])
    f = np.mean([K @ s.beta + s.intercept for s in one.held.solutions], axis=0)

    def likelihood(slope: float, offset: float) -> float:
        return float(np.log(expit(-y_new * (slope * f + offset))).mean())

    assert likelihood(milder, shift) > likelihood(slope, offset)


def test_a_model_with_little_to_fit_is_left_alone() -> None:
    X, y = noise(300, 3)
    landscape, at = fitted(X, [pair_of(y)], "logistic", 0.5, 1e-3)
    ratio = tempered(landscape, at, 0.5, 1e-3)[0][0] / sigmoids(landscape, at)[0][0]
    assert 0.9 < ratio <= 1.0


def three_pairs() -> tuple[Array, list[Pair]]:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(90, 6))
    codes = np.argmax(X[:, :3] + 0.5 * rng.normal(size=(90, 3)), axis=1)
    pairs = []
    for i, j in ((0, 1), (0, 2), (1, 2)):
        rows = np.flatnonzero((codes == i) | (codes == j))
        y = np.where(codes[rows] == j, 1.0, -1.0)
        pairs.append(replace(pair_of(y), rows=rows))
    return X, pairs


def test_pairs_have_sigmoids_of_their_own() -> None:
    landscape, at = fitted(*three_pairs(), "hinge")
    both = zip(tempered(landscape, at), sigmoids(landscape, at), strict=True)
    ratios = [milder / slope for (milder, _), (slope, _) in both]
    assert len(set(ratios)) == 3
    assert all(0.2 <= ratio <= 1.0 for ratio in ratios)


def test_pairs_meet_in_what_they_share() -> None:
    """By hand, with the one matrix of all pairs written out."""
    landscape, at = fitted(*three_pairs(), "hinge")
    unfolded, d = landscape.unfold(at), 6
    Z, J, W, G, folds, ends = [], [], [], [], [], [0]
    for i, one in enumerate(unfolded):
        z = -(one.fit.slope * one.held.decision + one.fit.offset)
        own = np.zeros((len(z), 1 + d + 6))
        own[:, : 1 + d] = -one.fit.slope * one.jacobian
        own[:, 1 + d + 2 * i], own[:, 2 + d + 2 * i] = z, 1.0
        p, t = expit(z), sigmoid_targets(one.held.y, np.ones(len(z)), "platt")
        Z.append(z), J.append(own), W.append(0.5 * p * (1 - p)), G.append(0.5 * (p - t))
        folds.append(one.held.fold), ends.append(ends[-1] + len(z))
    z, J, w, g, fold = (np.concatenate(values) for values in (Z, J, W, G, folds))
    H = np.diag(np.full(1 + d + 6, 1e-2))
    H[: 1 + d, : 1 + d] = precision(at)
    H += J.T @ (w[:, None] * J)
    expected = z.copy()
    for k in range(4):
        m = fold == k
        H_k = J[m].T @ (w[m, None] * J[m])
        expected[m] += J[m] @ np.linalg.solve(H - H_k, J[m].T @ g[m])
    found = np.concatenate(without_each_fold(landscape, at))
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    assert np.abs(found - z).max() > 0.01


def test_what_a_fold_would_have_is_linear_in_its_pull() -> None:
    """By hand, with every matrix written out, for one pair."""
    X, y = noise(50, 3)
    landscape, at = fitted(X, [pair_of(y)], "hinge")
    (one,) = landscape.unfold(at)
    slope, offset = one.fit.slope, one.fit.offset
    z = -(slope * one.held.decision + offset)
    J = np.column_stack([-slope * one.jacobian, z, np.ones(len(z))])
    p, t = expit(z), sigmoid_targets(one.held.y, np.ones(len(z)), "platt")
    H = np.zeros((6, 6))
    H[:4, :4] = precision(at)
    H[4, 4] = H[5, 5] = 1e-2
    H += J.T @ (J * (p * (1 - p))[:, None])
    expected = z.copy()
    for k in range(4):
        m = one.held.fold == k
        H_k = J[m].T @ (J[m] * (p * (1 - p))[m, None])
        expected[m] += J[m] @ np.linalg.solve(H - H_k, J[m].T @ (p - t)[m])
    np.testing.assert_allclose(without_each_fold(landscape, at)[0], expected, rtol=1e-9)
    fit = sigmoid_likelihood(expected, one.held.y, np.ones(len(z)), "platt", one_sided=True)
    ratio = tempered(landscape, at)[0][0] / slope
    assert ratio == pytest.approx(np.clip(-fit.slope, 0.2, 1.0))
