"""The report of a trace file, without model or data."""

from __future__ import annotations

import json
import os
from pathlib import Path

from svmselect.criteria import available
from svmselect.plots.data.trace import trace_data
from svmselect.report import words
from svmselect.report.optima import ends
from svmselect.report.provenance import of_header
from svmselect.report.record import FORMAT, Fact, Report
from svmselect.search.trace import Trace


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
