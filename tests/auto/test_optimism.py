"""Sigmoids tempered by a Newton step, beside hyperparameters really chosen again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit

from svmselect.auto import Pair
from svmselect.auto.landscape import Folds, Landscape, Reading
from svmselect.auto.newton import Prior, descend
from svmselect.auto.optimism import tempered, without_each_fold
from svmselect.data import stratified_folds
from svmselect.probability import sigmoid_likelihood, sigmoid_targets
from svmselect.types import Array

PRIOR = Prior(0.5, 0.3)


def noise(n: int, d: int, seed: int = 0) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.where(X[:, 0] + 0.7 * rng.normal(size=n) > 0, 1.0, -1.0)


def fitted(X: Array, pairs: list[Pair], loss: str, prior: Prior) -> tuple[Landscape, Reading]:
    landscape = Landscape.of(X, pairs, loss)
    at = landscape.read(0.0, np.full(X.shape[1], 0.5))
    box = np.tile([-9.0, 9.0], (1 + X.shape[1], 1))
    at = descend(landscape.read, at, prior, box, 1e-9, 60, lambda: True)
    return landscape, at


def pair_of(y: Array, k: int = 4) -> Pair:
    return Pair(np.arange(len(y)), y, np.ones(len(y)), stratified_folds(y, k, 0))


def chosen_again(landscape: Landscape, at: Reading, left_out: int) -> Array:
    """The log odds of a fold after choosing everything anew on the other folds.

    Everything: log C, scales, and a stretch and a shift of the first log odds. Platt's targets stay
    those of all rows, as the Newton step has them.
    """
    folds: Folds = landscape.folds[0]
    slope, offset = at.sigmoids[0]
    rows = np.concatenate(folds.held)
    own = np.repeat(np.arange(len(folds.held)), [len(h) for h in folds.held])
    t = sigmoid_targets(folds.y[rows], np.ones(len(rows)), "platt")

    def odds(x: Array) -> Array:
        reading = landscape.read(float(x[0]), x[1:-2], at, False)
        f = [s.decision[h] for h, s in zip(folds.held, reading.solutions[0], strict=True)]
        return x[-2] * -(slope * np.concatenate(f) + offset) + x[-1]

    def posterior(x: Array) -> float:
        z = odds(x)
        loss = np.logaddexp(0.0, z) - t * z
        vague = 0.5e-2 * ((x[-2] - 1.0) ** 2 + x[-1] ** 2)
        return float(loss[own != left_out].sum() + PRIOR.value(x[:-2]) + vague)

    start = np.concatenate([at.point, [1.0, 0.0]])
    found = minimize(posterior, start, method="BFGS", options={"gtol": 1e-4})
    return odds(found.x)[own == left_out]


def test_a_newton_step_is_close_to_choosing_again() -> None:
    # the logistic loss has no kinks, so that one step goes more than half of the way
    X, y = noise(80, 4)
    landscape, at = fitted(X, [pair_of(y)], "logistic", PRIOR)
    step = without_each_fold(landscape, at, PRIOR)[0]
    folds = landscape.folds[0]
    slope, offset = at.sigmoids[0]
    places = np.cumsum([0, *(len(h) for h in folds.held)])
    for k, (rows, s) in enumerate(zip(folds.held, at.solutions[0], strict=True)):
        before = -(slope * s.decision[rows] + offset)
        exact = chosen_again(landscape, at, k)
        here = step[places[k] : places[k + 1]]
        assert np.abs(here - exact).mean() < 0.5 * np.abs(before - exact).mean()


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_many_scales_fitted_to_noise_promise_too_much(loss: str) -> None:
    X, y = noise(70, 25)
    free = Prior(np.log(5.0), 1.0)
    landscape, at = fitted(X, [pair_of(y)], loss, free)
    (slope, offset), (milder, shift) = at.sigmoids[0], tempered(landscape, at, free)[0]
    assert slope < milder < 0.0
    assert milder / slope < 0.9
    assert offset / slope == pytest.approx(shift / milder)  # the threshold stays
    # and it was right: on new rows of the same kind the milder one is better
    X_new, y_new = noise(4000, 25, 1)
    K = landscape.kernel(at.log_scale)(X_new, X)
    f = np.mean([K @ s.beta + s.intercept for s in at.solutions[0]], axis=0)

    def likelihood(slope: float, offset: float) -> float:
        return float(np.log(expit(-y_new * (slope * f + offset))).mean())

    assert likelihood(milder, shift) > likelihood(slope, offset)


def test_a_model_with_little_to_fit_is_left_alone() -> None:
    X, y = noise(300, 3)
    tight = Prior(0.5, 1e-3)
    landscape, at = fitted(X, [pair_of(y)], "logistic", tight)
    ratio = tempered(landscape, at, tight)[0][0] / at.sigmoids[0][0]
    assert 0.9 < ratio <= 1.0


def test_pairs_have_sigmoids_of_their_own() -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(90, 6))
    codes = np.argmax(X[:, :3] + 0.5 * rng.normal(size=(90, 3)), axis=1)
    pairs = []
    for i, j in ((0, 1), (0, 2), (1, 2)):
        rows = np.flatnonzero((codes == i) | (codes == j))
        y = np.where(codes[rows] == j, 1.0, -1.0)
        pairs.append(replace(pair_of(y), rows=rows))
    landscape, at = fitted(X, pairs, "hinge", PRIOR)
    ratios = [
        milder / slope
        for (milder, _), (slope, _) in zip(tempered(landscape, at, PRIOR), at.sigmoids, strict=True)
    ]
    assert len(set(ratios)) == 3
    assert all(0.2 <= ratio <= 1.0 for ratio in ratios)


def test_what_a_fold_would_have_is_linear_in_its_pull() -> None:
    """By hand, with every matrix written out, for one pair."""
    X, y = noise(50, 3)
    landscape, at = fitted(X, [pair_of(y)], "hinge", PRIOR)
    folds = landscape.folds[0]
    slope, offset = at.sigmoids[0]
    rows = np.concatenate(folds.held)
    f = np.concatenate([s.decision[h] for h, s in zip(folds.held, at.solutions[0], strict=True)])
    z = -(slope * f + offset)
    J = np.column_stack([-slope * landscape.jacobians(at)[0], z, np.ones(len(z))])
    p, t = expit(z), sigmoid_targets(folds.y[rows], np.ones(len(z)), "platt")
    H = np.zeros((6, 6))
    H[:4, :4] = PRIOR.hessian(3)
    H[4, 4] = H[5, 5] = 1e-2
    H += J.T @ (J * (p * (1 - p))[:, None])
    own = np.repeat(np.arange(4), [len(h) for h in folds.held])
    expected = z.copy()
    for k in range(4):
        m = own == k
        H_k = J[m].T @ (J[m] * (p * (1 - p))[m, None])
        expected[m] += J[m] @ np.linalg.solve(H - H_k, J[m].T @ (p - t)[m])
    np.testing.assert_allclose(without_each_fold(landscape, at, PRIOR)[0], expected, rtol=1e-9)
    fit = sigmoid_likelihood(expected, folds.y[rows], np.ones(len(z)), "platt", one_sided=True)
    ratio = tempered(landscape, at, PRIOR)[0][0] / slope
    assert ratio == pytest.approx(np.clip(-fit.slope, 0.2, 1.0))
