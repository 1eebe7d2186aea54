"""Machines on the features of landmarks, trained by passes over rows that may be anywhere.

Newton's method, whose every step is one sum over all rows (``sums.py``). The matrix of a step only
points the way, while value and gradient say where the minimum is; so it is made of a share of the
rows, as many as a few dozen for each feature, and made anew only where the last one led badly. The
hinge's corner is rounded, and sharpened stage by stage, as in ``primal.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import cho_solve

from svmselect.machine.losses import Curve, get_loss
from svmselect.machine.primal import cholesky
from svmselect.machine.sums import Design, Pass, Terms
from svmselect.types import OK, Array, Status

CORNERS = (1.5, 0.5, 0.1, 0.02)
"""Half-widths of the hinge's rounded corner, stage by stage; machines at zero are in the first."""
RATIO = 24
"""Rows for each feature that tell the curvature."""

_MOST = 40  # passes of a stage
_ROUGH = 1e-3  # expected gain over the objective at which a stage before the last ends
_POOR = 0.2  # of the gain before: a step by an old matrix that leaves more led badly
_ENOUGH = 1e-4  # of the descent that a step promises
_SHORTEST = 1e-4  # of a step of Newton's that is tried
_HIDDEN = 10.0  # times the rounding of the objective
_STUCK = Status(
    "stuck",
    "no step lowers the objective of the machines on all rows any further, though its slope says "
    "so; their predictions are usable, but a smaller C would be safer",
)

Total = Callable[[Pass], Terms]
Factor = tuple[tuple[Array, bool], Array, float]  # of I + Phi'W Phi; Phi'W 1; 1'W 1


@dataclass(frozen=True, eq=False)
class Machines:
    """Machines j: f_j = phi theta[:, j] + intercept[j]; ``factors`` of their last curvature.

    ``passes`` counts the sums that were asked for, ``curved`` is the share of rows where the loss
    is, of the machine that has fewest.
    """

    theta: Array
    intercept: Array
    objective: Array
    status: Status
    passes: int
    factors: tuple[Factor, ...] = ()
    curved: float = 1.0

    @classmethod
    def at_zero(cls, design: Design) -> Machines:
        """Machines that say nothing, to begin with."""
        k = design.signs.shape[1]
        zero = np.zeros((design.basis.shape[1], k))
        return cls(zero, np.zeros(k), np.full(k, np.inf), OK, 0)


def train_by_passes(
    total: Total,
    design: Design,
    C: float,
    loss: str,
    rows: int,
    start: Machines | None = None,
    *,
    precise: float = 1e-5,
    corners: Sequence[float] = CORNERS,
    accepted: Callable[[Machines], None] | None = None,
) -> Machines:
    """Minimise 1/2 |theta|^2 + C sum_i w_i loss(z_i) for each machine, to a relative ``precise``.

    ``rows`` is how many there are, roughly; a loss with a corner has it rounded by ``corners``.
    ``start`` are machines on the same features; their factors point the way at first. ``accepted``
    is shown the machines after each step.
    """
    own = get_loss(loss)
    rules: Sequence[Curve] = [own] if own.curved else [own.rounded(c) for c in corners]
    if start is None:
        start = Machines.at_zero(design)
    elif len(rules) > 1:
        rules = rules[-1:]
    found = replace(start, passes=0)
    for rule in rules:
        goal = precise if rule is rules[-1] else _ROUGH
        found = _descend(total, design, C, rule, rows, found, goal, own.smooth, accepted)
    return found


def _descend(
    total: Total,
    design: Design,
    C: float,
    rule: Curve,
    rows: int,
    start: Machines,
    precise: float,
    smooth: bool,
    accepted: Callable[[Machines], None] | None,
) -> Machines:
    """Newton's method for one loss without a corner."""
    theta, b, factors, passes = start.theta, start.intercept, start.factors, start.passes
    wanted = RATIO * len(theta)
    stride = max(1, int(start.curved * rows) // wanted)
    slack = 1e-6 if design.single else 1e-12  # by which rounding may raise the objective

    def look(theta: Array, b: Array, curved: bool) -> tuple[Array, Terms]:
        found = total(Pass(design, theta, b, C, rule, stride if curved else 0))
        return 0.5 * np.sum(theta * theta, axis=0) + found.value, found

    objective, at = look(theta, b, not factors)
    passes += 1
    before, longest = np.inf, np.ones(len(b))
    while True:
        if at.curvature is not None:
            factors = _factored(at)
        # next time, of as many rows as tell it well
        stride = max(1, int(at.active.min()) // wanted)
        uphill, uphill_b = theta - at.pull, -at.pull_b
        d, d_b = _directions(factors, uphill, uphill_b)
        gain = -np.sum(uphill * d, axis=0) - uphill_b * d_b
        curved = float(at.active.min()) / max(rows, 1)
        machines = Machines(theta, b, objective, OK, passes, factors, curved)
        if accepted is not None:
            accepted(machines)
        share = float(np.max(gain / objective))
        if not share > precise:
            return machines
        if passes - start.passes >= _MOST:
            advice = (
                "training used all its passes over the rows; the predictions are usable, but a "
                "smaller C would be safer"
            )
            return replace(machines, status=Status("max-iterations", advice))
        fresh = not smooth or share > _POOR * before or (at.curvature is None and share > 0.01)
        before = share
        t = np.where(gain > precise * objective, longest, 0.0)
        first = t
        while True:
            new, now = look(theta + t * d, b + t * d_b, fresh)
            passes += 1
            enough = objective - _ENOUGH * t * gain + slack * np.abs(objective)
            high = (t > 0.0) & ~(new <= enough)
            if not high.any():
                break
            # where a parabola through both values and the slope has its minimum
            with np.errstate(divide="ignore", invalid="ignore"):
                lowest = np.nan_to_num(0.5 * t * gain * t / (new - objective + t * gain))
            shorter = np.clip(lowest, 0.1 * t, 0.5 * t)
            # where no step leads downhill none is taken
            t = np.where(high, np.where(t > _SHORTEST, shorter, 0.0), t)
        if fresh and not t.any():
            hidden = share <= _HIDDEN * slack  # what is to be gained is lost in rounding
            return replace(machines, passes=passes, status=OK if hidden else _STUCK)
        # where steps are cut again and again, the next begins as short
        longest = np.where(t < first, np.maximum(t, _SHORTEST), np.minimum(2.0 * longest, 1.0))
        theta, b, objective, at = theta + t * d, b + t * d_b, new, now


def _factored(found: Terms) -> tuple[Factor, ...]:
    assert found.curvature is not None
    assert found.border is not None
    assert found.mass is not None
    made = zip(found.curvature, found.border, found.mass, strict=True)
    return tuple((cholesky(H + np.eye(len(H))), border, float(mass)) for H, border, mass in made)


def _directions(factors: Sequence[Factor], uphill: Array, uphill_b: Array) -> tuple[Array, Array]:
    """Newton's steps from I + Phi'W Phi and the intercept's row and column, machine by machine."""
    d, d_b = np.empty_like(uphill), np.empty_like(uphill_b)
    for j, (factor, border, mass) in enumerate(factors):
        right = np.column_stack([-uphill[:, j], border])
        x, u = cho_solve(factor, right, check_finite=False).T
        schur = mass - float(border @ u)
        # as in primal.py: without a row in the corner the intercept is on a slope
        if schur > 1e-9 * mass:
            d_b[j] = (-uphill_b[j] - float(border @ x)) / schur
        else:
            d_b[j] = -float(np.sign(uphill_b[j]))
        d[:, j] = x - u * d_b[j] if schur > 1e-9 * mass else x
    return d, d_b
