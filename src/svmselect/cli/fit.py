"""What ``svmselect fit`` does, step by step: read, choose, test, write, tell."""

from __future__ import annotations

import shlex
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from svmselect.cli.console import Output, count
from svmselect.cli.model import (
    SMALL,
    by_default,
    check_onnx,
    class_weights,
    decided_by,
    estimator,
    known_scorer,
    plan,
)
from svmselect.cli.prepare import Prepared, TableOptions, prepare, prepare_test, split, subset
from svmselect.cli.progress import Bar, Stopper, Watcher
from svmselect.cli.summary import FitSummary
from svmselect.cli.tested import Tested
from svmselect.estimators.callbacks import Watch
from svmselect.estimators.following import expected_evaluations
from svmselect.estimators.persist import save
from svmselect.estimators.strategies.journal import passes_file
from svmselect.files.lock import Lock
from svmselect.parallel import Dask
from svmselect.progress import Passes
from svmselect.rows.tables import TableChunks
from svmselect.tables.table import Table

INTERRUPTED = 130


@dataclass(frozen=True)
class FitOptions:
    """What a fit is asked for."""

    data: tuple[str, ...]
    table: TableOptions
    folder: Path
    test: str | None = None
    holdout: float | None = None
    criterion: str = "auto"
    search: str = "auto"
    kernels: tuple[str, ...] = ()
    ard: str = "auto"
    loss: str = "auto"
    threshold: str = "argmax"
    max_time: float | None = None
    jobs: int | None = None
    resume: bool = False
    grid: bool = False
    page: bool = True
    onnx: bool = False
    title: str | None = None
    class_weight: tuple[str, ...] = ()
    rare: str = "keep"
    scoring: str | None = None
    dask: str | None = None

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
    """Rows to train on, and rows to test on if there are any.

    Where not all are in memory ``chunks`` are how they are read, and X and y a sample.
    """

    X: Table
    y: NDArray[Any]
    groups: NDArray[Any] | None = None
    test: tuple[Table, NDArray[Any]] | None = None
    source: str = ""
    chunks: TableChunks | None = None


def run(options: FitOptions, output: Output) -> int:
    """Fit, write and tell; the exit code."""
    began = time.perf_counter()
    model = estimator(
        options.criterion, options.search, options.kernels, options.ard, options.loss,
        options.max_time, options.jobs, options.table.seed,
    )  # fmt: skip
    model.set_params(
        missing=options.table.missing,
        threshold=decided_by(options.threshold),
        class_weight=class_weights(options.class_weight),
        rare=options.rare,
        scoring=known_scorer(options.scoring),
    )
    if options.onnx:
        check_onnx()
    with Bar(f"reading {Path(options.data[0]).name}", None, output):
        prepared = prepare(options.data, options.table, _streams(options, model))
    if options.dask is not None and not prepared.source.parquet:
        raise ValueError(f"--dask reads Parquet files, and {prepared.source.title} is none")
    output.tell(prepared.words)
    for note in prepared.notes:
        output.note(note)
    rows, notes = _rows(options, prepared, model, output)
    options.folder.mkdir(parents=True, exist_ok=True)
    with Lock(options.folder, "give another folder by -o"):
        return _written(options, model, prepared, rows, notes, output, began)


def _written(
    options: FitOptions,
    model: Any,
    prepared: Prepared,
    rows: Rows,
    notes: list[str],
    output: Output,
    began: float,
) -> int:
    """Choose and train in a folder that nobody else writes in; the exit code."""
    interrupted = _chosen(options, model, rows, output, notes)
    summary = FitSummary(
        model=model,
        prepared=prepared,
        folder=options.folder,
        page=options.page,
        onnx=options.onnx,
        tested=None if rows.test is None else Tested.of(model, *rows.test, rows.source),
        notes=(*prepared.notes, *notes),
        interrupted=interrupted,
    )
    save(summary.table_model, options.folder / "model.skops")
    for name in ("report.html", "model.onnx"):  # of a model that is no more
        (options.folder / name).unlink(missing_ok=True)
    if options.onnx:
        model.to_onnx(options.folder / "model.onnx")
    rival = _grid(options, model, rows, output) if options.grid else None
    summary = replace(summary, grid=rival)
    if options.page:
        _draw(options, summary, rows, output)
    summary.tell(output, time.perf_counter() - began)
    return INTERRUPTED if interrupted else 0


def _rows(
    options: FitOptions, prepared: Prepared, model: Any, output: Output
) -> tuple[Rows, list[str]]:
    """Hold rows apart where asked to, and say what many rows will be used for."""
    seed = options.table.seed
    X, y, groups = prepared.X, prepared.y, prepared.groups
    rows = Rows(X, y, groups)
    if options.test is not None:
        tested = prepare_test(options.test, prepared, options.table)
        name = Path(options.test).name
        rows = replace(rows, test=tested, source=f"{count(len(tested[1]), 'row')} of {name}")
    elif options.holdout is not None:
        rest, apart = split(y, options.holdout, seed, groups)
        said = f"{count(len(apart), 'row')} held apart"
        members = None if groups is None else groups[rest]
        rows = Rows(X[rest], y[rest], members, (X[apart], y[apart]), said)
    notes: list[str] = []
    n = len(rows.y)
    if prepared.streamed or options.dask is not None:
        apart = np.setdiff1d(X.rows, rows.X.rows)
        chunks = TableChunks(prepared.source, prepared.encoder, prepared.target, apart - 1)
        notes.append(
            f"{prepared.total:,} rows are read in passes; {n:,} of them are in memory, for the "
            "choice and the report"
        )
        output.note(notes[-1])
        return replace(rows, chunks=chunks), notes
    if n > SMALL and not by_default(model):
        kept = subset(n, rows.y, options.table.rows or SMALL, seed)
        members = None if rows.groups is None else rows.groups[kept]
        rows = replace(rows, X=rows.X[kept], y=rows.y[kept], groups=members)
        notes.append(
            f"a named criterion, search or kernel needs an n x n matrix: {len(kept):,} of {n:,} "
            "rows are used; --rows changes that, and the default strategy uses them all"
        )
        output.note(notes[-1])
    elif n > SMALL:
        output.note(
            plan(n, len(prepared.encoder.columns), len(np.unique(rows.y)), options.max_time)
        )
    return rows, notes


def _chosen(options: FitOptions, model: Any, rows: Rows, output: Output, notes: list[str]) -> bool:
    """Run the search, which writes its trace as it goes; whether it was interrupted."""
    from svmselect.estimators.base import fit_streamed, fit_watched

    path = options.folder / "trace.jsonl"
    if not options.resume:
        path.unlink(missing_ok=True)
        passes_file(path).unlink(missing_ok=True)
    if options.resume:
        known = path.exists()
        said = f"going on with {path}" if known else f"there is no {path} to go on with: a new fit"
        output.note(said)
    bar = Bar("choosing", expected_evaluations(model, len(rows.y)), output, options.max_time)
    with bar, Stopper(output) as stopper, _workers(options) as cluster:
        passing = Passes(bar, stopper)
        watch = Watch(Watcher(bar, stopper), path, passing)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            if rows.chunks is None:
                fit_watched(model, rows.X, rows.y, rows.groups, watch)
            else:
                fit_streamed(model, rows.chunks, watch, passing.first, cluster)
    told = set(model.selection_.notes)
    for warning in dict.fromkeys(str(one.message) for one in caught):
        if warning not in told:
            notes.append(warning)
            output.note(warning)
    return stopper.asked


def _streams(options: FitOptions, model: Any) -> bool:
    """Whether rows beyond those that fit in memory can be used; refuses --dask where not."""
    table = options.table
    able = by_default(model) and table.rows is None and table.groups is None
    able = able and options.scoring is None
    if options.dask is not None and not able:
        raise ValueError(
            "--dask is for many rows and the default choice: leave --rows, --groups, --scoring, "
            "--criterion and --search out"
        )
    return able


@contextmanager
def _workers(options: FitOptions) -> Iterator[Dask | None]:
    """The cluster that was asked for, None without."""
    if options.dask is None:
        yield None
        return
    cluster = Dask(options.dask)
    try:
        yield cluster
    finally:
        cluster.close()


def _grid(options: FitOptions, model: Any, rows: Rows, output: Output) -> Any:
    """What the plain grid comes to on the same rows, or on a sample of many."""
    from svmselect import report
    from svmselect.estimators.given import encoded

    kept = subset(len(rows.y), rows.y, SMALL, options.table.seed)
    if len(kept) < len(rows.y):
        output.note(f"the plain grid sees {len(kept):,} of the {len(rows.y):,} rows")
    with Bar("the plain grid", None, output), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        test = None if rows.test is None else (encoded(model, rows.test[0]), rows.test[1])
        X = encoded(model, rows.X[kept])
        return report.plain_grid(X, rows.y[kept], held_out=test, n_jobs=options.jobs)


def _draw(options: FitOptions, summary: FitSummary, rows: Rows, output: Output) -> None:
    """The report: as a line of the trace, and as a page."""
    from svmselect import report

    with Bar("drawing the report", None, output), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        page = report.of_fit(
            summary.model,
            rows.X,
            rows.y,
            title=options.title or f"{summary.prepared.target} in {summary.prepared.source.title}",
            held_out=rows.test,
            grid=summary.grid,
            warnings=summary.notes,
            columns=summary.columns,
            numbers=rows.X.rows,
            settings={
                "data file": summary.prepared.source.title,
                "command": _command(),
                "predict": summary.predict,
            },
        )
        report.append(page, options.folder / "trace.jsonl")
        report.write(page, options.folder / "report.html")


def _command() -> str:
    return shlex.join(["svmselect", *sys.argv[1:]])
