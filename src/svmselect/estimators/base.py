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
from svmselect.estimators.by_criterion import Wish, by_criterion, served
from svmselect.estimators.by_default import MANY, Limits, by_default
from svmselect.estimators.by_rows import SEVERAL, Many, grow, of_arrays, opened
from svmselect.estimators.by_scoring import as_scorer, by_scoring
from svmselect.estimators.callbacks import CallbackSupportMixin, Reporter, Watch, with_callbacks
from svmselect.estimators.card import of_model
from svmselect.estimators.chosen import fitted_machines, sharpen
from svmselect.estimators.decisions import Judged, check_threshold, rule, threshold_of
from svmselect.estimators.following import Following, interrupted
from svmselect.estimators.given import encoded, learned
from svmselect.estimators.keeping import as_plain, from_plain
from svmselect.estimators.machines import Machines, from_dual_coef, to_dual_coef
from svmselect.estimators.members import Member, Recipe, averaged, weighed
from svmselect.estimators.moderated import by_moderation, hinges
from svmselect.estimators.optimism import lost_odds
from svmselect.estimators.options import (
    averages,
    bends,
    check_options,
    forms,
    is_default,
    standardises,
)
from svmselect.estimators.posteriors import Model, Posteriors
from svmselect.estimators.problem import Problem
from svmselect.estimators.rare import Apart, Fitted, looks_like_numbers, set_apart
from svmselect.estimators.relevance import relevance, scales, spread_of
from svmselect.estimators.rest import Rest, against_rest
from svmselect.estimators.scaling import Bend, Scaling
from svmselect.estimators.sparse_rows import keeps_zeros, rotatable
from svmselect.kernels import Kernel
from svmselect.kernels.sparse import rotated
from svmselect.probability import sigmoid_log_probability, sigmoid_probability
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
    def _losses(self) -> tuple[str, ...]:
        """The losses to choose among; refuses what is none."""

    def _forms(self) -> list[Kernel]:
        """The kernels to choose among."""
        return forms(self.kernel)

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
            The inputs. Sparse ones with at most a tenth of their entries filled are taken as they
            are, not standardised, and are not made dense where there are more inputs than rows.
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
        losses = self._losses()
        check_options(self)
        many = X if isinstance(X, Many) else None
        if many is not None:
            X, y, sample_weight = many.first
        X, y = learned(self, X, y, groups)
        check_classification_targets(y)
        looks_like_numbers(y)
        weights = groups_of = None
        if sample_weight is not None:
            weights = _check_sample_weight(
                sample_weight, X, dtype=np.float64, ensure_non_negative=True
            )
        if groups is not None:
            groups_of = column_or_1d(groups)
            check_consistent_length(X, groups_of)
        checkpoint = watch.checkpoint or self._checkpoint
        seed = self._seed(checkpoint)
        apart = Apart(y, weights)
        if many is None:
            able = self._adds_classes and len(y) <= SEVERAL
            apart = set_apart(y, weights, groups_of, self.rare, able)
            y, weights = apart.y, apart.weights
            many = of_arrays(self, X, y, weights, groups, seed)
            if many is not None:
                X, y, weights = many.first
                apart = replace(apart, y=y, weights=weights)
        metadata = None if sample_weight is None else {"sample_weight": sample_weight}
        report = Reporter(self, X, y, metadata, self.verbose, watch)
        self._as_given = keeps_zeros(X)
        self._rotated = self._turns(X) and many is None and not len(apart.rows)
        rows = rotated(X) if self._rotated else _dense(X)
        problem = Problem.of(
            rows, y, weights, groups_of, self.cv, self._class_weight(apart), self._standardises,
            seed, self._standardises and bends(self), self._spans,
        )  # fmt: skip
        rows = X if self._rotated else rows
        problem = replace(problem, notes=(*problem.notes, *apart.notes))
        check_threshold(self.threshold, problem.classes)
        limits = Limits(self.max_time, self.n_jobs, seed, report, checkpoint, many is not None)
        lead, *others = self._choose(problem, losses, limits)
        self._keep(rows, problem, lead, apart)
        self.companions_ = [self._companion(rows, problem, other, apart) for other in others]
        self.weights_ = np.array([lead.weight, *(other.weight for other in others)])
        if many is not None:
            grow(self, many, replace(watch, checkpoint=checkpoint))
        seconds = time.perf_counter() - began
        self.selection_ = replace(self.selection_, seconds=seconds, seed=seed)
        report.end(self.explain())
        return self

    def _turns(self, X: Any) -> bool:
        """Whether sparse rows are rotated for the choice; posteriors need the rows themselves."""
        several = self.kernel if isinstance(self.kernel, list | tuple) else [self.kernel]
        kernels = [*self._forms(), *(one for one in several if isinstance(one, Kernel))]
        return self.probability == "sigmoid" and rotatable(X, kernels, self.ard, MANY)

    @property
    def _standardises(self) -> bool:
        """Whether the inputs are standardised: rows that are mostly zeros stay as they are."""
        return standardises(self) and not self._as_given

    @property
    def _ard(self) -> Any:
        """Whether inputs may have length scales of their own, which rotated rows cannot."""
        return "no" if self._rotated else self.ard

    @property
    def _checkpoint(self) -> Path | None:
        """The file that the search writes to and resumes from, as the constructor was told."""
        return None if self.checkpoint is None else Path(self.checkpoint)

    def _seed(self, checkpoint: Path | None) -> int:
        """The seed of folds and searches: that of a search to go on with, where none is given."""
        known = seed_of(checkpoint) if self.random_state is None else None
        drawn = int(check_random_state(self.random_state).randint(2**31 - 1))
        return drawn if known is None else known

    def _choose(self, problem: Problem, losses: tuple[str, ...], limits: Limits) -> list[Member]:
        """What is to be averaged, the heaviest first; one where nothing is."""
        if self.probability in ("posterior", "moderated"):
            check_rows(problem)
        if self.probability == "moderated":
            losses = hinges(losses)
        pairs = problem.pairs()
        separate = self.multi_class == "ovo-separate" and len(pairs) > 1
        scorer = as_scorer(self.scoring)
        if separate and scorer is not None:
            raise ValueError(
                "scoring decides among settings that all pairs of classes share; use "
                "multi_class='ovo' or scoring=None"
            )
        average = averages(self) and len(problem) <= MANY and not limits.rough
        if is_default(self):
            kernels = [self._told(kernel) for kernel in self._forms()]
            start = self._warm(problem)
            groups = [(kernel,) for kernel in kernels] if average else [tuple(kernels)]
            recipes = [Recipe(loss, group) for loss in losses for group in groups]
            found = by_default(problem, pairs, recipes, self._ard, separate, limits, start)
        else:
            wish = Wish(
                self.kernel, self.criterion, self.search, self.prior, self._ard, self._variables
            )
            losses = served(wish, losses)
            if len(losses) > 1 and limits.checkpoint is not None:
                raise ValueError(
                    "checkpoint is a file of one search, and a criterion or search that is named "
                    f"runs once for each loss ({', '.join(losses)}); name one by loss="
                )
            found = [by_criterion(problem, pairs, one, wish, separate, limits) for one in losses]
            recipes = [Recipe(loss, ()) for loss in losses]
        found = [sharpen(problem, chosen) for chosen in found]
        members = weighed(problem, [recipe.loss for recipe in recipes], found)
        if average:
            return averaged(problem, members)
        loss, chosen = members[0].loss, members[0].chosen
        if scorer is not None:
            chosen = by_scoring(problem, pairs, chosen, loss, self.scoring, scorer, limits.end())
            chosen = sharpen(problem, chosen)
        if self.probability == "moderated":
            chosen = by_moderation(problem, pairs, chosen, Model(loss, True, True))
        elif self.probability != "sigmoid":
            model = Model(loss, self._normalised())
            insist, end = self.probability == "posterior", limits.end(late=0.5)
            chosen = by_posterior(problem, pairs, chosen, model, insist, end)
        return [Member(loss, chosen)]

    def _companion(self, X: Array, problem: Problem, member: Member, apart: Apart) -> AutoMachine:
        """A fitted classifier of its own for a member that is not the heaviest."""
        options = self.get_params()
        options |= {"kernel": member.chosen.setting.kernels[0], "threshold": "argmax"}
        if "loss" in options:
            options["loss"] = member.loss
        made = type(self)(**options)
        made.n_features_in_, made.encoder_ = self.n_features_in_, self.encoder_
        made._as_given, made._rotated = self._as_given, self._rotated
        made._keep(X, problem, member, apart)
        made.companions_, made.weights_ = [], np.ones(1)
        return made

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

    @property
    def _adds_classes(self) -> bool:
        """Whether classes that no fold can hold out can be added to what was chosen."""
        argmax = isinstance(self.threshold, str) and self.threshold == "argmax"
        return argmax and self.probability == "sigmoid" and self.multi_class == "ovo"

    def _class_weight(self, apart: Apart) -> Any:
        """Class weights without those of the classes that are apart."""
        if not isinstance(self.class_weight, dict) or apart.weights is None:
            return self.class_weight
        there = set(apart.y[apart.weights > 0].tolist())
        gone = set(apart.y.tolist()) - there
        return {label: w for label, w in self.class_weight.items() if label not in gone}

    def _keep(self, X: Any, problem: Problem, member: Member, apart: Apart) -> None:
        """Store what was learned: arrays, numbers, kernels and words."""
        chosen, loss = member.chosen, member.loss
        judged = Judged.of(problem, chosen.held_out)
        decided = rule(self.threshold, problem, judged)
        if decided is not None:
            notes = (*chosen.notes, decided.note)
            chosen = replace(chosen, notes=notes, error=decided.error)
        made = Fitted.of(problem, *fitted_machines(problem, problem.pairs(), chosen, loss))
        made = made.with_rare(apart, X, problem, chosen, loss)
        k, codes = len(made.classes), made.member
        setting = chosen.setting
        C = np.array(setting.C) * problem.penalty
        self.classes_ = made.classes
        scaling = problem.scaling
        if self._rotated:
            scaling = Scaling(np.zeros(X.shape[1]), np.ones(X.shape[1]))
        self.mean_, self.scale_ = scaling.mean, scaling.scale
        self.bend_ = None if problem.scaling.bend is None else problem.scaling.bend.table
        self.C_ = float(C[0]) if len(C) == 1 else C
        self.kernel_ = setting.kernels[0] if len(setting.kernels) == 1 else setting.kernels
        self.length_scale_ = _length_scales(setting.kernels)
        self.support_ = made.rows.astype(np.int32)
        self.support_vectors_ = X[made.rows]
        self.n_support_ = np.bincount(codes, minlength=k).astype(np.int32)
        self.dual_coef_ = to_dual_coef(made.coefficients, codes, k)
        # scikit-learn's convention: with three classes or more f > 0 is for the earlier of two
        self.intercept_ = made.intercepts if k == 2 else -made.intercepts
        self.sigmoid_slope_, self.sharpness_ = made.slopes, chosen.sharpness
        self._posterior = None if chosen.posterior is None else chosen.posterior.as_plain()
        inputs = X[problem.first] if self._rotated else problem.X
        self.feature_importances_ = self._by_input(
            relevance(setting.kernels, spread_of(inputs, problem.counts))
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
            problem=problem if len(problem) <= MANY and not self._rotated else None,
            rows=X.shape[0],
            kept=len(problem),
            folds=int(problem.splits.test.shape[1]),
            rounds=problem.splits.rounds if is_default(self) else 1,
            folded=chosen.folded,
            members=tuple(_members(problem, made.classes, apart)),
            standardised=self._standardises,
            strategy="auto" if is_default(self) else "search",
        )
        self.held_out_proba_ = _widened(judged.by_row(problem), problem.classes, made.classes)
        few = len(problem) <= MANY and chosen.held_out is not None
        lost = lost_odds(problem, problem.pairs(), chosen, loss) if few else None
        self._given = judged.given(problem, lost)
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
            vectors=self._prepared(self.support_vectors_),
            coefficients=from_dual_coef(self.dual_coef_, member, k),
            intercepts=self.intercept_ if k == 2 else -self.intercept_,
            slopes=self.sigmoid_slope_,
            n_classes=k,
            sharpness=self.sharpness_,
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
        return kernel if self._variables is None else of_variables(kernel, self._variables)

    @property
    def _variables(self) -> tuple[int, ...] | None:
        """The variable that each encoded column belongs to; None if each is one."""
        if self.encoder_ is None or self.encoder_.plain:
            return None
        return tuple(self.encoder_.variables.tolist())

    def _by_input(self, shares: Array) -> Array:
        """Relevances of columns added up for each input."""
        if self.encoder_ is None or self.encoder_.plain:
            return shares
        found = np.bincount(self.encoder_.owners, shares, self.n_features_in_)
        return np.asarray(found, dtype=np.float64)

    @property
    def _scaling(self) -> Scaling:
        bend = None if self.bend_ is None else Bend(*self.bend_)
        return Scaling(self.mean_, self.scale_, bend)

    def _decisions(self, X: Any) -> tuple[Machines | Rest | Posteriors, Array]:
        """The decision values of every pair, f > 0 for the later class."""
        check_is_fitted(self)
        return self._judge, self._of_matrix(self._encoded(X))

    def _encoded(self, X: Any) -> Any:
        """Rows as the matrix that the kernel sees before it is scaled (sparse ones stay sparse)."""
        check_is_fitted(self)
        return encoded(self, X)

    def _of_matrix(self, X: Any) -> Array:
        """Our own decision values of every pair, f > 0 for the later class, of encoded rows."""
        return self._judge.in_blocks(X, self._prepared, self.n_jobs)

    def _prepared(self, X: Any) -> Any:
        """Encoded rows as the machines look at them: scaled, or sparse if their vectors are."""
        if sparse.issparse(self.support_vectors_):
            return sparse.csr_matrix(X)
        return self._scaling(_dense(X))

    def _logs(self, X: Any) -> Array:
        """Log-probabilities of encoded rows, averaged over the companions if there are any."""
        machines, f = self._judge, self._of_matrix(X)
        if machines.n_classes > 2:
            own = _log(machines.probabilities(f))
        else:
            slope = float(machines.slopes[0])
            sides = [sigmoid_log_probability(f[:, 0], one, 0.0) for one in (-slope, slope)]
            own = np.column_stack(sides)
        if not self.companions_:
            return own
        said = [own, *(companion._logs(X) for companion in self.companions_)]
        shares = np.log(self.weights_)
        return np.asarray(
            np.logaddexp.reduce([w + one for w, one in zip(shares, said, strict=True)])
        )

    def _probabilities(self, X: Any) -> Array:
        """Probabilities of encoded rows, averaged over the companions if there are any."""
        if not self.companions_:
            return self._judge.probabilities(self._of_matrix(X))
        if len(self.classes_) == 2:
            logs = self._logs(X)
            odds = logs[:, 1] - logs[:, 0]
            return np.column_stack([sigmoid_probability(odds, one, 0.0) for one in (1.0, -1.0)])
        said = [self._judge.probabilities(self._of_matrix(X))]
        said += [companion._probabilities(X) for companion in self.companions_]
        return np.asarray(sum(w * p for w, p in zip(self.weights_, said, strict=True)))

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
            ``decision_function_shape="ovo"``, above zero for the earlier class of a pair. Of
            several machines that are averaged: the log odds of the average, and for "ovo" the
            values of the heaviest.
        """
        X = self._encoded(X)
        if len(self.classes_) > 2:
            own = self.decision_function_shape == "ovo"
            return -self._of_matrix(X) if own else _log(self._probabilities(X))
        if self.companions_:
            logs = self._logs(X)
            return np.asarray(logs[:, 1] - logs[:, 0])
        return np.asarray(self._of_matrix(X)[:, 0])

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
        return self._probabilities(self._encoded(X))

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
        X = self._encoded(X)
        return _log(self._probabilities(X)) if len(self.classes_) > 2 else self._logs(X)

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
        check_is_fitted(self)
        if len(self.classes_) == 2 and self._utilities is None:
            return np.asarray(self.classes_[(self.decision_function(X) > 0).astype(np.intp)])
        return self._labels(self.predict_proba(X))

    def _labels(self, probabilities: Array) -> NDArray[Any]:
        """What is predicted of rows with these probabilities."""
        if self._utilities is None:
            return np.asarray(self.classes_[probabilities.argmax(axis=1)])
        return np.asarray(self.classes_[decide(probabilities, self._utilities)])

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
        Conformal prediction with held-out probabilities of all training rows, which allow for their
        folds having had a say in the hyperparameters; the final machine is taken to be as good as
        those of the folds, which have seen fewer rows. It asks that new rows come like the training
        rows did. The share is that of all rows together: of one class it may be less.

        References
        ----------
        Vovk, Gammerman & Shafer 2005; Sadinle, Lei & Wasserman 2019.
        """
        level = check_alpha(alpha)
        return self._sets(self.predict_proba(X), level)

    def _sets(self, probabilities: Array, alpha: float) -> BoolArray:
        """The prediction sets of rows with these probabilities."""
        if not self._given.shape[1]:
            raise ValueError(
                "the fit held out no rows in all classes at once, so there is nothing to base "
                "prediction sets on; fit with more max_time"
            )
        least = least_probability(self._given[0], self._given[1], alpha)
        return prediction_sets(probabilities, least)

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

    def _repr_html_inner(self) -> str:
        """What was chosen, above scikit-learn's picture of the estimator."""
        return of_model(self) + str(super()._repr_html_inner())

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        """The same, for those who ask this way."""
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] = of_model(self) + bundle["text/html"]
        return bundle


def _members(problem: Problem, classes: NDArray[Any], apart: Apart) -> list[float]:
    """How many rows each class has, those that were apart included."""
    counts = np.bincount(problem.codes, problem.counts, len(problem.classes))
    found = dict(zip(problem.classes.tolist(), counts.tolist(), strict=True))
    return [found.get(label) or float(np.sum(apart.y == label)) for label in classes.tolist()]


def _widened(p: Array, classes: NDArray[Any], wider: NDArray[Any]) -> Array:
    """Probabilities of more classes, zero for those that were apart."""
    if len(classes) == len(wider):
        return p
    found = np.where(np.isnan(p).all(axis=1), np.nan, 0.0)[:, None] * np.ones(len(wider))
    found[:, np.searchsorted(wider, classes)] = p
    return np.asarray(found)


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
