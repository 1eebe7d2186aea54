"""Several criteria along one parameter: where each of them would have it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from svmselect.criteria import Criterion, get_criterion
from svmselect.parallel import one_thread
from svmselect.plots.data.axes import width_label, width_of
from svmselect.plots.data.source import Source, criterion_at
from svmselect.types import Array

DEFAULT = ("likelihood", "cv-error", "loo-error", "span", "gacv", "xi-alpha", "kric")


@dataclass(frozen=True, eq=False)
class CriterionCurve:
    """One criterion along the parameter: its values, and how good they are from 0 to 1."""

    name: str
    greater_is_better: bool
    value: Array
    merit: Array
    best: float


@dataclass(frozen=True, eq=False)
class CriteriaData:
    """Criteria along ``log_value``, the logarithm of ``parameter``; ``at`` is what was chosen.

    ``left_out`` are criteria that do not serve this machine, with the reason.
    """

    parameter: str
    log_value: Array
    at: float
    curves: tuple[CriterionCurve, ...]
    left_out: tuple[tuple[str, str], ...]


def criteria_data(
    source: Source,
    criteria: Sequence[str | Criterion] = DEFAULT,
    parameter: str = "C",
    points: int = 17,
    doublings: float = 5.0,
) -> CriteriaData:
    """Evaluate each criterion along C ("C") or the width ("width"), all else as chosen.

    Costs ``points`` evaluations of each. A classifier of three classes or more is judged as one
    class against the others.
    """
    if parameter not in ("C", "width"):
        raise ValueError(f"parameter={parameter!r} is neither 'C' nor 'width'")
    moved = [0] if parameter == "C" else width_of(source.names)
    if not moved:
        raise ValueError("the kernel has no parameter, so it has no width; use parameter='C'")
    steps = np.log(2.0) * np.linspace(-doublings, doublings, points)
    at = float(np.mean(source.point[moved]))
    curves, left_out = [], []
    for given in criteria:
        judge = get_criterion(given)
        reason = judge.refusal(source.kernel, source.loss, source.fit_intercept)
        if reason is not None:
            left_out.append((judge.name, reason))
            continue
        with one_thread():
            values = _along(source, judge, moved, steps)
        curves.append(_curve(judge, values, at + steps))
    if not curves:
        refused = "; ".join(f"{name}: {why}" for name, why in left_out)
        raise ValueError(f"no criterion serves this machine ({refused})")
    label = "C" if parameter == "C" else width_label(source.names)
    return CriteriaData(label, at + steps, at, tuple(curves), tuple(left_out))


def _along(source: Source, judge: Criterion, moved: list[int], steps: Array) -> Array:
    evaluate = criterion_at(source, judge)
    values, warm = np.empty(len(steps)), None
    for i, step in enumerate(steps):
        point = source.point.copy()
        point[moved] += step
        values[i], warm = evaluate(point, warm)
    return values


def _curve(judge: Criterion, values: Array, where: Array) -> CriterionCurve:
    """Merit is 1 at the best value and 0 at the worst of those that are numbers."""
    sign = 1.0 if judge.greater_is_better else -1.0
    height = np.where(np.isfinite(values), sign * values, np.nan)
    if np.isnan(height).all():
        merit, best = np.zeros(len(values)), float("nan")
    else:
        span = float(np.nanmax(height) - np.nanmin(height)) or 1.0
        merit = (height - np.nanmin(height)) / span
        # of a plateau its middle
        best = float(np.mean(where[merit >= 1.0 - 1e-9]))
    return CriterionCurve(judge.name, judge.greater_is_better, values, merit, best)
