"""The final choice by a scorer: the best few settings of a search, judged by cross-validation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import get_scorer, get_scorer_names

from svmselect import clock
from svmselect.data import Pair
from svmselect.estimators.chosen import Chosen, OutOfFold, Setting, hold_out
from svmselect.estimators.problem import Problem
from svmselect.estimators.strategies.many_rows import EXACT
from svmselect.kernels import RBF, Kernel
from svmselect.search.trace import Record
from svmselect.types import Array, Note

FINALISTS = 8
APART = 0.5  # finalists differ by this in some logarithm


class HeldOutModel(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """What a scorer sees: the answers for the held-out rows, by machines that did not see them."""

    def __init__(self, classes: NDArray[Any], decision: Array, probabilities: Array) -> None:
        self.classes = classes
        self.decision = decision
        self.probabilities = probabilities

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels."""
        return self.classes

    def _known(self, X: Any, answers: Array) -> Array:
        if len(X) != len(answers):
            raise ValueError(
                f"the scorer asks about {len(X)} rows of the {len(answers)} held out; a scorer for "
                "the final choice must look at all of them"
            )
        return answers

    def decision_function(self, X: Any) -> Array:
        """Decision values as the fitted model gives them."""
        return self._known(X, self.decision)

    def predict_proba(self, X: Any) -> Array:
        """Probabilities of the classes."""
        return self._known(X, self.probabilities)

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable classes."""
        if len(self.classes_) == 2:
            return np.asarray(self.classes_[(self.decision_function(X) > 0).astype(np.intp)])
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])


@dataclass(frozen=True, eq=False)
class Judged:
    """A setting, what the folds say of it, and the scorer's number."""

    setting: Setting
    held: OutOfFold
    score: float


def as_scorer(scoring: Any, option: str = "scoring") -> Any:
    """A scorer for its name or itself, as the option gives it; None for None."""
    if isinstance(scoring, str) and scoring not in get_scorer_names():
        near = get_close_matches(scoring, get_scorer_names(), 3)
        hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
        raise ValueError(f"{option}={scoring!r} is not the name of a scorer{hint}")
    scorer = get_scorer(scoring) if isinstance(scoring, str) else scoring
    if scorer is not None and not callable(scorer):
        raise ValueError(f"{option}={scoring!r} is not the name of a scorer or a function")
    return scorer


def by_scoring(
    problem: Problem,
    pairs: Sequence[Pair],
    chosen: Chosen,
    loss: str,
    scoring: Any,
    scorer: Any,
    end: float | None = None,
) -> Chosen:
    """Of the chosen setting and the best others of the search, the one that scores highest.

    Of those others as many are looked at as there is time for until ``end``.

    The score is of all held-out rows at once, with their sample weights. The likelihood breaks
    ties: the setting it prefers comes first.
    """
    if len(problem) > EXACT:
        raise ValueError(
            f"scoring trains all folds of every finalist, for which {len(problem)} rows are too "
            f"many; give at most {EXACT}, or scoring=None"
        )
    judged: list[Judged] = []
    for setting in [chosen.setting, *_finalists(chosen)]:
        try:
            with clock.until(end if judged else None):
                judged.append(_judged(problem, pairs, setting, loss, scorer))
        except clock.OutOfTimeError:
            break
    best = max(judged, key=lambda one: one.score)
    name = scoring if isinstance(scoring, str) else getattr(scoring, "__name__", repr(scoring))
    note = f"{name} decided among {len(judged)} settings: {best.score:.4g}"
    if best is not judged[0]:
        note += f"; the one that {chosen.criterion!r} prefers has {judged[0].score:.4g}"
    sigmoids = best.held.sigmoids(problem)
    error, kept = best.held.judged(problem, sigmoids)
    return replace(
        chosen,
        setting=best.setting,
        sigmoids=sigmoids,
        error=error,
        held_out=kept,
        machines=(),
        prior=None,
        value=best.score,
        criterion=str(name),
        folded=True,
        notes=(*chosen.notes, Note("course", note)),
    )


def _judged(
    problem: Problem, pairs: Sequence[Pair], setting: Setting, loss: str, scorer: Any
) -> Judged:
    held = hold_out(problem, pairs, setting, loss)
    sigmoids = held.sigmoids(problem)
    k = len(problem.classes)
    p = held.probabilities(sigmoids, k)
    f = held.decisions[:, 0] + sigmoids[0].shift if k == 2 else np.log(p)
    model = HeldOutModel(problem.classes, f, p)
    X = problem.scaling.undo(problem.X[held.rows])
    y, weights = problem.classes[problem.codes[held.rows]], problem.counts[held.rows]
    options: dict[str, Any] = {}
    if not np.all(weights == 1.0):
        if "sample_weight" not in signature(scorer).parameters:
            raise ValueError(f"there are sample weights and {scorer!r} takes no sample_weight")
        options["sample_weight"] = weights
    return Judged(setting, held, float(scorer(model, X, y, **options)))


def _finalists(chosen: Chosen) -> list[Setting]:
    """The best settings of the search that lie apart from the chosen one and from each other."""
    kernel = chosen.setting.kernels[0]
    taken = [np.log([chosen.setting.C[0], *np.exp(kernel.theta)])]
    found: list[Setting] = []
    for record in sorted(chosen.records, key=lambda r: r.loss):
        form = _at(record, kernel)
        if form is None or not np.isfinite(record.loss):
            continue
        point = np.array([record.point[0] + np.log(chosen.share), *form.theta])
        if min(_distance(point, other) for other in taken) < APART:
            continue
        taken.append(point)
        setting = Setting((float(np.exp(point[0])),), (form,), chosen.setting.fit_intercept)
        found.append(setting)
        if len(found) == FINALISTS - 1:
            break
    return found


def _at(record: Record, kernel: Kernel) -> Kernel | None:
    """The kernel of a record: of the chosen form, or a Gaussian with other length scales."""
    if record.names[1:] == kernel.names:
        return kernel.at(record.point[1:])
    if isinstance(kernel, RBF) and all(n.startswith("rbf.length_scale") for n in record.names[1:]):
        scales = np.exp(record.point[1:]).tolist()
        return kernel.with_scales(scales[0] if len(scales) == 1 else scales)
    return None


def _distance(a: Array, b: Array) -> float:
    """The largest difference of two points; one length scale stands for equal ones."""
    if len(a) == len(b):
        return float(np.abs(a - b).max())
    short, long = sorted((a, b), key=len)
    return float(np.abs(np.concatenate([long[:1] - short[:1], long[1:] - short[1:]])).max())
