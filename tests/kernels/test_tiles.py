"""Tiles and distances, the ground the kernels stand on."""

from __future__ import annotations

import numpy as np
import pytest

from svmselect.kernels import RBF, Constant
from svmselect.kernels.tiles import TILE, Distances, mirror, squared_distances, tiles
from svmselect.types import Sensitivity


@pytest.mark.parametrize("n", [0, 1, TILE - 1, TILE, TILE + 1, 3 * TILE])
@pytest.mark.parametrize("m", [0, 1, 2 * TILE + 7])
def test_tiles_cover_once(n: int, m: int) -> None:
    count = np.zeros((n, m), dtype=int)
    for rows, cols in tiles(n, m, symmetric=False):
        count[rows, cols] += 1
    assert (count == 1).all()
    count = np.zeros((n, n), dtype=int)
    for rows, cols in tiles(n, n, symmetric=True):
        count[rows, cols] += 1
        if rows != cols:
            count[cols, rows] += 1
    assert (count == 1).all()


def test_mirror_copies_the_upper_triangle() -> None:
    tile = np.random.default_rng(0).normal(size=(TILE, TILE))
    expected = np.triu(tile) + np.triu(tile, 1).T
    mirror(tile)
    assert np.array_equal(tile, expected)


def test_centring_leaves_only_close_pairs_to_recompute() -> None:
    # Without it the norms would be 1e4 times the distances and every pair would look close.
    X = np.random.default_rng(0).normal(size=(100, 5))
    X[1] = X[0]
    out = np.empty((100, 100))
    whole = slice(0, 100)
    pairs = Distances.of(X + 1e4, None, np.array(1.0)).fill(whole, whole, out)
    assert pairs is not None
    assert sorted(zip(*(p.tolist() for p in pairs), strict=True)) == [(0, 1), (1, 0)]
    direct = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(out, direct, rtol=1e-9, atol=0)


@pytest.mark.parametrize("with_dense", [False, True])
def test_pullback_of_a_matrix_made_tile_by_tile(with_dense: bool) -> None:
    rng = np.random.default_rng(0)
    n = 2 * TILE + 17
    X, left, right = rng.normal(size=(n, 3)), rng.normal(size=(n, 2)), rng.normal(size=(n, 2))
    G = Sensitivity(left, right, 0.0, rng.normal(size=(n, n)) if with_dense else None)
    kernel = Constant(2.0) * RBF([1.0, 2.0, 3.0]) + Constant(0.5)
    np.testing.assert_allclose(kernel.pullback(X, G), kernel.pullback(X, G.gram), rtol=1e-9)


def test_squared_distances_of_near_and_far_rows() -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(450, 3)) * [1e-3, 1.0, 1e3]
    X[1] = X[0] + [1e-9, 0.0, 0.0]
    X[300] = X[10]
    D = squared_distances(X)
    exact = ((X[:, None] - X) ** 2).sum(axis=2)
    np.testing.assert_allclose(D, exact, rtol=1e-10, atol=0.0)
    assert (D == D.T).all()
    assert D[300, 10] == 0.0
