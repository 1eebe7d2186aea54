"""The record of a search: every evaluation in order, where it came from, and what was best."""

from __future__ import annotations

import json
import math
import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from svmselect.types import OK, Array, Evaluation, Status

FORMAT = 1


@dataclass(frozen=True, eq=False)
class Record:
    """One evaluation, and which run it belongs to.

    Attributes
    ----------
    run : str
        The name of the run.
    index : int
        Its place in the run.
    names : tuple of str
        The names of the coordinates.
    evaluation : Evaluation
        The point and what was found there.
    """

    run: str
    index: int
    names: tuple[str, ...]
    evaluation: Evaluation

    @property
    def point(self) -> Array:
        """The search coordinates, in the order of ``names``."""
        return self.evaluation.point

    @property
    def loss(self) -> float:
        """What the search minimises; infinite where it is not a number."""
        value = self.evaluation.value
        return value if math.isfinite(value) else math.inf

    @property
    def value(self) -> float:
        """The criterion's own value, in its own units."""
        return float(self.evaluation.details.get("value", self.evaluation.value))

    @property
    def parameters(self) -> dict[str, float]:
        """Natural parameters by name: C, and those of the kernel."""
        natural = np.exp(self.point).tolist()
        return dict(zip((n.removeprefix("log ") for n in self.names), natural, strict=True))


@dataclass(frozen=True, eq=False)
class Trace(Sequence[Record]):
    """All evaluations of a search, run by run; a sequence of records.

    Attributes
    ----------
    records : tuple of Record
        The evaluations, in order.
    provenance : mapping
        The versions, the seed, the hash of the data and the settings.
    path : Path, optional
        The file of JSON lines, if there is one.
    """

    records: tuple[Record, ...]
    provenance: Mapping[str, Any] = field(default_factory=dict)
    path: Path | None = None

    def __len__(self) -> int:
        return len(self.records)

    def __getitem__(self, index: Any) -> Any:
        return self.records[index]

    def __iter__(self) -> Iterator[Record]:
        return iter(self.records)

    @property
    def runs(self) -> dict[str, Trace]:
        """The trace of each run, by its name."""
        names = dict.fromkeys(record.run for record in self.records)
        return {
            name: Trace(tuple(r for r in self.records if r.run == name), self.provenance, self.path)
            for name in names
        }

    @property
    def losses(self) -> Array:
        """What was minimised, evaluation by evaluation."""
        return np.array([record.loss for record in self.records])

    @property
    def values(self) -> Array:
        """The criterion's values, evaluation by evaluation."""
        return np.array([record.value for record in self.records])

    @property
    def seconds(self) -> float:
        """Time spent on evaluations, summed over workers."""
        return float(sum(record.evaluation.seconds for record in self.records))

    def best(self) -> Record:
        """Return the evaluation with the lowest value, the earliest of several.

        Where some evaluations looked at fewer folds than others, only those that looked at most
        compare.

        Returns
        -------
        Record
            The evaluation.
        """
        if not self.records:
            raise ValueError("the trace is empty: nothing was evaluated")
        folds = [float(r.evaluation.details.get("folds", np.inf)) for r in self.records]
        most = max(folds)
        full = [r for r, count in zip(self.records, folds, strict=True) if count == most]
        return min(full, key=lambda record: record.loss)

    @classmethod
    def load(cls, path: str | Path) -> Trace:
        """Read a file of JSON lines that ``select(checkpoint=...)`` has written.

        Parameters
        ----------
        path : str or Path
            The file.

        Returns
        -------
        Trace
            What it holds; a torn last line is left out.
        """
        header, records, _ = read_lines(Path(path))
        if header is None:
            raise ValueError(f"{path} has no complete first line, so nothing can be read from it")
        return cls(tuple(sorted_records(records)), header, Path(path))


def sorted_records(records: Sequence[Record], runs: Sequence[str] = ()) -> list[Record]:
    """Run by run, in the order given or else that of their first appearance."""
    order = {name: i for i, name in enumerate(dict.fromkeys([*runs, *(r.run for r in records)]))}
    return sorted(records, key=lambda r: (order[r.run], r.index))


def provenance(seed: int, data: str, names: Sequence[str], settings: Mapping[str, str]) -> Any:
    """What a trace says about itself."""
    return {
        "svmselect": "trace",
        "format": FORMAT,
        "versions": {
            "svmselect": version("svmselect"),
            "numpy": np.__version__,
            "scipy": version("scipy"),
            "python": platform.python_version(),
            "machine": platform.machine(),
        },
        "seed": seed,
        "data": data,
        "names": list(names),
        "settings": dict(settings),
    }


def to_line(record: Record, names: tuple[str, ...]) -> str:
    """One line of JSON; floats come back exactly, and the file has no NaN or Infinity literals."""
    e = record.evaluation
    fields: dict[str, Any] = {
        "run": record.run,
        "index": record.index,
        "point": [_plain(v) for v in e.point],
        "loss": _plain(e.value),
        "gradient": None if e.gradient is None else [_plain(v) for v in e.gradient],
        "stderr": None if e.stderr is None else _plain(e.stderr),
        "seconds": round(e.seconds, 6),
        "details": {name: _plain(v) for name, v in e.details.items()},
    }
    if record.names != names:
        fields["names"] = list(record.names)
    if not e.status.ok:
        fields["status"] = [e.status.name, e.status.advice]
    return json.dumps(fields, allow_nan=False) + "\n"


def from_line(fields: Mapping[str, Any], names: tuple[str, ...]) -> Record:
    """The record that ``to_line`` wrote."""
    slope, stderr = fields["gradient"], fields["stderr"]
    evaluation = Evaluation(
        point=np.array([float(v) for v in fields["point"]]),
        value=float(fields["loss"]),
        gradient=None if slope is None else np.array([float(v) for v in slope]),
        stderr=None if stderr is None else float(stderr),
        seconds=float(fields["seconds"]),
        status=Status(*fields["status"]) if "status" in fields else OK,
        details={name: float(v) for name, v in fields["details"].items()},
    )
    own = tuple(fields["names"]) if "names" in fields else names
    return Record(str(fields["run"]), int(fields["index"]), own, evaluation)


def read_lines(path: Path) -> tuple[dict[str, Any] | None, list[Record], int]:
    """Header, records, and how many bytes of the file are whole lines; a torn last line is left."""
    content = path.read_bytes()
    whole = content.rfind(b"\n") + 1
    lines = content[:whole].splitlines()
    if not lines:
        return None, [], 0
    try:
        header = json.loads(lines[0])
        known = isinstance(header, dict) and header.get("svmselect") == "trace"
    except ValueError:
        known = False
    if not known:
        raise ValueError(f"{path} is not a trace of svmselect: its first line is no such header")
    if header["format"] != FORMAT:
        raise ValueError(
            f"{path} has format {header['format']}, this version reads {FORMAT}; "
            "finish the run with the version that began it, or start a new file"
        )
    names = tuple(header["names"])
    records = []
    for number, line in enumerate(lines[1:], start=2):
        try:
            fields = json.loads(line)
            if "svmselect" not in fields:  # else it is no evaluation, as a report's line
                records.append(from_line(fields, names))
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"line {number} of {path} cannot be read: {error}") from None
    return header, records, whole


def _plain(value: float) -> float | str:
    """A number JSON knows, or the name of one it does not."""
    number = float(value)
    return number if math.isfinite(number) else repr(number)
