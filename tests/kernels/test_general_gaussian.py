"""The Gaussian of any ellipsoid: against its formula, RBF, and data that need it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import expm

from svmselect import select
from svmselect.kernels import RBF, GeneralGaussian

M = np.array([[2.0, -0.7, 0.1], [-0.7, 0.5, 0.0], [0.1, 0.0, 0.2]])


def test_values_by_the_formula() -> None:
    rng = np.random.default_rng(0)
    X, Z = rng.normal(size=(9, 3)), rng.normal(size=(4, 3))
    kernel = GeneralGaussian.of(M)
    D = X[:, None, :] - Z[None, :, :]
    expected = np.exp(-0.5 * np.einsum("ija,ab,ijb->ij", D, M, D))
    np.testing.assert_allclose(kernel(X, Z), expected, rtol=1e-12)
    np.testing.assert_allclose(kernel.matrix, M, rtol=1e-12, atol=1e-12)


def test_parameters_are_the_matrix_logarithm() -> None:
    S = np.array([[0.3, -0.4, 0.0], [-0.4, -1.0, 0.2], [0.0, 0.2, 0.5]])
    kernel = GeneralGaussian([1.0] * 6)
    moved = kernel.at(S[np.triu_indices(3)])
    np.testing.assert_allclose(moved.matrix, expm(S), rtol=1e-12)
    assert moved.names[:4] == (
        "generalgaussian.entry[0,0]", "generalgaussian.entry[0,1]", "generalgaussian.entry[0,2]",
        "generalgaussian.entry[1,1]",
    )  # fmt: skip


def test_a_diagonal_matrix_is_a_length_scale_for_each_input() -> None:
    X = np.random.default_rng(1).normal(size=(20, 3))
    lengths = np.array([0.5, 1.0, 3.0])
    general = GeneralGaussian.of(np.diag(lengths**-2))
    np.testing.assert_allclose(general(X), RBF(lengths)(X), rtol=1e-11)
    one = GeneralGaussian([0.25])
    np.testing.assert_allclose(one(X), RBF(2.0)(X), rtol=1e-11)


def test_close_eigenvalues_have_a_derivative() -> None:
    X = np.random.default_rng(2).normal(size=(15, 2))
    G = np.random.default_rng(3).normal(size=(15, 15))
    kernel = GeneralGaussian.of(np.array([[1.0 + 1e-9, 1e-10], [1e-10, 1.0]]))
    h = 1e-5
    for axis in range(3):
        step = h * np.eye(3)[axis]
        up, down = (np.sum(G * kernel.at(kernel.theta + d)(X)) for d in (step, -step))
        assert kernel.pullback(X, G)[axis] == pytest.approx((up - down) / (2 * h), rel=1e-7)


def test_it_finds_a_combination_of_inputs() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    y = np.where(np.sin(4.0 * (X[:, 0] + X[:, 1])) > 0, 1, -1)
    values = {}
    for name, kernel in (("rbf", RBF([0.5, 0.5])), ("general", GeneralGaussian.of(4 * np.eye(2)))):
        start = np.r_[0.0, kernel.theta]
        found = select(X, y, "likelihood", kernel=kernel, start=start, random_state=0)
        values[name] = found.value
    assert values["general"] > values["rbf"] + 0.05
    spectrum, V = np.linalg.eigh(found.kernel.matrix)
    assert abs(V[0, 1] - V[1, 1]) < 0.2  # the long axis of M is along (1, 1)
    assert spectrum[1] > 4.0 * spectrum[0]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: GeneralGaussian([1.0, 1.0]), "fill no triangle"),
        (lambda: GeneralGaussian([1.0, 0.0, 1.0]), r"entries of GeneralGaussian\[1\]"),
        (lambda: GeneralGaussian.of([[1.0, 2.0], [2.0, 1.0]]), "positive definite"),
        (lambda: GeneralGaussian.of([[1.0, 2.0]]), "square and symmetric"),
        (lambda: GeneralGaussian.of(M)(np.zeros((3, 2))), "3 inputs but the data have 2"),
    ],
)
def test_mistakes_are_named(make: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()  # type: ignore[operator]
