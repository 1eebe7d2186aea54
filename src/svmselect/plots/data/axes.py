"""Search coordinates as the axes of a picture: the penalty, the width, and what is left."""

from __future__ import annotations

import numpy as np

from svmselect.kernels.names import stem
from svmselect.types import Array


def width_of(names: tuple[str, ...]) -> list[int]:
    """Coordinates that make up the width: the first length scale, all its entries.

    A kernel without one gives its first parameter, and a kernel without parameters nothing.
    """
    stems = [stem(name) for name in names]
    lengths = [one for one in stems[1:] if one.endswith("length_scale")]
    wanted = lengths[0] if lengths else (stems[1] if len(stems) > 1 else None)
    return [i for i, one in enumerate(stems) if i > 0 and one == wanted]


def width_label(names: tuple[str, ...]) -> str:
    """What the width is called; a vector's entries move together."""
    found = width_of(names)
    if not found:
        return ""
    name = stem(names[found[0]])
    if name.endswith("length_scale"):
        return "length scale (mean)" if len(found) > 1 else "length scale"
    return name


def projected(point: Array, names: tuple[str, ...]) -> tuple[float, float]:
    """(log C, mean log width) of a point; the width is not a number where there is none."""
    found = width_of(names)
    return float(point[0]), float(np.mean(point[found])) if found else float("nan")


def others(names: tuple[str, ...]) -> list[int]:
    """Coordinates that neither axis moves alone: entries of a vector, and further parameters."""
    width = width_of(names)
    alone = width if len(width) == 1 else []
    return [i for i in range(1, len(names)) if i not in alone]
