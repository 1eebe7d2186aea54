"""What AutoSVC and AutoKLR share: fitting, predicting, and what can be read off a fitted model."""

from __future__ import annotations

import os
import time
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    check_consistent_length,
    check_is_fitted,
)

from svmselect.criteria import available, get_criterion
from svmselect.estimators.averaging import by_posterior, check_rows
from svmselect.estimators.by_criterion import Wish, by_criterion
from svmselect.estimators.by_default import MANY, Limits, by_default
from svmselect.estimators.by_rows import Many, grow, of_arrays, opened
from svmselect.estimators.by_scoring import as_scorer, by_scoring
from svmselect.estimators.callbacks import CallbackSupportMixin, Reporter, Watch, with_callbacks
from svmselect.estimators.chosen import Chosen, fitted_machines
from svmselect.estimators.decisions import Judged, check_threshold, rule, threshold_of
from svmselect.estimators.following import Following, interrupted
from svmselect.estimators.given import encoded, learned
from svmselect.estimators.keeping import as_plain, from_plain
from svmselect.estimators.machines import Machines, from_dual_coef, to_dual_coef
from svmselect.estimators.moderated import by_moderation, check_loss
from svmselect.estimators.options import check_options, forms, is_default, standardises
from svmselect.estimators.posteriors import Model, Posteriors
from svmselect.estimators.problem import Problem, Scaling
from svmselect.estimators.relevance import relevance, scales, spread_of
from svmselect.estimators.rest import Rest, against_rest
from svmselect.kernels import Kernel
from svmselect.probability import sigmoid_log_probability
from svmselect.probability.prediction_sets import check_alpha, least_probability, prediction_sets
from svmselect.probability.thresholds import decide
from svmselect.search.checkpoint import seed_of
from svmselect.search.trace import Trace, without_hessian
from svmselect.selection.hierarchy import of_variables
from svmselect.selection.result import Selection
from svmselect.types import Array, BoolArray, Note, Status

DENSE_LIMIT = 2**31
"""Sparse input is made dense up to this many bytes."""


class AutoMachine(CallbackSupportMixin, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier that chooses its own hyperparameters; subclasses name the loss."""

    selection_: Selection

    @abstractmethod
    def _loss(self) -> str:
        """The loss of the machines; refuses what is none."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.missing != "error"
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> AutoMachine:
        """Choose the hyperparameters and train.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            The inputs; sparse ones are made dense.
        y : array-like of shape (n,)
            The labels.
        sample_weight : array-like of shape (n,), optional
            How many copies each row counts for; 0 is its absence.
        groups : array-like of shape (n,), optional
            Rows of one group are held out together.

        Returns
        -------
        AutoMachine
            The classifier itself.
        """
        check_options(self)
        with (
            Following(self, getattr(X, "shape", (0,))[0]) as following,
            opened(self, X, y, sample_weight) as given,
        ):
            self._fit(*given, groups, Watch(following, passing=following.passing))
        if following.stopper.asked:
            self.selection_ = interrupted(self.selection_)
        following.end()
        return self

    @with_callbacks  # type: ignore[untyped-decorator, unused-ignore]
    def _fit(self, X: Any, y: Any, sample_weight: Any, groups: Any, watch: Watch) -> AutoMachine:
        """``fit``, with someone to follow it."""
        began = time.perf_counter()
        loss = self._loss()
        check_options(self)
        many = X if isinstance(X, Many) else None
        if many is not None:
            X, y, sample_weight = many.first
        X, y = learned(self, X, y)
        check_classification_targets(y)
        weights = members = None
        if sample_weight is not None:
            weights = _check_sample_weight(
                sample_weight, X, dtype=np.float64, ensure_non_negative=True
            )
        if groups is not None:
            members = column_or_1d(groups)
            check_consistent_length(X, members)
        checkpoint = watch.checkpoint or self._checkpoint
        seed = self._seed(checkpoint)
        if many is None:
            many = of_arrays(self, X, y, weights, groups, seed)
            if many is not None:
                X, y, weights = many.first
        metadata = None if sample_weight is None else {"sample_weight": sample_weight}
        report = Reporter(self, X, y, metadata, self.verbose, watch)
        rows = _dense(X)
        problem = Problem.of(
            rows, y, weights, members, self.cv, self.class_weight, standardises(self), seed,
            self._spans,
        )  # fmt: skip
        check_threshold(self.threshold, problem.classes)
        limits = Limits(self.max_time, self.n_jobs, seed, report, checkpoint, many is not None)
        chosen = self._choose(problem, loss, limits)
        self._keep(rows, problem, chosen, loss)
        if many is not None:
            grow(self, many, replace(watch, checkpoint=checkpoint))
        seconds = time.perf_counter() - began
        self.selection_ = replace(self.selection_, seconds=seconds, seed=seed)
        report.end(self.explain())
        return self

    @property
    def _checkpoint(self) -> Path | None:
        """The file that the search writes to and resumes from, as the constructor was told."""
        return None if self.checkpoint is None else Path(self.checkpoint)

    def _seed(self, checkpoint: Path | None) -> int:
        """The seed of folds and searches: that of a search to go on with, where none is given."""
        known = seed_of(checkpoint) if self.random_state is None else None
        drawn = int(check_random_state(self.random_state).randint(2**31 - 1))
        return drawn if known is None else known

    def _choose(self, problem: Problem, loss: str, limits: Limits) -> Chosen:
        if self.probability in ("posterior", "moderated"):
            check_rows(problem)
        if self.probability == "moderated":
            check_loss(loss)
        pairs = problem.pairs()
        separate = self.multi_class == "ovo-separate" and len(pairs) > 1
        scorer = as_scorer(self.scoring)
        if separate and scorer is not None:
            raise ValueError(
                "scoring decides among settings that all pairs of classes share; use "
                "multi_class='ovo' or scoring=None"
            )
        if is_default(self):
            kernels = [self._told(kernel) for kernel in forms(self.kernel)]
            start = self._warm(problem)
            chosen = by_default(problem, pairs, loss, kernels, self.ard, separate, limits, start)
        else:
            wish = Wish(self.kernel, self.criterion, self.search, self.prior, self.ard)
            chosen = by_criterion(problem, pairs, loss, wish, separate, limits)
        if scorer is not None:
            chosen = by_scoring(problem, pairs, chosen, loss, self.scoring, scorer)
        if self.probability == "moderated":
            chosen = by_moderation(problem, pairs, chosen, Model(loss, True, True))
        elif self.probability != "sigmoid":
            model = Model(loss, self._normalised())
            chosen = by_posterior(problem, pairs, chosen, model, self.probability == "posterior")
        return chosen

    def _normalised(self) -> bool:
        """Whether the evidence model is normalised: as its criterion says, or yes."""
        named = self.criterion
        if isinstance(named, str) and named in available():
            named = get_criterion(named)
        return bool(getattr(named, "normalised", True))

    def _warm(self, problem: Problem) -> tuple[float, Kernel] | None:
        """C and kernel of the fit before, if there is one and it is to be used."""
        if not self.warm_start or "kernel_" not in vars(self):
            return None
        same = np.array_equal(self.classes_, problem.classes)
        if not (
            same and isinstance(self.kernel_, Kernel) and len(self.mean_) == problem.X.shape[1]
        ):
            return None
        return float(self.C_) / problem.penalty, self.kernel_

    def _keep(self, X: Array, problem: Problem, chosen: Chosen, loss: str) -> None:
        """Store what was learned: arrays, numbers, kernels and words."""
        judged = Judged.of(problem, chosen.held_out)
        decided = rule(self.threshold, problem, judged)
        if decided is not None:
            chosen = replace(chosen, notes=(*chosen.notes, decided.note))
        machines, used = fitted_machines(problem, problem.pairs(), chosen, loss)
        k, member = len(problem.classes), problem.codes[used]
        setting = chosen.setting
        C = np.array(setting.C) * problem.penalty
        self.classes_ = problem.classes
        self.mean_, self.scale_ = problem.scaling.mean, problem.scaling.scale
        self.C_ = float(C[0]) if len(C) == 1 else C
        self.kernel_ = setting.kernels[0] if len(setting.kernels) == 1 else setting.kernels
        self.length_scale_ = _length_scales(setting.kernels)
        self.support_ = problem.first[used].astype(np.int32)
        self.support_vectors_ = X[problem.first[used]]
        self.n_support_ = np.bincount(member, minlength=k).astype(np.int32)
        self.dual_coef_ = to_dual_coef(machines.coefficients, member, k)
        # scikit-learn's convention: with three classes or more f > 0 is for the earlier of two
        self.intercept_ = machines.intercepts if k == 2 else -machines.intercepts
        self.sigmoid_slope_ = machines.slopes
        self._posterior = None if chosen.posterior is None else chosen.posterior.as_plain()
        self.feature_importances_ = self._by_input(
            relevance(setting.kernels, spread_of(problem.X, problem.counts))
        )
        self.best_score_ = chosen.value
        self.best_params_ = _parameters(self.C_, setting.kernels)
        self.selection_ = Selection(
            C=self.C_,
            kernel=self.kernel_,
            value=chosen.value,
            criterion=chosen.criterion,
            trace=Trace(tuple(without_hessian(record) for record in chosen.records)),
            status=_ended(chosen.notes),
            notes=(*chosen.notes, *problem.notes),
            loss=loss,
            fit_intercept=setting.fit_intercept,
            error=chosen.error,
            calibration=chosen.sigmoids,
            held_out=chosen.held_out,
            prior=chosen.prior,
            normalised=None if chosen.posterior is None else chosen.posterior.model.normalised,
            problem=problem if len(problem) <= MANY else None,
            rows=len(X),
            kept=len(problem),
            folds=int(problem.splits.test.shape[1]),
            rounds=problem.splits.rounds if is_default(self) else 1,
            folded=chosen.folded,
            members=tuple(np.bincount(problem.codes, problem.counts, k).tolist()),
            standardised=standardises(self),
            strategy="auto" if is_default(self) else "search",
        )
        self.held_out_proba_ = judged.by_row(problem)
        self._given = judged.given(problem)
        self._utilities = None if decided is None else decided.utilities
        self._judge = self._unpacked()

    def __getstate__(self) -> dict[str, Any]:
        """What is saved: plain values, and not the rows the choice was made on."""
        state: dict[str, Any] = dict(super().__getstate__())
        state.pop("_judge", None)
        if isinstance(self.checkpoint, os.PathLike):
            state["checkpoint"] = os.fspath(self.checkpoint)
        if "selection_" in state:
            state["selection_"] = as_plain(state["selection_"])
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Undo that."""
        if "selection_" in state:
            state = {**state, "selection_": from_plain(state["selection_"])}
        super().__setstate__(state)
        if "selection_" in state:
            self._judge = self._unpacked()

    def _machines(self) -> Machines | Rest:
        k = len(self.classes_)
        member = np.repeat(np.arange(k), self.n_support_)
        if against_rest(self.dual_coef_, k):
            vectors = self._scaling(self.support_vectors_)
            return Rest(self._kernels[0], vectors, self.dual_coef_.T, self.intercept_)
        return Machines(
            kernels=self._kernels,
            vectors=self._scaling(self.support_vectors_),
            coefficients=from_dual_coef(self.dual_coef_, member, k),
            intercepts=self.intercept_ if k == 2 else -self.intercept_,
            slopes=self.sigmoid_slope_,
            n_classes=k,
        )

    def _unpacked(self) -> Machines | Rest | Posteriors:
        """What decides: the machines and their sigmoids, or the posteriors."""
        if self._posterior is None:
            return self._machines()
        return Posteriors.from_plain(self._posterior, self._kernels, len(self.classes_))

    @property
    def _kernels(self) -> tuple[Kernel, ...]:
        return self.kernel_ if isinstance(self.kernel_, tuple) else (self.kernel_,)

    @property
    def _spans(self) -> Array | None:
        """What columns are divided by that are not to be standardised; None if all are."""
        return None if self.encoder_ is None or self.encoder_.plain else self.encoder_.spans

    def _told(self, kernel: Kernel) -> Kernel:
        """The kernel, told which columns are one variable."""
        if self.encoder_ is None or self.encoder_.plain:
            return kernel
        return of_variables(kernel, self.encoder_.variables.tolist())

    def _by_input(self, shares: Array) -> Array:
        """Relevances of columns added up for each input."""
        if self.encoder_ is None or self.encoder_.plain:
            return shares
        found = np.bincount(self.encoder_.owners, shares, self.n_features_in_)
        return np.asarray(found, dtype=np.float64)

    @property
    def _scaling(self) -> Scaling:
        return Scaling(self.mean_, self.scale_)

    def _decisions(self, X: Any) -> tuple[Machines | Rest | Posteriors, Array]:
        """The decision values of every pair, f > 0 for the later class."""
        check_is_fitted(self)
        return self._judge, self._of_matrix(self._encoded(X))

    def _encoded(self, X: Any) -> Any:
        """Rows as the matrix that the kernel sees before it is scaled (sparse ones stay sparse)."""
        return encoded(self, X)

    def _of_matrix(self, X: Any) -> Array:
        """The decision values of rows that are encoded."""
        scaling = self._scaling
        return self._judge.in_blocks(X, lambda block: scaling(_dense(block)), self.n_jobs)

    def _probabilities(self, X: Any) -> Array:
        """Class probabilities of rows that are encoded."""
        return self._judge.probabilities(self._of_matrix(X))

    def decision_function(self, X: Any) -> Array:
        """Compute decision values.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (m, d)
            The rows.

        Returns
        -------
        ndarray of shape (m,) or (m, k)
            Two classes: above zero means ``classes_[1]``, and p > 1/2. Three or more:
            log-probabilities of the classes, or the values of the pairs where
            ``decision_function_shape="ovo"``, above zero for the earlier class of a pair.
        """
        machines, f = self._decisions(X)
        if machines.n_classes == 2:
            return np.asarray(f[:, 0])
        if self.decision_function_shape == "ovo":
            return -f
        return _log(machines.probabilities(f))

    def predict_proba(self, X: Any) -> Array:
        """Compute the probabilities of ``classes_``; the largest is the prediction.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (m, d)
            The rows.

        Returns
        -------
        ndarray of shape (m, k)
            The probabilities.
        """
        machines, f = self._decisions(X)
        return machines.probabilities(f)

    def predict_log_proba(self, X: Any) -> Array:
        """Compute the logarithms of ``predict_proba``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (m, d)
            The rows.

        Returns
        -------
        ndarray of shape (m, k)
            The logarithms.
        """
        machines, f = self._decisions(X)
        if machines.n_classes > 2:
            return _log(machines.probabilities(f))
        slope = float(machines.slopes[0])
        return np.column_stack(
            [sigmoid_log_probability(f[:, 0], one, 0.0) for one in (-slope, slope)]
        )

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the most probable class of each row, or the one that ``threshold`` asks for.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (m, d)
            The rows.

        Returns
        -------
        ndarray of shape (m,)
            The labels.
        """
        machines, f = self._decisions(X)
        if self._utilities is not None:
            return np.asarray(self.classes_[decide(machines.probabilities(f), self._utilities)])
        if machines.n_classes == 2:
            return np.asarray(self.classes_[(f[:, 0] > 0).astype(np.intp)])
        return np.asarray(self.classes_[machines.probabilities(f).argmax(axis=1)])

    def predict_set(self, X: Any, alpha: float = 0.1) -> BoolArray:
        """Predict a set of classes for each row, which holds the true one as often as it says.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (m, d)
            The rows.
        alpha : float, default 0.1
            How often the true class may be missed, on average over new rows.

        Returns
        -------
        ndarray of bool of shape (m, k)
            Whether each of ``classes_`` is in the row's set: those whose probability is not below
            what all but a share ``alpha`` of the held-out rows had for their own class, and the
            most probable one. A row that could be anything has them all.

        Notes
        -----
        Conformal prediction with held-out probabilities of all training rows (``held_out_proba_``).
        It asks that new rows come like the training rows did, groups included, and takes the final
        machine to be as good as those of the folds, which have seen fewer rows.

        References
        ----------
        Vovk, Gammerman & Shafer 2005; Sadinle, Lei & Wasserman 2019.
        """
        level = check_alpha(alpha)
        p = self.predict_proba(X)
        if not self._given.shape[1]:
            raise ValueError(
                "the fit held out no rows in all classes at once, so there is nothing to base "
                "prediction sets on; fit with more max_time"
            )
        return prediction_sets(p, least_probability(self._given[0], self._given[1], level))

    @property
    def threshold_(self) -> float | Array:
        """What ``threshold`` has come to."""
        check_is_fitted(self)
        if self._utilities is None:
            k = len(self.classes_)
            return 0.5 if k == 2 else np.eye(k)
        return threshold_of(self._utilities)

    @property
    def trace_(self) -> Trace:
        """Every evaluation of the search."""
        kept = vars(self).get("selection_")
        if kept is None:
            raise AttributeError(f"this {type(self).__name__} is not fitted, so it has no trace")
        trace: Trace = kept.trace
        return trace

    def explain(self) -> str:
        """Tell what was chosen, why, what it cost, and what to try next, in words.

        Returns
        -------
        str
            The text.
        """
        from svmselect.estimators.words import explanation

        check_is_fitted(self)
        return explanation(self)

    def to_sklearn(self) -> Any:
        """Make a plain pipeline of a StandardScaler and an SVC with the same decision values.

        Returns
        -------
        Pipeline
            The pipeline, fitted.
        """
        from svmselect.estimators.export import to_pipeline

        check_is_fitted(self)
        return to_pipeline(self)

    def to_onnx(self, path: str | os.PathLike[str]) -> None:
        """Write the model as an ONNX graph, for ONNX Runtime and other languages.

        Parameters
        ----------
        path : path-like
            The file.

        Notes
        -----
        The graph has everything from raw rows to predictions: one float64 input ``X`` of shape
        (rows, inputs), and the outputs ``label``, of shape (rows,), and ``probabilities``, of shape
        (rows, classes), in the order of ``classes_``. It needs the extra ``onnx``; whoever runs it
        needs a runtime for opset 18, such as ONNX Runtime from 1.18 on.
        """
        from svmselect.estimators.onnx.model import to_onnx

        check_is_fitted(self)
        to_onnx(self, path)


def _ended(notes: Sequence[Note]) -> Status:
    """How the search ended, by its remarks."""
    cut = [n for n in notes if n.kind in ("early", "budget", "time", "callback", "interrupted")]
    return Status(cut[0].kind, str(cut[0])) if cut else Status("ok")


def _dense(X: Any) -> Array:
    """Sparse rows as dense ones, within reason."""
    if not sparse.issparse(X):
        return np.ascontiguousarray(X)  # one layout, and so one rounding
    if X.shape[0] * X.shape[1] * 8 > DENSE_LIMIT:
        raise ValueError(
            f"the sparse X of shape {X.shape} would be too large as a dense array "
            f"({X.shape[0] * X.shape[1] * 8 / 2**30:.0f} GiB), which kernels here need; reduce its "
            "columns first, e.g. by sklearn.decomposition.TruncatedSVD"
        )
    return np.asarray(X.toarray())


def _log(p: Array) -> Array:
    """log p, its largest entry that of p, even where logarithms round to a tie."""
    logs = np.log(p)
    rows, best = np.arange(len(p)), p.argmax(axis=1)
    top = logs.max(axis=1)
    tied = logs.argmax(axis=1) != best
    logs[rows[tied], best[tied]] = np.nextafter(top[tied], np.inf)
    return np.asarray(logs)


def _length_scales(kernels: tuple[Any, ...]) -> Any:
    """One length scale or vector, a tuple of them where there are several, None without any."""
    found = [scales(kernel) for kernel in kernels]
    each = [lengths[0] if len(lengths) == 1 else lengths or None for lengths in found]
    return each[0] if len(each) == 1 else tuple(each)


def _parameters(C: Any, kernels: tuple[Any, ...]) -> dict[str, Any]:
    """The chosen hyperparameters by name."""
    if len(kernels) > 1:
        return {"C": C, "kernel": kernels}
    (kernel,) = kernels
    return {"C": C, **dict(zip(kernel.names, np.exp(kernel.theta).tolist(), strict=True))}
