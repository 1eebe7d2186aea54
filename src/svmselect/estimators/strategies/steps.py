"""What steps of a strategy are made of: objectives, boxes, and runs that follow one another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from svmselect.estimators.strategies.constants import Constants
from svmselect.estimators.strategies.task import Task
from svmselect.kernels import Kernel
from svmselect.kernels.names import are_lengths, stem, vectors
from svmselect.kernels.stationary import Stationary
from svmselect.kernels.tiles import Distances
from svmselect.priors import Prior, Shrinkage, Together, Vague
from svmselect.search.base import Search, Space, State
from svmselect.search.gauss_newton import GaussNewton
from svmselect.search.run import Job, Outcome, Session, run
from svmselect.selection.deviations import Deviations
from svmselect.selection.look import Look
from svmselect.selection.objective import Posterior
from svmselect.types import Array, BoolArray, Evaluation, Status

_SAMPLE = 500  # rows that the typical distance is found from


@dataclass(frozen=True, eq=False)
class Place:
    """Where a search ended: an evaluation under the prior without tau, and the run behind it."""

    posterior: Posterior
    answer: Evaluation
    outcome: Outcome | None
    tau: float = 0.0
    marginal: float = np.inf

    @property
    def height(self) -> float:
        """The negative log posterior of all data."""
        return self.posterior.objective.n * self.answer.value


@dataclass(frozen=True)
class Path(Search[State]):
    """Points one after another until the loss has risen ``falls`` times in a row."""

    points: tuple[tuple[float, ...], ...]
    falls: int

    name = "path"
    reference = "none"

    def start(self, point: Array, space: Space, seed: int) -> State:
        return _Walk(space=space, pending=(np.array(self.points[0]),))

    def tell(self, state: State, answers: Sequence[Evaluation]) -> State:
        assert isinstance(state, _Walk)
        (answer,) = answers
        fallen = state.fallen + 1 if answer.value > state.last else 0
        state = replace(state, taken=state.taken + 1, last=answer.value, fallen=fallen)
        if fallen == self.falls or state.taken == len(self.points):
            return replace(state, stopped=Status("converged", "the path is at its end"))
        return replace(state, pending=(np.array(self.points[state.taken]),))


@dataclass(frozen=True, kw_only=True, eq=False)
class _Walk(State):
    taken: int = 0
    last: float = np.inf
    fallen: int = 0


@dataclass(frozen=True)
class Glance(GaussNewton):
    """Ends where too little is ahead: ``survey`` tells the marginal likelihood expected there."""

    survey: Ard | None = field(default=None, repr=False, compare=False)
    posterior: Posterior | None = field(default=None, repr=False, compare=False)
    prior: Shrinkage = field(default_factory=lambda: Shrinkage(1.0))
    enough: float = np.inf
    hope: float = 3.0

    def hopeless(self, at: Evaluation, gained: float) -> bool:
        assert self.survey is not None
        assert self.posterior is not None
        n = self.posterior.objective.n
        here = self.posterior.under(self.survey.beside, at)
        missing = self.survey.expected(here, self.prior, n) - self.enough
        return missing > self.hope * n * gained


@dataclass(frozen=True, eq=False)
class Ard:
    """The likelihood of separate length scales, from evaluations under the prior ``beside``."""

    beside: Prior
    names: tuple[str, ...]
    models: dict[int, tuple[Array, Deviations]] = field(default_factory=dict, repr=False)

    def model(self, at: Evaluation, n: float) -> Deviations:
        """The quadratic model at an evaluation, decomposed once for all that ask about it."""
        H = at.hessian
        assert H is not None
        if id(H) not in self.models:
            self.models[id(H)] = H, Deviations.of(n * H, self.names)
        return self.models[id(H)][1]

    def expected(self, at: Evaluation, prior: Shrinkage, n: float) -> float:
        """The negative log marginal likelihood after descending, by the quadratic model."""
        assert at.gradient is not None
        model = self.model(at, n)
        return n * at.value + model.expected(n * at.gradient, prior, at.point)

    def marginal(self, at: Evaluation, prior: Shrinkage, n: float) -> float:
        """The negative log marginal likelihood here."""
        model = self.model(at, n)
        penalty = -prior.log_density(at.point, self.names)[0]
        return n * at.value + penalty + model.volume(prior, at.point)


@dataclass(frozen=True, eq=False)
class Unit:
    """The typical distance between rows, in the metric of a kernel: the median of a sample's."""

    rows: Array
    known: dict[type[Distances], float] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, X: Array, random_state: int | np.random.Generator | None) -> Unit:
        """Of at most ``_SAMPLE`` rows."""
        if len(X) > _SAMPLE:
            X = X[np.random.default_rng(random_state).choice(len(X), _SAMPLE, replace=False)]
        return cls(X)

    def log(self, leaf: Kernel) -> float:
        """Its logarithm, 0 for a kernel without a metric."""
        if not isinstance(leaf, Stationary):
            return 0.0
        if leaf.distances not in self.known:
            self.known[leaf.distances] = leaf.distances.typical(self.rows)
        return float(np.log(self.known[leaf.distances]))


@dataclass(frozen=True, eq=False)
class Steps:
    """The ground for one kernel: the task, the session that limits it, and how runs are labelled.

    ``unit`` is the typical distance between rows.
    """

    task: Task
    session: Session
    stage: str
    unit: Unit
    constants: Constants

    @property
    def going(self) -> bool:
        """Whether there is time left and nobody said stop."""
        self.session.check_time()
        return self.session.halted is None

    def posterior(self, kernel: Kernel, folds: int | None = None) -> Posterior:
        """The objective for a kernel on these folds, under the prior without tau."""
        c = self.constants
        centre = self.centre(kernel)
        beside = Vague(c.C_spread, c.width_spread, c.other_spread, centre)
        return Posterior(self.task.objective(kernel, folds), beside)

    def under(self, posterior: Posterior, shrinkage: Shrinkage) -> Posterior:
        """The same with the length scales drawn together."""
        return replace(posterior, prior=Together((posterior.prior, shrinkage)))

    def lengths(self, kernel: Kernel) -> BoolArray:
        """Which coordinates are length scales."""
        return are_lengths(("log C", *kernel.names))

    def centre(self, kernel: Kernel) -> Array:
        """C = 1, the median distance, and what is given of the rest."""
        point = np.concatenate([[0.0], kernel.theta])
        scaled = self.lengths(kernel)
        point[scaled] = self.typical(kernel)[scaled]
        return point

    def typical(self, kernel: Kernel) -> Array:
        """The logarithm of the typical distance for each coordinate that is a length scale."""
        parts = [np.full(len(leaf.theta), self.unit.log(leaf)) for leaf in kernel.leaves()]
        return np.concatenate([[0.0], *parts])

    def space(self, kernel: Kernel) -> Space:
        """The box that is searched; single length scales have more room."""
        c = self.constants
        names = ("log C", *kernel.names)
        box = np.vstack([np.log([c.C_range]), kernel.bounds])
        scaled = self.lengths(kernel)
        reach = np.log(c.width_range) * np.array([-1.0, 1.0])
        box[scaled] = self.typical(kernel)[scaled, None] + reach
        for group in vectors(names):
            box[group] += np.array([-c.ard_room[0], c.ard_room[1]])
        return Space(names, box[:, 0].copy(), box[:, 1].copy())

    def spread_out(self, point: Array, kernel: Kernel) -> Array:
        """A point of the isotropic kernel as one of the kernel with vectors."""
        short = dict(zip(("log C", *self.task.kernel.names), point.tolist(), strict=True))
        return np.array([short[stem(name)] for name in ("log C", *kernel.names)])

    def search(
        self,
        label: str,
        posterior: Posterior,
        search: Search[Any],
        start: Array,
        after: Outcome | None = None,
    ) -> Outcome:
        """One run."""
        space = self.space(posterior.objective.kernel)
        job = Job(f"{self.stage}{label}", posterior, search, start, space, 0, after=after)
        return run([job], self.session)[0]

    def look(
        self,
        label: str,
        posterior: Posterior,
        points: Iterable[Array],
        after: Outcome | None = None,
        order: int = 2,
    ) -> Place | None:
        """The best of some points; None if there was no time."""
        listed = tuple(tuple(point.tolist()) for point in points)
        search = Look(listed, order)
        end = self.search(label, posterior, search, np.array(listed[0]), after)
        return None if end.best is None else Place(posterior, end.best.evaluation, end)

    def descended(
        self,
        label: str,
        posterior: Posterior,
        place: Place,
        gain: float,
        steps: int | None = None,
        search: GaussNewton | None = None,
    ) -> Place:
        """Where Gauss-Newton ends under the prior of ``posterior``, as seen under the other's."""
        c = self.constants
        most = c.steps if steps is None else steps
        ftol = gain / posterior.objective.n
        made = search or GaussNewton(ftol=ftol, iterations=most, attempts=c.attempts)
        known = place.posterior.under(posterior.prior, place.answer)
        made = replace(made, begin=known)
        end = self.search(label, posterior, made, place.answer.point, place.outcome)
        if end.best is None or not end.best.loss < known.value:
            return place
        back = posterior.under(place.posterior.prior, end.best.evaluation)
        return Place(place.posterior, back, end)
