"""Search coordinates by name: which belong to a vector, and which a user means."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

import numpy as np

from svmselect.types import Array, BoolArray

_INDEXED = re.compile(r"^(.*)\[\d+\]$")


def matching(name: str, names: tuple[str, ...]) -> list[int]:
    """Coordinates that a name means: itself, its logarithm, or all entries of a vector."""
    found = [
        i for i, full in enumerate(names) if name in (full, full.removeprefix("log "), stem(full))
    ]
    if not found:
        known = ", ".join(full.removeprefix("log ") for full in names)
        raise ValueError(f"no parameter is called {name!r}; there are {known}")
    return found


def vectors(names: tuple[str, ...]) -> list[list[int]]:
    """Coordinates of each vector parameter of two entries or more."""
    return [group for group in parameters(names).values() if len(group) > 1]


@lru_cache(maxsize=64)
def parameters(names: tuple[str, ...]) -> Mapping[str, list[int]]:
    """Coordinates of each parameter, by its name without an index."""
    groups: dict[str, list[int]] = {}
    for i, name in enumerate(names):
        groups.setdefault(stem(name), []).append(i)
    return MappingProxyType(groups)


def are_lengths(names: tuple[str, ...]) -> BoolArray:
    """Which coordinates are length scales."""
    return np.array(["length_scale" in name for name in names], dtype=np.bool_)


def deviations(point: Array, names: tuple[str, ...]) -> Array:
    """How far each entry of a vector parameter is from the mean of its vector; 0 elsewhere."""
    gap = np.zeros_like(point)
    for group in vectors(names):
        gap[group] = point[group] - point[group].mean()
    return gap


def stem(name: str) -> str:
    """The name of a vector without the index of its entry."""
    match = _INDEXED.match(name)
    return match.group(1) if match else name
