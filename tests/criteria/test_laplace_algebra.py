"""The shared Gaussian algebra against dense inverses, eigenvalues and central differences."""

from __future__ import annotations

import numpy as np
import pytest

from svmselect.criteria.laplace_algebra import (
    Covariance,
    Link,
    Posterior,
    check_choice,
    check_link_options,
    factorise,
    log_determinant,
)
from svmselect.kernels import RBF, Linear


def gram(n: int = 12, rank: int | None = None) -> np.ndarray:
    X = np.random.default_rng(0).normal(size=(n, rank or 3))
    return RBF(1.0)(X) if rank is None else Linear(1.0)(X)


def curvatures(n: int = 12) -> np.ndarray:
    return np.random.default_rng(1).uniform(0.1, 3.0, n)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e5])
@pytest.mark.parametrize("rank", [None, 4])
def test_log_determinant(scale: float, rank: int | None) -> None:
    K, L = gram(rank=rank), scale * curvatures()
    det = log_determinant(K, L)
    e = np.linalg.eigvalsh(np.sqrt(np.outer(L, L)) * K)
    np.testing.assert_allclose(det.logdet, np.log1p(np.maximum(e, 0)).sum(), rtol=1e-9)
    np.testing.assert_allclose(det.gain.sum(), (e / (1 + e)).sum(), rtol=1e-9)
    np.testing.assert_allclose(det.gram, np.linalg.inv(K + np.diag(1 / L)), rtol=1e-6)


def test_log_determinant_where_the_unit_matrix_is_lost() -> None:
    """L K reaches 1e20: Cholesky's factor of I + LK breaks down, and the rank still counts."""
    K, L = gram(rank=4), 1e20 * curvatures()
    det = log_determinant(K, L)
    e = np.linalg.eigvalsh(np.sqrt(np.outer(L, L)) * K)[-4:]
    np.testing.assert_allclose(det.logdet, np.log1p(e).sum(), rtol=1e-6)
    assert det.rounding > 1.0
    assert np.isfinite(det.gram).all()
    np.testing.assert_allclose(det.gain.sum(), 4.0, rtol=1e-6)


@pytest.mark.parametrize("scale", [1.0, 1e6, 1e12])
def test_the_rounding_estimate_is_what_rounding_does(scale: float) -> None:
    K, L = gram(rank=4), scale * curvatures()
    det = log_determinant(K, L)
    rng, size = np.random.default_rng(5), np.sqrt(K.diagonal())
    moved = []
    for _ in range(20):
        noise = np.finfo(float).eps * np.triu(rng.choice([-1.0, 1.0], K.shape))
        noise = size[:, None] * (noise + np.triu(noise, 1).T) * size
        # a thousand times rounding, where that is not yet rounding itself
        factor = 1e3 if scale == 1.0 else 1.0
        moved.append((log_determinant(K + factor * noise, L).logdet - det.logdet) / factor)
    assert 0.3 < np.std(moved) / det.rounding < 3.0


def test_no_vectors_no_determinant() -> None:
    det = log_determinant(np.zeros((0, 0)), np.zeros(0))
    assert det.logdet == 0.0
    assert det.gram.shape == (0, 0)


@pytest.mark.parametrize("rank", [None, 1, 4])
def test_factorise(rank: int | None) -> None:
    K = gram(rank=rank)
    G = factorise(K)
    assert G.shape == (12, rank or 12)
    np.testing.assert_allclose(G @ G.T, K, atol=1e-13)


@pytest.mark.parametrize("flat", [False, True])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e7])  # Cholesky's way, and the orthogonal one
def test_posterior(scale: float, flat: bool) -> None:
    K, L = gram(), scale * curvatures()
    posterior = Posterior.of(factorise(K), L, flat)
    precision = np.linalg.inv(K)
    if flat:  # (K + c 11')^-1 as c grows
        ones = precision.sum(axis=0)
        precision = precision - np.outer(ones, ones) / ones.sum()
    N = np.linalg.inv(precision + np.diag(L))
    E = posterior.spread
    np.testing.assert_allclose(E @ E.T, N, rtol=1e-8, atol=1e-10 * np.abs(N).max())
    np.testing.assert_allclose(posterior.variance, np.diag(E @ E.T))
    np.testing.assert_allclose(posterior.gain, L * np.diag(E @ E.T))
    G = factorise(K)
    np.testing.assert_allclose(posterior.shrunk, G - E @ (posterior.weighted.T @ G), atol=1e-7)
    if not flat:
        logdet = np.linalg.slogdet(np.eye(12) + np.diag(L) @ K)[1]
        np.testing.assert_allclose(posterior.logdet, logdet, rtol=1e-9)


def test_covariance_of_the_rows_that_count() -> None:
    K = gram()
    w = np.ones(12)
    w[[0, 5]] = 0.0
    frame = Covariance.of(K, w)
    rows = np.flatnonzero(w)
    np.testing.assert_allclose(frame.factor @ frame.factor.T, K[np.ix_(rows, rows)], atol=1e-13)
    low = Covariance.of(K, w, (6, 4), 0)
    assert low.factor.shape == (10, 4)
    assert low.nystrom is not None
    assert not set(rows[low.nystrom.landmarks]) & {0, 5}
    spread = low.by_factor(low.nystrom, np.ones((10, 4))).gram
    assert not spread[[0, 5]].any()
    assert np.flatnonzero(spread.any(axis=0)).tolist() == rows[low.nystrom.landmarks].tolist()
    assert not frame.dense(np.ones((10, 10))).gram[[0, 5]].any()


@pytest.mark.parametrize("eta", [1.0, 2.5])
def test_link_by_differences(eta: float) -> None:
    f, y, h = np.array([-2.0, -0.1, 0.4, 3.0]), np.array([1.0, -1.0, 1.0, -1.0]), 1e-5
    link, up, down = (Link.of(f + t, y, eta) for t in (0.0, h, -h))
    np.testing.assert_allclose(link.score, (down.loss - up.loss) / (2 * h), rtol=1e-8)
    np.testing.assert_allclose(link.curvature, (down.score - up.score) / (2 * h), rtol=1e-8)
    np.testing.assert_allclose(link.bend, (up.curvature - down.curvature) / (2 * h), rtol=1e-7)


def test_link_of_extreme_margins() -> None:
    link = Link.of(np.array([1e4, -1e4]), np.ones(2), 1.0)
    np.testing.assert_array_equal(link.loss, [0.0, 1e4])
    np.testing.assert_array_equal(link.score, [0.0, 1.0])
    np.testing.assert_array_equal(link.curvature, [0.0, 0.0])


def test_checks() -> None:
    assert check_link_options(1.0, [5, 3], "kric") == (5, 3)  # type: ignore[arg-type]
    for pair in ((3, 5), (0, 0), (5,), (5, 2.5)):
        with pytest.raises(ValueError, match="1 <= p <= m"):
            check_link_options(1.0, pair, "kric")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="eta must be a positive"):
        check_link_options(0.0, None, "kric")
    with pytest.raises(ValueError, match="offset='no' is not one of"):
        check_choice("kric", "offset", "no", ("kk", "exact"))
