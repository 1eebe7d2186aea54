"""What ``svmselect fit`` does, step by step: read, choose, test, write, tell."""

from __future__ import annotations

import shlex
import sys
import time
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from svmselect.cli.console import Output, count
from svmselect.cli.model import (
    SMALL,
    by_default,
    estimator,
    expected_evaluations,
    plan,
)
from svmselect.cli.outcome import Outcome, Tested
from svmselect.cli.prepare import Prepared, Question, prepare, prepare_test, split, subset
from svmselect.cli.progress import Bar, Stopper, Watcher
from svmselect.estimators.callbacks import Watch
from svmselect.estimators.persist import save
from svmselect.files.lock import Lock
from svmselect.types import Array

INTERRUPTED = 130


@dataclass(frozen=True)
class Wanted:
    """A fit as it was asked for."""

    data: str
    question: Question
    folder: Path
    test: str | None = None
    holdout: float | None = None
    criterion: str = "auto"
    search: str = "auto"
    kernels: tuple[str, ...] = ()
    ard: str = "auto"
    loss: str = "hinge"
    max_time: float | None = None
    jobs: int | None = None
    resume: bool = False
    grid: bool = False
    page: bool = True
    title: str | None = None

    @property
    def settings(self) -> dict[str, str]:
        """What decides the search, for the trace."""
        return {
            "criterion": self.criterion,
            "search": self.search,
            "kernel": ", ".join(self.kernels) or "auto",
            "ard": self.ard,
            "loss": self.loss,
        }


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows to train on, and rows to test on if there are any."""

    X: Array
    y: NDArray[Any]
    test: tuple[Array, NDArray[Any]] | None = None
    source: str = ""


def carry_out(wanted: Wanted, output: Output) -> int:
    """Fit, write and tell; the exit code."""
    began = time.perf_counter()
    seed = wanted.question.seed
    model = estimator(
        wanted.criterion, wanted.search, wanted.kernels, wanted.ard, wanted.loss, wanted.max_time,
        wanted.jobs, seed,
    )  # fmt: skip
    with Bar(f"reading {Path(wanted.data).name}", None, output):
        prepared = prepare(wanted.data, wanted.question)
    output.tell(prepared.words)
    for note in prepared.notes:
        output.note(note)
    rows, notes = _rows(wanted, prepared, model, output)
    wanted.folder.mkdir(parents=True, exist_ok=True)
    with Lock(wanted.folder, "give another folder by -o"):
        return _written(wanted, model, prepared, rows, notes, output, began)


def _written(
    wanted: Wanted,
    model: Any,
    prepared: Prepared,
    rows: Rows,
    notes: list[str],
    output: Output,
    began: float,
) -> int:
    """Choose and train in a folder that nobody else writes in; the exit code."""
    interrupted = _chosen(wanted, model, rows, output, notes)
    outcome = Outcome(
        model=model,
        prepared=prepared,
        folder=wanted.folder,
        page=wanted.page,
        tested=None if rows.test is None else Tested.of(model, *rows.test, rows.source),
        notes=(*prepared.notes, *notes),
        interrupted=interrupted,
    )
    save(outcome.table_model, wanted.folder / "model.skops")
    (wanted.folder / "report.html").unlink(missing_ok=True)  # of a model that is no more
    rival = _grid(wanted, rows, output) if wanted.grid else None
    outcome = replace(outcome, grid=rival)
    if wanted.page:
        _draw(wanted, outcome, rows, output)
    outcome.tell(output, time.perf_counter() - began)
    return INTERRUPTED if interrupted else 0


def _rows(wanted: Wanted, prepared: Prepared, model: Any, output: Output) -> tuple[Rows, list[str]]:
    """Hold rows apart where asked to, and say what many rows will be used for."""
    seed = wanted.question.seed
    X, y = prepared.X, prepared.y
    rows = Rows(X, y)
    if wanted.test is not None:
        tested = prepare_test(wanted.test, prepared, wanted.question)
        name = Path(wanted.test).name
        rows = replace(rows, test=tested, source=f"{count(len(tested[1]), 'row')} of {name}")
    elif wanted.holdout is not None:
        rest, apart = split(y, wanted.holdout, seed)
        said = f"{count(len(apart), 'row')} held apart"
        rows = Rows(X[rest], y[rest], (X[apart], y[apart]), said)
    notes: list[str] = []
    n = len(rows.y)
    if n > SMALL and not by_default(model):
        kept = subset(n, rows.y, wanted.question.rows or SMALL, seed)
        rows = replace(rows, X=rows.X[kept], y=rows.y[kept])
        notes.append(
            f"a named criterion, search or kernel needs an n x n matrix: {len(kept):,} of {n:,} "
            "rows are used; --rows changes that, and the default strategy uses them all"
        )
        output.note(notes[-1])
    elif n > SMALL:
        output.note(plan(n, rows.X.shape[1], len(np.unique(rows.y)), wanted.max_time))
    return rows, notes


def _chosen(wanted: Wanted, model: Any, rows: Rows, output: Output, notes: list[str]) -> bool:
    """Run the search, which writes its trace as it goes; whether it was interrupted."""
    path = wanted.folder / "trace.jsonl"
    if not wanted.resume:
        path.unlink(missing_ok=True)
    if wanted.resume:
        known = path.exists()
        said = f"going on with {path}" if known else f"there is no {path} to go on with: a new fit"
        output.note(said)
    bar = Bar("choosing", expected_evaluations(model, len(rows.y)), output, wanted.max_time)
    with bar, Stopper(output) as stopper:
        watch = Watch(Watcher(bar, stopper), path)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model._fit(rows.X, rows.y, None, None, watch)
    told = set(model.selection_.notes)
    for warning in dict.fromkeys(str(one.message) for one in caught):
        if warning not in told:
            notes.append(warning)
            output.note(warning)
    return stopper.asked


def _grid(wanted: Wanted, rows: Rows, output: Output) -> Any:
    """What the plain grid comes to on the same rows, or on a sample of many."""
    from svmselect import report

    kept = subset(len(rows.y), rows.y, SMALL, wanted.question.seed)
    if len(kept) < len(rows.y):
        output.note(f"the plain grid sees {len(kept):,} of the {len(rows.y):,} rows")
    with Bar("the plain grid", None, output), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return report.plain_grid(rows.X[kept], rows.y[kept], held_out=rows.test, n_jobs=wanted.jobs)


def _draw(wanted: Wanted, outcome: Outcome, rows: Rows, output: Output) -> None:
    """The report: as a line of the trace, and as a page."""
    from svmselect import report

    with Bar("drawing the report", None, output), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        page = report.of_fit(
            outcome.model,
            rows.X,
            rows.y,
            names=outcome.prepared.encoder.columns,
            title=wanted.title or f"{outcome.prepared.target} in {outcome.prepared.source.title}",
            held_out=rows.test,
            grid=outcome.grid,
            warnings=outcome.notes,
            settings={"data file": outcome.prepared.source.title, "command": _command()},
        )
        report.append(page, wanted.folder / "trace.jsonl")
        report.write(page, wanted.folder / "report.html")


def _command() -> str:
    return shlex.join(["svmselect", *sys.argv[1:]])
