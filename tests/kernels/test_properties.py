"""Properties of random kernel expressions on random data."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from svmselect.kernels import RBF, Constant, Kernel, Linear, Matern, Polynomial

D = 2
positive = st.floats(0.05, 20.0)
length_scale = st.one_of(positive, st.lists(positive, min_size=D, max_size=D))
leaf = st.one_of(
    st.builds(RBF, length_scale),
    st.builds(Matern, length_scale, st.sampled_from([0.5, 1.5, 2.5])),
    st.builds(Polynomial, st.integers(1, 3), positive, positive),
    st.builds(Linear, positive),
    st.builds(Constant, positive),
)
expression: st.SearchStrategy[Kernel] = st.recursive(
    leaf,
    lambda inner: st.one_of(
        st.builds(lambda a, b: a + b, inner, inner),
        st.builds(lambda a, b: a * b, inner, inner),
    ),
    max_leaves=4,
)
coordinate = st.floats(-3.0, 3.0).map(lambda v: round(v, 2))
rows = st.lists(st.lists(coordinate, min_size=D, max_size=D), min_size=1, max_size=12).map(np.array)


@given(kernel=expression, X=rows)
def test_symmetric_and_positive_semidefinite(kernel: Kernel, X: np.ndarray) -> None:
    K = kernel(X)
    assert np.isfinite(K).all()
    assert np.array_equal(K, K.T)
    assert np.array_equal(np.diag(K), kernel.diag(X))
    eigenvalues = np.linalg.eigvalsh(K)
    assert eigenvalues[0] >= -1e-12 * max(eigenvalues[-1], 1e-300) * len(X)


@given(kernel=expression)
def test_theta_and_names(kernel: Kernel) -> None:
    assert len(set(kernel.names)) == len(kernel.names) == len(kernel.theta) == len(kernel.bounds)
    assert kernel.at(kernel.theta) == kernel
    back = kernel.at(kernel.theta + 0.3).at(kernel.theta)
    np.testing.assert_allclose(np.exp(back.theta), np.exp(kernel.theta), rtol=1e-14)


@given(a=expression, b=expression, X=rows, Z=rows)
def test_sums_and_products_are_elementwise(
    a: Kernel, b: Kernel, X: np.ndarray, Z: np.ndarray
) -> None:
    A, B = a(X, Z), b(X, Z)
    size = max(1.0, np.abs(A).max(), np.abs(B).max())
    np.testing.assert_allclose((a + b)(X, Z), A + B, rtol=1e-12, atol=1e-13 * size)
    np.testing.assert_allclose((a * b)(X, Z), A * B, rtol=1e-12, atol=1e-13 * size**2)


@given(kernel=expression, X=rows, Z=rows, seed=st.integers(0, 100))
def test_pullback_with_and_without_the_matrix(
    kernel: Kernel, X: np.ndarray, Z: np.ndarray, seed: int
) -> None:
    G = np.random.default_rng(seed).normal(size=(len(X), len(Z)))
    K = kernel(X, Z)
    plain = kernel.pullback(X, G, Z)
    size = np.abs(G).sum() * max(1.0, np.abs(K).max())
    np.testing.assert_allclose(kernel.pullback(X, G, Z, K=K), plain, rtol=1e-9, atol=1e-12 * size)
    # The transposed problem is the same problem.
    np.testing.assert_allclose(kernel.pullback(Z, G.T, X), plain, rtol=1e-9, atol=1e-12 * size)


@given(kernel=expression, X=rows, Z=rows, seed=st.integers(0, 100))
def test_pullback_against_differences(
    kernel: Kernel, X: np.ndarray, Z: np.ndarray, seed: int
) -> None:
    G = np.random.default_rng(seed).normal(size=(len(X), len(Z)))
    h = 1e-4
    size = np.abs(G * kernel(X, Z)).sum()
    for p, value in enumerate(kernel.pullback(X, G, Z)):
        step = h * np.eye(len(kernel.theta))[p]
        up, down = kernel.at(kernel.theta + step)(X, Z), kernel.at(kernel.theta - step)(X, Z)
        slope = np.sum(G * (up - down)) / (2 * h)
        np.testing.assert_allclose(value, slope, rtol=1e-6, atol=1e-6 * size + 1e-9)
