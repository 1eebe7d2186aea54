"""The elementary kernels' common part: parameters, their names, logarithms and checks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from .base import Kernel, check_theta
from .tiles import Array, Block, Distances

LengthScale: TypeAlias = float | Sequence[float]


class Leaf(Kernel):
    """A kernel with parameters of its own; subclasses are frozen dataclasses.

    ``box`` maps each positive parameter to its default search interval, in natural units. A
    parameter named in ``per_input`` may also be a vector, one entry for each column.
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
        return np.log(np.concatenate([np.atleast_1d(getattr(self, name)) for name in self.box]))

    @property
    def bounds(self) -> Array:
        rows = [self.box[n] for n in self.box for _ in np.atleast_1d(getattr(self, n))]
        return np.log(np.array(rows))

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
        present = np.concatenate([np.atleast_1d(getattr(self, name)) for name in self.box])
        natural = np.where(values == self.theta, present, natural)
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
            shown = list(value) if isinstance(value, tuple) else value
            parts.append(f"{field.name}={shown!r}")
        return f"{type(self).__name__}({', '.join(parts)})"

    def _label(self, name: str) -> str:
        return f"{name} of {type(self).__name__}"


class Stationary(Leaf):
    """k(x, z) = f(s), s = sum_a (x_a - z_a)^2 / l_a^2; one length scale, or one for each input.

    A subclass gives f and its slope, both in place on a tile of s. Since
    dk/dlog l_a = -2 f'(s) (x_a - z_a)^2 / l_a^2, the sum over pairs against any weights is two
    matrix products for all inputs together.
    """

    stationary = True
    needs_scaling = True
    box: ClassVar[dict[str, tuple[float, float]]] = {"length_scale": (1e-3, 1e4)}
    per_input: ClassVar[frozenset[str]] = frozenset({"length_scale"})

    length_scale: LengthScale

    def profile(self, s: Array) -> None:
        """Replace s by f(s)."""
        raise NotImplementedError

    def slope(self, s: Array, K: Array | None) -> None:
        """Replace s by -2 f'(s); ``K`` is f(s) if known. Any finite value does where s = 0."""
        raise NotImplementedError

    def _diag(self, X: Array) -> Array:
        return np.ones(len(X))

    def block(self, X: Array, Z: Array | None) -> Block:
        length_scale = np.asarray(self.length_scale)
        if length_scale.ndim and len(length_scale) != X.shape[1]:
            raise ValueError(
                f"{self._label('length_scale')} has {len(length_scale)} entries but the data have "
                f"{X.shape[1]} columns; give one for each column, or one number for all"
            )
        return _StationaryBlock(self, Distances.of(X, Z, length_scale))


class _StationaryBlock(Block):
    def __init__(self, kernel: Stationary, distances: Distances) -> None:
        self.kernel = kernel
        self.distances = distances

    def fill(self, rows: slice, cols: slice, out: Array) -> None:
        self.distances.fill(rows, cols, out)
        self.kernel.profile(out)

    def pull(self, rows: slice, cols: slice, G: Array, K: Array | None) -> Array:
        s = np.empty_like(G)
        pairs = self.distances.fill(rows, cols, s)
        V = s.copy()
        self.kernel.slope(V, K)
        V *= G
        if isinstance(self.kernel.length_scale, float):
            return np.array([np.vdot(V, s)])
        return self.distances.contract(rows, cols, V, pairs)


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
