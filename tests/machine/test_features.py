"""Landmarks as features: exact with all rows, and how many there may be."""

from __future__ import annotations

import numpy as np
import pytest

from svmselect.data import Pair
from svmselect.kernels import RBF
from svmselect.machine import features
from svmselect.machine.features import FeatureMap, draw_landmarks, landmark_count


def test_all_rows_as_landmarks_are_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    X, kernel = rng.normal(size=(60, 3)), RBF(1.0)
    phi = FeatureMap.of(kernel, X)
    Phi = phi(X)
    assert np.allclose(Phi @ Phi.T, kernel(X), atol=1e-10)
    theta = rng.normal(size=Phi.shape[1])
    new = rng.normal(size=(7, 3))
    assert np.allclose(kernel(new, X) @ phi.coefficients(theta), phi(new) @ theta, atol=1e-8)
    monkeypatch.setattr(features, "_BLOCK", 100)
    assert np.allclose(phi(X), Phi, atol=1e-9)
    single = phi(X, single=True)
    assert single.dtype == np.float32
    assert np.allclose(single, Phi, atol=1e-6)


def test_repeated_landmarks() -> None:
    X = np.repeat(np.random.default_rng(0).normal(size=(10, 2)), 2, axis=0)
    phi = FeatureMap.of(RBF(1.0), X)
    assert phi(X).shape == (20, 10)
    assert np.allclose(phi(X) @ phi(X).T, RBF(1.0)(X), atol=1e-10)


@pytest.mark.parametrize(
    ("n", "wanted", "budget", "count", "single"),
    [
        (100, 1000, 2**29, 100, False),
        (60_000, 1000, 2**29, 1000, False),
        (100_000, 1000, 2**29, 1000, True),
        (1_000_000, 1000, 2**29, 134, True),
        (1_000_000, 1000, 100, 1, True),
    ],
)
def test_landmarks_fit_the_budget(
    n: int, wanted: int, budget: int, count: int, single: bool
) -> None:
    assert landmark_count(n, wanted, budget) == (count, single)


def test_classes_share_their_landmarks() -> None:
    codes = np.repeat([0, 1, 2], [300, 200, 30])
    pairs = []
    for i, j in ((0, 1), (0, 2), (1, 2)):
        rows = np.flatnonzero((codes == i) | (codes == j))
        y = np.where(codes[rows] == j, 1.0, -1.0)
        pairs.append(Pair(rows, y, np.ones(len(rows)), ()))
    drawn = draw_landmarks(pairs, 50, np.random.default_rng(0))
    again = draw_landmarks(pairs, 50, np.random.default_rng(0))
    for pair, rows, same in zip(pairs, drawn, again, strict=True):
        assert np.isin(rows, pair.rows).all()
        assert np.array_equal(rows, same)
    everything = np.unique(np.concatenate(drawn))
    assert np.bincount(codes[everything]).tolist() == [30, 20, 10]
