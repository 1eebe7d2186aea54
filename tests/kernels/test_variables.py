"""Columns that are one variable share a length scale."""

import numpy as np
import pytest

from svmselect.kernels import RBF, Constant, Matern
from svmselect.kernels.tangents import directional
from svmselect.selection.hierarchy import isotropic, of_variables, per_input

MEMBERS = (0, 1, 1, 0)
rng = np.random.default_rng(0)
X, Z, G = rng.normal(size=(30, 4)), rng.normal(size=(7, 4)), rng.normal(size=(30, 30))
KERNELS = [
    RBF([0.7, 2.0], MEMBERS),
    Matern([0.7, 2.0], 2.5, MEMBERS),
    Matern([3.0, 2.0], 0.5, MEMBERS),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_values_are_those_of_a_scale_for_every_column(kernel):
    whole = type(kernel)(
        kernel.by_column().tolist(), *([kernel.nu] if hasattr(kernel, "nu") else [])
    )
    assert kernel.names == tuple(
        f"{type(kernel).__name__.lower()}.length_scale[{a}]" for a in (0, 1)
    )
    np.testing.assert_array_equal(kernel(X, Z), whole(X, Z))


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_derivatives(kernel):
    theta, step = kernel.theta, 1e-6
    b = rng.normal(size=30)
    moved = [(kernel.at(theta + e), kernel.at(theta - e)) for e in step * np.eye(2)]
    slopes = [(up(X) - down(X)) / (2 * step) for up, down in moved]
    np.testing.assert_allclose(kernel.pullback(X, G), [np.sum(G * s) for s in slopes], rtol=1e-6)
    everyone = np.arange(30)
    found = directional(kernel.tangents(X, kernel(X), {}), everyone, everyone, b)
    np.testing.assert_allclose(found, np.column_stack([s @ b for s in slopes]), atol=1e-6)


def test_parting_and_joining():
    kernel = of_variables(2.0 * RBF(0.5) + Constant(0.1), MEMBERS)
    parted = per_input(kernel, 4)
    assert parted == 2.0 * RBF([0.5, 0.5], MEMBERS) + 0.1
    assert isotropic(parted) == kernel
    assert per_input(RBF(0.5), 4) == RBF([0.5] * 4)
    assert of_variables(RBF(1.0, (0, 0, 1, 1)), MEMBERS) == RBF(1.0, (0, 0, 1, 1))  # as it was said


@pytest.mark.parametrize("members", [(0, 2), (1, 2), (0.5, 1), ((0, 1),)])
def test_variables_are_counted_from_zero(members):
    with pytest.raises(ValueError, match="variables of RBF must be whole numbers from 0 on"):
        RBF(1.0, members)


def test_scales_and_variables_agree():
    with pytest.raises(ValueError, match="has 3 entries for 2 variables"):
        RBF([1.0, 2.0, 3.0], MEMBERS)
    with pytest.raises(ValueError, match="4 entries but the data have 5 columns"):
        RBF([1.0, 2.0], MEMBERS)(np.ones((3, 5)))
