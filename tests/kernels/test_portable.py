"""Kernel values on devices: the same as the kernels', in double precision and in single."""

import numpy as np
import pytest

from svmselect.devices import get_device
from svmselect.kernels import RBF, Constant, Laplacian, Linear, Matern, Polynomial, available
from svmselect.kernels.portable import values

rng = np.random.default_rng(0)
X, Z = rng.normal(size=(40, 3)), rng.normal(size=(7, 3)) + 1.0
KERNELS = [
    *(kind() for kind in available().values()),
    RBF([0.5, 1.0, 2.0]),
    Matern(2.0, nu=0.5),
    Matern([1.0, 2.0, 3.0], nu=2.5),
    Laplacian([1.0, 2.0, 0.5]),
    Constant(2.0) * RBF(1.5) + Constant(0.3),
    Linear(0.5) * Polynomial(2, 0.3, 2.0) + Matern(),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("device", ["cpu", pytest.param("torch-cpu", marks=pytest.mark.torch)])
def test_as_the_kernel_says(kernel, device):
    exact = kernel(X, Z)
    on = get_device(device)
    np.testing.assert_allclose(on.get(values(kernel, X, Z, on)), exact, rtol=1e-10, atol=1e-12)
    on = get_device(device, single=True)
    made = values(kernel, X, Z, on)
    assert "float32" in str(made.dtype)
    np.testing.assert_allclose(on.get(made), exact, rtol=3e-5, atol=1e-5)
