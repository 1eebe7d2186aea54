"""What decided, around its optimum: over C and the width, along every other parameter."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from svmselect.parallel import one_thread
from svmselect.plots.data.axes import others, projected, width_label, width_of
from svmselect.plots.data.hills import other_hills
from svmselect.plots.data.source import Source
from svmselect.types import Array

ROWS = 1000
"""Rows beyond which a sample is drawn: each evaluation trains the machines of all folds."""
DOUBLINGS_C = 5.0
DOUBLINGS_WIDTH = 3.0


@dataclass(frozen=True, eq=False)
class Path:
    """Where one run went: all it asked about, and which of those were the best so far.

    ``rough`` marks evaluations on part of the folds, which do not lead.
    """

    run: str
    log_C: Array
    log_width: Array
    value: Array
    leading: Array
    rough: Array


@dataclass(frozen=True, eq=False)
class Slice:
    """The criterion along one parameter, all others as chosen."""

    name: str
    log_value: Array
    value: Array
    at: float


@dataclass(frozen=True, eq=False)
class LandscapeData:
    """Values over (log C, log width), rows by width; ``log_width`` is empty without a width.

    Values are those of the criterion; where ``with_prior``, its prior is added in the same units,
    less what it says of the choice, so that the choice is where the two together are best.

    ``at`` is the choice, (log C, log width), ``best`` the criterion's value there. ``hills`` are
    further local optima of the grid, (log C, log width, value) each; ``unit`` as
    in ``Source``.
    """

    criterion: str
    greater_is_better: bool
    width: str
    log_C: Array
    log_width: Array
    values: Array
    at: Array
    best: float
    paths: tuple[Path, ...]
    slices: tuple[Slice, ...]
    hills: Array
    unit: float
    notes: tuple[str, ...]
    with_prior: bool = False


def landscape_data(
    source: Source,
    size: int | None = None,
    doublings: tuple[float, float] = (DOUBLINGS_C, DOUBLINGS_WIDTH),
    slices: int = 8,
    seconds: float | None = None,
) -> LandscapeData:
    """Evaluate the criterion on a grid around the choice, and along the other parameters.

    ``size`` is the number of points each way; by default fewer the more rows there are. It is made
    odd, so that the choice is in the middle. Costs size^2 evaluations, and 13 or
    9 for each slice; with ``seconds`` of CPU time to spend, fewer where they would take longer.
    """
    began = time.process_time()
    with one_thread():
        best, warm = source.evaluate(source.point, None)
    spent = time.process_time() - began
    points = 13 if len(source.data) <= ROWS // 2 else 9
    size = grid_size(len(source.data), source.pairs) if size is None else size
    if seconds is not None:
        # cold, the first evaluation took longer than those that start from a neighbour
        affordable = seconds / max(0.7 * spent, 1e-9)
        size = next((s for s in _SIZES if s <= size and s * s <= affordable), _SIZES[-1])
        slices = min(slices, max(2, int((affordable - size * size) // _SIZES[-1])))
        room = (affordable - size * size) / max(slices, 1)
        points = next((p for p in _SIZES if p <= points and p <= room), _SIZES[-1])
    if size < 3:
        raise ValueError(f"size must be 3 or more points each way, got {size}")
    size += 1 - size % 2
    names, point = source.names, source.point
    width = width_of(names)
    steps_C = np.log(2.0) * np.linspace(-doublings[0], doublings[0], size)
    steps = np.log(2.0) * np.linspace(-doublings[1], doublings[1], size) if width else np.zeros(1)
    at = projected(point, names)
    values = np.empty((len(steps), size))
    with one_thread():
        for i, step in enumerate(steps):
            for j, step_C in enumerate(steps_C):
                moved = point.copy()
                moved[0] += step_C
                moved[width] += step
                values[i, j], warm = source.evaluate(moved, warm)
        found = tuple(_slice(source, i, points) for i in _chosen(source, slices))
    sign = 1.0 if source.greater_is_better else -1.0
    log_C, log_width = at[0] + steps_C, at[1] + steps if width else np.empty(0)
    return LandscapeData(
        criterion=source.criterion,
        greater_is_better=source.greater_is_better,
        width=width_label(names),
        log_C=log_C,
        log_width=log_width,
        values=values,
        at=np.array(at),
        best=best,
        paths=paths_of(source),
        slices=found,
        hills=_hills(source, sign * values, sign * best, log_C, log_width) * [1.0, 1.0, sign],
        unit=source.unit,
        notes=source.notes,
        with_prior=source.prior is not None,
    )


_SIZES = (17, 13, 9, 7, 5)
"""Points each way that a grid may have."""


def grid_size(rows: int, pairs: int = 1) -> int:
    """Points each way that draw in a few seconds.

    An evaluation costs about the rows squared, and some time for each pair of classes.
    """
    by_rows = 17 if rows <= 300 else 13 if rows <= 600 else 9
    return min(by_rows, 17 if pairs == 1 else 13 if pairs <= 6 else 9 if pairs <= 21 else 7)


def paths_of(source: Source) -> tuple[Path, ...]:
    """Where each run of the search went."""
    most = max((r.evaluation.details.get("folds", np.inf) for r in source.records), default=np.inf)
    made = []
    for run in dict.fromkeys(r.strand for r in source.records):
        records = [r for r in source.records if r.strand == run]
        rough = np.array([r.evaluation.details.get("folds", np.inf) < most for r in records])
        losses = np.where(rough, np.inf, [r.loss for r in records])
        before = np.concatenate([[np.inf], np.minimum.accumulate(losses)[:-1]])
        where = np.array([projected(r.point, r.names) for r in records])
        values = np.array([r.value for r in records])
        leading = (losses < before).astype(np.float64)
        log_C = where[:, 0] + source.shift
        made.append(Path(run, log_C, where[:, 1], values, leading, rough.astype(np.float64)))
    return tuple(made)


def _hills(source: Source, heights: Array, height: float, log_C: Array, log_width: Array) -> Array:
    """Other local optima, (log C, log width, height) each; the choice is the cell in the middle."""
    if len(log_width) < 3:
        return np.empty((0, 3))
    raised = heights.copy()
    middle = (len(log_width) // 2, len(log_C) // 2)
    raised[middle] = max(height, raised[middle])
    cells = other_hills(raised, middle, least=0.5 * source.unit)
    found = [(log_C[j], log_width[i], heights[i, j]) for i, j in cells]
    return np.array(found).reshape(-1, 3)


def _chosen(source: Source, most: int) -> list[int]:
    """The other parameters, at most so many: first the single ones, then short length scales."""
    index = others(source.names)
    vector = set(width_of(source.names))
    return sorted(index, key=lambda i: (i in vector, source.point[i]))[:most]


def _slice(source: Source, i: int, points: int) -> Slice:
    steps = np.log(2.0) * np.linspace(-3.0, 3.0, points)
    values, warm = np.empty(len(steps)), None
    for j, step in enumerate(steps):
        moved = source.point.copy()
        moved[i] += step
        values[j], warm = source.evaluate(moved, warm)
    at = float(source.point[i])
    return Slice(source.names[i], at + steps, values, at)
