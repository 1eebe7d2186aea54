"""Low-rank Gram matrices against dense algebra and central differences."""

from __future__ import annotations

import numpy as np
import pytest

from svmselect.kernels import RBF, Linear
from svmselect.kernels.nystrom import Nystrom, choose_landmarks


def points(n: int = 15, d: int = 3) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(n, d))


def test_exact_with_all_landmarks_and_components() -> None:
    K = RBF(1.0)(points())
    low = Nystrom.of(K, np.arange(15), 15)
    assert low.components == 15
    np.testing.assert_allclose(low.factor @ low.factor.T, K, atol=1e-13)


@pytest.mark.parametrize("p", [1, 4, 7])
def test_definition(p: int) -> None:
    """K_nm times the pseudo-inverse of the best rank-p part of K_mm times K_mn."""
    K = RBF(1.0)(points())
    chosen = np.array([0, 3, 4, 8, 9, 12, 14])
    low = Nystrom.of(K[:, chosen], chosen, p)
    left, values, right = np.linalg.svd(K[np.ix_(chosen, chosen)])
    best = (left[:, :p] * values[:p]) @ right[:p]
    expected = K[:, chosen] @ np.linalg.pinv(best, rcond=1e-12) @ K[chosen]
    np.testing.assert_allclose(low.factor @ low.factor.T, expected, atol=1e-12)
    assert low.factor.shape == (15, p)


def test_all_components_reproduce_the_landmarks() -> None:
    X = points()
    chosen = np.array([2, 5, 11])
    columns = RBF(1.0)(X, X[chosen])
    low = Nystrom.of(columns, chosen, 3)
    np.testing.assert_allclose(low.factor @ low.factor[chosen].T, columns, atol=1e-13)
    np.testing.assert_allclose(low.features(columns[4:6]), low.factor[4:6], atol=1e-14)


def test_round_off_is_no_component() -> None:
    K = Linear(1.0)(points())  # of rank three
    low = Nystrom.of(K, np.arange(15), 15)
    assert low.components == low.rank == 3
    np.testing.assert_allclose(low.factor @ low.factor.T, K, atol=1e-13)
    assert low.differentiable


@pytest.mark.parametrize(("m", "p"), [(15, 15), (8, 8), (8, 5), (8, 1)])
def test_pullback_by_differences(m: int, p: int) -> None:
    X, chosen = points(), choose_landmarks(np.arange(15), m, 1)
    A = np.random.default_rng(2).normal(size=(15, 15))

    def value(kernel: RBF) -> float:
        G = Nystrom.of(kernel(X, X[chosen]), chosen, p).factor
        return float(np.sin(A * (G @ G.T)).sum())

    kernel = RBF([1.0, 1.5, 0.8])
    low = Nystrom.of(kernel(X, X[chosen]), chosen, p)
    G = low.factor
    psi = A * np.cos(A * (G @ G.T))
    cotangent = low.pullback((psi + psi.T) @ G)
    slopes = kernel.pullback(X, cotangent, X[chosen])
    h = 1e-5
    for i, step in enumerate(h * np.eye(3)):
        ends = [value(kernel.at(kernel.theta + k * step)) for k in (1, -1)]
        np.testing.assert_allclose(slopes[i], (ends[0] - ends[1]) / (2 * h), rtol=1e-6, atol=1e-8)


def test_pullback_where_round_off_is_left_out() -> None:
    X = points()
    low = Nystrom.of(Linear(2.0)(X), np.arange(15), 15)
    # phi = sum_ij B_ij K_ij is linear in the scale: d phi/d log scale = phi
    B = np.random.default_rng(3).normal(size=(15, 15))
    slope = Linear(2.0).pullback(X, low.pullback((B + B.T) @ low.factor), X)
    np.testing.assert_allclose(slope, [(B * Linear(2.0)(X)).sum()], rtol=1e-10)


def test_a_tie_is_not_differentiable() -> None:
    far = 1e3 * np.arange(6.0)[:, None]
    K = RBF(1.0)(far)  # the unit matrix: every pair of components ties
    assert not Nystrom.of(K, np.arange(6), 3).differentiable
    assert Nystrom.of(K, np.arange(6), 6).differentiable


def test_landmarks() -> None:
    candidates = np.array([2, 3, 5, 7, 11, 13])
    drawn = choose_landmarks(candidates, 4, 0)
    assert np.array_equal(drawn, choose_landmarks(candidates, 4, 0))
    assert np.all(np.diff(drawn) > 0)
    assert set(drawn) < set(candidates)
    assert np.array_equal(choose_landmarks(candidates, 6, 0), candidates)
    assert len({tuple(choose_landmarks(candidates, 3, seed)) for seed in range(20)}) > 5


@pytest.mark.parametrize("m", [0, 7])
def test_a_wrong_number_of_landmarks(m: int) -> None:
    with pytest.raises(ValueError, match="between 1 and 6"):
        choose_landmarks(np.arange(6), m)


def test_a_wrong_number_of_components() -> None:
    with pytest.raises(ValueError, match="between 1 and 4"):
        Nystrom.of(np.eye(4), np.arange(4), 5)
    with pytest.raises(ValueError, match="is zero"):
        Nystrom.of(np.zeros((4, 4)), np.arange(4), 2)
