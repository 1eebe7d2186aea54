"""A quasi-Newton search in a box, for functions that are smooth but for kinks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from svmselect.search.base import Search, Space, State, loss_of, no_gradient, slope_of
from svmselect.types import Array, Evaluation, Status


@dataclass(frozen=True, kw_only=True, eq=False)
class LBFGSState(State):
    """The last accepted point, the curvature learnt, and the bracket of the line search."""

    point: Array
    loss: float
    slope: Array
    curvature: Array
    fresh: bool
    direction: Array
    low: float
    high: float
    length: float
    trials: int
    fallback: Evaluation | None
    gains: tuple[float, ...]
    iteration: int


@dataclass(frozen=True)
class LBFGS(Search[LBFGSState]):
    """BFGS along projected lines, with the weak Wolfe line search of Lewis & Overton.

    The line search only brackets and halves: it asks for a sufficient decrease and a slope that has
    risen enough, and never for the curvature condition in absolute value, which no point satisfies
    when the minimum of a line lies on a kink. Coordinates pressed against the edge of the box are
    left out of the quadratic model. When a line search fails the curvature is forgotten once;
    failing along the bare gradient too, the search ends. The matrix is kept whole: there are tens
    or hundreds of coordinates, so limited memory would save nothing. Stops at a projected gradient
    below ``gtol`` or when ``patience`` steps together gain less than ``ftol``. O(p^3) a step.
    """

    step: float = 0.5
    longest: float = 3.0
    gtol: float = 1e-5
    ftol: float = 1e-7
    patience: int = 5
    iterations: int = 200
    trials: int = 15

    name = "lbfgs"
    gradients = True
    reference = "Lewis & Overton 2013"

    def start(self, point: Array, space: Space, seed: int) -> LBFGSState:
        x = space.clip(point)
        zero = np.zeros_like(x)
        return LBFGSState(
            space=space, pending=(x,), point=x, loss=np.inf, slope=zero, curvature=np.eye(len(x)),
            fresh=True, direction=zero, low=0.0, high=np.inf, length=0.0, trials=0, fallback=None,
            gains=(), iteration=0,
        )  # fmt: skip

    def tell(self, state: LBFGSState, answers: Sequence[Evaluation]) -> LBFGSState:
        (answer,) = answers
        loss, slope = loss_of(answer), slope_of(answer)
        if not np.isfinite(state.loss):  # the first point
            if slope is None:
                return replace(state, stopped=no_gradient(self))
            return self._line(replace(state, point=answer.point, loss=loss, slope=slope))
        x, moved = answer.point, answer.point - state.point
        if slope is None or loss > state.loss + 1e-4 * float(state.slope @ moved):
            return self._retry(replace(state, high=state.length))
        # Of the slope along the path only what still moves at x counts: the rest has been projected
        # onto the edge.
        inside = (x > state.space.lower) & (x < state.space.upper)
        along = np.where(inside, state.direction, 0.0)
        steep = float(slope @ along) < 0.9 * float(state.slope @ along)
        if steep and state.length < self._furthest(state):
            return self._retry(replace(state, low=state.length, fallback=answer))
        return self._accept(state, answer)

    def _furthest(self, state: LBFGSState) -> float:
        size = float(np.abs(state.direction).max())
        return self.longest / size if size > 0 else 0.0

    def _accept(self, state: LBFGSState, answer: Evaluation) -> LBFGSState:
        x, loss, slope = answer.point, answer.value, answer.gradient
        assert slope is not None
        moved = x - state.point
        B, change = state.curvature, slope - state.slope
        curved = float(moved @ change)
        if curved > 1e-10 * float(np.linalg.norm(moved) * np.linalg.norm(change)):
            if state.fresh:  # the first measured curvature sets the scale
                B = np.eye(len(x)) * (float(change @ change) / curved)
            pushed = B @ moved
            B = B - np.outer(pushed, pushed) / float(moved @ pushed)
            B = B + np.outer(change, change) / curved
            state = replace(state, curvature=0.5 * (B + B.T), fresh=False)
        gains = (*state.gains, state.loss - loss)[-self.patience :]
        iteration = state.iteration + 1
        state = replace(state, point=x, loss=loss, slope=slope, gains=gains, iteration=iteration)
        if len(gains) == self.patience and sum(gains) <= self.ftol:
            return replace(
                state, stopped=Status("converged", "the last steps gained next to nothing")
            )
        if iteration >= self.iterations:
            return replace(
                state, stopped=Status("iterations", f"stopped after {iteration} iterations")
            )
        return self._line(state)

    def _line(self, state: LBFGSState) -> LBFGSState:
        """Begin a line search from the accepted point."""
        x, g = state.point, state.slope
        free = ~state.space.outward(x, g)
        if not free.any() or float(np.abs(g[free]).max()) <= self.gtol:
            return replace(state, stopped=Status("converged", "the gradient vanishes"))
        direction = np.zeros_like(x)
        if state.fresh:
            direction[free] = -g[free] * (self.step / float(np.abs(g[free]).max()))
        else:
            block = state.curvature[np.ix_(free, free)]
            values, vectors = np.linalg.eigh(block)
            safe = np.maximum(values, 1e-12 * max(float(values[-1]), 1e-300))
            direction[free] = -(vectors @ ((vectors.T @ g[free]) / safe))
        longest = float(np.abs(direction).max())
        if longest > self.longest:
            direction = direction * (self.longest / longest)
        state = replace(state, direction=direction, low=0.0, high=np.inf, length=1.0, trials=0)
        return replace(state, fallback=None, pending=(state.space.clip(x + direction),))

    def _retry(self, state: LBFGSState) -> LBFGSState:
        """Halve the bracket, or double the step while there is none."""
        length = 0.5 * (state.low + state.high) if np.isfinite(state.high) else 2.0 * state.low
        length = min(length, self._furthest(state)) if not np.isfinite(state.high) else length
        target = state.space.clip(state.point + length * state.direction)
        trials = state.trials + 1
        if trials >= self.trials or not np.any(target != state.point):
            if state.fallback is not None:  # not flat enough there, but lower
                return self._accept(state, state.fallback)
            if state.fresh:
                return replace(state, stopped=Status("converged", "no step lowers the loss"))
            plain = np.eye(len(state.point))
            return self._line(replace(state, curvature=plain, fresh=True))
        return replace(state, length=length, trials=trials, pending=(target,))
