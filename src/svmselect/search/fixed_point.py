"""Kwok's re-estimation of the regularisation, with a sweep over the kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from svmselect.search.base import Search, Space, State, loss_of
from svmselect.types import Array, Evaluation, Status


@dataclass(frozen=True, kw_only=True, eq=False)
class FixedPointState(State):
    """One iteration for each kernel of the sweep, side by side."""

    points: Array
    moving: tuple[int, ...]
    losses: Array
    ranks: Array
    edges: tuple[Array, Array]
    iteration: int


@dataclass(frozen=True)
class FixedPoint(Search[FixedPointState]):
    """Kwok's iteration for C, repeated for each of a sweep of kernels, which are then compared.

    It needs a criterion whose ``details`` have "effective_parameters" and "next_C", such as
    ``kwok``.

    Parameters
    ----------
    size : int, default 1
        Kernels in the sweep: all parameters are multiplied by a common factor.
    reach : float, default 2.0
        The factors lie within exp(+-reach).
    tolerance : float, default 1e-3
        C has settled when log C moves by less.
    iterations : int, default 50
        Stop after that many iterations.
    longest : float, default 3.0
        The longest step in log C.

    Notes
    -----
    Level 2 iterates lambda <- gamma / (2 E_W), C = 1/lambda, until C settles, with gamma the
    effective number of parameters. Level 3 takes the kernel with the highest model evidence, log
    p(D | lambda) - 1/2 log gamma, which ``kwok`` with ``level=3`` gives already; one with gamma at
    or below zero ranks last. Where two values of lambda lead to each other (gamma jumps as points
    come near the margin) the one with the higher evidence is taken.

    References
    ----------
    Kwok 2000, section IV-C, eqs 9-11.
    """

    size: int = 1
    reach: float = 2.0
    tolerance: float = 1e-3
    iterations: int = 50
    longest: float = 3.0

    name = "fixed-point"
    chain = 4
    reference = "Kwok 2000, section IV-C, eqs 9-11"

    def start(self, point: Array, space: Space, seed: int) -> FixedPointState:
        x = space.clip(point)
        shifts = np.linspace(-self.reach, self.reach, self.size) if self.size > 1 else np.zeros(1)
        points = np.tile(x, (len(shifts), 1))
        points[:, 1:] += shifts[:, None]
        points = np.array([space.clip(p) for p in points])
        low, high = space.lower.copy(), space.upper.copy()
        if self.size > 1:
            low[1:], high[1:] = points[0, 1:], points[-1, 1:]
        none = np.full(len(points), np.inf)
        return FixedPointState(
            space=space, pending=tuple(points), points=points,
            moving=tuple(range(len(points))), losses=none, ranks=none, edges=(low, high),
            iteration=0,
        )  # fmt: skip

    def edges(self, state: FixedPointState) -> tuple[Array, Array]:
        return state.edges

    def choice(self, state: FixedPointState) -> Array | None:
        best = int(np.argmin(state.ranks))
        return state.points[best] if np.isfinite(state.ranks[best]) else None

    def tell(self, state: FixedPointState, answers: Sequence[Evaluation]) -> FixedPointState:
        points, losses, ranks = state.points.copy(), state.losses.copy(), state.ranks.copy()
        moving: dict[int, Array] = {}
        for k, answer in zip(state.moving, answers, strict=True):
            points[k], losses[k], ranks[k] = answer.point, loss_of(answer), np.inf
            if not np.isfinite(losses[k]):
                continue  # no evidence, no re-estimate: this kernel stays where it is
            gamma, C, n = (_detail(answer, d) for d in ("effective_parameters", "next_C", "n"))
            # loss = -log p(D | lambda) / n, so level 3 adds 1/2 log gamma / n  (KW eq. 11)
            ranks[k] = losses[k] if gamma > 0 else np.inf
            if gamma > 0 and answer.details.get("level", 2.0) < 3.0:
                ranks[k] += 0.5 * np.log(gamma) / n
            if not (gamma > 0 and C > 0):
                continue
            change = np.log(C) - answer.point[0]
            moved = answer.point.copy()
            moved[0] += np.clip(change, -self.longest, self.longest)
            moved = state.space.clip(moved)
            if abs(moved[0] - answer.point[0]) <= self.tolerance:
                continue
            if state.iteration and abs(moved[0] - state.points[k, 0]) <= self.tolerance:
                # gamma jumps between the two, which therefore alternate: the better one stands
                if state.ranks[k] < ranks[k]:
                    points[k], losses[k] = state.points[k], state.losses[k]
                    ranks[k] = state.ranks[k]
                continue
            moving[k] = moved
        iteration = state.iteration + 1
        stopped = None
        if not moving and not np.isfinite(ranks).any():
            advice = "gamma is not positive anywhere: start elsewhere, or search another way"
            stopped = Status("failed", advice)
        elif not moving:
            stopped = Status("converged", "lambda has settled, or alternates between two values")
        elif iteration >= self.iterations:
            stopped = Status("iterations", f"stopped after {iteration} iterations")
        return replace(
            state, points=points, losses=losses, ranks=ranks,
            moving=tuple(moving), pending=tuple(moving.values()), stopped=stopped,
            iteration=iteration,
        )  # fmt: skip


def _detail(answer: Evaluation, name: str) -> float:
    if name not in answer.details:
        raise ValueError(
            f"'fixed-point' needs {name!r} among the details of the criterion, which has "
            f"{', '.join(map(repr, answer.details)) or 'none'}; use criterion='kwok'"
        )
    return float(answer.details[name])
