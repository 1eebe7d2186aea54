"""How a sum over a Gram matrix moves with the kernel's parameters, computed where the matrix is.

The counterpart of ``Kernel.pullback`` for a symmetric matrix G on a device: a Gaussian's length
scales take one product of n x n by n x d. A kernel without a row here is pulled back in NumPy, by
its own ``pullback``, after G has moved there.
"""

from __future__ import annotations

from functools import singledispatch

import numpy as np

from svmselect.devices import Device, Matrix

from .base import Kernel, Product, Sum
from .constant import Constant
from .dot import InnerProduct
from .linear import Linear
from .portable import values_of
from .rbf import RBF
from .tiles import Array


def pulled_back(kernel: Kernel, X: Array, G: Matrix, device: Device) -> Array:
    """Compute ``sum_ij G_ij dk(x_i, x_j)/dtheta`` for each parameter, G symmetric."""
    return _pull(kernel, device.put(X), G, device)


@singledispatch
def _pull(kernel: Kernel, X: Matrix, G: Matrix, device: Device) -> Array:
    return kernel.pullback(device.get(X), device.get(G))


@_pull.register
def _(kernel: RBF, X: Matrix, G: Matrix, device: Device) -> Array:
    H = values_of(kernel, X, X, device) * G
    A = X - X.mean(0)  # which keeps what cancels small
    rows = H.sum(1)
    # sum_ij H_ij (x_i - x_j)^2, column by column
    moved = 2.0 * device.get((rows[:, None] * A * A).sum(0) - (A * (H @ A)).sum(0))
    scaled = moved / kernel.by_column() ** 2
    if isinstance(kernel.length_scale, tuple):
        owners = range(len(scaled)) if kernel.variables is None else kernel.variables
        found = np.bincount(list(owners), scaled, len(kernel.length_scale))
        return np.asarray(found, dtype=np.float64)
    return np.array([scaled.sum()])


@_pull.register
def _(kernel: Constant, X: Matrix, G: Matrix, device: Device) -> Array:  # noqa: ARG001
    return np.array([kernel.value * float(G.sum())])


@_pull.register
def _(kernel: InnerProduct, X: Matrix, G: Matrix, device: Device) -> Array:
    if isinstance(kernel, Linear):
        return np.array([kernel.scale * float((X * (G @ X)).sum())])
    return kernel.pullback(device.get(X), device.get(G))


@_pull.register
def _(kernel: Sum, X: Matrix, G: Matrix, device: Device) -> Array:
    return np.concatenate([_pull(part, X, G, device) for part in kernel.parts])


@_pull.register
def _(kernel: Product, X: Matrix, G: Matrix, device: Device) -> Array:
    found = []
    for i, part in enumerate(kernel.parts):
        others = G
        for j, other in enumerate(kernel.parts):
            if isinstance(other, Constant) and j != i:
                others = others * other.value
            elif j != i:
                others = others * values_of(other, X, X, device)
        found.append(_pull(part, X, others, device))
    return np.concatenate(found)
