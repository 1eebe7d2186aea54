"""The default strategy for a problem: shared hyperparameters, or those of each pair apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from svmselect.auto import Choice, Pair, choose
from svmselect.fitting.chosen import Chosen, Setting
from svmselect.fitting.machines import upright
from svmselect.fitting.problem import Problem
from svmselect.kernels import RBF
from svmselect.parallel import single_threaded
from svmselect.trace import Record
from svmselect.types import Array, Evaluation, IntArray

Report = Callable[[Evaluation], bool]


@dataclass(frozen=True)
class Limits:
    """What a search may use, and who is told of its steps."""

    max_time: float | None
    n_jobs: int | None
    seed: int
    report: Report | None


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
    if not problem.splits.partition:
        raise ValueError(
            "cv must hold out every row once and train on all others, as KFold does; for other "
            "splits name a criterion, e.g. criterion='likelihood'"
        )
    if not separate or len(pairs) == 1:
        begin = None if start is None else _start(*start)
        options: dict[str, Any] = {"max_time": limits.max_time, "random_state": limits.seed}
        options |= {"callback": limits.report, "start": begin}
        choice = choose(problem.X, pairs, loss=loss, ard=ard, **options)
        return _gathered(pairs, [choice], [""])
    return _each(problem, pairs, loss, ard, limits)


def _each(
    problem: Problem, pairs: Sequence[Pair], loss: str, ard: str | bool, limits: Limits
) -> Chosen:
    """Every pair for itself, spread over joblib's workers."""
    from joblib import Parallel, delayed

    seconds = None if limits.max_time is None else limits.max_time / len(pairs)
    tasks = (
        delayed(single_threaded)(_alone, problem.X[p.rows], p, loss, ard, seconds, limits.seed)
        for p in pairs
    )
    choices = []
    for choice in Parallel(limits.n_jobs, return_as="generator")(tasks):
        choices.append(choice)
        if limits.report is not None:
            limits.report(choice.history[-1])
    labels = problem.classes.tolist()
    names = [f"{one} or {other}: " for one, other in combinations(labels, 2)]
    return _gathered(pairs, choices, names)


def _alone(
    X: Array, pair: Pair, loss: str, ard: str | bool, max_time: float | None, seed: int
) -> Choice:
    alone = replace(pair, rows=np.arange(len(pair.rows)))
    return choose(X, [alone], loss=loss, ard=ard, max_time=max_time, random_state=seed)


def _gathered(pairs: Sequence[Pair], choices: Sequence[Choice], names: Sequence[str]) -> Chosen:
    """One record of one choice for all pairs, or of one for each."""
    sigmoids = []
    fitted = [sigmoid for choice in choices for sigmoid in choice.sigmoids]
    held_out = [f for choice in choices for f in choice.held_out]
    for pair, (slope, offset), f in zip(pairs, fitted, held_out, strict=True):
        sigmoids.append(upright(slope, offset, f, pair.y, pair.weights))
    total = np.array([sum(len(p) for p in choice.held_out) for choice in choices], dtype=float)
    messages = dict.fromkeys(n + m for n, c in zip(names, choices, strict=True) for m in c.messages)
    records = [
        record
        for name, choice in zip(names, choices, strict=True)
        for record in _records(name.removesuffix(": ") or "auto", choice.history)
    ]
    return Chosen(
        setting=Setting(tuple(c.C for c in choices), tuple(c.kernel for c in choices)),
        sigmoids=tuple(sigmoids),
        value=float(total @ [c.value for c in choices] / total.sum()),
        criterion="likelihood",
        folded=True,
        records=tuple(records),
        messages=tuple(messages),
        share=float(np.mean([pair.share for pair in pairs])),
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
