"""Where searches start, and the box they stay in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from svmselect.data import Dataset
from svmselect.kernels import Kernel
from svmselect.kernels.names import matching
from svmselect.priors.typical import from_data, from_kernel, least_C
from svmselect.search import Space
from svmselect.types import Array

C_MOST = 1e6
"""The largest C searched by default."""
_ROOM = float(np.log(1e3))  # that much is left beyond a start outside the default box


def gold_sollich(names: tuple[str, ...], rng: np.random.Generator) -> Array:
    """A random start as in GS section 4.3: C in [0.4, 0.8], ln l in [-1, 2] for every length scale,

    ln k0 in [-1, 1] and ln k_off in [-2, -1] (the first constant and the second).
    """
    point = np.zeros(len(names))
    constants = [i for i, name in enumerate(names) if name.startswith("constant")]
    for i, name in enumerate(names):
        low, high = (-1.0, 2.0) if "length_scale" in name else (-1.0, 1.0)
        if len(constants) > 1 and i == constants[-1]:
            low, high = -2.0, -1.0
        point[i] = rng.uniform(low, high)
    point[0] = np.log(rng.uniform(0.4, 0.8))
    return point


def around(
    point: Array, names: tuple[str, ...], count: int, rng: np.random.Generator
) -> list[Array]:
    """Starts spread around one: evenly in C and in a common factor of the length scales.

    log C within (-3, 5) of the point's, the common factor within e^+-1.5 (a Latin square), every
    coordinate moved a little besides.
    """
    lengths = np.array(["length_scale" in name for name in names])
    C = (rng.permutation(count) + rng.uniform(size=count)) / count
    factor = (rng.permutation(count) + rng.uniform(size=count)) / count
    starts = []
    for k in range(count):
        x = point + 0.3 * rng.standard_normal(len(point))
        x[0] = point[0] - 3.0 + 8.0 * C[k]
        x[lengths] += -1.5 + 3.0 * factor[k]
        starts.append(x)
    return starts


def make_starts(
    start: Any, data: Dataset, kernel: Kernel, count: int, named: bool, seed: int
) -> list[Array]:
    """Make the points that a selection starts from.

    Parameters
    ----------
    start : str, mapping, array-like or None
        "kernel": the kernel's own parameters and C = 1; "data": what the data suggest;
        "gold-sollich": all random, as in Gold & Sollich 2003, section 4.3; a mapping of names to
        natural values, with the others as "data"; or one or more points in logarithms. None is
        "data" for a kernel given by name and "kernel" otherwise.
    data : Dataset
        The data.
    kernel : Kernel
        The kernel that is searched.
    count : int
        How many starts. Those beyond the first are spread around it.
    named : bool
        Whether the kernel was given by name.
    seed : int
        Seed of what is random.

    Returns
    -------
    list of ndarray
        The starts, in search coordinates.
    """
    names = ("log C", *kernel.names)
    rng = np.random.default_rng([seed, 1])
    if start is None:
        start = "data" if named else "kernel"
    if isinstance(start, str):
        if start == "gold-sollich":
            return [gold_sollich(names, rng) for _ in range(count)]
        if start not in ("kernel", "data"):
            raise ValueError(
                f"start={start!r} is not 'kernel', 'data', 'gold-sollich', a mapping or a point"
            )
        first = from_kernel(kernel) if start == "kernel" else from_data(data, kernel)
    elif isinstance(start, Mapping):
        first = from_data(data, kernel)
        for name, value in start.items():
            if not np.all(np.asarray(value) > 0):
                raise ValueError(f"start has {name}={value!r}; give positive numbers")
            first[matching(name, names)] = np.log(np.asarray(value, dtype=np.float64))
    else:
        points = np.atleast_2d(np.asarray(start, dtype=np.float64))
        if points.shape[1] != len(names) or not np.isfinite(points).all():
            raise ValueError(
                f"start has shape {np.shape(start)}; a point has {len(names)} finite coordinates, "
                f"the logarithms of C, {', '.join(kernel.names)}"
            )
        if len(points) > 1:
            return [p.copy() for p in points]
        first = points[0].copy()
    return [first, *around(first, names, count - 1, rng)]


def make_space(data: Dataset, kernel: Kernel, bounds: Any, starts: list[Array]) -> Space:
    """Make the search box.

    Parameters
    ----------
    data : Dataset
        The data.
    kernel : Kernel
        The kernel that is searched.
    bounds : mapping, array-like or None
        A mapping of names to (low, high) in natural units, or an array of shape (p, 2) in search
        coordinates, in place of the default.
    starts : list of ndarray
        The box is made wider where a start would lie outside.

    Returns
    -------
    Space
        The box: by default the kernel's own, and for C from ``least_C`` to ``C_MOST``.
    """
    names = ("log C", *kernel.names)
    least = least_C(data, kernel, from_data(data, kernel))
    box = np.vstack([np.log([[least, max(C_MOST, 1e3 * least)]]), kernel.bounds])
    points = np.array(starts)
    below, above = points.min(axis=0), points.max(axis=0)
    box[:, 0] = np.where(below < box[:, 0], below - _ROOM, box[:, 0])
    box[:, 1] = np.where(above > box[:, 1], above + _ROOM, box[:, 1])
    if isinstance(bounds, Mapping):
        for name, (low, high) in bounds.items():
            if not 0 < low <= high < np.inf:
                raise ValueError(f"bounds of {name!r} are ({low}, {high}); give 0 < low <= high")
            box[matching(name, names)] = np.log([low, high])
    elif bounds is not None:
        box = np.array(bounds, dtype=np.float64)
        if box.shape != (len(names), 2) or not (box[:, 0] <= box[:, 1]).all():
            raise ValueError(
                f"bounds has shape {box.shape}; give (low, high) for each of {', '.join(names)}, "
                "in logarithms, or a mapping of names to natural values"
            )
    return Space(names, box[:, 0].copy(), box[:, 1].copy())
