"""How a selection is run: from what was asked for to searches, from searches to a result."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from svmselect.criteria import Criterion, get_criterion
from svmselect.data import Dataset, data_hash
from svmselect.kernels import Kernel, as_kernel
from svmselect.kernels.names import vectors
from svmselect.parallel import pool, single_threaded
from svmselect.priors import Box, Flat, Hierarchical, Prior, Shrinkage, Together, as_prior
from svmselect.search import Search, Space, get_search
from svmselect.search import available as all_searches
from svmselect.search.checkpoint import Journal, seed_of
from svmselect.search.run import Job, Outcome, Progress, Session, run
from svmselect.search.starts import make_space, make_starts
from svmselect.search.trace import Record, Trace, provenance, sorted_records
from svmselect.selection.hierarchy import Climb, climb
from svmselect.selection.objective import Objective, Posterior
from svmselect.selection.result import Selection
from svmselect.types import Array, ErrorEstimate, Evaluation, IntArray, Note, Status


@dataclass(frozen=True, eq=False)
class Form:
    """One kernel to be searched: where from, and in which box."""

    kernel: Kernel
    starts: tuple[Array, ...]
    space: Space


@dataclass(frozen=True, eq=False)
class Plan:
    """A selection that has been checked: everything but limits, workers and files.

    ``remedy`` is what to do about a result on the edge of the search box.
    """

    data: Dataset
    criterion: Criterion
    search: Search[Any]
    forms: tuple[Form, ...]
    loss: str
    fit_intercept: bool
    prior: Prior | Hierarchical
    seed: int
    validation: Dataset | None
    patience: int
    settings: Mapping[str, str]
    remedy: str = ""

    @classmethod
    def of(
        cls,
        data: Dataset,
        criterion: str | Criterion,
        options: Mapping[str, Any] | None,
        search: str | Search[Any],
        kernel: Any,
        loss: str,
        fit_intercept: bool,
        prior: Any,
        start: Any,
        bounds: Any,
        n_starts: int,
        random_state: int | np.random.Generator | None,
        checkpoint: str | os.PathLike[str] | None,
        validation: tuple[Any, Any] | None,
        patience: int,
    ) -> Plan:
        """Check it all before any work."""
        if n_starts < 1:
            raise ValueError(f"n_starts must be 1 or more, got {n_starts}")
        seed = _seed(random_state, checkpoint)
        judge = _criterion(criterion, options, None if random_state is None else seed)
        seeker = _search(search, judge, loss)
        kernels = list(kernel) if isinstance(kernel, list | tuple) else [kernel]
        if not kernels:
            raise ValueError("the list of kernels is empty; give at least one")
        belief = as_prior(prior)
        forms = []
        for one in kernels:
            form = as_kernel(one)
            Objective(data, form, judge, loss, fit_intercept)  # refuses what does not fit
            points = make_starts(start, data, form, n_starts, isinstance(one, str), seed)
            space = _within(make_space(data, form, bounds, points), belief)
            forms.append(Form(form, tuple(space.clip(p) for p in points), space))
        held = None if validation is None else _validation(validation, data)
        settings = {
            "criterion": repr(judge),
            "search": repr(seeker),
            "kernel": repr([form.kernel for form in forms]),
            "loss": repr(loss),
            "fit_intercept": repr(bool(fit_intercept)),
            "prior": repr(belief),
            "starts": repr([[p.tolist() for p in form.starts] for form in forms]),
            "box": repr([[f.space.lower.tolist(), f.space.upper.tolist()] for f in forms]),
        }
        if held is not None:
            settings["validation"] = f"{data_hash(held.X, held.y, held.weights)}, {patience}"
        return cls(
            data, judge, seeker, tuple(forms), loss, fit_intercept, belief, seed, held, patience,
            settings, "give `bounds` that reach further" if bounds is None else "widen `bounds`",
        )  # fmt: skip

    def posterior(self, kernel: Kernel, prior: Prior) -> Posterior:
        """What is minimised for one kernel."""
        objective = Objective(self.data, kernel, self.criterion, self.loss, self.fit_intercept)
        return Posterior(objective, prior.bind(self.data, kernel), self.validation)

    def jobs(self, form: Form, prior: Prior, stage: str = "") -> list[Job]:
        """One run for each start."""
        function = self.posterior(form.kernel, prior)
        seeds = np.random.SeedSequence(self.seed).generate_state(len(form.starts))
        early = self.patience if self.validation is not None else None
        return [
            Job(f"{stage}{i}", function, self.search, x, form.space, int(s), early)
            for i, (x, s) in enumerate(zip(form.starts, seeds, strict=True))
        ]

    def run(
        self,
        budget: int | None = None,
        max_time: float | None = None,
        n_jobs: int | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        callback: Callable[[Progress], Any] | None = None,
    ) -> Selection:
        """Search, within these limits, by these workers, and take the best."""
        if budget is not None and budget < 1:
            raise ValueError(f"budget must be 1 or more evaluations, got {budget}")
        names = ("log C", *self.forms[0].kernel.names)
        digest = data_hash(self.data.X, self.data.y, self.data.weights)
        header = provenance(self.seed, digest, names, self.settings)
        journal = None if checkpoint is None else Journal(checkpoint, header)
        with pool(n_jobs) as workers:
            session = Session(workers, journal, callback, budget, max_time)
            return _chosen(self, session, header, checkpoint)


def _chosen(plan: Plan, session: Session, header: Mapping[str, Any], path: Any) -> Selection:
    """Search every kernel and take the best."""
    several = len(plan.forms) > 1
    stages = [f"kernel{i}/" if several else "" for i in range(len(plan.forms))]
    ends: list[_End] = []
    if isinstance(plan.prior, Hierarchical):
        for form, stage in zip(plan.forms, stages, strict=True):
            found = climb(plan.jobs(form, Flat(), stage), plan.prior, session, stage)
            ends.append(_End.of_climb(found, plan.prior))
    else:
        jobs = [
            plan.jobs(form, plan.prior, stage)
            for form, stage in zip(plan.forms, stages, strict=True)
        ]
        outcomes = run([job for part in jobs for job in part], session)
        for part in jobs:
            ends.append(_End(plan.prior, tuple(outcomes[: len(part)]), {}))
            outcomes = outcomes[len(part) :]
    records = tuple(sorted_records(session.records, session.runs))
    trace = Trace(records, header, None if path is None else Path(path))
    made = [
        conclude(plan, form, end, trace, session)
        for form, end in zip(plan.forms, ends, strict=True)
    ]
    candidates = tuple(selection for selection in made if selection is not None)
    if not candidates and session.halted is not None and session.halted.name == "time":
        alone = conclude(plan, plan.forms[0], _unjudged(plan.forms[0], ends[0]), trace, session)
        candidates = () if alone is None else (alone,)
    if not candidates:
        reasons = dict.fromkeys(str(o.status) for end in ends for o in end.outcomes)
        raise ValueError(
            f"no evaluation gave a finite value ({'; '.join(reasons)}); standardise the inputs, "
            "give another start, or bounds that keep C and the kernel where the machine can be "
            "trained"
        )
    best = min(candidates, key=lambda selection: selection.details["rank"])
    cut_short = best.status.name in ("budget", "time", "callback", "interrupted")
    for note in best.notes:
        if note.kind == "edge" and not cut_short:
            warnings.warn(str(note), UserWarning, stacklevel=4)
    return replace(best, candidates=candidates) if several else best


@dataclass(frozen=True, eq=False)
class _End:
    """How the search of one kernel ended: the prior that holds there, and its runs."""

    prior: Prior
    outcomes: tuple[Outcome, ...]
    details: dict[str, Any]

    @classmethod
    def of_climb(cls, found: Climb, asked: Hierarchical) -> _End:
        tau = found.best.tau
        tight = Together((Shrinkage(tau, asked.tails), asked.beside))
        prior = tight if tau > 0 else asked.beside
        details = {"tau": tau, "marginals": found.marginals, "marginal": found.best.marginal}
        return cls(prior, (found.best.outcome,), details)


def _unjudged(form: Form, end: _End) -> _End:
    """The start of a kernel's first run, as its result: there was no time to evaluate it."""
    point, names, first = form.starts[0], form.space.names, end.outcomes[0]
    answer = Evaluation(point, np.nan, details={"value": np.nan, "validation": np.nan})
    record = Record(first.job.label, 0, names, answer)
    return replace(end, outcomes=(replace(first, best=record),))


def conclude(plan: Plan, form: Form, end: _End, trace: Trace, session: Session) -> Selection | None:
    """Take the best of the runs, train the machine, and say what should be known."""
    ended = [o for o in end.outcomes if o.best is not None]
    if not ended:
        return None
    # with a validation set its error decides among starts too
    early = plan.validation is not None
    winner = min(ended, key=lambda o: _rank(o, early))
    record = winner.best
    assert record is not None
    posterior = plan.posterior(form.kernel, end.prior)
    solution = single_threaded(posterior.objective.train, record.point)
    notes = [] if session.halted is None else [_ended(session.halted)]
    notes += [n for n in dict.fromkeys(_ended(o.status) for o in end.outcomes) if n not in notes]
    if not solution.status.ok:
        notes.append(Note("status", f"the final machine is {solution.status}"))
    if session.halted is None:
        notes += _on_edge(winner, form.space.names, plan.remedy)
    data, error = plan.data, None
    seen = record.evaluation.details
    if "error" in seen:
        error = ErrorEstimate(seen["error"], posterior.objective.n)
    return Selection(
        criterion=plan.criterion.name,
        loss=plan.loss,
        fit_intercept=plan.fit_intercept,
        error=error,
        problem=data,
        rows=len(data),
        kept=int(np.count_nonzero(data.weights)),
        folds=int(seen.get("folds", 0)),
        folded="folds" in seen,
        members=tuple(float(data.weights[data.y == sign].sum()) for sign in (-1.0, 1.0)),
        seed=plan.seed,
        seconds=trace.seconds,
        C=float(np.exp(record.point[0])),
        kernel=form.kernel.at(record.point[1:]),
        value=record.value,
        trace=trace,
        solution=solution,
        status=session.halted or winner.status,
        notes=tuple(notes),
        record=record,
        posterior=posterior,
        prior=None if isinstance(posterior.prior, Flat) else posterior.prior,
        outcomes=end.outcomes,
        details=end.details | {"rank": _abic(plan, form, winner, end)},
    )


def _abic(plan: Plan, form: Form, winner: Outcome, end: _End) -> float:
    """What kernels are compared by: the loss, plus 1/n for each hyperparameter that was fitted.

    Half the ABIC over n, for log-likelihoods and evidences (Kwok's has a price of its own for C).
    With a hierarchical prior the length scales that were integrated out do not count, but tau does.
    Error estimates and criteria that count their parameters themselves are compared as they are.
    """
    assert winner.best is not None
    n = float(plan.data.weights.sum())
    if plan.validation is not None:
        return winner.best.evaluation.details["validation"]
    if plan.criterion.units not in ("mean", "total"):
        return winner.best.loss
    price = plan.criterion.price_of_C(winner.best.evaluation.details)
    count = len(form.space) - 1 + price
    if "marginal" in end.details:
        count -= sum(len(group) - 1 for group in vectors(form.space.names))
        return float(end.details["marginal"] + count + (end.details["tau"] > 0)) / n
    return winner.best.loss + count / n


def _rank(outcome: Outcome, early: bool) -> tuple[float, float]:
    assert outcome.best is not None
    error = outcome.best.evaluation.details["validation"] if early else 0.0
    return error, outcome.best.loss


def _ended(status: Status) -> Note:
    """How a run ended, as a remark."""
    return Note("course" if status.name == "converged" else status.name, str(status))


def _on_edge(outcome: Outcome, names: tuple[str, ...], remedy: str) -> list[Note]:
    """Sentences about parameters that ended on the edge of the search box.

    One of several length scales at its upper edge is no accident: that input does not matter.
    """
    assert outcome.best is not None
    (low, high), x = outcome.edges, outcome.best.point
    open_ = high > low
    lower = open_ & (x <= low + 1e-6 * (high - low))
    upper = open_ & (x >= high - 1e-6 * (high - low))
    idle: list[int] = []
    for group in vectors(names):
        beyond = [k for k in group if upper[k]]
        if "length_scale" in names[group[0]] and len(beyond) < len(group):
            idle += beyond
    upper[idle] = False

    def listed(where: Sequence[int] | IntArray) -> str:
        shown = [f"{names[k].removeprefix('log ')} = {np.exp(x[k]):.4g}" for k in where[:5]]
        return ", ".join(shown) + (", ..." if len(where) > 5 else "")

    parts = [
        f"on the {word} edge of the search box: {listed(np.flatnonzero(hit))}"
        for word, hit in (("lower", lower), ("upper", upper))
        if hit.any()
    ]
    said: list[Note] = []
    if parts:
        said.append(Note("edge", f"the result lies {'; '.join(parts)}; {remedy} or look again"))
    if idle:
        text = f"without influence, at the upper edge of the search box: {listed(idle)}"
        said.append(Note("course", text))
    return said


def _seed(random_state: Any, checkpoint: Any) -> int:
    if random_state is None:
        known = seed_of(checkpoint)
        return int(np.random.SeedSequence().generate_state(1)[0]) if known is None else known
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**32))
    return int(random_state)


def _criterion(
    criterion: str | Criterion, options: Mapping[str, Any] | None, seed: int | None
) -> Criterion:
    chosen = dict(options or {})
    if isinstance(criterion, str) and seed is not None:
        chosen.setdefault("random_state", seed)
    return get_criterion(criterion, **chosen)


def _search(search: str | Search[Any], criterion: Criterion, loss: str) -> Search[Any]:
    smooth = criterion.differentiable_for(loss)
    if search == "auto":
        search = "lbfgs" if smooth else "cma-es"
    found = get_search(search)
    if found.gradients and not smooth:
        others = [name for name, cls in all_searches().items() if not cls.gradients]
        raise ValueError(
            f"search {found.name!r} follows gradients and {criterion.name!r} with these options "
            f"has none; searches without: {', '.join(others)}"
        )
    if found.hessians and not criterion.curved:
        raise ValueError(
            f"search {found.name!r} needs a Hessian and {criterion.name!r} with these options has "
            "none ('likelihood' and 'evidence-ep' do); use 'lbfgs', which needs gradients only"
        )
    return found


def _within(space: Space, prior: Prior | Hierarchical) -> Space:
    """The part of the box that the prior allows."""
    parts = prior.parts if isinstance(prior, Together) else (prior,)
    for part in parts:
        if isinstance(part, Box):
            low, high = part.limits(space.names)
            space = replace(
                space, lower=np.maximum(space.lower, low), upper=np.minimum(space.upper, high)
            )
    if not (space.lower <= space.upper).all():
        raise ValueError("the box of the prior and the bounds have nothing in common")
    return space


def _validation(validation: tuple[Any, Any], data: Dataset) -> Dataset:
    held = Dataset.of(*validation)
    if held.X.shape[1] != data.X.shape[1] or not np.array_equal(held.classes, data.classes):
        raise ValueError(
            f"the validation set has {held.X.shape[1]} columns and classes "
            f"{held.classes.tolist()}; the training set {data.X.shape[1]} and "
            f"{data.classes.tolist()}"
        )
    return held
