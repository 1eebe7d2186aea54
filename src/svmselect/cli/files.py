"""The trace file of a fit: written as the search goes, read to go on, completed at the end."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from svmselect.data import data_hash
from svmselect.estimators.default import coordinates
from svmselect.files.lines import append_line
from svmselect.files.whole import write_whole
from svmselect.search.trace import Record, provenance, read_lines, to_line
from svmselect.types import Evaluation

_FOLD_SHARE = 0.8  # of the rows that a machine of five folds is trained on


@dataclass(frozen=True, eq=False)
class TraceFile:
    """A file of JSON lines about one fit: its data, its settings."""

    path: Path
    header: dict[str, Any]

    @classmethod
    def of(cls, path: Path, X: Any, y: Any, seed: int, settings: dict[str, str]) -> TraceFile:
        """A file about these rows and settings; not written yet."""
        return cls(path, provenance(seed, data_hash(X, y), coordinates(1), settings))

    def begin(self) -> None:
        """A new file with a header."""
        write_whole(self.path, json.dumps(self.header) + "\n")

    def append(self, evaluation: Evaluation, index: int) -> None:
        """Write one evaluation of the default strategy, as its trace will have it."""
        slopes = None if evaluation.gradient is None else -evaluation.gradient
        details = {**evaluation.details, "value": evaluation.value}
        turned = Evaluation(
            evaluation.point, -evaluation.value, slopes, evaluation.stderr, evaluation.seconds,
            evaluation.status, details,
        )  # fmt: skip
        names = coordinates(len(evaluation.point) - 1)
        line = to_line(Record("auto", index, names, turned), tuple(self.header["names"]))
        append_line(self.path, line)

    def complete(self, model: Any) -> None:
        """The whole trace of a fitted model instead of what was written as it went."""
        names = tuple(self.header["names"])
        lines = [to_line(record, names) for record in model.trace_]
        write_whole(self.path, json.dumps(self.header) + "\n" + "".join(lines))

    def resumed(self) -> tuple[float, float] | None:
        """C and the length scale of the best evaluation in the file; None if it has none.

        Refuses a file about other data or settings.
        """
        if not self.path.exists():
            return None
        found, records = read_lines(self.path)
        if found is None:
            return None
        remedy = "leave --resume out to begin anew, or give another folder by -o"
        if found["data"] != self.header["data"]:
            raise ValueError(f"{self.path} is about other data, or rows chosen otherwise; {remedy}")
        old, new = found["settings"], self.header["settings"]
        differing = sorted(key for key in {**old, **new} if old.get(key) != new.get(key))
        if differing:
            key = differing[0]
            raise ValueError(
                f"{self.path} was written with --{key} {old.get(key)}, now it is {new.get(key)}; "
                f"{remedy}"
            )
        folds = max((r.evaluation.details.get("folds", 0.0) for r in records), default=0.0)
        full = [r for r in records if r.evaluation.details.get("folds", 0.0) == folds]
        if not full:
            return None
        best = min(full, key=lambda record: record.loss)
        C = float(np.exp(best.point[0])) * _FOLD_SHARE
        return C, float(np.exp(best.point[1:].mean()))
