"""Other local optima: hills of the landscape, and where other runs ended."""

from __future__ import annotations

import numpy as np

from svmselect.plots.data.landscape import LandscapeData
from svmselect.plots.data.refit import Refit
from svmselect.plots.data.source import Source
from svmselect.report.record import Optimum
from svmselect.search.trace import Record, Trace


def other_optima(refit: Refit, source: Source, landscape: LandscapeData) -> tuple[Optimum, ...]:
    """Hills of the landscape; with several starts and no prior also where the others ended."""
    found = hills(landscape)
    if refit.default or refit.separate or source.notes:
        return found
    further = [o for o in ends(Trace(source.records)) if not _near(o, source)]
    sign = -1.0 if source.greater_is_better else 1.0
    return tuple(sorted([*found, *further], key=lambda o: sign * o.value))


def _near(optimum: Optimum, source: Source) -> bool:
    """Whether an end is the choice itself; its C counts as the search counts it."""
    point = np.log([value for _, value in optimum.where])
    if len(point) != len(source.point):
        return False
    point[0] += source.shift
    return bool(np.abs(point - source.point).max() < 0.02)


def hills(landscape: LandscapeData) -> tuple[Optimum, ...]:
    """The best few of the landscape's other hills."""
    return tuple(
        Optimum(
            (("C", float(np.exp(log_C))), (landscape.width, float(np.exp(log_width)))),
            float(value),
            "the landscape",
        )
        for log_C, log_width, value in landscape.hills[:5]
    )


def ends(trace: Trace) -> tuple[Optimum, ...]:
    """Where the runs ended, best first; ends within 2 % of a better one are the same."""
    kept: list[Record] = []
    for end in sorted((run.best() for run in trace.runs.values()), key=lambda r: r.loss):
        near = any(r.names == end.names and np.abs(r.point - end.point).max() < 0.02 for r in kept)
        if np.isfinite(end.loss) and not near:
            kept.append(end)
    return tuple(
        Optimum(tuple(r.parameters.items()), r.value, f"run {r.strand}") for r in kept[:10]
    )
