"""Kernel values between rows and landmarks on any device, in single precision too.

For sums over very many rows: a Gaussian is one matrix product and one exponential, in place. It
rounds as the device's precision does, where ``Kernel.__call__`` mends distances that cancel. A
kernel without a row here is computed by that, in NumPy, and moved.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from typing import Any

import numpy as np

from svmselect.devices import Device, Matrix

from .base import Kernel, Product, Sum
from .constant import Constant
from .dot import InnerProduct
from .laplacian import Laplacian
from .linear import Linear
from .matern import Matern
from .polynomial import Polynomial
from .rbf import RBF
from .tiles import Array


def values(kernel: Kernel, X: Array, Z: Array, device: Device) -> Matrix:
    """Compute k(x_i, z_j) on the device."""
    return values_of(kernel, device.put(X), device.put(Z), device)


@singledispatch
def values_of(kernel: Kernel, X: Matrix, Z: Matrix, device: Device) -> Matrix:
    """``values`` of rows that are there already."""
    return device.put(kernel(device.get(X), device.get(Z)))


@values_of.register
def _(kernel: RBF, X: Matrix, Z: Matrix, device: Device) -> Matrix:
    s = _squares(kernel.by_column(), X, Z, device, -0.5)
    return device.xp.exp(s, out=s)


@values_of.register
def _(kernel: Matern, X: Matrix, Z: Matrix, device: Device) -> Matrix:
    xp = device.xp
    t = xp.sqrt(xp.clip(_squares(kernel.by_column(), X, Z, device, 2.0 * kernel.nu), 0.0, None))
    decay = xp.exp(-t)
    if kernel.nu == 0.5:
        return decay
    return decay * (1.0 + t if kernel.nu == 1.5 else 1.0 + t + t * t / 3.0)


@values_of.register
def _(kernel: Laplacian, X: Matrix, Z: Matrix, device: Device) -> Matrix:
    xp = device.xp
    if not hasattr(xp, "cdist"):  # NumPy
        return device.put(kernel(device.get(X), device.get(Z)))
    scale = device.put(np.atleast_1d(np.asarray(kernel.by_column(), dtype=np.float64)))
    s = xp.cdist(X / scale, Z / scale, p=1.0).neg_()
    return xp.exp(s, out=s)


@values_of.register
def _(kernel: Constant, X: Matrix, Z: Matrix, device: Device) -> Matrix:
    return device.put(np.full((len(X), len(Z)), kernel.value))


@values_of.register
def _(kernel: InnerProduct, X: Matrix, Z: Matrix, device: Device) -> Matrix:
    if isinstance(kernel, Linear):
        return kernel.scale * (X @ Z.T)
    if isinstance(kernel, Polynomial):
        return (kernel.scale * (X @ Z.T) + kernel.coef0) ** kernel.degree
    return device.put(kernel(device.get(X), device.get(Z)))


@values_of.register
def _(kernel: Sum, X: Matrix, Z: Matrix, device: Device) -> Matrix:
    first, *others = _varying_first(kernel.parts)
    total = values_of(first, X, Z, device)
    for part in others:
        total += part.value if isinstance(part, Constant) else values_of(part, X, Z, device)
    return total


@values_of.register
def _(kernel: Product, X: Matrix, Z: Matrix, device: Device) -> Matrix:
    first, *others = _varying_first(kernel.parts)
    total = values_of(first, X, Z, device)
    for part in others:
        total *= part.value if isinstance(part, Constant) else values_of(part, X, Z, device)
    return total


def _varying_first(parts: Sequence[Kernel]) -> list[Kernel]:
    """Constants last, where they are numbers that a matrix is changed by."""
    return sorted(parts, key=lambda part: isinstance(part, Constant))


def _squares(length_scale: Any, X: Matrix, Z: Matrix, device: Device, factor: float) -> Matrix:
    """Compute factor |(x_i - z_j)/l|^2 as one product; rounding may change its sign near zero."""
    xp = device.xp
    scale = device.put(np.atleast_1d(np.asarray(length_scale, dtype=np.float64)))
    centre = Z.mean(0)  # which keeps the norms, whose rounding counts, small
    A, B = (X - centre) / scale, (Z - centre) / scale
    a2, b2 = (A * A).sum(1)[:, None], (B * B).sum(1)[:, None]
    left = xp.concatenate((-2.0 * factor * A, factor * a2, xp.ones_like(a2)), 1)
    right = xp.concatenate((B, xp.ones_like(b2), factor * b2), 1)
    return left @ right.T
