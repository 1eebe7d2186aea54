"""The default strategy for a problem: shared hyperparameters, or those of each pair apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from svmselect.auto import Choice, Pair, choose
from svmselect.auto.large import Large, choose_large
from svmselect.estimators.chosen import Chosen, Setting, hold_out
from svmselect.estimators.machines import upright
from svmselect.estimators.problem import Problem
from svmselect.kernels import RBF
from svmselect.parallel import single_threaded
from svmselect.search.trace import Record
from svmselect.types import Array, Evaluation, IntArray

MANY = 3000
"""Rows beyond which the hyperparameters are chosen on subsets."""

Report = Callable[[Evaluation], bool]


@dataclass(frozen=True)
class Limits:
    """What a search may use, and who is told of its steps."""

    max_time: float | None
    n_jobs: int | None
    seed: int
    report: Report | None
    checkpoint: Path | None = None


def by_default(
    problem: Problem,
    pairs: Sequence[Pair],
    loss: str,
    ard: str | bool,
    separate: bool,
    limits: Limits,
    start: tuple[float, RBF] | None,
) -> Chosen:
    """Choose C, the width and how far the length scales may part; see ``svmselect.auto``."""
    if not problem.splits.complete:
        raise ValueError(
            "cv must train on all rows that it does not hold out, as KFold does; for other splits "
            "name a criterion, e.g. criterion='likelihood'"
        )
    options: dict[str, Any] = {"loss": loss, "ard": ard, "random_state": limits.seed}
    if not separate:
        options |= {"max_time": limits.max_time, "callback": limits.report}
        options["threads"] = effective_n_jobs(limits.n_jobs)
        begin = None if start is None else _start(*start)
        found = [_strategy(problem.X, pairs, {**options, "start": begin})]
        chosen = _gathered(pairs, found, [""])
    else:
        if limits.max_time is not None:
            options["max_time"] = limits.max_time / len(pairs)
        labels = problem.classes.tolist()
        names = [f"{one} or {other}: " for one, other in combinations(labels, 2)]
        chosen = _gathered(pairs, _each(problem, pairs, options, limits), names)
    if chosen.coupled or len(problem) > MANY:
        return chosen
    # at the price of one evaluation: the error of all classes together
    held = hold_out(problem, pairs, chosen.setting, loss)
    return replace(chosen, error=held.error(problem, chosen.sigmoids), coupled=True)


def _strategy(X: Array, pairs: Sequence[Pair], options: dict[str, Any]) -> Large:
    """Choose on all rows, or on subsets where they are many; machines only in the second case."""
    if len(X) > MANY:
        return choose_large(X, pairs, **options)
    return Large(choose(X, pairs, **options), ())


def _each(
    problem: Problem, pairs: Sequence[Pair], options: dict[str, Any], limits: Limits
) -> list[Large]:
    """Every pair for itself, spread over joblib's workers."""
    tasks = (delayed(single_threaded)(_alone, problem.X, pair, options) for pair in pairs)
    found = []
    for one in Parallel(limits.n_jobs, return_as="generator")(tasks):
        found.append(one)
        if limits.report is not None:
            limits.report(one.choice.history[-1])
    return found


def _alone(X: Array, pair: Pair, options: dict[str, Any]) -> Large:
    """Choose for one pair, looking at its rows only."""
    alone = replace(pair, rows=np.arange(len(pair.rows)))
    found = _strategy(X[pair.rows], [alone], options)
    moved = tuple(replace(machine, rows=pair.rows[machine.rows]) for machine in found.machines)
    return replace(found, machines=moved)


def _gathered(pairs: Sequence[Pair], found: Sequence[Large], names: Sequence[str]) -> Chosen:
    """One record of one choice for all pairs, or of one for each."""
    choices = [one.choice for one in found]
    fitted = [sigmoid for choice in choices for sigmoid in choice.sigmoids]
    held_out = [f for choice in choices for f in choice.held_out]
    sigmoids = [
        upright(slope, offset, f, pair.y, pair.weights)
        for pair, (slope, offset), f in zip(pairs, fitted, held_out, strict=True)
    ]
    mass = np.array([sum(float(np.isfinite(f).sum()) for f in c.held_out) for c in choices])
    share = mass / mass.sum()
    error = float(share @ [c.error for c in choices])
    spread = float(np.sqrt(share**2 @ np.array([c.standard_error for c in choices]) ** 2))
    machines = tuple(machine for one in found for machine in one.machines)
    labelled = list(zip(names, choices, strict=True))
    return Chosen(
        setting=Setting(tuple(c.C for c in choices), tuple(c.kernel for c in choices)),
        sigmoids=tuple(sigmoids),
        value=float(share @ [c.value for c in choices]),
        criterion="likelihood",
        folded=True,
        records=tuple(
            record
            for name, choice in labelled
            for record in _records(name.removesuffix(": ") or "auto", choice.history)
        ),
        messages=tuple(dict.fromkeys(name + m for name, c in labelled for m in c.messages)),
        error=(error, spread),
        coupled=len(pairs) == 1,
        share=float(np.mean([pair.share for pair in pairs])),
        machines=machines if len(machines) == len(pairs) else (),
    )


def _records(run: str, history: Sequence[Evaluation]) -> list[Record]:
    """A history of mean log-likelihoods as a trace has it: a loss, and the value beside it."""
    made = []
    for index, e in enumerate(history):
        slopes = None if e.gradient is None else -e.gradient
        details = {**e.details, "value": e.value}
        evaluation = replace(e, value=-e.value, gradient=slopes, details=details)
        made.append(Record(run, index, coordinates(len(e.point) - 1), evaluation))
    return made


def coordinates(scales: int) -> tuple[str, ...]:
    """Names of the search coordinates: log C, and one length scale or several."""
    form = RBF() if scales == 1 else RBF((1.0,) * scales)
    return ("log C", *form.names)


def _start(C: float, kernel: RBF) -> Choice:
    """A choice to start from: only C and the kernel are looked at."""
    none: tuple[IntArray, ...] = ()
    return Choice(C, kernel, (), np.nan, np.nan, np.nan, none, 0.0, (), (), 0.0)  # type: ignore[arg-type]
