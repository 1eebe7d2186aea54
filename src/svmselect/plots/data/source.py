"""A criterion that can be asked again around its optimum, whoever did the choosing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from svmselect.criteria import Criterion
from svmselect.data import Dataset
from svmselect.estimators.by_criterion import judged
from svmselect.estimators.strategies.task import Task
from svmselect.kernels import Kernel
from svmselect.plots.data.axes import width_of
from svmselect.plots.data.refit import Refit
from svmselect.priors import Flat, Prior
from svmselect.search.trace import Record
from svmselect.selection.objective import Objective
from svmselect.types import Array

Evaluate = Callable[[Array, Any], tuple[float, Any]]


@dataclass(frozen=True, eq=False)
class Source:
    """The criterion as a function of (log C, log kernel parameters), and where its search went.

    ``evaluate`` takes a point and the machines of a neighbouring one; it gives the value and the
    machines trained there. ``point`` is what was chosen; C there is that of the final machine, and
    ``shift`` is what to add to log C of the ``records``; ``pairs`` of classes share the criterion.
    ``unit`` is the difference in its value that stands for one unit of log-likelihood of all data,
    or for one row where it counts errors. ``evaluate`` adds the ``prior`` in these units, less what
    it says of the choice; None where there was none, or it is not known.
    """

    criterion: str
    greater_is_better: bool
    kernel: Kernel
    point: Array
    evaluate: Evaluate
    records: tuple[Record, ...]
    shift: float
    data: Dataset
    loss: str
    fit_intercept: bool
    unit: float
    notes: tuple[str, ...] = ()
    pairs: int = 1
    prior: Prior | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The coordinates."""
        return ("log C", *self.kernel.names)


def of_selection(selection: Any) -> Source:
    """The criterion of a selection, on its own data."""
    posterior = selection.posterior
    objective = posterior.objective
    stage = selection.record.run.rpartition("/")[0]
    records = [r for r in selection.trace if r.run.rpartition("/")[0] == stage]
    if not isinstance(posterior.prior, Flat):
        # every stage of a hierarchical prior is one way to the same end
        records = [r for r in selection.trace if r.names == selection.names]
    unit = 1.0 / abs(objective.log_likelihood(1.0))
    prior = None if isinstance(posterior.prior, Flat) else posterior.prior
    evaluate = _objective(replace(objective, kernel=selection.kernel), 0.0)
    return Source(
        criterion=objective.criterion.name,
        greater_is_better=objective.criterion.greater_is_better,
        kernel=selection.kernel,
        point=selection.point,
        evaluate=_with(evaluate, prior, selection.point, objective, 0.0),
        records=tuple(records),
        shift=0.0,
        data=objective.data,
        loss=objective.loss,
        fit_intercept=objective.fit_intercept,
        unit=unit,
        prior=prior,
    )


def of_refit(refit: Refit, pair: int = 0) -> Source:
    """The criterion of a fitted estimator; where pairs of classes chose apart, that of one pair."""
    model, problem, pairs = refit.model, refit.problem, refit.pairs
    notes: list[str] = []
    records = tuple(model.trace_)
    if refit.separate:
        if not 0 <= pair < len(pairs):
            raise ValueError(f"pair={pair} is none of the {len(pairs)} pairs of classes")
        one, other = list(combinations(problem.classes.tolist(), 2))[pair]
        notes.append(f"of the pair {one} or {other}")
        records = tuple(r for r in records if r.run.startswith(f"{one} or {other}: "))
        pairs = (pairs[pair],)
    C, kernel = refit.setting().of(pair)
    if refit.sampled:
        notes.append(
            f"drawn from a sample of {len(problem)} of {refit.rows} rows, so its optimum need not "
            "be at the mark"
        )
    share = refit.share if not refit.separate else pairs[0].share if refit.default else 1.0
    shift = float(np.log(problem.penalty))
    rows = pairs[0] if len(pairs) == 1 else None
    prior = None if refit.sampled or refit.separate else model.selection_.prior
    point = np.array([np.log(C * problem.penalty), *kernel.theta])
    greater, name = True, "likelihood"
    if refit.default:
        shift += float(np.log(share))
        objective = Task.of(problem.X, pairs, kernel, model.selection_.loss, 1).objective(kernel)
        evaluate = _objective(objective, shift)
        unit = 1.0 / objective.n
        data = Dataset.of(problem.X, problem.codes > 0, problem.weights)
        # the default strategy has beliefs of its own; they show where it passed better values by
        folds = max((r.evaluation.details.get("folds", 0.0) for r in records), default=0.0)
        seen = [r.value for r in records if r.evaluation.details.get("folds", 0.0) == folds]
        passed = max(seen, default=-np.inf) > model.best_score_ + 1e-9
        if prior is None and (len(kernel.theta) > 1 or passed):
            notes.append(_PRIOR)
    else:
        # of several kernels only the way of the chosen one
        records = tuple(r for r in records if r.names[1:] == kernel.names)
        seed = model.selection_.seed or 0
        data, judge = judged(problem, pairs, refit.asked, seed)
        greater, name = judge.greater_is_better, judge.name
        objective = Objective(data, kernel, judge, model.selection_.loss, refit.fit_intercept)
        evaluate = _objective(objective, shift)
        unit = 1.0 / abs(objective.log_likelihood(1.0))
        auto = isinstance(model.prior, str) and model.prior == "auto"
        several = len(width_of(("log C", *kernel.names))) > 1
        if prior is None and (several if auto else model.prior is not None):
            notes.append(_PRIOR)
    if rows is not None and refit.default:
        data = problem.dataset(rows)
    return Source(
        criterion=name,
        greater_is_better=greater,
        kernel=kernel,
        point=point,
        evaluate=_with(evaluate, prior, point, objective, shift),
        records=records,
        shift=shift,
        data=data,
        loss=model.selection_.loss,
        fit_intercept=refit.fit_intercept,
        unit=unit,
        notes=tuple(notes),
        pairs=len(pairs),
        prior=prior,
    )


def criterion_at(source: Source, criterion: Criterion) -> Evaluate:
    """Another criterion on the same data; refused where it does not serve the machine."""
    objective = Objective(source.data, source.kernel, criterion, source.loss, source.fit_intercept)
    return _objective(objective, 0.0)


_PRIOR = "the prior is not drawn: the mark is where criterion and prior together are best"


def _with(
    evaluate: Evaluate, prior: Prior | None, choice: Array, objective: Objective, shift: float
) -> Evaluate:
    """The criterion with its prior, in the criterion's units; at the choice the prior says zero."""
    if prior is None:
        return evaluate
    believed, names = prior, objective.names

    def density(point: Array) -> float:
        moved = point.copy()
        moved[0] -= shift
        return believed.log_density(moved, names)[0]

    at_choice, unit = density(choice), 1.0 / objective.log_likelihood(1.0)

    def both(point: Array, warm: Any) -> tuple[float, Any]:
        value, trained = evaluate(point, warm)
        return value + unit * (density(point) - at_choice), trained

    return both


def _objective(objective: Objective, shift: float) -> Evaluate:
    def evaluate(point: Array, warm: Any) -> tuple[float, Any]:
        moved = point.copy()
        moved[0] -= shift
        score, trained = objective.at(moved, 0, warm)
        return float(score.value), trained

    return evaluate
