"""The default: C, the kernel's parameters, and how far its length scales may part.

1. A coarse path on two of the folds: widths around the median distance, C growing along each, warm
   starts throughout; a width is left when its likelihood has fallen twice.
2. Gauss-Newton from the best cell, of two judged on all folds, under a vague prior; first on one
   round of folds, then on all rounds.
3. At the isotropic optimum a quadratic model predicts what separate length scales would gain at
   each spread tau, after paying for their freedom (``selection.deviations``). If clearly nothing,
   the isotropic kernel stays, at the price of one evaluation; if it is near, some steps tell. If
   something, Gauss-Newton descends at that tau, and tau is judged again where it ends; likewise
   from a narrow kernel, if two of the folds say that this leads to a better place. The sigmoid is
   then tempered: so many scales promise more than they keep.

It is a plan over the objective, the priors and the searches that ``select`` has, for any kernel. C
is chosen for machines trained on part of the rows; the final machine sees all of them and gets C
times that share, so that the penalty per point stays what it was. At small C, where most support
vectors are at the bound, the decision values and their sigmoid would otherwise not fit together.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from svmselect.criteria.likelihood import Unfolded
from svmselect.data import Pair
from svmselect.estimators.strategies.task import Task
from svmselect.kernels import RBF, Kernel
from svmselect.kernels.names import stem, vectors
from svmselect.parallel import Serial, one_thread
from svmselect.priors import Prior, Shrinkage, Together, Vague
from svmselect.search.base import Search, Space, State
from svmselect.search.gauss_newton import GaussNewton
from svmselect.search.run import Job, Outcome, Session, run
from svmselect.search.trace import Record
from svmselect.selection.deviations import Deviations
from svmselect.selection.hierarchy import isotropic, per_input
from svmselect.selection.look import Look
from svmselect.selection.objective import Posterior
from svmselect.selection.optimism import tempered
from svmselect.types import Array, ErrorEstimate, Evaluation, Note, Status


@dataclass(frozen=True)
class Constants:
    """What the default was decided with, by measurement (``benchmarks/auto.py``)."""

    C_spread: float = 2.0
    """Standard deviation of log C about 0 in the prior."""
    width_spread: float = 0.5
    """That of the mean log length scale about the median distance between rows."""
    other_spread: float = 2.0
    """That of the logarithm of any other parameter about the value given."""
    C_range: tuple[float, float] = (1e-4, 1e6)
    width_range: float = 50.0
    """How many times wider or narrower than the median distance is looked at."""
    ard_room: tuple[float, float] = (1.0, 3.0)
    """By how much more, in logarithms, single length scales may be shorter and longer."""
    narrower: tuple[float, ...] = (0.5, 0.25, 0.125)
    wider: tuple[float, ...] = (1.0, 2.0, 4.0)
    """Widths of the coarse path, in median distances, walked outward."""
    penalties: tuple[float, ...] = tuple(2.0 ** np.arange(-3.0, 12.5, 2.5))
    falls: int = 2
    """A path, and a side of widths, is left when it has become worse that often in a row."""
    coarse_folds: int = 2
    close: float = 3.0
    """In log-likelihood: how near to the best a cell of another width is judged on all folds."""
    gain: float = 0.02
    """In log-likelihood: a step that gains less is the last."""
    rough_gain: float = 0.1
    ard_gain: float = 0.05
    glance_gain: float = 0.5
    """The same on one round of folds, for separate length scales, and for a look ahead."""
    steps: int = 10
    ard_steps: int = 8
    attempts: int = 3
    taus: tuple[float, ...] = (0.125, 0.25, 0.5, 1.0)
    """Spreads of log length scales about their mean that are compared."""
    worth: float = 2.0
    """Gain in log marginal likelihood that pays for separate length scales."""
    hope: float = 3.0
    """A look ahead ends where it lacks more than so many times its last gain."""
    narrow: float = 0.4
    """Of the median distance: from where few inputs that matter would show."""
    grace: float = 0.5
    """Seconds that judging the choice on all folds may take when the time is over."""
    most_inputs: int = 1000
    """Inputs up to which separate length scales are thought of: their Hessian is as large as its
    square. ``ard="yes"`` insists."""


CONSTANTS = Constants()
EARLY = Note("early", "the search was stopped early; this is the best it had found")


@dataclass(frozen=True, eq=False)
class Choice:
    """What was chosen. P(+1 | f) = 1 / (1 + exp(slope f + offset)), one sigmoid a pair.

    ``C`` is for the final machines, trained on every row. ``value`` is the mean held-out
    log-likelihood, ``error`` the held-out error of p > 1/2, ``held_out`` the decision values behind
    both (NaN where a row is in no fold), ``tau`` the spread given to the log length scales (0: one
    length scale for all inputs), ``marginal`` the negative log marginal likelihood that kernels are
    compared by; ``hurried`` if there was no time to judge it on all folds.
    """

    C: float
    kernel: Kernel
    sigmoids: tuple[tuple[float, float], ...]
    value: float
    error: ErrorEstimate
    held_out: tuple[Array, ...]
    tau: float
    records: tuple[Record, ...]
    notes: tuple[Note, ...]
    seconds: float
    marginal: float = np.nan
    hurried: bool = False


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
class _Glance(GaussNewton):
    """Ends where too little is ahead: ``survey`` tells the marginal likelihood expected there."""

    survey: _Ard | None = field(default=None, repr=False, compare=False)
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


def choose(
    X: Array,
    pairs: Sequence[Pair],
    *,
    kernels: Sequence[Kernel] = (RBF(),),
    loss: str = "hinge",
    ard: str | bool = "auto",
    session: Session | None = None,
    stage: str = "",
    random_state: int | np.random.Generator | None = 0,
    start: tuple[float, Kernel] | None = None,
    threads: int = 1,
    constants: Constants = CONSTANTS,
) -> Choice:
    """Choose for inputs X and one or more two-class problems that share the choice.

    Of several ``kernels`` the one with the highest marginal likelihood is taken, with one more
    unit of log-likelihood asked of it for each parameter. ``ard``: "auto" lets the data decide,
    "yes" skips the comparison with one common scale, "no" keeps to it. ``start`` (C of the final
    machine, kernel) replaces the coarse path. ``session`` has the limits and is told of every
    evaluation; where it ends the search, the best so far is given. ``threads`` train folds side by
    side, to the same result.
    """
    began = time.perf_counter()
    session = Session(Serial()) if session is None else session
    unit = median_distance(X, random_state)
    first = len(session.records)
    with one_thread():
        made = []
        for i, kernel in enumerate(kernels):
            task = Task.of(X, pairs, isotropic(kernel), loss, threads)
            own = f"{stage}kernel{i}/" if len(kernels) > 1 else stage
            same = start is not None and isotropic(start[1]).names == task.kernel.names
            begin = start if same else None
            made.append(_Plan(task, session, own, unit, ard, constants).carried_out(begin))
        chosen = min(made, key=lambda choice: choice.marginal)
    records = tuple(session.records[first:])
    return replace(chosen, records=records, seconds=time.perf_counter() - began)


@dataclass(frozen=True, eq=False)
class _Ard:
    """The likelihood of separate length scales, from evaluations under the prior ``beside``."""

    beside: Prior
    names: tuple[str, ...]

    def expected(self, at: Evaluation, prior: Shrinkage, n: float) -> float:
        """The negative log marginal likelihood after descending, by the quadratic model."""
        assert at.hessian is not None
        assert at.gradient is not None
        model = Deviations.of(n * at.hessian, self.names)
        return n * at.value + model.expected(n * at.gradient, prior, at.point)

    def marginal(self, at: Evaluation, prior: Shrinkage, n: float) -> float:
        """The negative log marginal likelihood here."""
        assert at.hessian is not None
        model = Deviations.of(n * at.hessian, self.names)
        penalty = -prior.log_density(at.point, self.names)[0]
        return n * at.value + penalty + model.volume(prior, at.point)


@dataclass(frozen=True, eq=False)
class _Plan:
    """The steps for one kernel."""

    task: Task
    session: Session
    stage: str
    unit: float
    ard: str | bool
    constants: Constants

    def carried_out(self, begin: tuple[float, Kernel] | None) -> Choice:
        """Coarse, fine, separate scales; then the sigmoids."""
        best = self.isotropic(begin)
        notes: list[Note] = []
        d = self.task.data.X.shape[1]
        wanted = self.ard in ("auto", "yes", True)
        insist = self.ard in ("yes", True)
        parted = per_input(self.task.kernel, d)
        if wanted and d > 1 and vectors(("log C", *parted.names)) and self.going:
            if d > self.constants.most_inputs and not insist:
                said = (
                    f"one length scale for all inputs: separate ones are tried up to "
                    f"{self.constants.most_inputs} inputs, or with ard='yes'"
                )
                notes.append(Note("choice", said))
            else:
                best, message = self.part_scales(best, parted, insist)
                notes.append(Note("choice", message))
        return self.concluded(best, notes)

    # -- the isotropic kernel

    def isotropic(self, begin: tuple[float, Kernel] | None) -> Place:
        """The optimum with one length scale for all inputs."""
        c, rounds = self.constants, self.task.rounds > 1
        whole = self.posterior(self.task.kernel)
        if begin is None:
            # one round first: a step on all of them costs several times more
            once = self.posterior(self.task.kernel, self.task.first_round) if rounds else whole
            cells = self.coarse()
            seen = self.look("cells", once, [cell.answer.point for cell in cells])
            if seen is None:
                return replace(cells[0], posterior=whole)
            place = self.descended("once" if rounds else "all", once, seen, c.rough_gain)
            if rounds:
                again = self.look("all/start", whole, [place.answer.point], place.outcome)
                if again is None:
                    return place
                place = again
        else:
            C, kernel = begin
            theta = isotropic(kernel).theta
            point = np.concatenate([[np.log(C / self.task.share)], theta])
            point = self.space(self.task.kernel).clip(point)
            looked = self.look("start", whole, [point])
            if looked is None:
                return Place(whole, Evaluation(point, np.inf), None)
            place = looked
        return self.descended("fine", whole, place, c.gain)

    def coarse(self) -> list[Place]:
        """Walk the path of each width; the best cell, and the best of another if it is close."""
        c = self.constants
        rough = self.posterior(self.task.kernel, c.coarse_folds)
        close = c.close / rough.objective.n
        tops: list[Place] = []
        scaled = self.lengths(self.task.kernel)
        for side in (c.narrower, c.wider) if scaled.any() else ((1.0,),):
            last, fallen = np.inf, 0
            for width in side:
                origin = self.centre(self.task.kernel)
                origin[scaled] += np.log(width)
                points = [(float(np.log(C)), *origin[1:].tolist()) for C in c.penalties]
                label = f"width {width:g}" if scaled.any() else "coarse"
                end = self.search(label, rough, Path(tuple(points), c.falls), origin)
                if end.best is None:
                    break
                tops.append(Place(rough, end.best.evaluation, end))
                fallen = fallen + 1 if end.best.loss > last else 0
                last = end.best.loss
                if fallen == c.falls:
                    break
        if not tops:
            return [Place(rough, Evaluation(self.centre(self.task.kernel), np.inf), None)]
        tops.sort(key=lambda top: top.answer.value)
        rivals = [top for top in tops[1:] if top.answer.value < tops[0].answer.value + close]
        return [tops[0], *rivals[:1]]

    # -- a length scale for each input

    def part_scales(self, common: Place, kernel: Kernel, insist: bool) -> tuple[Place, str]:
        """Give each input its own length scale if that pays; the place and a sentence."""
        c, posterior = self.constants, self.posterior(kernel)
        n = posterior.objective.n
        ard = _Ard(posterior.prior, posterior.objective.names)
        priors = [Shrinkage(tau) for tau in c.taus]
        late = ", as far as there was time to see"
        stays = "one length scale for all inputs: separate ones would not pay"
        same = self.spread_out(common.answer.point, kernel)
        here = self.look("scales", posterior, [same], common.outcome)
        if here is None:
            return common, stays + late
        judged: list[Place] = []
        tried = min(priors, key=lambda p: ard.expected(here.answer, p, n))
        middle = priors[len(priors) // 2]
        if ard.expected(here.answer, tried, n) <= common.height - c.worth or insist:
            judged += self.descents("scales", ard, here, tried, priors)
        elif ard.expected(here.answer, middle, n) <= common.height + c.worth:
            # so near the model's word is not enough: what a few steps bring is often much more
            at = self.ahead("near", ard, here, middle, common.height - c.worth)
            if at is not None:
                judged += self.descents("near", ard, at, middle, priors)
        elsewhere = self.elsewhere(common, kernel, priors[-1])
        if elsewhere is not None and self.going:
            there = self.look("elsewhere/start", posterior, [elsewhere.answer.point])
            if there is not None:
                judged += self.descents("elsewhere", ard, there, priors[-1], priors)
        if not judged:
            return common, stays + ("" if self.going else late)
        best = min(judged, key=lambda place: place.marginal)
        if best.marginal > common.height - c.worth and not insist:
            return common, "one length scale for all inputs: separate ones did not pay"
        gained = common.height - best.marginal
        return best, f"a length scale for each input (log evidence for it: {gained:+.1f})"

    def descents(
        self, label: str, ard: _Ard, here: Place, tried: Shrinkage, priors: list[Shrinkage]
    ) -> list[Place]:
        """Descend at this spread and at its neighbours as long as they promise more."""
        c, n = self.constants, here.posterior.objective.n
        judged: list[Place] = []
        while self.going:
            tight = self.under(here.posterior, tried)
            name = f"{label} tau={tried.tau:g}"
            here = self.descended(name, tight, here, c.ard_gain, c.ard_steps)
            value = ard.marginal(here.answer, tried, n)
            judged.append(replace(here, tau=tried.tau, marginal=value))
            seen = [place.tau for place in judged]
            others = [
                p for p in priors
                if p.tau not in seen and abs(np.log2(p.tau / tried.tau)) < 1.5
            ]  # fmt: skip
            if not others:
                break
            promised = {p: ard.expected(here.answer, p, n) for p in others}
            rival = min(others, key=lambda p: promised[p])
            if promised[rival] > value - 0.5 * c.worth:
                break
            tried = rival
        return judged

    def elsewhere(self, common: Place, kernel: Kernel, loose: Shrinkage) -> Place | None:
        """Where loose scales lead from a narrow kernel, if better than the isotropic optimum.

        Among inputs that say nothing the best single scale is wide, and from there no slope leads
        to the short scales of the few that do. A look at two of the folds costs little.
        """
        c = self.constants
        if self.task.data.X.shape[1] < 3 or not self.going:
            return None
        alike = self.posterior(self.task.kernel, c.coarse_folds)
        there = self.look("elsewhere/alike", alike, [common.answer.point], order=0)
        narrow = self.centre(kernel)
        narrow[self.lengths(kernel)] += np.log(c.narrow)
        parted = self.posterior(kernel, c.coarse_folds)
        at = self.look("elsewhere/narrow", parted, [self.space(kernel).clip(narrow)])
        if there is None or at is None:
            return None
        ard = _Ard(parted.prior, parted.objective.names)
        return self.ahead("elsewhere/ahead", ard, at, loose, there.height - c.worth)

    def ahead(
        self, label: str, ard: _Ard, at: Place, prior: Shrinkage, enough: float
    ) -> Place | None:
        """Where some steps lead, if the marginal likelihood is better than enough there."""
        c, n = self.constants, at.posterior.objective.n
        tight = self.under(at.posterior, prior)
        glance = _Glance(
            ftol=c.glance_gain / n, iterations=c.ard_steps, attempts=c.attempts,
            survey=ard, posterior=tight, prior=prior, enough=enough, hope=c.hope,
        )  # fmt: skip
        led = self.descended(label, tight, at, c.glance_gain, c.ard_steps, glance)
        return led if ard.marginal(led.answer, prior, n) < enough else None

    # -- pieces

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

    def lengths(self, kernel: Kernel) -> Array:
        """Which coordinates are length scales."""
        return np.array([False, *("length_scale" in name for name in kernel.names)])

    def centre(self, kernel: Kernel) -> Array:
        """C = 1, the median distance, and what is given of the rest."""
        point = np.concatenate([[0.0], kernel.theta])
        point[self.lengths(kernel)] = np.log(self.unit)
        return point

    def space(self, kernel: Kernel) -> Space:
        """The box that is searched; single length scales have more room."""
        c = self.constants
        names = ("log C", *kernel.names)
        box = np.vstack([np.log([c.C_range]), kernel.bounds])
        middle, reach = np.log(self.unit), np.log(c.width_range)
        box[self.lengths(kernel)] = middle - reach, middle + reach
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

    # -- the end

    def concluded(self, best: Place, notes: list[Note]) -> Choice:
        """Fit the sigmoids to what the folds' machines say at this place, and count errors."""
        kernel = best.posterior.objective.kernel
        full = self.posterior(kernel).objective
        made = full.kernel.at(best.answer.point[1:])
        C = float(np.exp(best.answer.point[0]))
        standing = None if best.outcome is None else best.outcome.standing
        # the machines of that evaluation, which may have looked at fewer folds
        trained = None if standing is None else standing.machines()
        folds = self.affordable(best.answer)
        context = full.context(made, C, trained=trained)
        unfolded = self.task.unfold(context, best.tau > 0.0, folds)
        if best.tau > 0.0:
            tight = self.under(best.posterior, Shrinkage(best.tau)).prior
            precision = -tight.hessian(best.answer.point, full.names)
            sigmoids = tempered(unfolded, precision, self.task.overlap)
        else:
            sigmoids = tuple((one.fit.slope, one.fit.offset) for one in unfolded)
        notes += self.edges(best.answer.point)
        if not self.going:
            notes.append(EARLY)
        mass = np.array([one.held.weights.sum() for one in unfolded])
        value = float(mass @ [one.fit.value for one in unfolded]) / float(mass.sum())
        marginal = best.marginal if best.tau > 0.0 else best.height
        count = len(isotropic(kernel).theta) + 1 + (best.tau > 0.0)
        return _choice(
            self.task, unfolded, sigmoids, C * self.task.share, made, value, best.tau,
            marginal + count, notes, folds is not None,
        )  # fmt: skip

    def affordable(self, answer: Evaluation) -> int | None:
        """How many folds to judge the choice on: all, or those seen already if time is over."""
        session, seen = self.session, answer.details.get("folds")
        if seen is None or session.max_time is None or self.going:
            return None
        every = self.task.first_round * self.task.rounds
        if answer.seconds * every / seen <= max(0.1 * session.max_time, self.constants.grace):
            return None
        return int(seen)

    def edges(self, point: Array) -> list[Note]:
        """Say what ended on the edge of the range that was searched."""
        c = self.constants
        told: list[Note] = []
        scaled = np.array(["length_scale" in name for name in self.names_at(point)])
        C_low, C_high = np.log(c.C_range)
        ranges = [("C", float(point[0]), (float(C_low), float(C_high)))]
        if scaled.any():
            middle, reach = float(np.log(self.unit)), float(np.log(c.width_range))
            mean = float(point[1:][scaled].mean())
            ranges.append(("the length scale", mean, (middle - reach, middle + reach)))
        for name, value, (low, high) in ranges:
            if value <= low + 1e-9 or value >= high - 1e-9:
                side = "lower" if value <= low + 1e-9 else "upper"
                told.append(Note("edge", f"{name} is at the {side} edge of the range searched"))
        return told

    def names_at(self, point: Array) -> tuple[str, ...]:
        """Names of the parameters of a point: of the isotropic kernel, or of that with vectors."""
        kernel = self.task.kernel
        if len(point) - 1 == len(kernel.names):
            return kernel.names
        return per_input(kernel, self.task.data.X.shape[1]).names


def _choice(
    task: Task,
    unfolded: Sequence[Unfolded],
    sigmoids: tuple[tuple[float, float], ...],
    C: float,
    kernel: Kernel,
    value: float,
    tau: float,
    marginal: float,
    notes: list[Note],
    hurried: bool,
) -> Choice:
    """Gather the final record; the error is of p > 1/2, its spread that of a mean over rows."""
    held_out = task.held_out(unfolded)
    wrong, weight = [], []
    for pair, f, (slope, offset) in zip(task.pairs, held_out, sigmoids, strict=True):
        seen = np.isfinite(f)
        wrong.append(pair.y[seen] * -(slope * f[seen] + offset) <= 0)
        weight.append(pair.weights[seen])
    w = np.concatenate(weight)
    error = float(w @ np.concatenate(wrong)) / float(w.sum())
    estimate = ErrorEstimate(error, task.overlap * float(w.sum()), _of(task.pairs))
    return Choice(
        C,
        kernel,
        sigmoids,
        value,
        estimate,
        held_out,
        tau,
        (),
        tuple(notes),
        0.0,
        marginal,
        hurried,
    )


def _of(pairs: Sequence[Pair]) -> str:
    """What an error counted pair by pair is of."""
    return "classes" if len(pairs) == 1 else "pairs"


def median_distance(X: Array, random_state: int | np.random.Generator | None) -> float:
    """The median distance between rows (of a sample of at most 500)."""
    rng = np.random.default_rng(random_state)
    rows = X if len(X) <= 500 else X[rng.choice(len(X), 500, replace=False)]
    squares = np.einsum("ij,ij->i", rows, rows)
    d2 = (squares[:, None] + squares - 2.0 * rows @ rows.T)[np.triu_indices(len(rows), 1)]
    d2 = d2[d2 > 1e-12 * max(float(squares.max(initial=0.0)), 1e-300)]
    return float(np.sqrt(np.median(d2))) if len(d2) else 1.0
