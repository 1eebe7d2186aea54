"""The report of a fitted model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from svmselect.estimators.words import weaknesses
from svmselect.plots.data import scales
from svmselect.plots.data.calibration import CalibrationData, codes_of, of_rows
from svmselect.plots.data.curves import curve_data
from svmselect.plots.data.decisions import decided, decision_data, doubts
from svmselect.plots.data.landscape import ROWS, landscape_data
from svmselect.plots.data.learning import LearningData, learning_data
from svmselect.plots.data.refit import Refit
from svmselect.plots.data.source import Source, of_refit
from svmselect.plots.data.trace import TraceData, trace_data
from svmselect.probability.intervals import interval
from svmselect.report import provenance, words
from svmselect.report.optima import other_optima
from svmselect.report.record import ErrorRates, Rate, Report, Rival
from svmselect.types import Array, ErrorEstimate, IntArray

_ENOUGH = 100  # rows held apart that tell more than the folds
_SECONDS = 0.6  # of CPU time for the landscape
_MOST_PAIRS = 28  # of classes, each of which is trained on parts of the rows


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
    columns: Sequence[tuple[str, str, str]] | None = None,
    numbers: Any = None,
) -> Report:
    """Make the report of a fitted classifier on the rows it was fitted to.

    Parameters
    ----------
    model : AutoSVC or AutoKLR
        The fitted classifier.
    X : array-like of shape (n, d)
        The rows it was fitted to.
    y : array-like of shape (n,)
        Their labels.
    names : sequence of str, optional
        The names of the columns of X.
    title : str, default "A self-tuned classifier"
        The title of the page.
    held_out : (X, y), optional
        Rows that the fit did not see.
    grid : Rival, optional
        The plain grid's result, from ``plain_grid``.
    warnings : sequence of str, optional
        Sentences to add.
    settings : mapping, optional
        What the reader needs to repeat the fit; "command" is shown as the command to repeat it by,
        "predict" as the one to predict new rows by.
    columns : sequence of (str, str, str), optional
        What became of each column of the table: name, kind and words; if None, what the model
        learned of the columns of a data frame.
    numbers : array-like of int, optional
        What the rows are called, where the page names some; their positions in X, from 0, if None.

    Returns
    -------
    Report
        The report.

    Notes
    -----
    The criterion is evaluated again around its optimum, on as fine a grid as about half a second
    allows, and not less than five by five points; of more than 1000 rows a sample is drawn.
    """
    refit = Refit.of(model, X, y)
    selection, k = model.selection_, len(model.classes_)
    source = of_refit(Refit.of(model, X, y, most=ROWS) if refit.rows > ROWS else refit)
    landscape = landscape_data(source, seconds=_SECONDS)
    folds = refit.calibration()
    tested = None if held_out is None else _tested(model, held_out)
    judged = _Judged.by_folds(refit)
    if held_out is not None and tested is not None and tested.rows >= _ENOUGH:
        seen = _Judged.of_rows(model, *held_out, tested.source)
    else:
        seen = judged
    known = refit.numbers(refit.judged[0])
    names_of_rows = known if numbers is None else np.asarray(numbers)[known]
    unsure, wrong = doubts(
        judged.probabilities, judged.predicted, judged.codes, model.classes_, names_of_rows
    )
    given = dict(settings or {})
    error = _error(model, tested)
    inputs = f"{model.n_features_in_} input{'s' if model.n_features_in_ > 1 else ''}"
    kind = type(model).__name__
    return Report(
        title=title,
        subtitle=f"{kind} · {selection.rows} rows · {inputs} · {k} classes",
        facts=words.facts_of_model(model),
        words=words.of_model(model),
        criterion=selection.criterion,
        error=error,
        calibration=folds if tested is None or tested.rows < _ENOUGH else tested,
        decisions=decision_data(
            seen.predicted, seen.codes, seen.weights, model.classes_, seen.source
        ),
        curves=curve_data(
            seen.probabilities, seen.predicted, seen.codes, seen.weights, model.classes_
        ),
        predict=str(given.pop("predict", "")) or provenance.predicting(model),
        learning=_learning(refit),
        counted="X, from 0" if numbers is None else "the file, from 1",
        unsure=unsure,
        wrong=wrong,
        inputs=scales.of_estimator(model, names, X),
        columns=_columns(model) if columns is None else tuple(columns),
        trace=_trace(model, source),
        landscape=landscape,
        optima=other_optima(refit, source, landscape),
        rivals=() if grid is None else (_own(model, error, tested), grid),
        warnings=(*_warnings(model), *warnings),
        notes=tuple(m for m in selection.notes if m.kind in ("unit", "course", "training")),
        provenance=provenance.of_model(model, X, y, given),
        repeat=str(given.get("command", "")) or provenance.code(model),
    )


def _trace(model: Any, source: Source) -> TraceData | None:
    """The course of the search; None where there was no time for a single evaluation."""
    records = tuple(model.trace_)
    if not records:
        return None
    return trace_data(records, source.criterion, source.greater_is_better, source.shift)


@dataclass(frozen=True, eq=False)
class _Judged:
    """What was said of rows by machines that have not seen them."""

    probabilities: Array
    predicted: IntArray
    codes: IntArray
    weights: Array
    source: str

    @classmethod
    def by_folds(cls, refit: Refit) -> _Judged:
        """The rows of the fit, held out in turn."""
        rows, p = refit.judged
        predicted, problem = decided(p, refit.threshold), refit.problem
        return cls(p, predicted, problem.codes[rows], problem.counts[rows], refit.source)

    @classmethod
    def of_rows(cls, model: Any, X: Any, y: Any, source: str) -> _Judged:
        """Rows that the fit has not seen."""
        p, codes = model.predict_proba(X), codes_of(y, model.classes_)
        return cls(p, decided(p, model.threshold_), codes, np.ones(len(codes)), source)


def _columns(model: Any) -> tuple[tuple[str, str, str], ...]:
    """What became of the columns of a data frame that are not numbers as they are."""
    inputs = getattr(model.encoder_, "inputs", ())
    if not inputs or model.encoder_.plain:
        return ()
    return tuple((one.name, one.kind, one.words) for one in inputs)


def _learning(refit: Refit) -> LearningData | None:
    """What more rows would bring; not asked where there are many, in rows or in classes."""
    if refit.sampled or len(refit.pairs) > _MOST_PAIRS:
        return None
    selection = refit.model.selection_
    seed = int(selection.seed or 0)
    return learning_data(refit.problem, refit.pairs, refit.setting(), selection.loss, seed)


def _tested(model: Any, held_out: tuple[Any, Any]) -> CalibrationData:
    X, y = held_out
    return of_rows(model, X, y, source=f"{len(np.asarray(y))} rows held apart")


def _warnings(model: Any) -> list[str]:
    """What the search warned of, and what is known to mislead."""
    selection = model.selection_
    return [note for note in selection.notes if note.warns] + weaknesses(model)


def _error(model: Any, tested: CalibrationData | None) -> ErrorRates:
    selection = model.selection_
    estimate, rows = selection.error, round(sum(selection.members))
    seen = round(estimate.n)
    if seen < rows:
        said = f"{seen} of the {rows} rows, held out"
    else:
        said = f"the {rows} rows, held out in turn in {selection.folds} folds"
    if estimate.of == "pairs":
        said += ", two classes at a time"
    if estimate.seen is not None:
        seen_wrong = words.percent(estimate.seen)
        said += f" ({seen_wrong} of them wrong), allowing for their say in the choice"
    members = np.asarray(selection.members)
    held = None
    if tested is not None:
        held = _rate(ErrorEstimate(tested.error, tested.rows), tested.source)
    return ErrorRates(_rate(estimate, said), held, 1.0 - float(members.max() / members.sum()))


def _rate(estimate: ErrorEstimate, source: str) -> Rate:
    low, high = interval(estimate)
    return Rate(estimate.error, low, high, round(estimate.n), source)


def _own(model: Any, error: ErrorRates, tested: CalibrationData | None) -> Rival:
    """What this library's choice did, for the table beside the grid."""
    selection = model.selection_
    estimate = selection.error
    return Rival(
        name=type(model).__name__,
        chosen=words.short(model),
        fold_error=error.folds.error if estimate.seen is None else estimate.seen,
        held_out_error=None if tested is None else tested.error,
        evaluations=selection.evaluations,
        seconds=selection.seconds,
    )
