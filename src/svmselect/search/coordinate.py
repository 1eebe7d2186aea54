"""One coordinate at a time: the curves of a criterion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from svmselect.search.base import Search, Space, State, loss_of
from svmselect.search.grid import axes_around
from svmselect.types import Array, Evaluation, Status


@dataclass(frozen=True, kw_only=True, eq=False)
class CurveState(State):
    """The incumbent, the curve being drawn, and whether the present cycle has moved it."""

    axes: tuple[Array, ...]
    edges: tuple[Array, Array]
    point: Array
    loss: float
    coordinate: int
    cycle: int
    moved: bool


@dataclass(frozen=True)
class Coordinate(Search[CurveState]):
    """Draw the curve along each coordinate in turn and go to its lowest point.

    Parameters
    ----------
    size : int, default 15
        Values for each coordinate.
    reach : tuple of float, default (7.0, 3.0)
        How far from the start they go: in the first coordinate (log C), and in the others.
    values : mapping of str to sequence of float, optional
        The values for the coordinates it names, in natural units, as for ``Grid``.
    cycles : int, default 10
        Stop after that many cycles through all coordinates.

    Notes
    -----
    The values are fixed once and for all, so the curves of one coordinate can be laid side by side.
    It stops earlier when a whole cycle changes nothing.

    References
    ----------
    Wahba, Lin & Zhang 1999; Kobayashi & Komaki 2005.
    """

    size: int = 15
    reach: tuple[float, float] = (7.0, 3.0)
    values: Mapping[str, Sequence[float]] = field(default_factory=dict)
    cycles: int = 10

    name = "coordinate"
    chain = 16
    reference = "Wahba, Lin & Zhang 1999; Kobayashi & Komaki 2005"

    def start(self, point: Array, space: Space, seed: int) -> CurveState:
        x = space.clip(point)
        axes = axes_around(x, space, self.size, self.reach, self.values)
        ends = np.array([a[0] for a in axes]), np.array([a[-1] for a in axes])
        state = CurveState(
            space=space, pending=(), axes=axes, edges=ends, point=x, loss=np.inf, coordinate=0,
            cycle=0, moved=False,
        )  # fmt: skip
        return replace(state, pending=_curve(state))

    def edges(self, state: CurveState) -> tuple[Array, Array]:
        return state.edges

    def tell(self, state: CurveState, answers: Sequence[Evaluation]) -> CurveState:
        for answer in answers:
            if loss_of(answer) < state.loss:
                state = replace(state, loss=loss_of(answer), point=answer.point, moved=True)
        i = state.coordinate + 1
        if i == len(state.space):
            i, cycle = 0, state.cycle + 1
            if not state.moved or len(state.space) == 1:
                over = Status("converged", "no coordinate gains anything on its own")
                return replace(state, stopped=over)
            if cycle >= self.cycles:
                return replace(state, stopped=Status("iterations", f"stopped after {cycle} cycles"))
            state = replace(state, cycle=cycle, moved=False)
        state = replace(state, coordinate=i)
        return replace(state, pending=_curve(state))


def _curve(state: CurveState) -> tuple[Array, ...]:
    points = []
    for value in state.axes[state.coordinate]:
        x = state.point.copy()
        x[state.coordinate] = value
        points.append(x)
    return tuple(points)
