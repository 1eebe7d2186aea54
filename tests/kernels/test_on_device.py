"""Pullbacks on devices: the same as the kernels' own."""

import numpy as np
import pytest

from svmselect.devices import get_device
from svmselect.kernels import RBF, Constant, Linear, Matern, Polynomial, available
from svmselect.kernels.on_device import pulled_back

rng = np.random.default_rng(0)
X, G = rng.normal(size=(30, 3)) + 2.0, rng.normal(size=(30, 30))
G = G + G.T
KERNELS = [
    *(kind() for kind in available().values()),
    RBF([0.5, 1.0, 2.0]),
    RBF([0.5, 2.0], variables=[0, 1, 0]),
    Constant(2.0) * RBF(1.5) + Constant(0.3),
    Constant(2.0) * Constant(0.5) + Constant(0.3),
    Constant(0.7) * RBF([1.0, 2.0, 3.0]) * Linear(0.5) + Matern(2.0) * Polynomial(2, 0.3, 2.0),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("device", ["cpu", pytest.param("torch-cpu", marks=pytest.mark.torch)])
def test_as_the_kernel_says(kernel, device):
    on = get_device(device)
    found = pulled_back(kernel, X, on.put(G), on)
    np.testing.assert_allclose(found, kernel.pullback(X, G), rtol=1e-9, atol=1e-11)
