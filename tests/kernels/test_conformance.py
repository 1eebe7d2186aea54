"""What every kernel must do: one list drives all tests, a kernel without an entry fails."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from svmselect.kernels import (
    RBF,
    Constant,
    GeneralGaussian,
    Kernel,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    Product,
    Sum,
    available,
)
from svmselect.kernels.expansion import Expansion

KERNELS: list[Kernel] = [
    RBF(1.3),
    RBF([0.7, 2.0, 5.0]),
    Matern(1.3, nu=0.5),
    Matern(1.3, nu=1.5),
    Matern(1.3, nu=2.5),
    Matern([0.7, 2.0, 5.0], nu=0.5),
    Matern([0.7, 2.0, 5.0], nu=1.5),
    Matern([0.7, 2.0, 5.0], nu=2.5),
    Laplacian(1.3),
    Laplacian([0.7, 2.0, 5.0]),
    Polynomial(1),
    Polynomial(2, scale=0.5, coef0=0.3),
    Polynomial(5, scale=0.2, coef0=1.5),
    Linear(),
    Linear(0.4),
    Constant(2.5),
    GeneralGaussian.of([[2.0, -0.7, 0.1], [-0.7, 0.5, 0.0], [0.1, 0.0, 0.02]]),
    GeneralGaussian([0.6]),
    1.5 * GeneralGaussian([1.0, 1.0, 1.0, 0.5, 1.0, 0.5]) + Constant(0.1),
    2.0 * RBF([0.7, 2.0, 5.0]) + Constant(0.1),
    Constant(3.0) + 0.5,
    Constant(3.0) * 0.5,
    RBF(1.0) * RBF([1.0, 2.0, 3.0]) * 2.0 + 3.0 * Matern(0.5, nu=0.5),
    (RBF(1.0) + 0.3) * (Linear(0.5) + 2.0) * 0.7,
    Linear(0.5) * Linear(0.3) + Polynomial(3, 0.1),
    1e5 + RBF(0.9),
]
every_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=repr)


def data(n: int, d: int = 3, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, d))


@every_kernel
def test_expansions_are_sums_over_the_gram_matrix(kernel: Kernel) -> None:
    X, Z = data(450), data(130, seed=1)
    Z[7] = X[3]  # a distance that is zero
    coefficients = np.random.default_rng(2).normal(size=(130, 3))
    wanted = kernel(X, Z) @ coefficients
    found = Expansion(kernel, Z, coefficients)
    atol = 1e-12 * float(np.abs(wanted).max())
    np.testing.assert_allclose(found(X), wanted, rtol=1e-12, atol=atol)
    np.testing.assert_allclose(found(X[:1]), wanted[:1], rtol=1e-12, atol=atol)


def difference(
    kernel: Kernel, X: np.ndarray, G: np.ndarray, Z: np.ndarray | None, h: float = 1e-4
) -> np.ndarray:
    """Fourth-order central differences of sum(G * K) in theta."""

    def value(theta: np.ndarray) -> float:
        return float(np.sum(G * kernel.at(theta)(X, Z)))

    t = kernel.theta
    return np.array(
        [
            (
                8 * (value(t + h * e) - value(t - h * e))
                - value(t + 2 * h * e)
                + value(t - 2 * h * e)
            )
            / (12 * h)
            for e in np.eye(len(t))
        ]
    )


def test_every_kernel_of_the_folder_is_in_the_list() -> None:
    tested = {type(leaf) for kernel in KERNELS for leaf in kernel.leaves()}
    assert tested == set(available().values())
    assert set(available()) == {
        "constant",
        "generalgaussian",
        "laplacian",
        "linear",
        "matern",
        "polynomial",
        "rbf",
    }


@every_kernel
def test_gram_is_exactly_symmetric_with_exact_diagonal(kernel: Kernel) -> None:
    X = data(431)  # more than two tiles, the last one partial
    K = kernel(X)
    assert K.dtype == np.float64
    assert K.shape == (431, 431)
    assert np.array_equal(K, K.T)
    assert np.array_equal(np.diag(K), kernel.diag(X))
    assert np.array_equal(kernel(X, X), K)


@every_kernel
def test_rectangular_agrees_with_square(kernel: Kernel) -> None:
    X = data(431)
    K = kernel(X)
    np.testing.assert_allclose(kernel(X, X.copy()), K, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(kernel(X[:7], X[200:]), K[:7, 200:], rtol=1e-12, atol=1e-13)


@every_kernel
def test_positive_semidefinite(kernel: Kernel) -> None:
    eigenvalues = np.linalg.eigvalsh(kernel(data(60)))
    assert eigenvalues[0] >= -1e-13 * eigenvalues[-1]


@every_kernel
@pytest.mark.parametrize("shape", ["square", "rectangular", "large"])
@pytest.mark.parametrize("known", [False, True], ids=["without K", "with K"])
def test_pullback_is_the_derivative(kernel: Kernel, shape: str, known: bool) -> None:
    X = data(431 if shape == "large" else 30)
    Z = data(17, seed=1) if shape == "rectangular" else None
    rng = np.random.default_rng(2)
    K = kernel(X, Z)
    G = rng.normal(size=K.shape)  # not symmetric
    before = G.copy(), K.copy()
    pulled = kernel.pullback(X, G, Z, K=K if known else None)
    expected = difference(kernel, X, G, Z)
    assert pulled.shape == (len(kernel.names),)
    # Round-off of the differences grows with the sum's size, not with the derivative's.
    size = np.abs(G * K).sum()
    np.testing.assert_allclose(pulled, expected, rtol=1e-7, atol=1e-12 * size)
    assert np.array_equal(G, before[0])
    assert np.array_equal(K, before[1])


@every_kernel
def test_pullback_of_one_entry(kernel: Kernel) -> None:
    X, Z = data(5), data(4, seed=1)
    G = np.zeros((5, 4))
    G[3, 1] = 1.0
    pulled = kernel.pullback(X, G, Z)
    np.testing.assert_allclose(pulled, kernel.pullback(X[3:4], [[1.0]], Z[1:2]), atol=1e-13)
    np.testing.assert_allclose(pulled, difference(kernel, X, G, Z), rtol=1e-7, atol=1e-7)


@every_kernel
def test_theta_names_bounds_and_at(kernel: Kernel) -> None:
    p = len(kernel.theta)
    assert kernel.theta.shape == (p,)
    assert len(kernel.names) == len(set(kernel.names)) == p
    assert kernel.bounds.shape == (p, 2)
    assert (kernel.bounds[:, 0] < kernel.bounds[:, 1]).all()
    assert kernel.at(kernel.theta) == kernel
    moved = kernel.at(kernel.theta + 0.5)
    assert moved != kernel
    assert moved.names == kernel.names
    np.testing.assert_allclose(moved.theta, kernel.theta + 0.5, rtol=1e-15, atol=1e-15)


@every_kernel
def test_values_are_immutable_hashable_and_repr_evaluates(kernel: Kernel) -> None:
    names = {cls.__name__: cls for cls in available().values()}
    again = eval(repr(kernel), names)
    assert again == kernel
    assert hash(again) == hash(kernel)
    assert pickle.loads(pickle.dumps(kernel)) == kernel
    field = next(iter(vars(kernel)))
    with pytest.raises(AttributeError):
        setattr(kernel, field, 1.0)


@every_kernel
def test_out_receives_the_matrix(kernel: Kernel) -> None:
    X = data(20)
    out = np.full((20, 20), np.nan)
    assert kernel(X, out=out) is out
    assert np.array_equal(out, kernel(X))


@every_kernel
def test_arguments_are_not_changed_and_layout_does_not_matter(kernel: Kernel) -> None:
    X = data(30)
    X.flags.writeable = False
    K = kernel(X)
    np.testing.assert_allclose(kernel(np.asfortranarray(X)), K, rtol=1e-14, atol=1e-14)
    np.testing.assert_allclose(kernel(X.tolist()), K, rtol=1e-14, atol=1e-14)
    G = np.asfortranarray(np.random.default_rng(0).normal(size=(30, 30)))
    np.testing.assert_allclose(
        kernel.pullback(X, G), kernel.pullback(X, np.ascontiguousarray(G)), rtol=1e-12
    )


@every_kernel
def test_duplicates_and_empty_blocks(kernel: Kernel) -> None:
    X = data(10)
    doubled = np.concatenate([X, X])
    K = kernel(doubled)
    np.testing.assert_allclose(K[:10, 10:], K[:10, :10], rtol=1e-14, atol=1e-14)
    assert kernel(X[:0], X).shape == (0, 10)
    assert kernel(X[:0]).shape == (0, 0)
    pulled = kernel.pullback(X[:0], np.empty((0, 10)), X)
    assert np.array_equal(pulled, np.zeros(len(kernel.theta)))


@every_kernel
def test_pullback_stays_finite_on_duplicates(kernel: Kernel) -> None:
    X = np.repeat(data(10), 2, axis=0)
    G = np.random.default_rng(0).normal(size=(20, 20))
    pulled = kernel.pullback(X, G)
    size = np.abs(G * kernel(X)).sum()
    np.testing.assert_allclose(pulled, difference(kernel, X, G, None), rtol=1e-7, atol=1e-12 * size)


@every_kernel
def test_wrong_shapes_are_named(kernel: Kernel) -> None:
    X = data(6)
    with pytest.raises(ValueError, match=r"X must have two dimensions.*reshape\(-1, 1\)"):
        kernel(X[:, 0])
    with pytest.raises(ValueError, match="X has 3 columns and Z has 2"):
        kernel(X, X[:, :2])
    with pytest.raises(ValueError, match=r"G has shape \(6, 5\)"):
        kernel.pullback(X, np.ones((6, 5)))
    with pytest.raises(ValueError, match=r"K has shape \(5, 5\)"):
        kernel.pullback(X, np.ones((6, 6)), K=np.ones((5, 5)))
    with pytest.raises(ValueError, match=r"theta has shape .* parameters"):
        kernel.at(np.zeros(17))
    with pytest.raises(ValueError, match="out is float64 of shape"):
        kernel(X, out=np.empty((6, 5)))
    X[2, 1] = np.nan
    with pytest.raises(ValueError, match="X is NaN at row 2, column 1"):
        kernel(X)


def test_composites_are_flat() -> None:
    a, b, c = RBF(1.0), Linear(), Constant(1.0)
    assert a + (b + c) == (a + b) + c == Sum((a, b, c))
    assert a * (b * c) == (a * b) * c == Product((a, b, c))
