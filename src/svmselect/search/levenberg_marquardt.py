"""Newton's method on an exact Hessian, with Levenberg and Marquardt's damping."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from svmselect.search.base import Search, Space, State, no_gradient, slope_of
from svmselect.types import Array, Evaluation, Status


@dataclass(frozen=True, kw_only=True, eq=False)
class LevenbergMarquardtState(State):
    """The point that was accepted last, the damping, and by how much it grows if a step fails."""

    best: Evaluation | None
    damping: float
    growth: float = 2.0
    promised: float = 0.0
    iteration: int = 0
    tries: int = 0


@dataclass(frozen=True)
class LevenbergMarquardt(Search[LevenbergMarquardtState]):
    """Newton steps on a Hessian whose curvatures are made positive, damped until they predict well.

    Parameters
    ----------
    gtol : float, default 1e-6
        Stop when no component of the gradient is larger, edges of the box left out.
    ftol : float, default 1e-10
        Stop when a step promises or gains less.
    iterations : int, default 100
        Stop after that many steps that were taken.
    attempts : int, default 12
        Stop after that many steps in a row that do not lower the loss.
    damping : float, default 0.1
        The first damping, as a share of the largest curvature.
    longest : float, default 1.0
        The longest move of a coordinate in one step.

    Notes
    -----
    The step is ``-(|H| + mu I)^-1 g``, where ``|H|`` has the absolute values of the Hessian's
    eigenvalues: where the loss is concave, as evidences are far from their maxima, that descends
    and leaves saddles behind. Where a step gains a share r of what the model promised, mu is
    multiplied by ``max(1/3, 1 - (2 r - 1)^3)``; where it does not lower the loss, by 2, then by 4.
    With an exact Hessian the convergence is quadratic. It needs a criterion with a Hessian of its
    own: ``evidence-ep`` (exact) or ``likelihood`` (Gauss and Newton's). One evaluation with its
    Hessian a step, and O(p^3).

    References
    ----------
    Levenberg 1944; Marquardt 1963; Nielsen 1999. Gold & Sollich 2003, section 4.3, wish for it.
    """

    gtol: float = 1e-6
    ftol: float = 1e-10
    iterations: int = 100
    attempts: int = 12
    damping: float = 0.1
    longest: float = 1.0

    name = "levenberg-marquardt"
    gradients = True
    hessians = True
    reference = "Levenberg 1944; Marquardt 1963; Nielsen 1999"

    def start(self, point: Array, space: Space, seed: int) -> LevenbergMarquardtState:
        return LevenbergMarquardtState(
            space=space, pending=(space.clip(point),), best=None, damping=self.damping
        )

    def tell(
        self, state: LevenbergMarquardtState, answers: Sequence[Evaluation]
    ) -> LevenbergMarquardtState:
        (answer,) = answers
        best = state.best
        H = answer.hessian
        usable = slope_of(answer) is not None and H is not None and bool(np.isfinite(H).all())
        if best is None:
            return self._step(replace(state, best=answer)) if usable else self._refused(state)
        if not usable or not answer.value < best.value:
            state = replace(
                state, damping=state.damping * state.growth, growth=2.0 * state.growth,
                tries=state.tries + 1,
            )  # fmt: skip
            if state.tries >= self.attempts:
                return replace(state, stopped=Status("converged", "no step lowers the loss"))
            return self._step(state)
        gained = best.value - answer.value
        ratio = gained / state.promised
        damping = state.damping * max(1.0 / 3.0, 1.0 - (2.0 * min(ratio, 1.0) - 1.0) ** 3)
        state = replace(
            state, best=answer, damping=max(damping, 1e-12), growth=2.0, tries=0,
            iteration=state.iteration + 1,
        )  # fmt: skip
        if gained < self.ftol:
            said = Status("converged", "the last step gained next to nothing")
            return replace(state, stopped=said)
        if state.iteration >= self.iterations:
            said = Status("iterations", f"stopped after {state.iteration} steps")
            return replace(state, stopped=said)
        return self._step(state)

    def _refused(self, state: LevenbergMarquardtState) -> LevenbergMarquardtState:
        return replace(state, stopped=no_gradient(self))

    def _step(self, state: LevenbergMarquardtState) -> LevenbergMarquardtState:
        """Ask for the minimum of the damped model, or end where there is nothing to gain."""
        best, space = state.best, state.space
        assert best is not None
        g, H, x = best.gradient, best.hessian, best.point
        assert g is not None
        assert H is not None
        free = ~space.outward(x, g) & (space.upper > space.lower)
        if not free.any() or float(np.abs(g[free]).max()) <= self.gtol:
            return replace(state, stopped=Status("converged", "the gradient vanishes"))
        curvatures, V = np.linalg.eigh(H[np.ix_(free, free)])
        firm = np.abs(curvatures)
        largest = max(float(firm.max()), 1e-300)
        slope, damping = V.T @ g[free], state.damping
        for _ in range(self.attempts):
            move = np.zeros_like(x)
            move[free] = -V @ (slope / (firm + damping * largest))
            move *= min(1.0, self.longest / max(float(np.abs(move).max()), 1e-300))
            new = space.clip(x + move)
            along = V.T @ (new - x)[free]
            promised = -float(slope @ along + 0.5 * (firm * along) @ along)
            if promised >= self.ftol:
                return replace(state, pending=(new,), damping=damping, promised=promised)
            if np.array_equal(new, x + move):
                break
            damping *= 4.0  # what the box cut off led uphill: turn towards the gradient
        return replace(state, stopped=Status("converged", "the model promises no gain"))
