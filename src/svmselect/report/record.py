"""What a report says, as a record apart from the page: it goes to JSON and comes back."""

from __future__ import annotations

from dataclasses import dataclass

from svmselect.plots.data.calibration import CalibrationData
from svmselect.plots.data.landscape import LandscapeData
from svmselect.plots.data.scales import ScaleData
from svmselect.plots.data.trace import TraceData
from svmselect.report.codec import decode, encode

FORMAT = 1


@dataclass(frozen=True)
class Fact:
    """A number worth a large type: what it is called, what it is, and what it means."""

    label: str
    value: str
    hint: str = ""


@dataclass(frozen=True)
class Rate:
    """An error rate with its 95 % interval, and the rows it was seen in."""

    error: float
    low: float
    high: float
    rows: int
    source: str


@dataclass(frozen=True)
class ErrorEstimate:
    """The error to expect: from the folds, on rows held apart if there were any, and by guessing.

    ``baseline`` is the error of always saying the most frequent class.
    """

    folds: Rate
    held_out: Rate | None
    baseline: float


@dataclass(frozen=True)
class Optimum:
    """A place where the criterion is locally best: which, and how good it is there."""

    where: tuple[tuple[str, float], ...]
    value: float
    source: str


@dataclass(frozen=True)
class Rival:
    """One way of choosing, in the comparison with the grid; errors are None where not known."""

    name: str
    chosen: str
    fold_error: float | None
    held_out_error: float | None
    evaluations: int
    seconds: float


@dataclass(frozen=True, eq=False)
class Report:
    """Everything on the page; a section that is None or empty is not drawn."""

    title: str
    subtitle: str
    facts: tuple[Fact, ...]
    words: tuple[str, ...]
    criterion: str
    error: ErrorEstimate | None = None
    calibration: CalibrationData | None = None
    inputs: ScaleData | None = None
    trace: TraceData | None = None
    landscape: LandscapeData | None = None
    optima: tuple[Optimum, ...] = ()
    rivals: tuple[Rival, ...] = ()
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    provenance: tuple[tuple[str, str], ...] = ()
    repeat: str = ""

    def to_json(self) -> str:
        """One line of JSON."""
        return encode(self)

    @classmethod
    def from_json(cls, text: str) -> Report:
        """The report that ``to_json`` wrote."""
        return decode(cls, text)
