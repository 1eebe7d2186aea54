"""What a report says, as a record apart from the page: it goes to JSON and comes back."""

from __future__ import annotations

from dataclasses import dataclass

from svmselect.plots.data.calibration import CalibrationData
from svmselect.plots.data.curves import CurveData
from svmselect.plots.data.decisions import DecisionData, Doubt
from svmselect.plots.data.landscape import LandscapeData
from svmselect.plots.data.learning import LearningData
from svmselect.plots.data.scales import ScaleData
from svmselect.plots.data.trace import TraceData
from svmselect.report.codec import decode, encode

FORMAT = 2


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
class ErrorRates:
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
    """One way of choosing, in the comparison with the grid.

    Attributes
    ----------
    name : str
        What it is called.
    chosen : str
        What it chose.
    fold_error : float or None
        The error in the folds, if known.
    held_out_error : float or None
        The error on rows held apart, if known.
    evaluations : int
        How many settings it tried.
    seconds : float
        How long it took.
    """

    name: str
    chosen: str
    fold_error: float | None
    held_out_error: float | None
    evaluations: int
    seconds: float


@dataclass(frozen=True, eq=False)
class Report:
    """Everything on the page; a section that is None or empty is not drawn.

    Attributes
    ----------
    title, subtitle : str
        The head of the page.
    facts : tuple of Fact
        The numbers in large type.
    words : tuple of str
        Paragraphs on what was chosen and why.
    criterion : str
        The name of the criterion.
    error : ErrorRates, optional
        The error to expect.
    calibration : CalibrationData, optional
        Predicted probabilities against observed frequencies.
    decisions : DecisionData, optional
        Which class was taken for which.
    curves : tuple of CurveData
        How well the probabilities rank rows.
    inputs : ScaleData, optional
        How much each input counts.
    columns : tuple of (str, str, str)
        The columns of the table: name, kind, and what became of it.
    predict : str
        The command that predicts new rows.
    learning : LearningData, optional
        What more rows would bring.
    counted : str
        How rows are counted.
    unsure, wrong : tuple of Doubt
        Held-out rows that are hard to tell, and those that were called something else most surely.
    trace : TraceData, optional
        The course of the search.
    landscape : LandscapeData, optional
        The criterion around its optimum.
    optima : tuple of Optimum
        Local optima.
    rivals : tuple of Rival
        The comparison with the grid.
    warnings, notes : tuple of str
        What a reader should know.
    provenance : tuple of (str, str)
        Versions, seed, data.
    repeat : str
        How to repeat it.
    """

    title: str
    subtitle: str
    facts: tuple[Fact, ...]
    words: tuple[str, ...]
    criterion: str
    error: ErrorRates | None = None
    calibration: CalibrationData | None = None
    decisions: DecisionData | None = None
    curves: tuple[CurveData, ...] = ()
    inputs: ScaleData | None = None
    columns: tuple[tuple[str, str, str], ...] = ()
    predict: str = ""
    learning: LearningData | None = None
    counted: str = ""
    unsure: tuple[Doubt, ...] = ()
    wrong: tuple[Doubt, ...] = ()
    trace: TraceData | None = None
    landscape: LandscapeData | None = None
    optima: tuple[Optimum, ...] = ()
    rivals: tuple[Rival, ...] = ()
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    provenance: tuple[tuple[str, str], ...] = ()
    repeat: str = ""

    def to_json(self) -> str:
        """Write the report as one line of JSON.

        Returns
        -------
        str
            The line.
        """
        return encode(self)

    @classmethod
    def from_json(cls, text: str) -> Report:
        """Read a report that ``to_json`` wrote.

        Parameters
        ----------
        text : str
            The line.

        Returns
        -------
        Report
            The report.
        """
        return decode(cls, text)
