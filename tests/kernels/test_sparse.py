"""Kernels of sparse rows, against those of the same rows written out."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from svmselect.kernels import RBF, Constant, Kernel, Laplacian, Linear, Matern, Polynomial
from svmselect.kernels.expansion import Expansion
from svmselect.kernels.sparse import SparseExpansion, of_products, rotated, rotates

KERNELS: list[Kernel] = [
    Linear(0.4),
    RBF(1.3),
    Matern(1.3, nu=1.5),
    Polynomial(3, scale=0.2, coef0=1.5),
    Constant(2.0) * RBF(0.8) + Constant(0.1),
    Linear(0.5) + 0.3 * RBF(2.0) * Linear(2.0),
]


def rows(n: int, d: int = 60, seed: int = 0) -> sparse.csr_matrix:
    return sparse.random(n, d, 0.1, format="csr", random_state=seed, dtype=np.float64)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_values_and_expansions(kernel: Kernel) -> None:
    X, Z = rows(21), rows(13, seed=1)
    A, B = X.toarray(), Z.toarray()
    found = of_products(kernel, A @ B.T, (A**2).sum(axis=1), (B**2).sum(axis=1))
    np.testing.assert_allclose(found, kernel(A, B), rtol=1e-12)
    coefficients = np.random.default_rng(2).normal(size=(13, 3))
    wanted = Expansion(kernel, B, coefficients)(A)
    np.testing.assert_allclose(SparseExpansion(kernel, Z, coefficients)(X), wanted, atol=1e-12)


def test_expansions_of_many_rows_come_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    X, Z = rows(21), rows(13, seed=1)
    expansion = SparseExpansion(RBF(1.0), Z, np.ones((13, 1)))
    whole = expansion(X)
    monkeypatch.setattr("svmselect.kernels.sparse._BLOCK", 5 * 13)
    np.testing.assert_allclose(expansion(X), whole, rtol=1e-14)


@pytest.mark.parametrize("d", [5, 60])
def test_rotated_rows_have_the_same_inner_products(d: int) -> None:
    X = rows(20, d)
    X = sparse.csr_matrix(sparse.vstack([X[:19], X[5]]))
    Z = rotated(X)
    assert Z.shape[0] == 20
    assert Z.shape[1] <= min(19, d)
    np.testing.assert_allclose(Z @ Z.T, (X @ X.T).toarray(), atol=1e-12)


def test_the_order_of_the_rows_does_not_matter() -> None:
    X = rows(20)
    X = sparse.csr_matrix(X.multiply(1.0 / np.sqrt(X.multiply(X).sum(axis=1))))  # all norms are 1
    order = np.random.default_rng(0).permutation(20)
    np.testing.assert_allclose(rotated(X[order]), rotated(X)[order], atol=1e-12)


def test_rows_of_zeros_have_one_column() -> None:
    np.testing.assert_array_equal(rotated(sparse.csr_matrix((4, 9))), np.zeros((4, 1)))


@pytest.mark.parametrize(
    "kernel", [RBF([1.0, 2.0]), Laplacian(), Linear() + Laplacian(), Matern([1.0, 2.0])], ids=repr
)
def test_kernels_that_look_at_single_inputs(kernel: Kernel) -> None:
    assert not rotates(kernel)


def test_kernels_that_do_not() -> None:
    assert all(rotates(kernel) for kernel in KERNELS)
