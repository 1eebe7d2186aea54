"""All combinations of a few values of each coordinate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

import numpy as np

from svmselect.search.base import LINEAR, Search, Space, State, loss_of
from svmselect.types import Array, Evaluation, Status


@dataclass(frozen=True, kw_only=True, eq=False)
class GridState(State):
    """The axes of the present grid and the best point of all so far."""

    axes: tuple[Array, ...]
    edges: tuple[Array, Array]
    point: Array
    loss: float
    round: int


@dataclass(frozen=True)
class Grid(Search[GridState]):
    """The full grid, then finer ones around the best point.

    Parameters
    ----------
    size : int, default 10
        Values for each coordinate, evenly spaced in search coordinates and centred on the start.
    reach : tuple of float, default (7.0, 3.0)
        How far from the start they go, as far as the box allows: in the first coordinate (log C),
        and in the others.
    refine : int, default 0
        How many finer grids follow, each spanning one spacing to each side of the best point.
    values : mapping of str to sequence of float, optional
        The values for the coordinates it names, in natural units for those that are logarithms.
    most : int, default 10000
        A grid of more points is refused.

    Notes
    -----
    O(size^p) evaluations for p coordinates.

    References
    ----------
    Common practice; Wahba, Lin & Zhang 1999.

    Examples
    --------
    >>> from svmselect.search import get_search
    >>> search = get_search("grid", values={"C": [0.1, 1, 10], "rbf.length_scale": [1, 2]})
    """

    size: int = 10
    reach: tuple[float, float] = (7.0, 3.0)
    refine: int = 0
    values: Mapping[str, Sequence[float]] = field(default_factory=dict)
    most: int = 10_000

    name = "grid"
    chain = 10
    reference = "common practice; Wahba, Lin & Zhang 1999"

    def start(self, point: Array, space: Space, seed: int) -> GridState:
        x = space.clip(point)
        axes = axes_around(x, space, self.size, self.reach, self.values)
        count = int(np.prod([float(len(a)) for a in axes]))
        if count > self.most:
            raise ValueError(
                f"a grid of {' x '.join(str(len(a)) for a in axes)} = {count} points is more than "
                f"{self.most}; choose a search such as 'lbfgs' or 'cma-es', a smaller size, or "
                "raise `most`"
            )
        ends = np.array([a[0] for a in axes]), np.array([a[-1] for a in axes])
        return GridState(
            space=space, pending=_points(axes), axes=axes, edges=ends, point=x, loss=np.inf, round=0
        )

    def edges(self, state: GridState) -> tuple[Array, Array]:
        return state.edges

    def tell(self, state: GridState, answers: Sequence[Evaluation]) -> GridState:
        for answer in answers:
            if loss_of(answer) < state.loss:
                state = replace(state, loss=loss_of(answer), point=answer.point)
        if state.round >= self.refine or not np.isfinite(state.loss):
            return replace(state, stopped=Status("converged", "every point of the grid is done"))
        low, high = state.space.lower, state.space.upper
        axes = []
        for i, axis in enumerate(state.axes):
            width = float(axis[1] - axis[0]) if len(axis) > 1 else 0.0
            span = np.linspace(state.point[i] - width, state.point[i] + width, max(len(axis), 3))
            inside = np.unique(np.clip(span, low[i], high[i]))
            axes.append(inside if width > 0 else axis)
        known = {tuple(p) for p in state.pending} | {tuple(state.point)}
        fresh = tuple(p for p in _points(tuple(axes)) if tuple(p) not in known)
        if not fresh:
            return replace(state, stopped=Status("converged", "the grid cannot be refined"))
        return replace(state, axes=tuple(axes), pending=fresh, round=state.round + 1)


def axes_around(
    x: Array,
    space: Space,
    size: int,
    reach: tuple[float, float],
    values: Mapping[str, Sequence[float]],
) -> tuple[Array, ...]:
    """Values to try in each coordinate, around a point."""
    known = {_natural(name): name for name in space.names}
    for name in values:
        if name not in known and name not in space.names:
            raise ValueError(f"values names {name!r}; the coordinates are {', '.join(known)}")
    axes = []
    for i, name in enumerate(space.names):
        given = values.get(_natural(name), values.get(name))
        if given is not None:
            numbers = np.asarray(given, dtype=np.float64)
            if _logs(space) and not np.all(numbers > 0):
                raise ValueError(f"values of {_natural(name)!r} must be positive, got {given!r}")
            axis = np.unique(np.log(numbers) if _logs(space) else numbers)
            if len(axis) == 0 or not np.isfinite(axis).all():
                raise ValueError(f"values of {name!r} must be finite numbers, got {given!r}")
            outside = (axis < space.lower[i]) | (axis > space.upper[i])
            if outside.any():
                raise ValueError(f"values of {name!r} lie outside the bounds of the search")
            axes.append(axis)
            continue
        span = reach[0] if i == 0 else reach[1]
        low, high = max(x[i] - span, space.lower[i]), min(x[i] + span, space.upper[i])
        axes.append(np.linspace(low, high, size) if size > 1 else x[i : i + 1].copy())
    return tuple(axes)


def _logs(space: Space) -> bool:
    """Whether the coordinates are logarithms, as those of a machine are."""
    return LINEAR in space.names


def _natural(name: str) -> str:
    return name.removeprefix("log ")


def _points(axes: tuple[Array, ...]) -> tuple[Array, ...]:
    """All combinations; the first coordinate changes fastest, so that neighbours share a kernel."""
    return tuple(np.array(p[::-1]) for p in product(*reversed(axes)))
