"""The problem a fitted estimator was given, made again from its rows: folds, scaling, pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np

from svmselect.criteria import Criterion, available
from svmselect.data import Pair, stratified_folds
from svmselect.estimators.averaging import hold_out_posteriors, logistic
from svmselect.estimators.by_criterion import SearchOptions
from svmselect.estimators.chosen import OutOfFold, Setting, hold_out, recalibration_of
from svmselect.estimators.given import dense, encoded, spans, variables
from svmselect.estimators.moderated import hold_out_moderated
from svmselect.estimators.options import bends, is_default, standardises
from svmselect.estimators.posteriors import Model
from svmselect.estimators.problem import Problem
from svmselect.estimators.rare import set_apart
from svmselect.estimators.scaling import Scaling
from svmselect.parallel import single_threaded
from svmselect.plots.data.calibration import CalibrationData, calibration_data
from svmselect.probability.calibration import Sigmoid
from svmselect.selection.result import HeldOut
from svmselect.types import Array, IntArray

MANY = 2000
"""Rows beyond which a sample of them is drawn from."""


@dataclass(frozen=True, eq=False)
class Refit:
    """A fitted model, and its problem on all rows or on a sample.

    ``rows`` is how many there were, ``kept`` which of them the sample has.
    """

    model: Any
    problem: Problem
    pairs: tuple[Pair, ...]
    rows: int
    kept: IntArray | None = None

    @classmethod
    def of(
        cls,
        model: Any,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        groups: Any = None,
        most: int = MANY,
    ) -> Refit:
        """Give what ``fit`` was given; of more rows than ``most`` a stratified sample is kept."""
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(model)
        rows, labels = dense(encoded(model, X)), np.asarray(y)
        if len(rows) != len(labels):
            raise ValueError(f"X has {len(rows)} rows and y {len(labels)} labels; give as many")
        w = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        members = None if groups is None else np.asarray(groups)
        apart = set_apart(labels, w, members, model.rare, False)
        labels, w = apart.y, apart.weights
        seed, cv = int(model.selection_.seed or 0), model.cv
        total = len(labels)
        known = model.selection_.problem
        if total <= most and groups is None and _the_same(known, model, rows, labels, w):
            return cls(model, known, tuple(known.pairs()), total)
        if not isinstance(cv, Integral | list | tuple) and getattr(cv, "split", None) is None:
            cv = None if cv is None else int(model.selection_.folds)  # an iterator, used up by fit
        kept = None
        if total > most:
            codes = np.unique(labels, return_inverse=True)[1].ravel()
            kept = np.sort(stratified_folds(codes, -(-total // most), seed)[0])
            rows, labels = rows[kept], labels[kept]
            w = None if w is None else w[kept]
            members = None if members is None else members[kept]
            # splits of all rows mean nothing here
            cv = cv if isinstance(cv, Integral) else int(model.selection_.folds)
        problem = Problem.of(
            rows,
            labels,
            w,
            members,
            cv,
            model.class_weight,
            standardises(model),
            seed,
            standardises(model) and bends(model),
            spans(model.encoder_),
        ).scaled(rows, Scaling.learned(model))
        return cls(model, problem, tuple(problem.pairs()), total, kept)

    @property
    def sampled(self) -> bool:
        """Whether this is a sample of the rows."""
        return self.kept is not None

    def numbers(self, rows: IntArray) -> IntArray:
        """Which of the rows that were given some rows of the problem are."""
        first = self.problem.first[rows]
        return first if self.kept is None else self.kept[first]

    @property
    def separate(self) -> bool:
        """Whether each pair of classes has hyperparameters of its own."""
        return isinstance(self.model.kernel_, tuple)

    @property
    def default(self) -> bool:
        """Whether the default strategy chose, not a criterion that was named."""
        return is_default(self.model)

    @property
    def share(self) -> float:
        """The factor from the C of the search to that of machines trained on every row."""
        return float(np.mean([pair.share for pair in self.pairs])) if self.default else 1.0

    def setting(self) -> Setting:
        """C (as the problem counts it) and kernels that were chosen."""
        C = np.atleast_1d(self.model.C_) / self.problem.penalty
        kernels = self.model.kernel_ if self.separate else (self.model.kernel_,)
        return Setting(tuple(C.tolist()), tuple(kernels), self.fit_intercept)

    @property
    def fit_intercept(self) -> bool:
        """Whether the machines have an intercept."""
        return bool(self.model.selection_.fit_intercept)

    @property
    def asked(self) -> SearchOptions:
        """What the constructor was told."""
        m = self.model
        return SearchOptions(m.kernel, m.criterion, m.search, m.prior, m.ard, variables(m.encoder_))

    def held_out(self) -> OutOfFold:
        """Decision values by machines, or posteriors, that did not see the row."""
        arguments = (self.problem, self.pairs, self.setting())
        selection = self.model.selection_
        loss, normalised = selection.loss, selection.normalised
        found: OutOfFold
        if normalised is None:
            found = single_threaded(hold_out, *arguments, loss)
        else:
            moderated = self.model.probability == "moderated"
            model = Model(loss, normalised, moderated)
            hold = hold_out_moderated if moderated else hold_out_posteriors
            found = single_threaded(hold, *arguments, model)
        return found

    @cached_property
    def judged(self) -> tuple[IntArray, Array]:
        """Rows of the problem and their cross-validated probabilities.

        By the model's own sigmoids, or its posterior; on a sample of the rows, by sigmoids fitted
        to that.
        """
        problem, kept = self.problem, self.model.selection_.held_out
        if kept is not None and problem is self.model.selection_.problem:
            return kept.rows, kept.probabilities  # the fit has not forgotten
        held = self.held_out()
        if self.model.selection_.normalised is not None:
            sigmoids: Sequence[Sigmoid] = logistic(held)
        else:
            sigmoids = held.sigmoids(problem) if self.sampled else self.sigmoids()
        p = held.probabilities(sigmoids, len(problem.classes))
        if self.model.recalibration_ is not None:
            p = recalibration_of(problem, HeldOut(held.rows, held.decisions, p))[1].probabilities
        return held.rows, p

    @property
    def source(self) -> str:
        """What the rows are, in words."""
        n, folds = len(self.problem), self.problem.splits.test.shape[1]
        which = f"a sample of {n} rows" if self.sampled else f"{n} rows"
        return f"{which}, held out in turn in {folds} folds"

    def calibration(self, bins: int = 10) -> CalibrationData:
        """Cross-validated probabilities against what was observed."""
        rows, p = self.judged
        codes, classes = self.problem.codes[rows], self.problem.classes
        return calibration_data(p, codes, classes, self.source, bins)

    @property
    def threshold(self) -> float | Array:
        """What the model decides by, of the classes that the choice was made on."""
        found = self.model.threshold_
        if np.ndim(found) == 0:
            return float(found)
        at = np.searchsorted(self.model.classes_, self.problem.classes)
        return np.asarray(found[np.ix_(at, at)])

    def sigmoids(self) -> tuple[Sigmoid, ...]:
        """The model's."""
        calibration: tuple[Sigmoid, ...] = self.model.selection_.calibration
        return calibration


def _the_same(known: Any, model: Any, X: Array, y: Any, weights: Array | None) -> bool:
    """Whether these are the rows that the fit has kept."""
    if known is None or len(y) != model.selection_.rows:
        return False
    told = getattr(model.encoder_, "supervised", False)  # rows that were fitted to look otherwise
    counts = float(len(y)) if weights is None else float(weights.sum())
    return bool(
        np.isclose(known.counts.sum(), counts, rtol=1e-12)
        and (told or np.array_equal(known.scaling(X[known.first]), known.X))
        and np.array_equal(np.asarray(y)[known.first], known.classes[known.codes])
    )


def criterion_of(model: Any) -> tuple[str, bool]:
    """What the search of a fitted estimator looked at, and whether greater is better."""
    given = model.criterion
    if is_default(model) or (isinstance(given, str) and given == "auto"):
        return "likelihood", True
    judge = given if isinstance(given, Criterion) else available()[given]
    return str(judge.name), bool(judge.greater_is_better)
