"""The record of a search: every evaluation in order, where it came from, and what was best."""

from __future__ import annotations

import json
import math
import platform
import zlib
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from svmselect.files.lines import torn_beginning, whole_lines
from svmselect.types import OK, Array, Evaluation, Status

FORMAT = 1
STRATEGY = "auto"
"""What the runs of a strategy's steps begin with."""
_LARGEST = 1_000_000  # entries of a Hessian that a line holds; a resumed run makes it again
_FARTHEST = 700.0  # in search coordinates, which are logarithms: beyond it their exp is no number


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
    def strand(self) -> str:
        """What the run belongs to: the steps of a strategy, "auto/...", are one search."""
        whole, step, _ = self.run.partition(f"{STRATEGY}/")
        return f"{whole}{STRATEGY}" if step else self.run

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
        """The trace of each run, by its name; the steps of a strategy are one run."""
        names = dict.fromkeys(record.strand for record in self.records)
        return {
            name: Trace(
                tuple(r for r in self.records if r.strand == name), self.provenance, self.path
            )
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
        header, records = read_lines(Path(path))
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


def without_hessian(record: Record) -> Record:
    """A record as it is kept: a search needs Hessians, a reader does not."""
    if record.evaluation.hessian is None:
        return record
    return replace(record, evaluation=replace(record.evaluation, hessian=None))


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
    if e.hessian is not None and e.hessian.size <= _LARGEST:
        fields["hessian"] = _packed(e.hessian)
    if record.names != names:
        fields["names"] = list(record.names)
    if not e.status.ok:
        fields["status"] = [e.status.name, e.status.advice]
    return json.dumps(fields, allow_nan=False) + "\n"


def from_line(fields: Mapping[str, Any], names: tuple[str, ...]) -> Record:
    """The record that ``to_line`` wrote; what it did not write is an error of some kind."""
    slope, stderr = fields["gradient"], fields["stderr"]
    own = _words(fields["names"], "names") if "names" in fields else names
    evaluation = Evaluation(
        point=np.array([float(v) for v in fields["point"]]),
        value=float(fields["loss"]),
        gradient=None if slope is None else np.array([float(v) for v in slope]),
        stderr=None if stderr is None else float(stderr),
        seconds=float(fields["seconds"]),
        status=Status(*fields["status"]) if "status" in fields else OK,
        details={name: float(v) for name, v in fields["details"].items()},
        hessian=_unpacked(fields["hessian"], len(fields["point"])) if "hessian" in fields else None,
    )
    if len(evaluation.point) != len(own):
        raise ValueError(f"it has {len(evaluation.point)} coordinates, and {len(own)} names")
    if evaluation.gradient is not None and len(evaluation.gradient) != len(own):
        raise ValueError(f"it has {len(evaluation.gradient)} slopes, and {len(own)} coordinates")
    if not isinstance(fields["run"], str) or type(fields["index"]) is not int:
        raise TypeError("its run is no word or its index no whole number")
    return Record(fields["run"], fields["index"], own, evaluation)


def read_lines(path: Path) -> tuple[dict[str, Any] | None, list[Record]]:
    """Header, if there is a whole one, and records; a torn last line is left out."""
    content = path.read_bytes()
    lines = whole_lines(content)
    if not lines and torn_beginning(content, '{"svmselect": "trace"'):
        return None, []
    header = _header(lines[0] if lines else b"", path)
    names = tuple(header["names"])
    records = []
    for number, line in enumerate(lines[1:], start=2):
        try:
            fields = json.loads(line)
            if "svmselect" not in fields:  # else it is no evaluation, as a report's line
                record = from_line(fields, names)
                if not (np.abs(record.point) <= _FARTHEST).all():
                    raise ValueError("a coordinate of its point is no logarithm of a number")
                records.append(record)
        except (
            ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError
        ) as error:  # fmt: skip
            said = f"it has no {error}" if isinstance(error, KeyError) else str(error)
            raise ValueError(
                f"line {number} of {path} cannot be read: {said}; it was changed after svmselect "
                "wrote it, so restore the file or remove the line"
            ) from None
    return header, records


def _header(line: bytes, path: Path) -> dict[str, Any]:
    """The first line of a trace, checked."""
    try:
        header = json.loads(line)
        known = isinstance(header, dict) and header.get("svmselect") == "trace"
    except (ValueError, RecursionError):
        known = False
    if not known:
        raise ValueError(f"{path} is not a trace of svmselect: its first line is no such header")
    if header.get("format") != FORMAT:
        raise ValueError(
            f"{path} has format {header.get('format')}, this version reads {FORMAT}; "
            "finish the run with the version that began it, or start a new file"
        )
    try:
        _words(header["names"], "names")
        for name in ("settings", "versions"):
            _words(list(header[name]), name)
            _words(list(header[name].values()), name)
        if type(header["seed"]) is not int or not isinstance(header["data"], str):
            raise TypeError("its seed is no whole number or its data no word")
    except (KeyError, TypeError, AttributeError) as error:
        said = f"it has no {error}" if isinstance(error, KeyError) else str(error)
        raise ValueError(
            f"line 1 of {path} cannot be read: {said}; it was changed after svmselect wrote it, so "
            "restore the file or start a new one"
        ) from None
    return header  # type: ignore[no-any-return]


def _words(value: Any, name: str) -> tuple[str, ...]:
    """A list of words as a tuple."""
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise TypeError(f"its {name} are no words")
    return tuple(value)


def _packed(H: Array) -> str:
    """A symmetric matrix as text: its upper triangle, exactly."""
    upper = np.ascontiguousarray(H[np.triu_indices(len(H))], dtype="<f8")
    return b64encode(zlib.compress(upper.tobytes())).decode()


def _unpacked(text: str, p: int) -> Array:
    """Undo ``_packed``; what it did not pack is an error, and unpacked no further than needed."""
    size = 4 * p * (p + 1)
    try:
        content = zlib.decompressobj().decompress(b64decode(text), max(1, size) + 1)
    except zlib.error as error:
        raise ValueError(f"its Hessian is damaged ({error})") from None
    if len(content) != size or p * p > _LARGEST:
        raise ValueError("its Hessian is not of the size of its point")
    H = np.zeros((p, p))
    H[np.triu_indices(p)] = np.frombuffer(content, dtype="<f8")
    return np.asarray(H + np.triu(H, 1).T)


def _plain(value: float) -> float | str:
    """A number JSON knows, or the name of one it does not."""
    number = float(value)
    return number if math.isfinite(number) else repr(number)
