"""Runs a paper's tasks through one mapper and folds what comes back."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from svmselect.datasets.record import DatasetMissing
from svmselect.experiments.reproduction.journal import TrialFile
from svmselect.experiments.reproduction.outcomes import Outcome, Outcomes
from svmselect.experiments.reproduction.page import write
from svmselect.experiments.reproduction.paper import Paper, Run, Task
from svmselect.experiments.reproduction.result import Result
from svmselect.parallel import as_they_come, pool


@dataclass(frozen=True)
class Progress:
    """What a callback gets after each trial."""

    done: int
    total: int
    outcome: Outcome


def run(
    paper: Paper,
    table: int | None,
    figure: int | None,
    trials: int,
    n_jobs: int | None,
    dask: str | None,
    data_dir: Path | None,
    folder: Path,
    resume: bool,
    callback: Callable[[Progress], Any] | None,
) -> Result:
    """Run what is not there yet, write each trial as it comes, and set ours beside theirs."""
    if trials < 1:
        raise ValueError(f"trials must be 1 or more, got {trials}")
    exhibits = paper.chosen(table, figure)
    reduced = trials == 1
    wanted = {t.key: t for e in exhibits for t in e.tasks(trials, reduced)}
    file = TrialFile(folder / "trials.jsonl", paper.name, wanted.values(), resume)
    outcomes = {key: o for key, o in file.known.items() if key in wanted}
    todo = [task for key, task in wanted.items() if key not in outcomes]
    complete = True
    with pool(n_jobs, dask) as workers:
        tasks = [(paper.run, task, data_dir) for task in todo]
        for (_, task, _), future in as_they_come(workers, attempt, tasks):
            outcome = _outcome(task, future)
            file.append(outcome)
            outcomes[outcome.key] = outcome
            stop = callback and callback(Progress(len(outcomes), len(wanted), outcome))
            if stop is True:
                complete = len(outcomes) == len(wanted)
                workers.abandon()
                break
    folded = Outcomes.of(outcomes.values())
    rows = {exhibit.name: tuple(exhibit.rows(folded)) for exhibit in exhibits}
    seconds = sum(o.seconds for o in folded.all)
    return write(
        Result(paper, exhibits, rows, folded, trials, reduced, seconds, complete, folder)
    )  # fmt: skip


def attempt(trial: Run, task: Task, data_dir: Path | None) -> Outcome:
    """One trial, timed; an error becomes an outcome, so that the rest goes on."""
    begun = time.perf_counter()
    settings = _settings(task)
    try:
        values = trial(task, data_dir)
    except DatasetMissing as error:
        return Outcome(task.name, task.trial, settings, state="missing", problem=str(error))
    except Exception as error:
        return _failed(task, error)
    return Outcome(task.name, task.trial, settings, values, time.perf_counter() - begun)


def _outcome(task: Task, future: Future[Outcome]) -> Outcome:
    """What a worker sent, or what became of it: a trial may take its process down with it."""
    try:
        return future.result()
    except Exception as error:
        return _failed(task, error)


def _failed(task: Task, error: Exception) -> Outcome:
    problem = f"{type(error).__name__}: {error}"
    return Outcome(task.name, task.trial, _settings(task), state="failed", problem=problem)


def _settings(task: Task) -> dict[str, Any]:
    return {**task.settings, "seed": task.seed}
