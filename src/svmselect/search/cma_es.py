"""Covariance matrix adaptation: for criteria with neither gradient nor continuity."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from svmselect.search.base import Search, Space, State, loss_of
from svmselect.types import Array, Evaluation, IntArray, Status


@dataclass(frozen=True, kw_only=True, eq=False)
class CMAState(State):
    """The strategy's variables over the free coordinates; the elite, and how long it has stood."""

    inner: Mapping[str, Any]
    free: IntArray
    held: Array
    point: Array
    loss: float
    stagnant: int
    iteration: int


@dataclass(frozen=True)
class CMAES(Search[CMAState]):
    """CMA-ES with an elite: the best point so far always takes part in the next update.

    Parameters
    ----------
    step : float, default 0.1
        The first standard deviation.
    population : int, optional
        Points of a generation, evaluated together; 4 + 3 log(p) if None.
    patience : int, default 20
        Stop after that many iterations without progress.
    gain : float, default 1e-6
        A smaller gain does not count as progress.
    iterations : int, default 200
        Stop after that many iterations.

    Notes
    -----
    The elite takes the place of the worst of a generation that does not beat it. No gradients are
    used.

    References
    ----------
    Hansen 2016; Glasmachers & Igel 2010, section 5.
    """

    step: float = 0.1
    population: int | None = None
    patience: int = 20
    gain: float = 1e-6
    iterations: int = 200

    name = "cma-es"
    reference = "Hansen 2016; Glasmachers & Igel 2010, section 5"

    def start(self, point: Array, space: Space, seed: int) -> CMAState:
        from cmaes import CMA

        x = space.clip(point)
        free = np.flatnonzero(space.upper > space.lower)
        mean, box = x[free], np.column_stack([space.lower, space.upper])[free]
        while len(mean) < 2:  # it needs two coordinates: idle ones beside those there are
            mean, box = np.append(mean, 0.0), np.vstack([box, [-1.0, 1.0]])
        inner = CMA(
            mean=mean.copy(),
            sigma=self.step,
            bounds=box,
            seed=seed % 2**32,
            population_size=self.population,
        )
        return self._ask(
            CMAState(
                space=space, pending=(), inner=vars(inner), free=free, held=x, point=mean,
                loss=np.inf, stagnant=0, iteration=0,
            )
        )  # fmt: skip

    def tell(self, state: CMAState, answers: Sequence[Evaluation]) -> CMAState:
        inner = _wake(state.inner)
        told = [
            (point, loss_of(answer))
            for point, answer in zip(state.inner["asked"], answers, strict=True)
        ]
        best = min(told, key=lambda pair: pair[1])
        progress = best[1] < state.loss - self.gain
        if best[1] < state.loss:
            state = replace(state, point=best[0], loss=best[1])
        elif np.isfinite(state.loss):
            worst = max(range(len(told)), key=lambda k: told[k][1])
            told[worst] = (state.point, state.loss)
        # plus infinity would do, but sorts of generations with only infinities should not warn
        finite = [v for _, v in told if np.isfinite(v)]
        top = max(finite, default=0.0) + 1.0
        inner.tell([(p, v if np.isfinite(v) else top) for p, v in told])
        stagnant = 0 if progress else state.stagnant + 1
        iteration = state.iteration + 1
        state = replace(state, inner=vars(inner), stagnant=stagnant, iteration=iteration)
        if stagnant >= self.patience:
            over = f"no progress for {stagnant} iterations"
            return replace(state, stopped=Status("converged", over))
        if iteration >= self.iterations:
            return replace(
                state, stopped=Status("iterations", f"stopped after {iteration} iterations")
            )
        return self._ask(state)

    def _ask(self, state: CMAState) -> CMAState:
        inner = _wake(state.inner)
        asked = [inner.ask() for _ in range(inner.population_size)]
        points = []
        for x in asked:
            point = state.held.copy()
            point[state.free] = x[: len(state.free)]
            points.append(state.space.clip(point))
        return replace(state, inner={**vars(inner), "asked": asked}, pending=tuple(points))


def _wake(inner: Mapping[str, Any]) -> Any:
    """Make an independent copy of the strategy, its random generator included."""
    from cmaes import CMA

    fresh = CMA.__new__(CMA)
    for name, value in inner.items():
        if name != "asked":
            setattr(fresh, name, copy.deepcopy(value))
    return fresh
