"""The elementary kernels' common part: parameters, their names, logarithms and checks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from .base import Kernel, check_theta
from .tiles import Array


class Leaf(Kernel):
    """Base class of elementary kernels; subclasses are frozen dataclasses.

    Notes
    -----
    The class variable ``box`` maps each positive parameter to its default search interval, in
    natural units. A parameter named in ``per_input`` may also be a vector, with one entry for each
    column.
    """

    box: ClassVar[dict[str, tuple[float, float]]]
    per_input: ClassVar[frozenset[str]] = frozenset()

    def __post_init__(self) -> None:
        for name in self.box:
            value = positive(getattr(self, name), self._label(name), name in self.per_input)
            object.__setattr__(self, name, value)

    def leaves(self) -> Iterator[Kernel]:
        yield self

    @property
    def theta(self) -> Array:
        return np.log(self._values())

    def _values(self) -> Array:
        parts = [np.atleast_1d(getattr(self, name)) for name in self.box]
        return np.concatenate(parts, dtype=np.float64)

    @property
    def bounds(self) -> Array:
        rows = [self.box[n] for n in self.box for _ in np.atleast_1d(getattr(self, n))]
        return np.log(np.array(rows, dtype=np.float64))

    @property
    def names(self) -> tuple[str, ...]:
        names: list[str] = []
        for name in self.box:
            value = getattr(self, name)
            full = f"{type(self).__name__.lower()}.{name}"
            vector = isinstance(value, tuple)
            names += [f"{full}[{a}]" for a in range(len(value))] if vector else [full]
        return tuple(names)

    def at(self, theta: ArrayLike) -> Kernel:
        values = check_theta(theta, self)
        with np.errstate(over="ignore", under="ignore"):
            natural = np.exp(values)
        # exp(log v) need not be v: an unchanged coordinate keeps its value to the last bit.
        natural = np.where(values == self.theta, self._values(), natural)
        changes: dict[str, Any] = {}
        start = 0
        for name in self.box:
            value = getattr(self, name)
            stop = start + (len(value) if isinstance(value, tuple) else 1)
            new = natural[start:stop].tolist()
            changes[name] = new if isinstance(value, tuple) else new[0]
            start = stop
        return replace(self, **changes)  # type: ignore[type-var]

    def __repr__(self) -> str:
        parts = []
        for field in fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            if value is None:  # an option that is not used
                continue
            shown = list(value) if isinstance(value, tuple) else value
            parts.append(f"{field.name}={shown!r}")
        return f"{type(self).__name__}({', '.join(parts)})"

    def _label(self, name: str) -> str:
        return f"{name} of {type(self).__name__}"


def positive(value: Any, label: str, vector: bool) -> float | tuple[float, ...]:
    """Give a positive finite number as float, a vector of them as tuple, or say what is wrong."""
    try:
        numbers = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{label} must be a positive number, got {value!r}") from None
    if numbers.ndim > (1 if vector else 0) or numbers.size == 0:
        wanted = "one number, or a vector with one for each column" if vector else "one number"
        raise ValueError(f"{label} must be {wanted}, got an array of shape {numbers.shape}")
    bad = ~(np.isfinite(numbers) & (numbers > 0))
    if bad.any():
        where = f"[{np.flatnonzero(bad)[0]}]" if numbers.ndim else ""
        found = numbers[bad][0] if numbers.ndim else numbers
        raise ValueError(
            f"{label}{where} must be positive and finite, got {float(found)}; "
            "parameters are searched by their logarithms, so zero is not allowed"
        )
    return tuple(numbers.tolist()) if numbers.ndim else float(numbers)
