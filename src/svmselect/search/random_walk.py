"""A greedy random walk: Monte Carlo at temperature zero."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from svmselect.search.base import (
    LINEAR,
    Search,
    Space,
    State,
    asleep,
    generator,
    loss_of,
    seeded,
)
from svmselect.types import Array, Evaluation, Status


@dataclass(frozen=True, kw_only=True, eq=False)
class WalkState(State):
    """The incumbent, one step size a coordinate, and the gains of the last sweeps."""

    rng: Mapping[str, Any]
    point: Array
    loss: float
    step: Array
    coordinate: int
    gained: float
    gains: tuple[float, ...]
    sweeps: int


@dataclass(frozen=True)
class RandomWalk(Search[WalkState]):
    """One coordinate at a time takes a Gaussian step and keeps it if the loss has fallen.

    Parameters
    ----------
    step : float, default 0.5
        The first step size.
    factor : float, default 1.3
        A step size grows by this when the step is accepted and shrinks by it when not.
    shortest : float, default 1e-3
        Stop when every step size is below this (times C, for C).
    gain : float, default 1e-6
        Stop when ``patience`` sweeps together gain less.
    patience : int, default 10
        See ``gain``.
    sweeps : int, default 200
        Stop after that many sweeps through all coordinates.

    Notes
    -----
    Monte Carlo at temperature zero; the step sizes hold the acceptance rate at one half. Steps are
    linear in C and logarithmic in kernel parameters; a step out of the box is reflected at its
    edge.

    References
    ----------
    Gold & Sollich 2003, section 4.1.
    """

    step: float = 0.5
    factor: float = 1.3
    shortest: float = 1e-3
    gain: float = 1e-6
    patience: int = 10
    sweeps: int = 200

    name = "random-walk"
    reference = "Gold & Sollich 2003, section 4.1"

    def start(self, point: Array, space: Space, seed: int) -> WalkState:
        x = space.clip(point)
        steps = np.full(len(x), self.step)
        return WalkState(
            space=space, pending=(x,), rng=seeded(seed), point=x, loss=np.inf, step=steps,
            coordinate=-1, gained=0.0, gains=(), sweeps=0,
        )  # fmt: skip

    def tell(self, state: WalkState, answers: Sequence[Evaluation]) -> WalkState:
        (answer,) = answers
        loss, i = loss_of(answer), state.coordinate
        better = loss < state.loss
        if i >= 0:
            step = state.step.copy()
            step[i] *= self.factor if better else 1.0 / self.factor
            gained = state.gained + (state.loss - loss if better else 0.0)
            gained = gained if np.isfinite(gained) else np.inf
            state = replace(state, step=step, gained=gained)
        if better:
            state = replace(state, point=answer.point, loss=loss)
        i += 1
        if i == len(state.space):
            i = 0
            gains = (*state.gains, state.gained)[-self.patience :]
            state = replace(state, gains=gains, gained=0.0, sweeps=state.sweeps + 1)
        return self._propose(replace(state, coordinate=i))

    def _propose(self, state: WalkState) -> WalkState:
        rng, i, x = generator(state.rng), state.coordinate, state.point.copy()
        draw = state.step[i] * float(rng.standard_normal())
        low, high = state.space.lower[i], state.space.upper[i]
        if state.space.names[i] == LINEAR:
            C = _reflect(np.exp(x[i]) + draw, np.exp(low), np.exp(high))
            x[i] = np.log(C)
        else:
            x[i] = _reflect(x[i] + draw, low, high)
        state = replace(state, rng=asleep(rng), pending=(state.space.clip(x),))
        return replace(state, stopped=self._over(state))

    def _over(self, state: WalkState) -> Status | None:
        scale = [np.exp(v) if n == LINEAR else 1.0
                 for n, v in zip(state.space.names, state.point, strict=True)]  # fmt: skip
        if np.all(state.step < self.shortest * np.array(scale)):
            return Status("converged", f"every step is shorter than {self.shortest:g}")
        if state.coordinate == 0 and state.sweeps:
            if len(state.gains) == self.patience and sum(state.gains) < self.gain:
                return Status("converged", f"{self.patience} sweeps gained next to nothing")
            if state.sweeps >= self.sweeps:
                return Status("iterations", f"stopped after {state.sweeps} sweeps")
        return None


def _reflect(value: float, low: float, high: float) -> float:
    if value < low:
        value = 2 * low - value
    if value > high:
        value = 2 * high - value
    return min(max(value, low), high)
