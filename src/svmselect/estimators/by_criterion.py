"""A choice by a criterion, search, kernel or prior that the user names: through ``select``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from itertools import combinations
from typing import Any

import numpy as np

from svmselect import clock
from svmselect.criteria import Criterion, available, get_criterion
from svmselect.data import Dataset, Pair
from svmselect.estimators.by_default import Limits
from svmselect.estimators.chosen import Chosen, Setting, hold_out
from svmselect.estimators.problem import Problem
from svmselect.kernels import Constant, Kernel, as_kernel
from svmselect.kernels.stationary import Stationary
from svmselect.search import get_search
from svmselect.selection.hierarchy import of_variables
from svmselect.selection.pairwise import Pairwise, Part
from svmselect.selection.plan import Plan
from svmselect.selection.result import Selection
from svmselect.types import Note

_STARTS = 4  # of a search that follows gradients and so may end in a poor optimum
_PATIENCE = 10  # of a validation set, which there is none of here
_REMEDY = "choose by another criterion, or by `svmselect.select`, which takes `bounds`,"


@dataclass(frozen=True)
class SearchOptions:
    """What was asked for, with "auto" for what was not."""

    kernel: Any
    criterion: Any
    search: Any
    prior: Any
    ard: str | bool
    variables: tuple[int, ...] | None = None
    device: str = "cpu"


def by_criterion(
    problem: Problem,
    pairs: Sequence[Pair],
    loss: str,
    asked: SearchOptions,
    separate: bool,
    limits: Limits,
) -> Chosen:
    """Select for the pair, for all pairs together, or for each apart; then fit the sigmoids."""
    if separate and len(pairs) > 1:
        seconds = None if limits.max_time is None else limits.max_time / len(pairs)
        limits = replace(limits, max_time=seconds, checkpoint=None)  # a file is of one search
        made = [_selected(problem, [pair], loss, asked, limits) for pair in pairs]
    else:
        made = [_selected(problem, pairs, loss, asked, limits)]
    selections, intercepts = [s for s, _ in made], [i for _, i in made]
    setting = Setting(
        tuple(s.C for s in selections), tuple(s.kernel for s in selections), intercepts[0]
    )
    labels = problem.classes.tolist()
    names = [f"{a} or {b}: " for a, b in combinations(labels, 2)] if len(made) > 1 else [""]
    judge = _judge(asked, problem, pairs[0], limits.seed)
    records = [
        replace(record, run=f"{name}{record.run}")
        for name, s in zip(names, selections, strict=True)
        for record in s.trace
    ]
    weights = [float(pair.weights.sum()) for pair in pairs] if len(made) > 1 else [1.0]
    try:
        with clock.until(limits.end(late=0.5)):
            held = hold_out(problem, pairs, setting, loss)
    except clock.OutOfTimeError:
        held = hold_out(problem, pairs, setting, loss, folds=1)
    sigmoids = held.sigmoids(problem)
    error, kept = held.judged(problem, sigmoids)
    return Chosen(
        setting=setting,
        sigmoids=sigmoids,
        error=error,
        held_out=kept,
        value=float(np.average([s.value for s in selections], weights=weights)),
        criterion=judge.name,
        folded=_takes(type(judge), "cv"),
        prior=selections[0].prior if len(made) == 1 else None,
        records=tuple(records),
        notes=tuple(
            dict.fromkeys(
                Note(note.kind, name + note)
                for name, s in zip(names, selections, strict=True)
                for note in s.notes
            )
        ),
    )


def served(asked: SearchOptions, losses: Sequence[str]) -> tuple[str, ...]:
    """Those of the losses that the criterion serves; all if none, so that it says why."""
    judge = get_criterion("likelihood" if asked.criterion == "auto" else asked.criterion)
    one = asked.kernel[0] if isinstance(asked.kernel, list | tuple) else asked.kernel
    form = _form(one, False, 1, None)
    able = [
        loss for loss in losses
        if any(judge.refusal(form, loss, intercept) is None for intercept in (True, False))
    ]  # fmt: skip
    return tuple(able or losses[:1])


def _selected(
    problem: Problem, pairs: Sequence[Pair], loss: str, asked: SearchOptions, limits: Limits
) -> tuple[Selection, bool]:
    """The selection for these pairs together, and whether the machines have an intercept."""
    data, judge = judged(problem, pairs, asked, limits.seed)
    separate_scales = _separate_scales(asked)
    kernels = asked.kernel if isinstance(asked.kernel, list | tuple) else [asked.kernel]
    d = problem.X.shape[1]
    forms = [_form(kernel, separate_scales, d, asked.variables) for kernel in kernels]
    intercept = all(judge.refusal(form, loss, True) is None for form in forms)
    if not intercept:
        # the offset lives in the kernel: add one to what was not written out by the user
        forms = [
            Constant(1.0) * form + Constant(0.1) if isinstance(kernel, str) else form
            for kernel, form in zip(kernels, forms, strict=True)
        ]
    named = all(isinstance(kernel, str) for kernel in kernels)
    search = _search(asked.search, judge, loss)
    plan = Plan.of(
        data, judge, None, search, forms if len(forms) > 1 else forms[0], loss, intercept,
        _prior(asked.prior, judge, separate_scales and d > 1), "data" if named else None, None,
        _STARTS if get_search(search).gradients else 1, limits.seed, limits.checkpoint, None,
        _PATIENCE,
    )  # fmt: skip
    plan = replace(plan, remedy=_REMEDY)
    selection = plan.run(None, limits.max_time, limits.n_jobs, limits.checkpoint, limits.tell)
    return selection, intercept


def judged(
    problem: Problem, pairs: Sequence[Pair], asked: SearchOptions, seed: int
) -> tuple[Dataset, Criterion]:
    """The rows of these pairs, and the criterion that speaks for all of them together."""
    judges = [_judge(asked, problem, pair, seed) for pair in pairs]
    if len(pairs) == 1:
        return problem.dataset(pairs[0]), judges[0]
    parts = [
        Part(pair.rows, problem.dataset(pair), one) for pair, one in zip(pairs, judges, strict=True)
    ]
    data = Dataset.of(problem.X, problem.codes > 0, problem.weights)
    return data, Pairwise(parts, len(problem.classes))


def _judge(asked: SearchOptions, problem: Problem, pair: Pair, seed: int) -> Criterion:
    """The criterion with the estimator's folds; one made by the user keeps its own."""
    if isinstance(asked.criterion, Criterion):
        return asked.criterion
    name = "likelihood" if asked.criterion == "auto" else asked.criterion
    cls = available().get(name) if isinstance(name, str) else None
    options: dict[str, Any] = {}
    if cls is not None and _takes(cls, "cv"):
        options["cv"] = problem.splits.ready(pair.rows)
    elif cls is not None and _takes(cls, "random_state"):
        options["random_state"] = seed
    if asked.device != "cpu" and cls is not None and _takes(cls, "device"):
        options["device"] = asked.device
    return get_criterion(name, **options)


def on_device(criterion: Any) -> bool:
    """Whether a criterion that is named can compute on a device."""
    cls = available().get(criterion) if isinstance(criterion, str) else type(criterion)
    return cls is not None and issubclass(cls, Criterion) and _takes(cls, "device")


def _takes(cls: type[Criterion], option: str) -> bool:
    return any(field.name == option for field in fields(cls))


def _search(search: Any, judge: Criterion, loss: str) -> Any:
    if isinstance(search, str) and search == "auto":
        return "lbfgs" if judge.differentiable_for(loss) else "cma-es"
    return search


def _separate_scales(asked: SearchOptions) -> bool:
    """Whether kernels given by name get a length scale an input: if asked for by ard or prior."""
    if asked.ard in ("yes", True):
        return True
    tied = not isinstance(asked.prior, str) or asked.prior in ("hierarchical", "integrated")
    return asked.ard == "auto" and asked.prior is not None and tied


def _prior(prior: Any, judge: Criterion, separate_scales: bool) -> Any:
    """What "auto" means: length scales tied together where there are several, else nothing."""
    if not isinstance(prior, str) or prior != "auto":
        return prior
    if not separate_scales:
        return None
    likelihood = judge.units != "score" and judge.differentiable
    return "hierarchical" if likelihood else "integrated"


def _form(kernel: Any, separate_scales: bool, d: int, variables: tuple[int, ...] | None) -> Kernel:
    """A kernel to be searched; one given by name may have a length scale for each input."""
    form = as_kernel("rbf" if isinstance(kernel, str) and kernel == "auto" else kernel)
    if variables is not None:
        form = of_variables(form, variables)
    if isinstance(kernel, str) and separate_scales and isinstance(form, Stationary) and d > 1:
        return form.parted(d)
    return form
