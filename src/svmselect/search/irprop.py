"""iRprop+: steps by the signs of the gradient alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from svmselect.search.base import Search, Space, State, loss_of, no_gradient, slope_of
from svmselect.types import Array, Evaluation, Status


@dataclass(frozen=True, kw_only=True, eq=False)
class IRpropState(State):
    """The last finite evaluation; ``memory`` is its gradient, zero where a coordinate rests."""

    point: Array
    loss: float
    gradient: Array
    memory: Array
    step: Array
    move: Array
    iteration: int


@dataclass(frozen=True)
class IRprop(Search[IRpropState]):
    """Improved resilient propagation (iRprop+): steps by the signs of the gradient alone.

    Parameters
    ----------
    step : float or tuple of float, default 0.1
        Length of the first step, for all coordinates or for each.
    shortest : float, default 1e-3
        Stop when every step is below this.
    longest : float, default 2.0
        The longest step.
    iterations : int, default 200
        Stop after that many iterations.

    Notes
    -----
    Each coordinate has its own step: longer by 1.2 while its derivative keeps its sign, halved when
    the sign changes; then, if the loss has risen too, that coordinate takes its last move back
    (weight backtracking). Only signs count, so kinks and badly scaled derivatives do no harm.
    Points stay inside the box. Glasmachers & Igel start with steps of 0.1.

    References
    ----------
    Igel & Hüsken 2003; Glasmachers & Igel 2010, section 5.
    """

    step: float | tuple[float, ...] = 0.1
    shortest: float = 1e-3
    longest: float = 2.0
    iterations: int = 200

    name = "irprop"
    gradients = True
    reference = "Igel & Hüsken 2003; Glasmachers & Igel 2010, section 5"

    def start(self, point: Array, space: Space, seed: int) -> IRpropState:
        x = space.clip(point)
        steps = np.broadcast_to(np.asarray(self.step, dtype=np.float64), x.shape).copy()
        zero = np.zeros_like(x)
        return IRpropState(
            space=space, pending=(x,), point=x, loss=np.inf, gradient=zero, memory=zero, step=steps,
            move=zero, iteration=0,
        )  # fmt: skip

    def tell(self, state: IRpropState, answers: Sequence[Evaluation]) -> IRpropState:
        (answer,) = answers
        loss, slope = loss_of(answer), slope_of(answer)
        if slope is None:
            if not np.isfinite(state.loss):
                return replace(state, stopped=no_gradient(self))
            # no way through: from the last good point again, half as far
            state = replace(state, step=0.5 * state.step, memory=np.zeros_like(state.memory))
            return self._next(state, state.gradient)
        agree = state.memory * slope
        step = np.where(agree > 0, np.minimum(1.2 * state.step, self.longest), state.step)
        step = np.where(agree < 0, 0.5 * state.step, step)
        # A coordinate that turned rests for one step; if the loss has risen too it first goes back.
        resting = np.where(agree < 0, 0.0, slope)
        back = np.where((agree < 0) & (loss > state.loss), state.move, 0.0)
        state = replace(
            state, point=answer.point, loss=loss, gradient=slope, memory=resting, step=step
        )
        return self._next(state, resting, back)

    def _next(self, state: IRpropState, direction: Array, back: Array | float = 0.0) -> IRpropState:
        """Move against the signs of ``direction``, less ``back``."""
        x, space = state.point, state.space
        target = space.clip(x - np.sign(direction) * state.step - back)
        memory = state.memory
        if not np.any(target != x):  # all rest: the next step would start from the same gradient
            memory = state.gradient
            target = space.clip(x - np.sign(memory) * state.step)
        iteration = state.iteration + 1
        stopped = None
        # A coordinate pressed against the edge has nowhere to go; its step does not count.
        idle = space.outward(x, state.gradient)
        if not np.any(target != x):
            stopped = Status("converged", "no coordinate has anywhere to go")
        elif np.all((state.step < self.shortest) | idle):
            stopped = Status("converged", f"every step is shorter than {self.shortest:g}")
        elif iteration >= self.iterations:
            stopped = Status("iterations", f"stopped after {iteration} iterations")
        return replace(
            state, pending=(target,), stopped=stopped, memory=memory, move=target - x,
            iteration=iteration,
        )  # fmt: skip
