"""Results that are kept: every trial of a paper in one small table, read back into a page.

``<paper>.csv.gz`` has a line for each number of each trial (lists: one an entry, ``name[3]``).
``<paper>-earlier.csv.gz``, where there is one, has what is left of a longer run whose trials were
not kept one by one: fold, spread and number of trials of each row of an exhibit.
"""

from __future__ import annotations

import csv
import gzip
import io
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from svmselect.experiments.reproduction.outcomes import Outcome, Outcomes
from svmselect.experiments.reproduction.paper import Paper
from svmselect.experiments.reproduction.result import Result
from svmselect.experiments.reproduction.row import Row, Summary

TRIALS = ("cell", "trial", "seconds", "quantity", "value")
EARLIER = ("exhibit", "row", "column", "quantity", "trials", "value", "sd")
_ENTRY = re.compile(r"(.+)\[(\d+)\]$")

Key = tuple[str, str, str, str]


def keep(outcomes: Iterable[Outcome], path: Path, left_out: Iterable[str] = ()) -> None:
    """Write trials; ``left_out`` are quantities that only pictures need."""
    skipped = set(left_out)
    lines: list[tuple[Any, ...]] = []
    for o in sorted(outcomes, key=lambda one: (one.name, one.trial)):
        for name, value in o.values.items():
            if name in skipped:
                continue
            listed = value if isinstance(value, list) else [value]
            for place, entry in enumerate(listed):
                label = f"{name}[{place}]" if isinstance(value, list) else name
                lines.append(("/".join(o.name), o.trial, f"{o.seconds:.3g}", label, _text(entry)))
    _write(path, TRIALS, lines)


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.7g}"
    return "" if value is None else str(value)


def _write(path: Path, heads: tuple[str, ...], lines: Iterable[tuple[Any, ...]]) -> None:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(heads)
    writer.writerows(lines)
    path.parent.mkdir(parents=True, exist_ok=True)
    # no time in it, so that the same trials make the same file
    path.write_bytes(gzip.compress(buffer.getvalue().encode(), 9, mtime=0))


def keep_earlier(rows: Mapping[Key, Summary], path: Path) -> None:
    """Write what is left of a longer run."""
    lines = [
        (*key, s.trials, _text(s.value), _text(s.sd)) for key, s in sorted(rows.items())
    ]  # fmt: skip
    _write(path, EARLIER, lines)


def _read(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(gzip.decompress(path.read_bytes()).decode())))


def kept_trials(path: Path, settings: Mapping[tuple[str, ...], Mapping[str, Any]]) -> Outcomes:
    """Read trials; ``settings`` of their cells, as the tasks have them."""
    values: dict[tuple[tuple[str, ...], int], dict[str, Any]] = {}
    seconds: dict[tuple[tuple[str, ...], int], float] = {}
    for line in _read(path):
        key = tuple(line["cell"].split("/")), int(line["trial"])
        seconds[key] = float(line["seconds"])
        found = values.setdefault(key, {})
        entry = _ENTRY.match(line["quantity"])
        number = None if line["value"] == "" else _number(line["value"])
        if entry is None:
            found[line["quantity"]] = number
        else:
            found.setdefault(entry.group(1), []).append(number)
    return Outcomes.of(
        Outcome(name, trial, settings.get(name, {}), found, seconds[name, trial])
        for (name, trial), found in values.items()
    )


def _number(text: str) -> Any:
    return {"True": True, "False": False}.get(text) if text[0] in "TF" else float(text)


def kept_earlier(path: Path) -> dict[Key, Summary]:
    """Read what is left of a longer run; nothing where there is no such file."""
    if not path.exists():
        return {}
    return {
        (line["exhibit"], line["row"], line["column"], line["quantity"]): Summary(
            float(line["value"]), float(line["sd"]) if line["sd"] else None, int(line["trials"])
        )
        for line in _read(path)
    }


def settings_of(paper: Paper, trials: int = 1000) -> dict[tuple[str, ...], dict[str, Any]]:
    """The settings of each cell's tasks."""
    tasks = [t for e in paper.exhibits for t in e.tasks(trials, False)]
    return {task.name: {**task.settings, "seed": task.seed} for task in tasks}


def kept_result(paper: Paper, folder: Path, trials: int = 1000) -> Result:
    """A paper's result from the kept files; the earlier run stands where it has more trials."""
    outcomes = kept_trials(folder / f"{paper.name}.csv.gz", settings_of(paper, trials))
    earlier = kept_earlier(folder / f"{paper.name}-earlier.csv.gz")
    rows = {
        exhibit.name: tuple(_longer(exhibit.name, row, earlier) for row in exhibit.rows(outcomes))
        for exhibit in paper.exhibits
    }
    most = max((row.trials for group in rows.values() for row in group), default=0)
    return Result(paper, paper.exhibits, rows, outcomes, most, False, 0.0, True, folder)


def _longer(exhibit: str, row: Row, earlier: Mapping[Key, Summary]) -> Row:
    found = earlier.get((exhibit, row.row, row.column, row.quantity))
    return row if found is None or found.trials <= row.trials else replace(row, earlier=found)
