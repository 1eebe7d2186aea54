"""The default strategy for a problem: shared hyperparameters, or those of each pair apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from svmselect import clock
from svmselect.data import Pair, data_hash
from svmselect.estimators.chosen import Chosen, OutOfFold, Setting, hold_out
from svmselect.estimators.members import Recipe, height
from svmselect.estimators.problem import Problem
from svmselect.estimators.strategies.constants import CONSTANTS
from svmselect.estimators.strategies.default import choose
from svmselect.estimators.strategies.many_rows import Large, choose_large
from svmselect.kernels import Kernel
from svmselect.parallel import Serial, cores, in_order
from svmselect.probability.calibration import Sigmoid, upright
from svmselect.search.checkpoint import Journal
from svmselect.search.run import Progress, Session
from svmselect.search.trace import STRATEGY, provenance, sorted_records
from svmselect.selection.result import HeldOut
from svmselect.types import Array, ErrorEstimate, Evaluation, Note

MANY = 3000
"""Rows beyond which the hyperparameters are chosen on subsets."""

HOPELESS = 10.0
"""Log-likelihood that a kernel may lack with the first loss to be tried with the others too."""

_LEAST = 1e-3  # seconds of a search that has no time

Report = Callable[[Evaluation], bool]


@dataclass(frozen=True)
class Limits:
    """What a search may use, and who is told of its steps."""

    max_time: float | None
    n_jobs: int | None
    seed: int
    report: Report | None
    checkpoint: Path | None = None
    rough: bool = False
    """Whether the machines are only to begin with: others are trained on many more rows."""
    device: str = "cpu"
    """Where exact machines of more rows than the choice looks at are trained."""
    began: float = field(default_factory=lambda: clock.now())

    def end(self, late: float = 0.0) -> float | None:
        """When the time is over, and so much of what is allowed beyond."""
        if self.max_time is None:
            return None
        return self.began + self.max_time + late * clock.allowance(self.max_time)

    def glancing(self) -> Session:
        """A session for what comes before the search, which is neither kept nor told."""
        return Session(Serial(), max_time=self.max_time, began=self.began)

    def tell(self, progress: Progress) -> bool:
        """Pass a search's progress on to who wants to know; whether to stop."""
        return self.report is not None and bool(self.report(progress.record.evaluation))


def by_default(
    problem: Problem,
    pairs: Sequence[Pair],
    recipes: Sequence[Recipe],
    ard: str | bool,
    separate: bool,
    limits: Limits,
    start: tuple[float, Kernel] | None,
    categories: tuple[int, ...] = (),
) -> list[tuple[Recipe, Chosen]]:
    """Choose C, the kernel and how far its length scales may part; see ``strategies.default``.

    Once for each recipe, as long as there is time; one is always there. The kernels of a recipe
    that another loss had already, begin where that one ended, if it has shown them worth it.
    """
    if len(problem) > MANY and not problem.splits.complete:
        raise ValueError(
            f"beyond {MANY} rows cv must train on all rows that it does not hold out, as KFold does"
        )
    journal = _journal(problem, limits, recipes, ard)
    session = Session(Serial(), journal, limits.tell, None, limits.max_time, began=limits.began)
    if len(problem) > MANY and not separate:
        kernels, losses = recipes[0].kernels, tuple(recipe.loss for recipe in recipes)
        options: dict[str, Any] = _options(problem, limits, f"{STRATEGY}/", kernels, ard)
        options |= {"losses": losses, "threads": cores(limits.n_jobs), "start": start}
        large = choose_large(problem.X, pairs, session=session, **options)
        return [(Recipe(large.loss, kernels), _gathered(pairs, [large], [""]))]
    made: list[tuple[Recipe, Chosen]] = []
    for recipe in recipes:
        session.check_time()
        if made and session.halted is not None:
            break
        known = None if separate else _with_first_loss(made, recipe)
        if known is not None and _hopeless(problem, made, known):
            continue
        begin = start if known is None else (known.setting.C[0], known.setting.kernels[0])
        stage = f"{STRATEGY}/" if len(recipes) == 1 else f"{STRATEGY}/{recipe.label}/"
        options = _options(problem, limits, stage, recipe.kernels, ard) | {"loss": recipe.loss}
        if categories and len(problem) <= MANY:
            options["categories"] = categories
        chosen = _chosen(problem, pairs, options, separate, session, limits, begin)
        made.append((recipe, chosen))
    return made


def _options(
    problem: Problem, limits: Limits, stage: str, kernels: tuple[Kernel, ...], ard: str | bool
) -> dict[str, Any]:
    """What the strategies for few rows and for many are told alike, or the second alone."""
    options: dict[str, Any] = {
        "stage": stage, "kernels": kernels, "ard": ard, "random_state": limits.seed,
    }  # fmt: skip
    if len(problem) > MANY:
        options |= {"rough": True} if limits.rough else {"device": limits.device}
    return options


def _with_first_loss(made: Sequence[tuple[Recipe, Chosen]], recipe: Recipe) -> Chosen | None:
    """What the first loss has made of the recipe's kernels."""
    same = [one for tried, one in made if tried.kernels is recipe.kernels]
    return same[0] if same else None


def _hopeless(problem: Problem, made: Sequence[tuple[Recipe, Chosen]], known: Chosen) -> bool:
    """Whether the first loss has found other kernels to be very much better."""
    first = [height(problem, one) for tried, one in made if tried.loss == made[0][0].loss]
    return height(problem, known) < max(first) - HOPELESS


def _chosen(
    problem: Problem,
    pairs: Sequence[Pair],
    options: dict[str, Any],
    separate: bool,
    session: Session,
    limits: Limits,
    start: tuple[float, Kernel] | None,
) -> Chosen:
    """What the strategy finds for one recipe."""
    if not separate:
        options = options | {"threads": cores(limits.n_jobs), "start": start}
        if problem.coarse is not None:
            options["coarse"] = problem.coarse
        found = [_strategy(problem.X, pairs, session, options)]
        chosen = _gathered(pairs, found, [""])
    else:
        labels = problem.classes.tolist()
        names = [f"{one} or {other}: " for one, other in combinations(labels, 2)]
        found = _each(problem, pairs, options, limits)
        chosen = _gathered(pairs, found, names)
    hurried = any(one.choice.hurried for one in found)
    if chosen.error.of == "classes" or len(problem) > MANY or hurried:
        return chosen
    # at the price of one evaluation: the error of all classes together
    try:
        with clock.until(limits.end(late=0.5)):
            held = hold_out(problem, pairs, chosen.setting, options["loss"])
            error, kept = held.judged(problem, chosen.sigmoids)
    except clock.OutOfTimeError:
        return chosen
    return replace(chosen, error=error, held_out=kept)


def _held_out(
    pairs: Sequence[Pair], held_out: Sequence[Array], sigmoids: Sequence[Sigmoid]
) -> HeldOut:
    """What the folds said of the rows of the one pair."""
    seen = np.flatnonzero(np.isfinite(held_out[0]))
    found = OutOfFold(pairs[0].rows[seen], held_out[0][seen, None])
    return HeldOut(found.rows, found.decisions, found.probabilities(sigmoids, 2))


def _journal(
    problem: Problem, limits: Limits, recipes: Sequence[Recipe], ard: str | bool
) -> Journal | None:
    """The file to write evaluations to, and to go on from."""
    if limits.checkpoint is None:
        return None
    digest = data_hash(problem.X, problem.codes, problem.weights)
    splits = problem.splits
    folds = data_hash(splits.test, splits.again.sum(axis=1))
    settings = {"recipes": repr(tuple(recipes)), "ard": repr(ard)}
    settings |= {"strategy": repr(CONSTANTS), "folds": folds}
    names = ("log C", *recipes[0].kernels[0].names)
    return Journal(limits.checkpoint, provenance(limits.seed, digest, names, settings))


def _strategy(X: Array, pairs: Sequence[Pair], session: Session, options: dict[str, Any]) -> Large:
    """Choose on all rows, or on subsets where they are many; machines only in the second case."""
    if len(X) > MANY:
        losses = (options["loss"],)
        options = {name: value for name, value in options.items() if name != "loss"}
        return choose_large(X, pairs, session=session, losses=losses, **options)
    options = {name: value for name, value in options.items() if name not in ("device", "rough")}
    return Large(choose(X, pairs, session=session, **options), (), options["loss"])


def _each(
    problem: Problem, pairs: Sequence[Pair], options: dict[str, Any], limits: Limits
) -> list[Large]:
    """Every pair for itself, spread over the workers."""
    found = []
    tasks = (
        (problem.X, pair, options, _seconds(limits, len(pairs), len(pairs) - i))
        for i, pair in enumerate(pairs)
    )
    for one in in_order(_alone, tasks, limits.n_jobs):
        found.append(one)
        if limits.report is not None and one.choice.records:
            limits.report(one.choice.records[-1].evaluation)
    return found


def _seconds(limits: Limits, pairs: int, left: int) -> float | None:
    """The time of a pair: its share, or less where those before it took more than theirs."""
    if limits.max_time is None:
        return None
    over = limits.began + limits.max_time - clock.now()
    return min(limits.max_time / pairs, max(over, _LEAST) / left)


def _alone(X: Array, pair: Pair, options: dict[str, Any], seconds: float | None) -> Large:
    """Choose for one pair, looking at its rows only."""
    alone = replace(pair, rows=np.arange(len(pair.rows)))
    session = Session(Serial(), max_time=seconds)
    found = _strategy(X[pair.rows], [alone], session, options)
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
    error = float(share @ [c.error.error for c in choices])
    seen = sum(choice.error.n for choice in choices)
    machines = tuple(machine for one in found for machine in one.machines)
    labelled = list(zip(names, choices, strict=True))
    trained = choices[0].trained if len(choices) == 1 and not machines else {}
    setting = Setting(tuple(c.C for c in choices), tuple(c.kernel for c in choices), True, trained)
    return Chosen(
        setting=setting,
        sigmoids=tuple(sigmoids),
        value=float(share @ [c.value for c in choices]),
        criterion="likelihood",
        folded=True,
        records=tuple(
            replace(record, run=f"{name}{record.run}")
            for name, choice in labelled
            for record in sorted_records(choice.records)
        ),
        notes=tuple(dict.fromkeys(Note(m.kind, name + m) for name, c in labelled for m in c.notes)),
        error=ErrorEstimate(error, seen, "classes" if len(pairs) == 1 else "pairs"),
        held_out=_held_out(pairs, held_out, sigmoids) if len(pairs) == 1 else None,
        prior=choices[0].prior if len(choices) == 1 else None,
        share=float(np.mean([pair.share for pair in pairs])),
        charge=float(sum(c.charge for c in choices)),
        machines=machines if len(machines) == len(pairs) else (),
    )
