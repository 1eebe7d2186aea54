"""Gauss-Newton with Levenberg and Marquardt's damping."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from svmselect.search.base import Search, Space, State, no_gradient, slope_of
from svmselect.types import Array, Evaluation, Status


@dataclass(frozen=True, kw_only=True, eq=False)
class GaussNewtonState(State):
    """The point that was accepted last, what is known there, and how much steps are damped."""

    best: Evaluation | None
    damping: float
    iteration: int = 0
    tries: int = 0


@dataclass(frozen=True)
class GaussNewton(Search[GaussNewtonState]):
    """Minimise a quadratic model of the objective at every step, damped until it predicts well.

    Parameters
    ----------
    ftol : float, default 1e-5
        Stop when a step gains less than this, or promises less than 0.3 of it.
    iterations : int, default 100
        Stop after that many steps.
    attempts : int, default 10
        Stop after that many steps in a row that do not lower the loss.
    longest : float, default 1.0
        The longest move of a coordinate in one step.
    damping : float, default 0.01
        The first damping, as a share of the Hessian's diagonal.
    firm : float, default 0.6
        The least damping after a step that was not taken.
    begin : Evaluation, optional
        What is known of the start already.

    Notes
    -----
    The model is of the criterion's own Hessian, for ``likelihood`` that of Gauss and Newton, so a
    handful of steps finds an optimum in any number of length scales. A step that does not lower the
    loss is not taken: it is tried again with more damping (a likelihood has kinks, where no step
    will do). One evaluation with its Hessian a step, and O(p^3).

    References
    ----------
    Marquardt 1963; Moré 1978.
    """

    ftol: float = 1e-5
    iterations: int = 100
    attempts: int = 10
    longest: float = 1.0
    damping: float = 1e-2
    firm: float = 0.6
    begin: Evaluation | None = field(default=None, repr=False, compare=False)
    """What is known of the start already, if it is."""

    name = "gauss-newton"
    gradients = True
    hessians = True
    reference = "Marquardt 1963; More 1978"

    def start(self, point: Array, space: Space, seed: int) -> GaussNewtonState:
        state = GaussNewtonState(space=space, pending=(point,), best=None, damping=self.damping)
        known = self.begin
        if known is not None and known.hessian is not None and np.array_equal(known.point, point):
            return self.tell(state, [known])
        return state

    def tell(self, state: GaussNewtonState, answers: Sequence[Evaluation]) -> GaussNewtonState:
        (answer,) = answers
        best = state.best
        usable = slope_of(answer) is not None and _finite(answer.hessian)
        if best is None:
            if not usable:
                return replace(state, stopped=no_gradient(self))
            return self._step(replace(state, best=answer))
        if not usable or not answer.value < best.value:
            damping = max(8.0 * state.damping, self.firm)  # less would lead to the same place
            state = replace(state, damping=damping, tries=state.tries + 1)
            if state.tries >= self.attempts:
                return replace(state, stopped=Status("converged", "no step lowers the loss"))
            return self._step(state)
        gained = best.value - answer.value
        state = replace(
            state, best=answer, damping=max(0.2 * state.damping, 1e-4), tries=0,
            iteration=state.iteration + 1,
        )  # fmt: skip
        if gained < self.ftol:
            said = Status("converged", "the last step gained next to nothing")
            return replace(state, stopped=said)
        if state.iteration >= self.iterations:
            said = Status("iterations", f"stopped after {state.iteration} iterations")
            return replace(state, stopped=said)
        if self.hopeless(answer, gained):
            said = Status("hopeless", "what is ahead cannot make up for what is behind")
            return replace(state, stopped=said)
        return self._step(state)

    def hopeless(self, at: Evaluation, gained: float) -> bool:
        """Tell whether to give up here, because what is ahead cannot make up for what is behind.

        For subclasses: this one never does.

        Parameters
        ----------
        at : Evaluation
            The point that was just accepted.
        gained : float
            What the step to it gained.

        Returns
        -------
        bool
            False.
        """
        return False

    def _step(self, state: GaussNewtonState) -> GaussNewtonState:
        """Ask for the minimum of the damped model, or end where it promises nothing."""
        best = state.best
        assert best is not None
        g, H = best.gradient, best.hessian
        assert g is not None
        assert H is not None
        space, x = state.space, best.point
        free = ~space.outward(x, g)
        move = np.zeros_like(x)
        if free.any():
            move[free] = -_solve(H[np.ix_(free, free)], g[free], state.damping)
        furthest = float(np.abs(move).max())
        # cut coordinate by coordinate, which goes further; the whole where that leads uphill
        for step in (
            np.clip(move, -self.longest, self.longest),
            move * min(1.0, self.longest / max(furthest, 1e-300)),
        ):
            new = space.clip(x + step)
            moved = new - x
            promised = -float(g @ moved + 0.5 * moved @ H @ moved)
            if moved.any() and promised >= 0.3 * self.ftol:
                return replace(state, pending=(new,))
        return replace(state, stopped=Status("converged", "the model promises no gain"))


def _solve(H: Array, g: Array, damping: float) -> Array:
    """(H + damping * its diagonal)^-1 g; a Hessian that is not convex is bent until it is."""
    scale = max(float(np.abs(H.diagonal()).max()), 1e-300)
    # a floor under the curvature, so that a flat direction does not become a long one
    A = H + damping * np.diag(np.abs(H.diagonal()) + 1e-3 * scale)
    A[np.diag_indices_from(A)] += 1e-12 * scale
    lowest = float(np.linalg.eigvalsh(A)[0]) if _indefinite(A) else 0.0
    if lowest < 0.0:
        A[np.diag_indices_from(A)] += -lowest + 1e-3 * scale
    return np.asarray(np.linalg.solve(A, g))


def _indefinite(A: Array) -> bool:
    try:
        np.linalg.cholesky(A)
    except np.linalg.LinAlgError:
        return True
    return False


def _finite(H: Any) -> bool:
    return H is not None and bool(np.isfinite(H).all())
