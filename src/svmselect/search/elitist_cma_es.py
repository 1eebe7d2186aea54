"""The (1+1)-CMA-ES: one child at a time, which replaces its parent if it is not worse."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from svmselect.search.base import Search, Space, State, asleep, generator, loss_of, seeded
from svmselect.types import Array, Evaluation, Status

_TARGET = 2.0 / 11.0  # the rate of successes the step size aims at
_THRESHOLD = 0.44  # above it the path is not lengthened
_MEMORY = 1.0 / 12.0


@dataclass(frozen=True, kw_only=True, eq=False)
class ElitistState(State):
    """The parent, its step size, covariance and path, and how long it has stood."""

    rng: Mapping[str, Any]
    point: Array
    loss: float
    step: float
    covariance: Array
    path: Array
    success: float
    move: Array
    stagnant: int
    iteration: int


@dataclass(frozen=True)
class ElitistCMA(Search[ElitistState]):
    """(1+1)-CMA-ES: a child takes its parent's place if it is not worse.

    Parameters
    ----------
    step : float, default 0.1
        The first step size.
    units : tuple of float, optional
        The lengths of a unit step in each coordinate; 1 if None.
    patience : int, default 20
        Stop after that many children in a row without a gain.
    iterations : int, default 200
        Stop after that many children.

    Notes
    -----
    ``x' = x + s A z``, C = A A', z standard normal. The smoothed share p of successes moves the
    step by ``exp((p - p*) / (d (1 - p*)))`` with d = 1 + k/2; a success adds its path to C. A child
    equal to its parent replaces it, so that the search drifts over plateaus. One evaluation at a
    time, no gradients. It is what Glasmachers & Igel minimised discrete criteria with; ``cma-es``,
    with a population, goes further.

    References
    ----------
    Igel, Suttorp & Hansen 2006, algorithm 1; Glasmachers & Igel 2010, section 5.
    """

    step: float = 0.1
    units: tuple[float, ...] | None = None
    patience: int = 20
    iterations: int = 200

    name = "elitist-cma-es"
    reference = "Igel, Suttorp & Hansen 2006; Glasmachers & Igel 2010, section 5"

    def start(self, point: Array, space: Space, seed: int) -> ElitistState:
        x = space.clip(point)
        k = len(x)
        units = np.ones(k) if self.units is None else np.asarray(self.units)
        return ElitistState(
            space=space, pending=(x,), rng=seeded(seed), point=x, loss=np.inf, step=self.step,
            covariance=np.diag(units**2), path=np.zeros(k), success=_TARGET, move=np.zeros(k),
            stagnant=0, iteration=0,
        )  # fmt: skip

    def tell(self, state: ElitistState, answers: Sequence[Evaluation]) -> ElitistState:
        (answer,) = answers
        loss = loss_of(answer)
        state = self._learn(state, loss) if state.iteration else replace(state, loss=loss)
        if state.stagnant >= self.patience:
            said = Status("converged", f"no gain in {self.patience} children")
            return replace(state, stopped=said)
        if state.iteration >= self.iterations:
            said = Status("iterations", f"stopped after {state.iteration} children")
            return replace(state, stopped=said)
        return self._breed(state)

    def choice(self, state: ElitistState) -> Array:
        return state.point  # the parent: among equals the last, not the first

    def _breed(self, state: ElitistState) -> ElitistState:
        """Ask for one child."""
        rng = generator(state.rng)
        root = np.linalg.cholesky(state.covariance)
        move = root @ rng.standard_normal(len(state.point))
        child = state.space.clip(state.point + state.step * move)
        return replace(
            state, pending=(child,), move=move, rng=asleep(rng), iteration=state.iteration + 1
        )

    def _learn(self, state: ElitistState, loss: float) -> ElitistState:
        """Take the child or leave it, and adapt step and covariance."""
        k = len(state.point)
        won = loss <= state.loss
        success = (1.0 - _MEMORY) * state.success + _MEMORY * won
        step = state.step * float(np.exp((success - _TARGET) / (1.0 - _TARGET) / (1.0 + 0.5 * k)))
        stagnant = 0 if loss < state.loss - 1e-12 else state.stagnant + 1
        state = replace(state, success=success, step=step, stagnant=stagnant)
        if not won:
            return state
        rate, learn = 2.0 / (k + 2.0), 2.0 / (k * k + 6.0)
        path = (1.0 - rate) * state.path
        keep = 1.0 - learn
        if success < _THRESHOLD:
            path = path + np.sqrt(rate * (2.0 - rate)) * state.move
        else:
            keep += learn * rate * (2.0 - rate)
        covariance = keep * state.covariance + learn * np.outer(path, path)
        point = state.pending[0]
        return replace(state, point=point, loss=loss, path=path, covariance=covariance)
