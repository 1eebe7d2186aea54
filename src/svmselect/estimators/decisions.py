"""What a fitted model decides by: probabilities of rows held out, and a threshold made of them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import UndefinedMetricWarning

from svmselect.estimators.by_scoring import as_scorer
from svmselect.estimators.optimism import COUNTED_TWICE, less_sure, with_lost_odds
from svmselect.estimators.problem import Problem
from svmselect.probability.thresholds import (
    cost_utilities,
    decide,
    decision_table,
    tune_utilities,
)
from svmselect.selection.result import HeldOut
from svmselect.types import Array, ErrorEstimate, IntArray, Note


class Labelled(Protocol):
    """Rows whose classes are known: those of a problem, or of a part that was held out."""

    @property
    def classes(self) -> NDArray[Any]:
        """The labels."""

    @property
    def codes(self) -> IntArray:
        """Each row's place among them."""

    @property
    def counts(self) -> Array:
        """What each row counts for."""


@dataclass(frozen=True, eq=False)
class Held:
    """Rows held out of very many."""

    classes: NDArray[Any]
    codes: IntArray
    counts: Array


@dataclass(frozen=True, eq=False)
class Judged:
    """Mean held-out probabilities: of all rows of the problem, NaN of those never held out."""

    probabilities: Array
    seen: IntArray

    @classmethod
    def of(cls, problem: Problem, held: HeldOut | None) -> Judged:
        """Average over the times that a row was held out."""
        k = len(problem.classes)
        sums, times = np.zeros((len(problem), k)), np.zeros(len(problem))
        if held is not None:
            np.add.at(sums, held.rows, held.probabilities)
            np.add.at(times, held.rows, 1.0)
        with np.errstate(invalid="ignore"):
            return cls(sums / times[:, None], np.flatnonzero(times))

    def by_row(self, problem: Problem) -> Array:
        """Of the caller's rows, in their order; NaN also where a row has no weight."""
        found = np.full((len(problem.where), len(problem.classes)), np.nan)
        there = problem.where >= 0
        found[there] = self.probabilities[problem.where[there]]
        return found

    def given(self, problem: Labelled, lost: Array | None = None) -> Array:
        """The probabilities of the rows' own classes, and what the rows count for: (2, rows).

        ``lost`` is what the log odds of a row's class lose against each class where its fold has
        no say in the choice; of very many rows each has none.
        """
        seen, codes = self.seen, problem.codes[self.seen]
        p = self.probabilities[seen]
        own = with_lost_odds(p, codes, np.zeros_like(p) if lost is None else lost[seen])
        return np.vstack([own, problem.counts[seen]])

    def expected_error(
        self, problem: Labelled, lost: Array, utilities: Array | None = None
    ) -> ErrorEstimate:
        """The error of new rows: that of the rows held out, without what their say in it lost them.

        ``lost`` as in ``given``; ``utilities`` decide, the largest probability if None.
        """
        seen = self.seen
        p, codes, counts = self.probabilities[seen], problem.codes[seen], problem.counts[seen]
        n = float(counts.sum())
        decides = np.eye(p.shape[1]) if utilities is None else utilities
        counted, error = (
            float(counts @ (decide(q, decides) != codes)) / n
            for q in (p, less_sure(p, codes, lost[seen]))
        )
        spread = (error - counted) ** 2 + COUNTED_TWICE * error * (1.0 - error) / n
        return ErrorEstimate(error, n, spread=float(np.sqrt(spread)), seen=counted)


@dataclass(frozen=True, eq=False)
class Rule:
    """How probabilities become predictions: the largest column of ``p @ utilities``.

    ``error`` is the share of held-out rows that it gets wrong.
    """

    utilities: Array
    note: Note
    error: ErrorEstimate


class Told(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """What a metric sees of a table of decisions: predictions that are the inputs themselves."""

    def __init__(self, classes: NDArray[Any]) -> None:
        self.classes = classes

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels."""
        return self.classes

    def predict(self, X: Any) -> NDArray[Any]:
        """The labels that were predicted."""
        return np.asarray(X)[:, 0]

    @property
    def predict_proba(self) -> Any:
        """Refused: what asks for it does not depend on a threshold."""
        raise ValueError(
            "threshold needs a metric of predicted classes, such as 'balanced_accuracy' or 'f1'; "
            "this one asks for probabilities, which no threshold changes"
        )

    decision_function = predict_proba


def check_threshold(threshold: Any, classes: NDArray[Any]) -> None:
    """Refuse, before any work, what cannot decide."""
    if _is_argmax(threshold):
        return
    if isinstance(threshold, str) or callable(threshold):
        _table_judge(threshold, classes)(np.ones((len(classes), len(classes))))
    else:
        cost_utilities(_listed(threshold), len(classes))


def rule(threshold: Any, problem: Labelled, judged: Judged) -> Rule | None:
    """Decide on held-out rows how to decide; None for the largest probability.

    So it is for a metric, too, where the rows held out are of one class.
    """
    if _is_argmax(threshold):
        return None
    classes, seen = problem.classes, judged.seen
    if not len(seen):
        raise ValueError(
            f"threshold={threshold!r} is decided on held-out rows and none were: give cv or "
            "max_time so that all classes are held out, or threshold='argmax'"
        )
    p, codes, counts = judged.probabilities[seen], problem.codes[seen], problem.counts[seen]
    if not (isinstance(threshold, str) or callable(threshold)):
        utilities = cost_utilities(_listed(threshold), len(classes))
        cost, plain = (
            float(counts @ -utilities[codes, told]) / float(counts.sum())
            for told in (decide(p, utilities), p.argmax(axis=1))
        )
        said = f"a held-out row costs {cost:.4g}, {plain:.4g} by the largest probability"
        note = Note("choice", f"{_where(utilities)} has the least cost: {said}")
        return Rule(utilities, note, _error(p, utilities, codes, counts))
    if len(np.unique(codes)) < 2:  # rows of one class decide nothing
        return None
    judge = _table_judge(threshold, classes)
    utilities, value = tune_utilities(p, codes, counts, judge)
    plain = judge(decision_table(codes, p.argmax(axis=1), counts, len(classes)))
    name = threshold if isinstance(threshold, str) else getattr(threshold, "__name__", "the score")
    said = f"{value:.4g} on held-out rows, {plain:.4g} by the largest probability"
    note = Note("choice", f"{_where(utilities)} is best by {name}: {said}")
    return Rule(utilities, note, _error(p, utilities, codes, counts))


def threshold_of(utilities: Array) -> float | Array:
    """The probability above which the second of two classes is predicted; or the utilities."""
    if len(utilities) > 2:
        return utilities
    first, second = (float(abs(row[0] - row[1])) for row in utilities)
    return first / (first + second)


def _error(p: Array, utilities: Array, codes: IntArray, counts: Array) -> ErrorEstimate:
    wrong = decide(p, utilities) != codes
    return ErrorEstimate(float(counts @ wrong) / float(counts.sum()), float(counts.sum()))


def _where(utilities: Array) -> str:
    if len(utilities) > 2:
        return "a threshold for each class"
    return f"the threshold {threshold_of(utilities):.4g}"


def _is_argmax(threshold: Any) -> bool:
    return isinstance(threshold, str) and threshold == "argmax"


def _listed(threshold: Any) -> Any:
    if isinstance(threshold, list | tuple | np.ndarray):
        return threshold
    raise ValueError(
        f"threshold={threshold!r} is not 'argmax', the name of a metric, a scorer or a matrix of "
        "costs"
    )


def _table_judge(threshold: Any, classes: NDArray[Any]) -> Callable[[Array], float]:
    """A scorer's number for a table of weights, true class against predicted class.

    It sees a row for each entry of the table. For names of metrics the positive class is 1 where
    that is a label, as in scikit-learn, else the second class.
    """
    scorer = as_scorer(threshold, "threshold")
    k = len(classes)
    coded = isinstance(threshold, str) and 1 not in classes.tolist()
    labels = np.arange(k) if coded else classes
    truth, told = labels.repeat(k), np.tile(labels, k)
    model = Told(labels)

    def judge(table: Array) -> float:
        weights = table.ravel()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedMetricWarning)
            try:
                return float(scorer(model, told[:, None], truth, sample_weight=weights))
            except TypeError:  # it knows no weights
                copies = weights.round().astype(np.intp)
                if (copies != weights).any():
                    raise ValueError(
                        f"there are sample weights and threshold={threshold!r} takes no "
                        "sample_weight"
                    ) from None
                rows = np.arange(k * k).repeat(copies)
                return float(scorer(model, told[rows, None], truth[rows]))

    return judge
