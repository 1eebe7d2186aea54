"""From a fitted model, or from a trace file alone, to a report."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from svmselect.criteria import available
from svmselect.data import data_hash
from svmselect.fitting.words import weak
from svmselect.plots.data import scales
from svmselect.plots.data.calibration import CalibrationData, of_rows, wilson
from svmselect.plots.data.landscape import ROWS, LandscapeData, landscape_data
from svmselect.plots.data.refit import Refit
from svmselect.plots.data.source import Source, of_refit
from svmselect.plots.data.trace import trace_data
from svmselect.report import words
from svmselect.report.record import (
    FORMAT,
    ErrorEstimate,
    Fact,
    Optimum,
    Rate,
    Report,
    Rival,
)
from svmselect.trace import Record, Trace

_FEW = 20  # members of a class, below which folds say little
_ENOUGH = 100  # rows held apart that make a better calibration curve than the folds


def of_fit(
    model: Any,
    X: Any,
    y: Any,
    *,
    names: Sequence[str] | None = None,
    title: str = "A self-tuned classifier",
    held_out: tuple[Any, Any] | None = None,
    grid: Rival | None = None,
    warnings: Sequence[str] = (),
    settings: Mapping[str, Any] | None = None,
) -> Report:
    """The report of a fitted AutoSVC or AutoKLR on the rows it was fitted to.

    names : of the columns of X. held_out : (X, y) that the fit did not see. grid : the plain grid's
        result, from ``plain_grid``. warnings : sentences to add. settings : what the reader needs
        to repeat it; "command" is shown as the command to repeat it by.

    The criterion is evaluated again around its optimum, which takes some seconds; of more than 1000
    rows a sample is drawn.
    """
    refit = Refit.of(model, X, y)
    story, k = model._story, len(model.classes_)
    source = of_refit(Refit.of(model, X, y, most=ROWS) if refit.rows > ROWS else refit)
    landscape = landscape_data(source)
    folds = refit.calibration()
    tested = None if held_out is None else _tested(model, held_out)
    error = _error(model, tested)
    inputs = f"{model.n_features_in_} input{'s' if model.n_features_in_ > 1 else ''}"
    kind = type(model).__name__
    return Report(
        title=title,
        subtitle=f"{kind} · {story['rows']} rows · {inputs} · {k} classes",
        facts=words.facts_of_model(model),
        words=words.of_model(model),
        criterion=story["criterion"],
        error=error,
        calibration=folds if tested is None or tested.rows < _ENOUGH else tested,
        inputs=scales.of_estimator(model, names, X),
        trace=trace_data(
            tuple(model.trace_), source.criterion, source.greater_is_better, source.shift
        ),
        landscape=landscape,
        optima=_others(refit, source, landscape),
        rivals=() if grid is None else (_own(model, error, tested), grid),
        warnings=(*_warnings(model), *warnings),
        notes=tuple(m for m in story["messages"] if words.is_course(m)),
        provenance=_provenance(model, X, y, settings or {}),
        repeat=str((settings or {}).get("command", "")) or _code(model),
    )


def of_trace(path: str | os.PathLike[str]) -> Report:
    """The report that was appended to a trace file, or what the evaluations alone support.

    Of several reports the last; a file of ``select(checkpoint=...)`` has none, and so neither an
    error nor a calibration curve nor a landscape.
    """
    file = Path(path)
    trace = Trace.load(file)
    kept = [
        line
        for line in file.read_text(encoding="utf-8").splitlines()
        if '"svmselect": "report"' in line
    ]
    for line in reversed(kept):
        fields = json.loads(line)
        if fields.get("svmselect") != "report":
            continue
        if fields["format"] != FORMAT:
            raise ValueError(
                f"the report in {path} has format {fields['format']}, this version reads {FORMAT}; "
                "use the version that wrote it"
            )
        return Report.from_json(json.dumps(fields["report"]))
    return _of_evaluations(trace, file)


def _of_evaluations(trace: Trace, path: Path) -> Report:
    header, best = trace.provenance, trace.best()
    settings = header.get("settings", {})
    criterion = _criterion_name(settings.get("criterion", ""))
    cls = available().get(criterion)
    greater = True if cls is None else cls.greater_is_better
    chosen = best.parameters
    facts = [Fact("Penalty C", words.number(chosen["C"]))]
    rest = [(name, value) for name, value in chosen.items() if name != "C"]
    facts += [Fact(name, words.number(value)) for name, value in rest[:2]]
    facts.append(Fact("Value", words.number(best.value, 4), criterion))
    facts.append(Fact("Time", words.seconds(trace.seconds), f"{len(trace)} evaluations"))
    listed = ", ".join(f"{name} = {words.number(value)}" for name, value in chosen.items())
    return Report(
        title=f"The search in {path.name}",
        subtitle=f"{len(trace)} evaluations of {criterion} in {len(trace.runs)} runs",
        facts=tuple(facts),
        words=(f"The best setting found: {listed}. {words.why(criterion)}",),
        criterion=criterion,
        trace=trace_data(tuple(trace), criterion, greater),
        optima=_ends(trace),
        warnings=tuple(
            dict.fromkeys(str(r.evaluation.status) for r in trace if not r.evaluation.status.ok)
        )[:10],
        provenance=_of_header(header),
    )


def _tested(model: Any, held_out: tuple[Any, Any]) -> CalibrationData:
    X, y = held_out
    return of_rows(model, X, y, source=f"{len(np.asarray(y))} rows held apart")


def _warnings(model: Any) -> list[str]:
    """What the search warned of, and what is known to mislead."""
    story = model._story
    found = [m for m in story["messages"] if not (words.is_choice(m) or words.is_course(m))]
    labels, members = model.classes_.tolist(), np.asarray(story["members"])
    few = [str(labels[i]) for i in np.flatnonzero(members < _FEW)]
    if few:
        listed = ", ".join(few[:5]) + (", ..." if len(few) > 5 else "")
        found.append(f"{listed}: fewer than {_FEW} rows, so other folds may choose otherwise")
    if weak(model.sigmoid_slope_, story["spread"]):
        found.append("the held-out decision values hardly tell the classes apart; other inputs may")
    return found


def _error(model: Any, tested: CalibrationData | None) -> ErrorEstimate:
    story = model._story
    (error, spread), rows = story["error"], round(sum(story["members"]))
    # the rows that a standard error of sqrt(e (1 - e) / n) speaks of
    seen = min(rows, round(error * (1.0 - error) / spread**2)) if spread > 0 else rows
    if seen < 0.95 * rows:
        said = f"{seen} of the {rows} rows, held out"
    else:
        seen, said = rows, f"the {rows} rows, held out in turn in {story['folds']} folds"
    if not story["coupled"]:
        said += ", two classes at a time"
    members = np.asarray(story["members"])
    held = None
    if tested is not None:
        held = _rate(tested.error, tested.rows, tested.source)
    return ErrorEstimate(_rate(error, seen, said), held, 1.0 - float(members.max() / members.sum()))


def _rate(error: float, rows: int, source: str) -> Rate:
    low, high = wilson(error, rows)
    return Rate(error, float(low), float(high), rows, source)


def _own(model: Any, error: ErrorEstimate, tested: CalibrationData | None) -> Rival:
    """What this library's choice did, for the table beside the grid."""
    story = model._story
    return Rival(
        name=type(model).__name__,
        chosen=words.short(model),
        fold_error=error.folds.error,
        held_out_error=None if tested is None else tested.error,
        evaluations=int(story["evaluations"]),
        seconds=float(story["seconds"]),
    )


def _others(refit: Refit, source: Source, landscape: LandscapeData) -> tuple[Optimum, ...]:
    """Hills of the landscape; with several starts and no prior also where the others ended."""
    found = _hills(landscape)
    if refit.default or refit.separate or source.notes:
        return found
    ends = [o for o in _ends(Trace(source.records)) if not _near(o, source)]
    sign = -1.0 if source.greater_is_better else 1.0
    return tuple(sorted([*found, *ends], key=lambda o: sign * o.value))


def _near(optimum: Optimum, source: Source) -> bool:
    """Whether an end is the choice itself; its C counts as the search counts it."""
    point = np.log([value for _, value in optimum.where])
    if len(point) != len(source.point):
        return False
    return bool(
        np.abs(point - source.point + source.shift * (np.arange(len(point)) == 0)).max() < 0.02
    )


def _hills(landscape: LandscapeData) -> tuple[Optimum, ...]:
    return tuple(
        Optimum(
            (("C", float(np.exp(log_C))), (landscape.width, float(np.exp(log_width)))),
            float(value),
            "the landscape",
        )
        for log_C, log_width, value in landscape.hills[:5]
    )


def _ends(trace: Trace) -> tuple[Optimum, ...]:
    """Where the runs ended, best first; ends within 2 % of a better one are the same."""
    kept: list[Record] = []
    for end in sorted((run.best() for run in trace.runs.values()), key=lambda r: r.loss):
        near = any(r.names == end.names and np.abs(r.point - end.point).max() < 0.02 for r in kept)
        if np.isfinite(end.loss) and not near:
            kept.append(end)
    return tuple(Optimum(tuple(r.parameters.items()), r.value, f"run {r.run}") for r in kept[:10])


def _criterion_name(described: str) -> str:
    """The name of a criterion from how it describes itself, e.g. Likelihood(cv=5)."""
    class_name = described.partition("(")[0]
    names = {cls.__name__: name for name, cls in available().items()}
    return names.get(class_name, class_name or "the criterion")


def _provenance(
    model: Any, X: Any, y: Any, settings: Mapping[str, Any]
) -> tuple[tuple[str, str], ...]:
    rows = X.toarray() if getattr(X, "toarray", None) is not None else X
    found = {name: str(value) for name, value in settings.items() if name != "command"}
    found["data (SHA-256)"] = data_hash(np.asarray(rows, dtype=np.float64), np.asarray(y))
    given = model.random_state
    seed = str(model._story.get("seed", "not kept"))
    found["random_state"] = repr(given) if given is not None else f"not given; folds from {seed}"
    found["estimator"] = _code(model)
    for package in ("svmselect", "scikit-learn", "numpy", "scipy"):
        found[package] = version(package)
    found["Python"] = f"{platform.python_version()}, {platform.machine()}"
    return tuple(found.items())


def _code(model: Any) -> str:
    return f"{' '.join(repr(model).split())}.fit(X, y)"


def _of_header(header: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    found = {"data (SHA-256)": str(header.get("data", "")), "seed": str(header.get("seed", ""))}
    found |= {str(k): str(v) for k, v in header.get("settings", {}).items()}
    found |= {str(k): str(v) for k, v in header.get("versions", {}).items()}
    return tuple((name, _shortened(value)) for name, value in found.items())


def _shortened(text: str, most: int = 400) -> str:
    return text if len(text) <= most else f"{text[:most]} …"
