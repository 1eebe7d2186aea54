"""A quasi-Newton search in a box, for functions that are smooth but for kinks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from svmselect.search.base import Search, Space, State, loss_of, no_gradient, slope_of
from svmselect.search.irprop import IRprop, IRpropState
from svmselect.types import Array, Evaluation, Status


@dataclass(frozen=True, kw_only=True, eq=False)
class LBFGSState(State):
    """The last accepted point, the curvature learnt, and the bracket of the line search."""

    point: Array
    loss: float
    slope: Array
    curvature: Array
    fresh: bool
    leash: float
    approach: IRpropState
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

    Parameters
    ----------
    approach : int, default 30
        Steps of iRprop+ to begin with.
    step : float, default 0.2
        Length of the first move, in any coordinate.
    longest : float, default 1.0
        The longest move, in any coordinate.
    gtol : float, default 1e-5
        Stop when the projected gradient is smaller.
    ftol : float, default 1e-7
        Stop when ``patience`` steps together gain less.
    patience : int, default 5
        See ``ftol``.
    iterations : int, default 200
        Stop after that many iterations.
    trials : int, default 15
        Evaluations that one line search may take.

    Notes
    -----
    It begins with iRprop+ because far from an optimum a quadratic model knows only the nearest
    corner (C tiny, a length scale beyond all distances), while the signs of the gradient do better.
    The line search only brackets and halves: it asks for a sufficient decrease and a slope that has
    risen enough, never for a small slope, which no point has when the minimum of a line lies on a
    kink. Coordinates pressed against the edge are left out of the model. When a line search fails
    the curvature is forgotten once; when it fails then too, the search ends. A move is at most
    twice the last one. The matrix is kept whole: with tens or hundreds of coordinates limited
    memory would save nothing. O(p^3) a step.

    References
    ----------
    Lewis & Overton 2013.
    """

    approach: int = 30
    step: float = 0.2
    longest: float = 1.0
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
            fresh=True, leash=self.step, approach=IRprop().start(x, space, seed), direction=zero,
            low=0.0, high=np.inf, length=0.0, trials=0, fallback=None, gains=(), iteration=0,
        )  # fmt: skip

    def tell(self, state: LBFGSState, answers: Sequence[Evaluation]) -> LBFGSState:
        (answer,) = answers
        loss, slope = loss_of(answer), slope_of(answer)
        if not np.isfinite(state.loss) and slope is None:
            return replace(state, stopped=no_gradient(self))
        if state.approach.iteration < self.approach:
            return self._approach(state, answer)
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

    def _approach(self, state: LBFGSState, answer: Evaluation) -> LBFGSState:
        """Go by the signs of the gradient for a while, then start from the best point found."""
        approach = IRprop().tell(state.approach, [answer])
        state = replace(state, approach=approach, pending=approach.pending)
        slope = slope_of(answer)
        if slope is not None and answer.value < state.loss:
            state = replace(state, point=answer.point, loss=answer.value, slope=slope)
        if approach.iteration < self.approach and approach.stopped is None:
            return state
        over = replace(approach, iteration=self.approach)
        return self._line(replace(state, approach=over))

    def _furthest(self, state: LBFGSState) -> float:
        size = float(np.abs(state.direction).max())
        return state.leash / size if size > 0 else 0.0

    def _accept(self, state: LBFGSState, answer: Evaluation) -> LBFGSState:
        x, loss, slope = answer.point, answer.value, answer.gradient
        assert slope is not None
        moved = x - state.point
        B, change = state.curvature, slope - state.slope
        curved = float(moved @ change)
        if curved > 1e-10 * float(np.linalg.norm(moved) * np.linalg.norm(change)):
            if state.fresh:  # the first measured curvature sets the scale
                B = B * (curved / float(moved @ B @ moved))
            pushed = B @ moved
            B = B - np.outer(pushed, pushed) / float(moved @ pushed)
            B = B + np.outer(change, change) / curved
            state = replace(state, curvature=0.5 * (B + B.T), fresh=False)
        gains = (*state.gains, state.loss - loss)[-self.patience :]
        iteration = state.iteration + 1
        leash = min(2.0 * state.leash, self.longest)
        state = replace(
            state, point=x, loss=loss, slope=slope, gains=gains, iteration=iteration, leash=leash
        )
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
            # Nothing is known of the scales: move every coordinate alike, as far as its derivative
            # is not negligible. (Along the bare gradient C alone would move, often into a corner.)
            size = np.maximum(np.abs(g), 1e-4 * float(np.abs(g[free]).max()))
            state = replace(state, curvature=np.diag(size / self.step))
        block = state.curvature[np.ix_(free, free)]
        values, vectors = np.linalg.eigh(block)
        safe = np.maximum(values, 1e-12 * max(float(values[-1]), 1e-300))
        direction[free] = -(vectors @ ((vectors.T @ g[free]) / safe))
        longest = float(np.abs(direction).max())
        if longest > state.leash:
            direction = direction * (state.leash / longest)
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
            return self._line(replace(state, fresh=True))
        return replace(state, length=length, trials=trials, pending=(target,))
