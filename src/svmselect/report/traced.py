"""The report of a trace file, without model or data."""

from __future__ import annotations

import json
import os
from pathlib import Path

from svmselect.criteria import available
from svmselect.files.lines import whole_lines
from svmselect.plots.data.trace import trace_data
from svmselect.report import words
from svmselect.report.optima import ends
from svmselect.report.page import render
from svmselect.report.provenance import of_header
from svmselect.report.record import FORMAT, Fact, Report
from svmselect.search.trace import Trace

# what computing with numbers that do not fit together ends in
_UNFIT = (
    ValueError, TypeError, KeyError, IndexError, AttributeError, ArithmeticError, StopIteration
)  # fmt: skip


def of_trace(path: str | os.PathLike[str]) -> Report:
    """Make the report of a trace file: the one appended to it, or what the evaluations support.

    Of several reports the last is read. A file of ``select(checkpoint=...)`` has none, and so
    neither an error nor a calibration curve nor a landscape.

    Parameters
    ----------
    path : str or path-like
        The trace file.

    Returns
    -------
    Report
        The report.
    """
    file = Path(path)
    trace = Trace.load(file)
    kept = [
        (number, line)
        for number, line in enumerate(whole_lines(file.read_bytes()), start=1)
        if b'"svmselect": "report"' in line
    ]
    for number, line in reversed(kept):
        fields = json.loads(line)
        if fields.get("svmselect") != "report":
            continue
        if fields.get("format") != FORMAT:
            raise ValueError(
                f"the report in line {number} of {path} has format {fields.get('format')}, this "
                f"version reads {FORMAT}; use the version that wrote it"
            )
        try:
            made = Report.from_json(json.dumps(fields.get("report")))
            render(made)  # which finds out whether its numbers fit together
        except _UNFIT as error:
            raise ValueError(
                f"the report in line {number} of {path} cannot be drawn ({error}); it was changed "
                "after svmselect wrote it, so remove the line to draw what the evaluations support"
            ) from None
        return made
    try:
        made = _of_evaluations(trace, file)
        render(made)
        return made
    except _UNFIT as error:
        raise ValueError(
            f"{path} cannot be drawn: {error}; if it was changed after svmselect wrote it, restore "
            "it"
        ) from None


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
        optima=ends(trace),
        warnings=tuple(
            dict.fromkeys(str(r.evaluation.status) for r in trace if not r.evaluation.status.ok)
        )[:10],
        provenance=of_header(header),
    )


def _criterion_name(described: str) -> str:
    """The name of a criterion from how it describes itself, e.g. Likelihood(cv=5)."""
    class_name = described.partition("(")[0]
    names = {cls.__name__: name for name, cls in available().items()}
    return names.get(class_name, class_name or "the criterion")
