"""Ascent along gradients that may be noisy, judged on gradients alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from svmselect.search.base import LINEAR, Search, Space, State, no_gradient, slope_of
from svmselect.types import Array, Evaluation, Status


@dataclass(frozen=True, kw_only=True, eq=False)
class AscentState(State):
    """The last accepted point, its gradient, a learning rate each, and the largest gradient yet."""

    point: Array
    slope: Array | None
    rate: Array
    peak: float
    discarded: int
    iteration: int


@dataclass(frozen=True)
class GradientAscent(Search[AscentState]):
    """Follow the gradient with one learning rate a coordinate; the value is never looked at.

    It suits gradients that are noisy, as those of ``evidence-hmc`` are.

    Parameters
    ----------
    step : float, default 0.1
        Length of the first step, in every coordinate.
    fraction : float, default 0.02
        Stop when the gradient is that small a fraction of its peak.
    longest : float, default 0.5
        The longest step in the logarithm of a coordinate.
    iterations : int, default 200
        Stop after that many iterations.

    Notes
    -----
    A rate grows while its derivative does not decline quickly and is halved when the derivative
    changes sign. If the gradient rises sharply above its peak, or turns round, the step is
    discarded and redone with smaller rates. Steps are linear in C and logarithmic in kernel
    parameters. The answer is the last point accepted. It descends on the loss: "ascent" is the
    paper's word, which ascends the evidence. The paper prints no numbers for the constants; these
    are ours.

    References
    ----------
    Gold & Sollich 2003, section 4.3.
    """

    step: float = 0.1
    fraction: float = 0.02
    longest: float = 0.5
    iterations: int = 200

    name = "gradient-ascent"
    gradients = True
    reference = "Gold & Sollich 2003, section 4.3"

    def start(self, point: Array, space: Space, seed: int) -> AscentState:
        x = space.clip(point)
        return AscentState(
            space=space, pending=(x,), point=x, slope=None, rate=np.zeros_like(x), peak=0.0,
            discarded=0, iteration=0,
        )  # fmt: skip

    def choice(self, state: AscentState) -> Array | None:
        return state.point if state.slope is not None else None

    def tell(self, state: AscentState, answers: Sequence[Evaluation]) -> AscentState:
        (answer,) = answers
        slope = slope_of(answer)
        if state.slope is None:
            if slope is None:
                return replace(state, stopped=no_gradient(self))
            # derivatives differ by orders of magnitude: every coordinate first moves alike
            size = np.maximum(np.abs(slope), 1e-4 * float(np.abs(slope).max()))
            rate = np.divide(self.step, size, out=np.zeros_like(size), where=size > 0)
            if LINEAR in state.space.names:  # its rate is per unit of C, see _step
                i = state.space.names.index(LINEAR)
                rate[i] *= float(np.exp(2.0 * answer.point[i]))
            state = replace(state, slope=slope, rate=rate, peak=float(np.linalg.norm(slope)))
            return self._next(state, answer.point)
        old = state.slope
        if slope is None:
            return self._discard(state, np.full(len(old), 0.25))
        norm = float(np.linalg.norm(slope))
        turned = slope * old < 0
        sharp = norm > 2.0 * state.peak
        about = float(slope @ old) < -0.5 * norm * float(np.linalg.norm(old))
        if (sharp or about) and state.discarded < 8:
            worse = turned | (np.abs(slope) > 2.0 * np.abs(old))
            return self._discard(state, np.where(worse | (not worse.any()), 0.3, 1.0))
        rate = state.rate * np.where(
            turned, 0.5, np.where(np.abs(slope) > 0.5 * np.abs(old), 1.2, 1)
        )
        peak = max(state.peak, norm)
        return self._next(replace(state, slope=slope, rate=rate, peak=peak), answer.point)

    def _discard(self, state: AscentState, factor: Array) -> AscentState:
        state = replace(state, rate=state.rate * factor, discarded=state.discarded + 1)
        return self._step(replace(state, iteration=state.iteration + 1))

    def _next(self, state: AscentState, x: Array) -> AscentState:
        state = replace(state, point=x, discarded=0, iteration=state.iteration + 1)
        assert state.slope is not None
        free = np.where(state.space.outward(x, state.slope), 0.0, state.slope)
        if np.linalg.norm(free) <= self.fraction * state.peak:
            over = f"the gradient is below {self.fraction:g} of its peak"
            return replace(state, stopped=Status("converged", over))
        return self._step(state)

    def _step(self, state: AscentState) -> AscentState:
        assert state.slope is not None
        x = state.point
        move = np.clip(-state.rate * state.slope, -self.longest, self.longest)
        if LINEAR in state.space.names:
            # C + rate dE/dC, and dE/dlog C = C dE/dC
            i = state.space.names.index(LINEAR)
            C = float(np.exp(x[i]))
            by_C = -state.rate[i] * state.slope[i] / C
            factor = np.clip(1.0 + by_C / C, np.exp(-self.longest), np.exp(self.longest))
            move[i] = float(np.log(factor))
        target = state.space.clip(x + move)
        if not np.any(target != x):
            return replace(state, stopped=Status("converged", "no step is left to take"))
        if state.iteration >= self.iterations:
            over = f"stopped after {state.iteration} iterations"
            return replace(state, stopped=Status("iterations", over))
        return replace(state, pending=(target,))
