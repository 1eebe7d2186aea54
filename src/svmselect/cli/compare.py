"""What ``svmselect compare`` does: the same rows, one criterion after another."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from svmselect.cli.console import Output, count, duration, number, percent
from svmselect.cli.model import SMALL, estimator
from svmselect.cli.prepare import TableOptions, prepare, prepare_test, split, subset
from svmselect.cli.progress import Bar, Stopper, Watcher
from svmselect.cli.tested import Tested
from svmselect.tables.table import Table
from svmselect.types import ErrorEstimate

INTERRUPTED = 130


@dataclass(frozen=True)
class CompareOptions:
    """What a comparison is asked for."""

    data: str
    table: TableOptions
    criteria: tuple[str, ...]
    test: str | None = None
    holdout: float = 0.25
    search: str = "auto"
    kernels: tuple[str, ...] = ()
    ard: str = "auto"
    max_time: float | None = None
    jobs: int | None = None


@dataclass(frozen=True, eq=False)
class Entry:
    """What one criterion came to; ``failure`` is why it did not."""

    criterion: str
    seconds: float = 0.0
    model: Any = None
    tested: Tested | None = None
    said: NDArray[Any] | None = None
    failure: str | None = None


def run(options: CompareOptions, output: Output) -> int:
    """Let each criterion choose, test what it chose, and set them side by side."""
    table = options.table
    models = {name: _model(name, options) for name in options.criteria}
    prepared = prepare(options.data, table)
    output.tell(prepared.words)
    for note in prepared.notes:
        output.note(note)
    X, y = prepared.X, prepared.y
    if options.test is not None:
        apart = prepare_test(options.test, prepared, table)
        said = f"{count(len(apart[1]), 'row')} of {Path(options.test).name}"
    else:
        rest, held = split(y, options.holdout, table.seed)
        apart, X, y = (X[held], y[held]), X[rest], y[rest]
        said = f"{count(len(held), 'row')} held apart"
    if len(y) > SMALL:
        kept = subset(len(y), y, table.rows or SMALL, table.seed)
        output.note(
            f"criteria need an n x n matrix: {len(kept):,} of {len(y):,} rows are trained on; "
            "--rows changes that"
        )
        X, y = X[kept], y[kept]
    entries: list[Entry] = []
    interrupted = False
    for name, model in models.items():
        entry, interrupted = _entry(name, model, (X, y), apart, said, output)
        entries.append(entry)
        if interrupted:
            output.note("interrupted: what follows is what was found so far")
            break
    _tell(entries, said, prepared.target, output)
    if all(entry.failure is not None for entry in entries):
        raise ValueError(f"no criterion could be used: {entries[0].failure}")
    return INTERRUPTED if interrupted else 0


def _model(criterion: str, options: CompareOptions) -> Any:
    """An estimator with the loss that the criterion is for."""
    from svmselect.criteria import available

    known = available().get(criterion)
    losses = {"hinge", "squared_hinge", "logistic"}
    served = losses if known is None else {loss for loss, _ in known.serves}
    loss = next(one for one in ("hinge", "squared_hinge", "logistic") if one in served)
    made = estimator(
        criterion, options.search, options.kernels, options.ard, loss, options.max_time,
        options.jobs, options.table.seed,
    )  # fmt: skip
    return made.set_params(missing=options.table.missing)


def _entry(
    name: str,
    model: Any,
    rows: tuple[Table, NDArray[Any]],
    apart: tuple[Table, NDArray[Any]],
    by: str,
    output: Output,
) -> tuple[Entry, bool]:
    from svmselect.estimators.base import fit_watched
    from svmselect.estimators.callbacks import Watch
    from svmselect.estimators.following import expected_evaluations

    began = time.perf_counter()
    steps = expected_evaluations(model, len(rows[1]))
    bar = Bar(f"choosing by {name}", steps, output, model.max_time)
    with bar, Stopper(output) as stopper, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            fit_watched(model, *rows, None, Watch(Watcher(bar, stopper)))
        except ValueError as error:
            return Entry(name, failure=" ".join(str(error).split())), stopper.asked
    seconds = time.perf_counter() - began
    said = model.predict(apart[0])
    tested = Tested.seen(ErrorEstimate(float(np.mean(said != apart[1])), len(said)), by)
    return Entry(name, seconds, model, tested, said), stopper.asked


def _agreement(entries: list[Entry]) -> NDArray[np.float64]:
    """The share of test rows on which two say the same."""
    found = [e.said for e in entries if e.said is not None]
    return np.array([[float(np.mean(a == b)) for b in found] for a in found])


def _tell(entries: list[Entry], said: str, target: str, output: Output) -> None:
    done = [entry for entry in entries if entry.failure is None]
    shares, names = _agreement(done), [entry.criterion for entry in done]
    fields: list[dict[str, Any]] = []
    rows = []
    for i, e in enumerate(done):
        assert e.tested is not None
        others = np.delete(shares[i], i)
        agrees = float(others.mean()) if len(others) else None
        fields.append(
            {
                "criterion": e.criterion,
                "C": e.model.C_,
                "kernel": repr(e.model.kernel_),
                "parameters": e.model.best_params_,
                "value": e.model.best_score_,
                "error": e.tested.fields,
                "agreement": dict(zip(names, shares[i].tolist(), strict=True)),
                "evaluations": e.model.selection_.evaluations,
                "seconds": e.seconds,
            }
        )
        rows.append(
            [
                e.criterion,
                number(e.model.C_),
                _length(e.model),
                percent(e.tested.error),
                f"{100 * e.tested.low:.1f} to {100 * e.tested.high:.1f}",
                "" if agrees is None else f"{agrees:.0%}",
                str(e.model.selection_.evaluations),
                duration(e.seconds),
            ]
        )
    failures = {e.criterion: e.failure for e in entries if e.failure is not None}
    output.result({"target": target, "test": said, "criteria": fields, "failures": failures})
    output.say("")
    if rows:
        columns = ["criterion", "C", "length scale", "error", "95 %", "agrees", "evals", "time"]
        output.table(columns, rows)
        output.say("")
        output.tell(
            f"error: on {said}; agrees: on how many of these it says the same as the others, on "
            "average"
        )
    for entry in done:
        loss = entry.model.selection_.loss
        if loss != "hinge":
            output.note(f"{entry.criterion} is for the loss {loss}, so its C does not compare")
    for name, failure in failures.items():
        output.note(f"{name} could not be used: {failure}")


def _length(model: Any) -> str:
    length = model.length_scale_
    if isinstance(length, float):
        return number(length)
    if isinstance(length, np.ndarray):
        return f"{number(length.min())}..{number(length.max())}"
    return "-"
