"""What Newton's method asks of very many rows: a sum over chunks, whoever carries it out.

Machines live on the features phi(x) = k(x, landmarks) basis of a few landmarks, and several are
trained at once, on the same features: f_j = phi theta_j + b_j, of which each row is on one side by
its class, ``signs[class, j]``, or takes no part (0). For

    1/2 |theta_j|^2 + C sum_i w_i loss(s_ij f_ij)

a pass gives the sum's value, its gradient, and, of a share of the rows drawn by their numbers, the
matrix of its curvature. Kernel values are made again in every pass, since that is cheap beside
their squares; so memory is that of a block, and rows may be anywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from svmselect.devices import Device, Matrix, get_device
from svmselect.kernels import Kernel
from svmselect.kernels.portable import values
from svmselect.machine.losses import Curve
from svmselect.rows.base import Chunk, keys
from svmselect.types import Array, IntArray

Prepare = Callable[[Array], Array]

_LEAST = 1e-10  # of the largest curvature, below which a row has none


@dataclass(frozen=True, eq=False)
class Design:
    """The features, and the problems on them; ``prepare`` standardises inputs as they come.

    ``factors`` are the weights of the classes. Rows take part whose key, a number in [0, 1) made of
    ``seed`` and their own number, is in ``part``.
    """

    kernel: Kernel
    vectors: Array
    basis: Array
    classes: NDArray[np.generic]
    signs: Array
    factors: Array
    prepare: Prepare
    part: tuple[float, float] = (0.0, 1.0)
    seed: int = 0
    device: str = "cpu"
    single: bool = False

    def columns(self, X: Array) -> Matrix:
        """Kernel values of rows with the landmarks, where the algebra is done."""
        return values(self.kernel, self.prepare(X), self.vectors, self.on)

    @property
    def on(self) -> Device:
        """Where the algebra is done."""
        return get_device(self.device, self.single)


@dataclass(frozen=True, eq=False)
class Pass:
    """Machines to be looked at; one row in ``stride`` tells the curvature, none where it is 0."""

    design: Design
    theta: Array
    intercept: Array
    C: float
    rule: Curve
    stride: int


@dataclass(frozen=True, eq=False)
class Terms:
    """A sum over rows, for each machine; ``active`` counts the rows where its loss is curved."""

    value: Array
    pull: Array  # minus the gradient by theta, (features, machines)
    pull_b: Array
    active: IntArray
    curvature: Array | None  # (machines, features, features)
    border: Array | None
    mass: Array | None

    def __add__(self, other: Terms) -> Terms:
        both: Any = zip(vars(self).values(), vars(other).values(), strict=True)
        parts: list[Any] = [None if a is None else a + b for a, b in both]
        return Terms(*parts)


def terms(chunk: Chunk, ask: Pass) -> Terms:
    """Add up what the rows of a chunk say. O(n m d), and O(m^2) for rows that tell curvature."""
    design, device = ask.design, ask.design.on
    codes, counts = chunk.codes(design.classes), chunk.counts()
    numbers = chunk.first + np.arange(len(chunk))
    key = keys(numbers, design.seed)
    low, high = design.part
    rows = np.flatnonzero((counts > 0) & (low <= key) & (key < high))
    weights, signs = (
        (counts[rows] * design.factors[codes[rows]])[:, None],
        design.signs[codes[rows]],
    )
    cost = ask.C * weights * np.abs(signs)
    machines = len(ask.intercept)
    coefficients = device.put(design.basis @ ask.theta)
    value, pull_b = np.zeros(machines), np.zeros(machines)
    pulled = device.zeros(len(design.vectors), machines)
    W = np.empty((len(rows), machines))
    for part in _blocks(len(rows), device.room // len(design.vectors)):
        K = design.columns(chunk.X[rows[part]])
        z = signs[part] * (device.get(K @ coefficients) + ask.intercept)
        value += np.sum(cost[part] * ask.rule.value(z), axis=0)
        pull = cost[part] * signs[part] * ask.rule.slope(z)
        pull_b += pull.sum(axis=0)
        pulled += K.T @ device.put(pull)
        W[part] = cost[part] * ask.rule.curvature(z)
    curved = _LEAST * float(W.max(initial=0.0)) < W
    found: tuple[Array | None, ...] = (None, None, None)
    if ask.stride:
        drawn = keys(numbers[rows], design.seed + 1) * ask.stride < 1.0
        found = _curvature(chunk, design, rows, ask.stride * W, curved & drawn[:, None])
    pull_theta = design.basis.T @ device.get(pulled)
    return Terms(value, pull_theta, pull_b, curved.sum(axis=0), *found)


def _curvature(
    chunk: Chunk, design: Design, rows: IntArray, W: Array, used: NDArray[np.bool_]
) -> tuple[Array, Array, Array]:
    """Sum Phi'W Phi, Phi'W 1 and 1'W 1 over the rows used."""
    device = design.on
    machines, size = W.shape[1], design.basis.shape[1]
    basis = device.put(design.basis)
    matrices = [device.zeros(size, size) for _ in range(machines)]
    borders = device.zeros(machines, size)
    here = np.flatnonzero(used.any(axis=1))
    # many rows at a time: the matrix they are added to is not in cache
    for part in _blocks(len(here), max(4 * device.room // len(design.vectors), size)):
        Phi = design.columns(chunk.X[rows[here[part]]]) @ basis
        for j in range(machines):
            own = np.flatnonzero(used[here[part], j])
            if not len(own):
                continue
            root = device.put(np.sqrt(W[here[part][own], j]))
            scaled = (Phi if len(own) == len(Phi) else Phi[own]) * root[:, None]
            matrices[j] += scaled.T @ scaled
            borders[j] += scaled.T @ root
    curvature = np.array([device.get(one) for one in matrices])
    return curvature, device.get(borders), np.sum(W * used, axis=0)


def decisions(X: Array, design: Design, theta: Array, intercept: Array) -> Array:
    """Decision values of rows that are in memory, (rows, machines)."""
    device = design.on
    coefficients = device.put(design.basis @ theta)
    found = np.empty((len(X), len(intercept)))
    for part in _blocks(len(X), device.room // len(design.vectors)):
        found[part] = device.get(design.columns(X[part]) @ coefficients) + intercept
    return found


def _blocks(n: int, size: int) -> Iterator[slice]:
    size = max(size, 1)
    return (slice(at, min(at + size, n)) for at in range(0, n, size))
