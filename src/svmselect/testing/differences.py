"""Central differences that know when an active set changed on the way."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from svmselect.machine import Ball, Solution
from svmselect.machine.box_qp import BoxSolution
from svmselect.selection.objective import Objective
from svmselect.testing.cases import active_sets
from svmselect.types import Array, Score

STEPS = (1e-3, 2e-4, 4e-5, 8e-6)
"""Tried in turn: the large ones see less rounding, the small ones fewer changes of active sets."""


_STENCIL = {-2: 1.0 / 12.0, -1: -8.0 / 12.0, 1: 8.0 / 12.0, 2: -1.0 / 12.0}
NOISE = float(np.linalg.norm(list(_STENCIL.values())))
"""Standard error of a difference of four independent values, in units of theirs over the step."""


@dataclass(frozen=True)
class Comparison:
    """A gradient beside central differences.

    Attributes
    ----------
    gradient : ndarray of shape (p,)
        The gradient to be checked.
    differences : ndarray of shape (p,)
        The central differences.
    error : float
        The relative error, as ``compare`` defines it.
    step : float
        The step of the differences.
    crossed : bool
        Whether at every step the active sets of some machine changed, so that there is nothing to
        compare with.
    """

    gradient: Array
    differences: Array
    error: float
    step: float
    crossed: bool = False


def compare(objective: Objective, point: Array, steps: tuple[float, ...] = STEPS) -> Comparison:
    """Compare the gradient at a point with fourth-order central differences.

    Parameters
    ----------
    objective : Objective
        The function, such as ``make_case().objective(criterion)``.
    point : ndarray of shape (p,)
        The point, in search coordinates.
    steps : tuple of float, optional
        Steps to try.

    Returns
    -------
    Comparison
        The best of the steps within which no active set changes: a wrong gradient is wrong at each
        of them.

    Notes
    -----
    The error is ``max_i |g_i - d_i| / max(|d|_inf, 1e-3 |value|, 1e-9)``: in units of the largest
    slope, or of the value where that is all but flat.
    """
    score, trained = objective.at(point, order=True)
    if score.gradient is None:
        raise AssertionError("a gradient was asked for and none came back")
    home = fingerprint(trained)
    best: Comparison | None = None
    for step in steps:
        differences = central(objective, point, step, home)
        if np.isnan(differences).any():
            continue
        unit = max(float(np.abs(differences).max()), 1e-3 * abs(score.value), 1e-9)
        error = float(np.abs(score.gradient - differences).max()) / unit
        if best is None or error < best.error:
            best = Comparison(score.gradient, differences, error, step)
        if best.error < 1e-7:  # the next step would only prove it again
            break
    nothing = np.full(len(point), np.nan)
    return best or Comparison(score.gradient, nothing, np.inf, steps[-1], crossed=True)


def central(
    objective: Objective, point: Array, step: float, home: dict[Hashable, Any] | None = None
) -> Array:
    """Fourth-order central differences; NaN where active sets are not those of ``home``."""
    differences = np.zeros(len(point))
    for i, e in enumerate(np.eye(len(point))):
        for k, weight in _STENCIL.items():
            there, machines = objective.at(point + k * step * e)
            if home is not None and fingerprint(machines) != home:
                return np.full(len(point), np.nan)
            differences[i] += weight / step * there.value
    return differences


def jump(
    objective: Objective, log_C: float, theta: Array, reach: float = 1.5
) -> tuple[Score, Score, float] | None:
    """Find the next C at which an active set changes; the scores just before and after it.

    Bisection down to a relative distance of 1e-9 in C; None where no set changes within
    ``reach`` in log C.
    """

    def at(value: float) -> tuple[Score, dict[Hashable, Any]]:
        score, trained = objective.at(np.concatenate([[value], theta]))
        return score, fingerprint(trained)

    low, (before, home) = log_C, at(log_C)
    for high in log_C + np.linspace(0.0, reach, 16)[1:]:
        after, sets = at(high)
        if sets != home:
            break
        low, before = high, after
    else:
        return None
    while high - low > 1e-9:
        middle = 0.5 * (low + high)
        score, sets = at(middle)
        if sets == home:
            low, before = middle, score
        else:
            high, after = middle, score
    return before, after, high


def fingerprint(trained: Mapping[Hashable, Any]) -> dict[Hashable, Any]:
    """The active sets of every machine and ball that was trained at a point."""
    found: dict[Hashable, Any] = {}
    for key, machine in trained.items():
        if isinstance(machine, Solution):
            found[key] = active_sets(machine)
        elif isinstance(machine, Ball | BoxSolution):
            program = machine.solution if isinstance(machine, Ball) else machine
            found[key] = tuple(program.states.tolist())
    return found
