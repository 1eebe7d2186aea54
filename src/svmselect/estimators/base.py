"""What the classifiers share: fitting, and what is kept of it."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    check_consistent_length,
)

from svmselect.criteria import available, get_criterion
from svmselect.devices import usable
from svmselect.estimators.averaging import by_posterior, check_rows
from svmselect.estimators.by_criterion import SearchOptions, by_criterion, served
from svmselect.estimators.by_default import MANY, Limits, by_default
from svmselect.estimators.by_rows import Many, grow, idle_device, of_arrays, several
from svmselect.estimators.by_scoring import as_scorer, by_scoring
from svmselect.estimators.callbacks import CallbackSupportMixin, Reporter, Watch, with_callbacks
from svmselect.estimators.chosen import Chosen, fitted_machines, recalibrated
from svmselect.estimators.decisions import Judged, check_threshold, rule
from svmselect.estimators.following import Following, interrupted
from svmselect.estimators.given import by_input, categories, dense, learned, spans, variables
from svmselect.estimators.machines import to_dual_coef
from svmselect.estimators.members import Member, Recipe, averaged, weighed
from svmselect.estimators.moderated import by_moderation, hinges
from svmselect.estimators.opened import many_of_table, opened, rows_in, taken
from svmselect.estimators.optimism import UNCORRECTED, lost_odds
from svmselect.estimators.options import (
    averages,
    bends,
    check_options,
    forms,
    is_default,
    shares,
    standardises,
)
from svmselect.estimators.posteriors import Model
from svmselect.estimators.predictor import Predictor
from svmselect.estimators.problem import Problem
from svmselect.estimators.rare import Apart, Fitted, by_two_points, looks_like_numbers, set_apart
from svmselect.estimators.scaling import Scaling
from svmselect.estimators.sparse_rows import keeps_zeros, rotatable
from svmselect.estimators.units import in_best_units
from svmselect.kernels import Kernel
from svmselect.kernels.sparse import rotated
from svmselect.parallel import Dask, one_thread
from svmselect.rows.base import Told
from svmselect.rows.tables import TableChunks
from svmselect.search.checkpoint import seed_of
from svmselect.search.trace import Trace, without_hessian
from svmselect.selection.hierarchy import of_variables
from svmselect.selection.relevance import relevance, scales, spread_of
from svmselect.selection.result import Selection
from svmselect.types import Array, Note, Status


class AutoMachine(CallbackSupportMixin, Predictor):  # type: ignore[misc]
    """A classifier that chooses its own hyperparameters; subclasses name the loss."""

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

    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None
    ) -> AutoMachine:
        """Choose the hyperparameters and train.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), or rows that need not be in memory
            The inputs. Sparse ones with at most a tenth of their entries filled are taken as they
            are, not standardised, and are not made dense where there are more inputs than rows.
            Rows need not be in memory in a ``numpy.memmap``, an iterable of pieces (X, y), files
            (a name, a folder of Parquet files, a pattern or a list of them), and an array or data
            frame of Dask.
        y : array-like of shape (n,)
            The labels. For files the name of their column; for pieces None.
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
            Following(self, rows_in(X)) as following,
            opened(self, X, y, sample_weight, following.passing.first) as given,
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
        if many is None or many.encoder is None:
            X, y = learned(self, X, y, groups, sample_weight)
        else:
            taken(self, many.encoder)
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
        seed, on = self._seed(checkpoint), usable(self.device)[0]
        apart = Apart(y, weights)
        if many is None:
            able = self._adds_classes and len(y) <= several(on)
            apart = set_apart(y, weights, groups_of, self.rare, able)
            y, weights = apart.y, apart.weights
            many = None if apart.lone else of_arrays(self, X, y, weights, groups, seed)
            if many is not None:
                X, y, weights = many.first
                apart = replace(apart, y=y, weights=weights)
        metadata = None if sample_weight is None else {"sample_weight": sample_weight}
        report = Reporter(self, X, y, metadata, self.verbose, watch)
        self._as_given = keeps_zeros(X)
        self._rotated = self._turns(X) and many is None and not len(apart.rows)
        rows = rotated(X) if self._rotated else dense(X)
        problem = Problem.of(
            rows, y, weights, groups_of, self.cv, self._class_weight(apart), self._standardises,
            seed, self._standardises and bends(self), spans(self.encoder_),
        )  # fmt: skip
        rows = X if self._rotated else rows
        idle = idle_device(self, len(problem), many is not None)
        problem = replace(problem, notes=(*problem.notes, *apart.notes, *idle))
        check_threshold(self.threshold, problem.classes)
        limits = Limits(self.max_time, self.n_jobs, seed, report, checkpoint, many is not None, on)
        few = many is None and len(problem) <= MANY
        with one_thread() if few else nullcontext():
            if bends(self) and self._standardises and not self._rotated and is_default(self):
                problem = in_best_units(
                    problem, rows, spans(self.encoder_), self._forms()[0], losses[0],
                    limits.glancing(), seed,
                )  # fmt: skip
            lead, *others = self._choose(problem, losses, limits)
            self._keep(rows, problem, lead, apart, limits)
            made = [self._companion(rows, problem, other, apart) for other in others]
            self.companions_ = made
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
        separate = not shares(self) and len(pairs) > 1
        scorer = None if problem.splits.lone else as_scorer(self.scoring)
        if separate and scorer is not None:
            raise ValueError(
                "scoring decides among settings that all pairs of classes share; use "
                "multi_class='ovo' or scoring=None"
            )
        average = averages(self) and len(problem) <= MANY and not limits.rough
        if is_default(self):
            kernels = self._forms()
            words = categories(self.encoder_)
            if (joined := variables(self.encoder_)) is not None:
                kernels = [of_variables(kernel, joined) for kernel in kernels]
            start = self._warm(problem)
            groups = [(kernel,) for kernel in kernels] if average else [tuple(kernels)]
            recipes = [Recipe(loss, group) for loss in losses for group in groups]
            tried = by_default(problem, pairs, recipes, self._ard, separate, limits, start, words)
            losses, found = tuple(recipe.loss for recipe, _ in tried), [one for _, one in tried]
        else:
            asked = SearchOptions(
                self.kernel,
                self.criterion,
                self.search,
                self.prior,
                self._ard,
                variables(self.encoder_),
                limits.device,
            )
            losses = served(asked, losses)
            if len(losses) > 1 and limits.checkpoint is not None:
                raise ValueError(
                    "checkpoint is a file of one search, and a criterion or search that is named "
                    f"runs once for each loss ({', '.join(losses)}); name one by loss="
                )
            found = []
            for one in losses:
                found.append(by_criterion(problem, pairs, one, asked, separate, limits))
                if not _ended(found[-1].notes).ok:
                    break  # what ended it leaves nothing for the next one
            losses = losses[: len(found)]

        def ready(loss: str, chosen: Chosen) -> Chosen:
            if not limits.rough:  # else many more rows will tell
                chosen = recalibrated(problem, chosen, loss, MANY, limits.end(late=0.5))
            return by_two_points(problem, pairs, chosen, loss)

        found = [ready(loss, chosen) for loss, chosen in zip(losses, found, strict=True)]
        members = weighed(problem, losses, found)
        if average:
            return averaged(problem, members)
        loss, chosen = members[0].loss, members[0].chosen
        if scorer is not None:
            chosen = by_scoring(problem, pairs, chosen, loss, self.scoring, scorer, limits.end())
            chosen = ready(loss, chosen)
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
        made._keep(X, problem, member, apart, None)
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
        return argmax and self.probability == "sigmoid" and shares(self)

    def _class_weight(self, apart: Apart) -> Any:
        """Class weights without those of the classes that are apart."""
        if not isinstance(self.class_weight, dict) or apart.weights is None:
            return self.class_weight
        there = set(apart.y[apart.weights > 0].tolist())
        gone = set(apart.y.tolist()) - there
        return {label: w for label, w in self.class_weight.items() if label not in gone}

    def _keep(
        self, X: Any, problem: Problem, member: Member, apart: Apart, limits: Limits | None
    ) -> None:
        """Store what was learned: arrays, numbers, kernels and words.

        Without ``limits`` it is for a companion, whom nobody asks how good it is.
        """
        chosen, loss = member.chosen, member.loss
        judged = Judged.of(problem, chosen.held_out)
        decided = rule(self.threshold, problem, judged)
        utilities = None if decided is None else decided.utilities
        lost = None
        if decided is not None:
            notes = (*chosen.notes, decided.note)
            chosen = replace(chosen, notes=notes, error=decided.error)
        told = chosen.held_out is not None and not problem.splits.lone
        if limits is not None and len(problem) <= MANY and told:
            lost = lost_odds(problem, problem.pairs(), chosen, loss, limits.end(late=0.5))
            if lost is None:
                chosen = replace(chosen, notes=(*chosen.notes, UNCORRECTED))
            elif chosen.posterior is None and chosen.error.of == "classes":
                honest = judged.expected_error(problem, lost, utilities)
                chosen = replace(chosen, error=honest)
        made = Fitted.of(problem, *fitted_machines(problem, problem.pairs(), chosen, loss))
        made = made.with_rare(apart, X, problem, chosen, loss)
        setting, k = chosen.setting, len(made.classes)
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
        self.n_support_ = np.bincount(made.member, minlength=k).astype(np.int32)
        self.dual_coef_ = to_dual_coef(made.coefficients, made.member, k)
        # scikit-learn's convention: with three classes or more f > 0 is for the earlier of two
        self.intercept_ = made.intercepts if k == 2 else -made.intercepts
        self.sigmoid_slope_, self.recalibration_ = made.slopes, made.recalibration
        self._posterior = None if chosen.posterior is None else chosen.posterior.as_plain()
        inputs = X[problem.first] if self._rotated else problem.X
        self.feature_importances_ = by_input(
            self, relevance(setting.kernels, spread_of(inputs, problem.counts))
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
        self._given = judged.given(problem, lost)
        self._utilities = utilities
        self._judge = self._unpacked()


def fit_watched(model: AutoMachine, X: Any, y: Any, groups: Any, watch: Watch) -> None:
    """``fit``, followed by someone who brings what to follow it with."""
    model._fit(X, y, None, groups, watch)


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


def fit_streamed(
    model: AutoMachine, chunks: TableChunks, watch: Watch, told: Told, cluster: Dask | None
) -> None:
    """``fit`` to rows of a table that are not in memory, followed likewise."""
    seed = model._seed(watch.checkpoint)
    many = many_of_table(chunks, seed, told, cluster=cluster)
    model._fit(many, None, None, None, watch)
