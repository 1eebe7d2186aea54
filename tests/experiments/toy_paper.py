"""A paper that never was: numbers one can work out by hand, for the tests of the frame."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from svmselect.datasets.record import DatasetMissing
from svmselect.experiments import Exhibit, Outcomes, Paper, Published, Row, Task

COLUMNS = {"near": Published(0.0, sd=1.0), "far": Published(0.0, sd=0.1), "absent": Published(1.0)}


def run(task: Task, data_dir: Path | None) -> dict[str, Any]:
    column = task.name[1]
    if column == "absent":
        raise DatasetMissing("put absent.npz into the folder data_dir")
    if task.settings.get("fail_at") == task.trial:
        return {"error": 1 / 0}
    time.sleep(task.settings.get("pause", 0.0))
    draw = float(np.random.default_rng(task.seed).normal())
    return {"error": draw + (5.0 if column == "far" else 0.0), "process": os.getpid()}


def make_paper(name: str = "toy", columns: Sequence[str] = tuple(COLUMNS), **extra: Any) -> Paper:
    """The paper, with extra settings in its tasks."""

    def tasks(trials: int, reduced: bool) -> list[Task]:
        settings = {"full": not reduced, "shift": 0} | extra
        return [Task(("a", c), t, 100 + t, settings) for t in range(trials) for c in columns]

    def rows(outcomes: Outcomes) -> list[Row]:
        return [
            Row(
                "a",
                column,
                "error",
                outcomes.values("a", column, of="error"),
                COLUMNS[column],
                missing=outcomes.problem("a", column),
            )
            for column in columns
        ]

    def draw(outcomes: Outcomes, figure: Any) -> None:
        figure.subplots().plot(outcomes.values("a", "near", of="error"))

    exhibits = (
        Exhibit("table", 1, "Numbers", tasks, rows),
        Exhibit("figure", 1, "The same, drawn", tasks, lambda outcomes: rows(outcomes)[:1], draw),
    )
    return Paper(name, "A toy", "Nobody, never.", exhibits, run)


PAPER = make_paper()
