"""The course of a search: every evaluation, and the best so far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from svmselect.plots.data.axes import projected, width_label
from svmselect.search.trace import Record
from svmselect.types import Array, IntArray


@dataclass(frozen=True, eq=False)
class TraceData:
    """Evaluations in order: arrays of one length.

    ``run`` is a position in ``runs``. ``rough`` marks evaluations on part of the folds, whose
    values do not compare with the others; ``best`` is the value of the best so far among its kind
    and run. ``log_C`` and ``log_width`` are where; ``seconds`` what each took.
    """

    criterion: str
    greater_is_better: bool
    runs: tuple[str, ...]
    run: IntArray
    value: Array
    best: Array
    rough: IntArray
    log_C: Array
    log_width: Array
    width: str
    seconds: Array


def trace_data(
    records: Sequence[Record], criterion: str, greater_is_better: bool, shift: float = 0.0
) -> TraceData:
    """Read a trace; ``shift`` is added to log C, for machines that are trained on more rows."""
    if not records:
        raise ValueError("the trace is empty: nothing was evaluated, so there is nothing to draw")
    runs = tuple(dict.fromkeys(record.strand for record in records))
    folds = np.array([record.evaluation.details.get("folds", np.nan) for record in records])
    rough = folds < np.nanmax(folds) if np.isfinite(folds).any() else np.zeros(len(folds), bool)

    def height(record: Record) -> float:
        if record.strand == record.run:
            return record.loss
        # the steps of a strategy have priors of their own: only the criterion compares
        return -record.value if greater_is_better else record.value

    best = np.empty(len(records))
    leaders: dict[tuple[str, bool], Record] = {}
    for i, record in enumerate(records):
        key = (record.strand, bool(rough[i]))
        if key not in leaders or height(record) < height(leaders[key]):
            leaders[key] = record
        best[i] = leaders[key].value
    where = np.array([projected(record.point, record.names) for record in records])
    return TraceData(
        criterion=criterion,
        greater_is_better=greater_is_better,
        runs=runs,
        run=np.array([runs.index(record.strand) for record in records]),
        value=np.array([record.value for record in records]),
        best=best,
        rough=rough.astype(np.intp),
        log_C=where[:, 0] + shift,
        log_width=where[:, 1],
        width=width_label(max((record.names for record in records), key=len)),
        seconds=np.array([record.evaluation.seconds for record in records]),
    )
