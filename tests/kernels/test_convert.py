"""Conversion from scikit-learn's kernels, numbers and names."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.gaussian_process import kernels as gp

from svmselect.kernels import RBF, Constant, Kernel, Linear, Matern, Polynomial, as_kernel
from svmselect.kernels import from_sklearn as convert

PAIRS = [
    (gp.RBF(0.7), RBF(0.7)),
    (gp.RBF([0.7, 2.0]), RBF([0.7, 2.0])),
    (gp.Matern(0.7, nu=0.5), Matern(0.7, 0.5)),
    (gp.Matern([0.7, 2.0], nu=2.5), Matern([0.7, 2.0], 2.5)),
    (gp.Matern(0.7, nu=np.inf), RBF(0.7)),
    (gp.ConstantKernel(2.0), Constant(2.0)),
    (gp.DotProduct(0.5), Linear() + 0.25),
    (gp.DotProduct(0.0), Linear()),
    (gp.DotProduct(0.5) ** 3, Polynomial(3, 1.0, 0.25)),
    (2.0 * gp.RBF(1.0) + 0.1, 2.0 * RBF(1.0) + 0.1),
    (
        (gp.RBF(1.0) + gp.Matern(2.0, nu=1.5)) * gp.DotProduct(1.0),
        (RBF(1.0) + Matern(2.0, 1.5)) * (Linear() + 1.0),
    ),
]


@pytest.mark.parametrize(("peer", "kernel"), PAIRS, ids=lambda v: repr(v))
def test_converted_kernels_have_the_same_values(peer: gp.Kernel, kernel: Kernel) -> None:
    converted = convert(peer)
    assert converted == kernel == as_kernel(peer)
    X, Z = np.random.default_rng(0).normal(size=(2, 20, 2))
    np.testing.assert_allclose(converted(X, Z), peer(X, Z), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(
    ("peer", "message"),
    [
        (gp.WhiteKernel(), "cannot convert WhiteKernel.*can be converted: RBF, Matern"),
        (gp.RBF(1.0) + gp.RationalQuadratic(), "cannot convert RationalQuadratic"),
        (gp.Matern(1.0, nu=3.0), "nu of Matern must be"),
        (gp.RBF(1.0) ** 2, "only DotProduct with a whole exponent"),
        (gp.DotProduct(1.0) ** 1.5, "only DotProduct with a whole exponent"),
        (gp.DotProduct(0.0) ** 2, "sigma_0 is 0"),
        ("rbf", "cannot convert 'rbf'"),
    ],
    ids=lambda v: repr(v),
)
def test_others_are_refused_by_name(peer: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        convert(peer)


def test_as_kernel() -> None:
    k = 2.0 * RBF(1.0)
    assert as_kernel(k) is k
    assert as_kernel(2) == Constant(2.0)
    assert as_kernel("rbf") == as_kernel(" RBF ") == as_kernel("gaussian") == RBF()
    assert as_kernel("linear") == Linear()
    assert as_kernel("poly") == as_kernel("polynomial") == Polynomial(3)
    assert as_kernel("matern") == Matern()


@pytest.mark.parametrize("name", ["sigmoid", "tanh", "Sigmoid"])
def test_the_sigmoid_kernel_is_refused_with_the_reason(name: str) -> None:
    with pytest.raises(ValueError, match="not positive definite"):
        as_kernel(name)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("rbff", "no kernel is named 'rbff'; the names are .*matern.*rbf"),
        (None, "cannot make a kernel of None"),
        (-1.0, "value of Constant must be positive"),
        (lambda x, z: 1.0, "cannot make a kernel of"),
    ],
)
def test_what_is_no_kernel(value: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        as_kernel(value)
