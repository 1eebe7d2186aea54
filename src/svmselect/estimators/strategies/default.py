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
   then tempered: so many scales promise more than they keep. Where numbers and ``categories``
   are mixed, there is another start, at which categories have shorter scales than numbers.

It is a plan over the objective, the priors and the searches that ``select`` has, for any kernel. C
is chosen for machines trained on part of the rows; the final machine sees all of them and gets C
times that share, so that the penalty per point stays what it was. At small C, where most support
vectors are at the bound, the decision values and their sigmoid would otherwise not fit together.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from svmselect.data import Pair
from svmselect.estimators.strategies.choice import Choice, conclude
from svmselect.estimators.strategies.constants import CONSTANTS, Constants
from svmselect.estimators.strategies.steps import Ard, Glance, Path, Place, Steps, Unit
from svmselect.estimators.strategies.task import Task
from svmselect.kernels import RBF, Kernel
from svmselect.kernels.names import vectors
from svmselect.parallel import Serial, one_thread
from svmselect.priors import Shrinkage
from svmselect.search.run import Session
from svmselect.search.trace import Record
from svmselect.selection.hierarchy import isotropic, per_input
from svmselect.selection.objective import Posterior
from svmselect.types import Array, Evaluation, Note


@dataclass(frozen=True, eq=False)
class Coarse:
    """What walking the coarse path has found: the best cells, and all that were tried."""

    kernel: Kernel
    loss: str
    cells: tuple[Place, ...]
    records: tuple[Record, ...]

    def serves(self, steps: Steps) -> bool:
        """Whether these steps begin with it; a checkpoint has each evaluation, so it is walked."""
        same = self.kernel == steps.task.kernel and self.loss == steps.task.loss
        return same and steps.session.journal is None


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
    tau: float = 0.0,
    threads: int = 1,
    categories: Sequence[int] = (),
    coarse: Coarse | None = None,
    constants: Constants = CONSTANTS,
) -> Choice:
    """Choose for inputs X and one or more two-class problems that share the choice.

    Of several ``kernels`` the one with the highest marginal likelihood is taken, with one more
    unit of log-likelihood asked of it for each parameter. ``ard``: "auto" lets the data decide,
    "yes" skips the comparison with one common scale, "no" keeps to it. ``start`` (C of the final
    machine, kernel) replaces the coarse path; with a ``tau``, its length scales are known to part
    so far, and a descent from them is all. ``session`` has the limits and is told of every
    evaluation; where it ends the search, the best so far is given. ``threads`` train folds side by
    side, to the same result. ``categories`` are variables that may weigh more than numbers.
    ``coarse`` is what is known of the coarse path of one of the kernels, for these pairs and X.
    """
    began = time.perf_counter()
    session = Session(Serial()) if session is None else session
    unit = Unit.of(X, random_state)
    first = len(session.records)
    with one_thread():
        made: list[Choice] = []
        for i, kernel in enumerate(kernels):
            task = Task.of(X, pairs, isotropic(kernel), loss, threads)
            own = f"{stage}kernel{i}/" if len(kernels) > 1 else stage
            same = start is not None and isotropic(start[1]).names == task.kernel.names
            begin = start if same else None
            steps = Steps(task, session, own, unit, constants)
            known = coarse if coarse is not None and coarse.serves(steps) else None
            if known is not None and begin is None:
                for one in known.records:  # told of now: a look is nobody's but the choice's
                    if session.halted is None:
                        session.note(replace(one, run=f"{own}{one.run}"), fresh=True)
            plan = _Plan(steps, ard, tuple(categories), known)
            made.append(plan.further(begin, tau) if begin and tau > 0.0 else plan.run(begin))
        chosen = min(made, key=lambda choice: choice.marginal)
    records = tuple(session.records[first:])
    return replace(chosen, records=records, seconds=time.perf_counter() - began)


def promises_more(
    inputs: Sequence[Array],
    pairs: Sequence[Pair],
    kernel: Kernel,
    loss: str,
    session: Session,
    random_state: int | np.random.Generator | None = 0,
    constants: Constants = CONSTANTS,
) -> tuple[float, tuple[Coarse, ...]]:
    """Return how much more the second of two forms of the inputs promises, in log posterior.

    By the best cells of their coarse paths, on few folds; where the second one leads there, on all
    folds of the first round. And the coarse paths, unless time was over.
    """
    rough, whole, walked = [], [], []
    with one_thread():
        for X in inputs:
            task = Task.of(X, pairs, isotropic(kernel), loss, 1)
            steps = Steps(task, session, "", Unit.of(X, random_state), constants)
            first = len(session.records)
            cells = _Plan(steps, "no").coarse()
            rough.append(cells[0].height)
            whole.append((steps, [cell.answer.point for cell in cells]))
            walked.append(Coarse(task.kernel, loss, tuple(cells), tuple(session.records[first:])))
        if session.halted is not None:
            return -np.inf, ()
        if not rough[1] < rough[0]:
            return -np.inf, tuple(walked)
        heights = []
        for steps, points in whole:
            once = steps.posterior(steps.task.kernel, steps.task.first_round)
            seen = steps.look("cells", once, points, order=0)
            heights.append(np.inf if seen is None else seen.height)
    gain = float(heights[0] - heights[1]) if np.isfinite(heights).all() else -np.inf
    return gain, tuple(walked)


@dataclass(frozen=True, eq=False)
class _Plan:
    """The plan for one kernel."""

    steps: Steps
    ard: str | bool
    categories: tuple[int, ...] = ()
    known: Coarse | None = None

    def run(self, begin: tuple[float, Kernel] | None) -> Choice:
        """Coarse, fine, separate scales; then the sigmoids."""
        best = common = self.isotropic(begin)
        notes: list[Note] = []
        d = self.steps.task.data.X.shape[1]
        wanted = self.ard in ("auto", "yes", True)
        insist = self.ard in ("yes", True)
        parted = per_input(self.steps.task.kernel, d)
        if wanted and d > 1 and vectors(("log C", *parted.names)) and self.steps.going:
            if d > self.steps.constants.most_inputs and not insist:
                said = (
                    f"one length scale for all inputs: separate ones are tried up to "
                    f"{self.steps.constants.most_inputs} inputs, or with ard='yes'"
                )
                notes.append(Note("choice", said))
            else:
                best, message = self.part_scales(best, parted, insist)
                notes.append(Note("choice", message))
        return conclude(self.steps, best, notes, common)

    def further(self, begin: tuple[float, Kernel], tau: float) -> Choice:
        """From separate length scales that are known, on data much like these; then sigmoids."""
        C, kernel = begin
        kernel = per_input(self.steps.task.kernel, self.steps.task.data.X.shape[1]).at(kernel.theta)
        posterior, tried = self.steps.posterior(kernel), Shrinkage(tau)
        point = np.concatenate([[np.log(C / self.steps.task.share)], kernel.theta])
        point = self.steps.space(kernel).clip(point)
        here = self.steps.look("start", posterior, [point])
        if here is None:
            return conclude(self.steps, Place(posterior, Evaluation(point, np.inf), None, tau), [])
        ard = Ard(posterior.prior, posterior.objective.names)
        value = ard.marginal(here.answer, tried, posterior.objective.n)
        still = replace(here, tau=tau, marginal=value)  # if there is no time for a step
        judged = self.descents("scales", ard, here, tried, [tried])
        return conclude(self.steps, judged[0] if judged else still, [])

    # -- the isotropic kernel

    def isotropic(self, begin: tuple[float, Kernel] | None) -> Place:
        """The optimum with one length scale for all inputs."""
        c, rounds = self.steps.constants, self.steps.task.rounds > 1
        kernel = self.steps.task.kernel
        whole = self.steps.posterior(kernel)
        if begin is None:
            # one round first: a step on all of them costs several times more
            once = self.steps.posterior(kernel, self.steps.task.first_round) if rounds else whole
            cells = self.coarse() if self.known is None else self.known.cells
            seen = self.steps.look("cells", once, [cell.answer.point for cell in cells])
            if seen is None:
                return replace(cells[0], posterior=whole)
            place = self.steps.descended("once" if rounds else "all", once, seen, c.rough_gain)
            if rounds:
                again = self.steps.look("all/start", whole, [place.answer.point], place.outcome)
                if again is None:
                    return place
                place = again
        else:
            C, before = begin
            theta = isotropic(before).theta
            point = np.concatenate([[np.log(C / self.steps.task.share)], theta])
            point = self.steps.space(kernel).clip(point)
            looked = self.steps.look("start", whole, [point])
            if looked is None:
                return Place(whole, Evaluation(point, np.inf), None)
            place = looked
        return self.steps.descended("fine", whole, place, c.gain)

    def coarse(self) -> list[Place]:
        """Walk the path of each width; the best cell, and the best of another if it is close."""
        c = self.steps.constants
        rough = self.steps.posterior(self.steps.task.kernel, c.coarse_folds)
        close = c.close / rough.objective.n
        tops: list[Place] = []
        scaled = self.steps.lengths(self.steps.task.kernel)
        for side in (c.narrower, c.wider) if scaled.any() else ((1.0,),):
            last, fallen = np.inf, 0
            for width in side:
                origin = self.steps.centre(self.steps.task.kernel)
                origin[scaled] += np.log(width)
                points = [(float(np.log(C)), *origin[1:].tolist()) for C in c.penalties]
                label = f"width {width:g}" if scaled.any() else "coarse"
                end = self.steps.search(label, rough, Path(tuple(points), c.falls), origin)
                if end.best is None:
                    break
                tops.append(Place(rough, end.best.evaluation, end))
                fallen = fallen + 1 if end.best.loss > last else 0
                last = end.best.loss
                if fallen == c.falls:
                    break
        if not tops:
            return [
                Place(rough, Evaluation(self.steps.centre(self.steps.task.kernel), np.inf), None)
            ]
        tops.sort(key=lambda top: top.answer.value)
        rivals = [top for top in tops[1:] if top.answer.value < tops[0].answer.value + close]
        return [tops[0], *rivals[:1]]

    # -- a length scale for each input

    def part_scales(self, common: Place, kernel: Kernel, insist: bool) -> tuple[Place, str]:
        """Give each input its own length scale if that pays; the place and a sentence."""
        c, posterior = self.steps.constants, self.steps.posterior(kernel)
        n = posterior.objective.n
        ard = Ard(posterior.prior, posterior.objective.names)
        priors = [Shrinkage(tau) for tau in c.taus]
        late = ", as far as there was time to see"
        stays = "one length scale for all inputs: separate ones would not pay"
        same = self.steps.spread_out(common.answer.point, kernel)
        here = self.steps.look("scales", posterior, [same], common.outcome)
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
        if elsewhere is not None and self.steps.going:
            there = self.steps.look("elsewhere/start", posterior, [elsewhere.answer.point])
            if there is not None:
                judged += self.descents("elsewhere", ard, there, priors[-1], priors)
        if self.categories and self.steps.going:
            enough = min([common.height, *(place.marginal for place in judged)]) - c.worth
            at = self.weighed(posterior, same)
            if at is not None:
                spread = min(priors, key=lambda p: ard.expected(at.answer, p, n))
                if ard.expected(at.answer, spread, n) <= enough:
                    judged += self.descents("categories", ard, at, spread, priors)
        if not judged:
            return common, stays + ("" if self.steps.going else late)
        best = min(judged, key=lambda place: place.marginal)
        if best.marginal > common.height - c.worth and not insist:
            return common, "one length scale for all inputs: separate ones did not pay"
        gained = common.height - best.marginal
        return best, f"a length scale for each input (log evidence for it: {gained:+.1f})"

    def descents(
        self, label: str, ard: Ard, here: Place, tried: Shrinkage, priors: list[Shrinkage]
    ) -> list[Place]:
        """Descend at this spread and at its neighbours as long as they promise more."""
        c, n = self.steps.constants, here.posterior.objective.n
        judged: list[Place] = []
        while self.steps.going:
            tight = self.steps.under(here.posterior, tried)
            name = f"{label} tau={tried.tau:g}"
            here = self.steps.descended(name, tight, here, c.ard_gain, c.ard_steps)
            value = ard.marginal(here.answer, tried, n)
            judged.append(replace(here, tau=tried.tau, marginal=value))
            seen = [place.tau for place in judged]
            others = [
                p for p in priors
                if p.tau not in seen and abs(np.log2(p.tau / tried.tau)) < c.near
            ]  # fmt: skip
            if not others:
                break
            promised = {p: ard.expected(here.answer, p, n) for p in others}
            rival = min(others, key=lambda p: promised[p])
            if promised[rival] > value - c.promise * c.worth:
                break
            tried = rival
        return judged

    def weighed(self, posterior: Posterior, same: Array) -> Place | None:
        """Where the length scales of categories are shorter than those of numbers, by a factor."""
        steps, kernel = self.steps, posterior.objective.kernel
        point = same.copy()
        for group in vectors(posterior.objective.names):
            worded = np.isin(np.arange(len(group)), self.categories)
            away = np.where(worded, -np.log(steps.constants.weightier), 0.0)
            point[group] += away - away.mean()
        return steps.look("categories/start", posterior, [steps.space(kernel).clip(point)])

    def elsewhere(self, common: Place, kernel: Kernel, loose: Shrinkage) -> Place | None:
        """Where loose scales lead from a narrow kernel, if better than the isotropic optimum.

        Among inputs that say nothing the best single scale is wide, and from there no slope leads
        to the short scales of the few that do. A look at two of the folds costs little.
        """
        c = self.steps.constants
        if self.steps.task.data.X.shape[1] < c.fewest_inputs or not self.steps.going:
            return None
        alike = self.steps.posterior(self.steps.task.kernel, c.coarse_folds)
        there = self.steps.look("elsewhere/alike", alike, [common.answer.point], order=0)
        narrow = self.steps.centre(kernel)
        narrow[self.steps.lengths(kernel)] += np.log(c.narrow)
        parted = self.steps.posterior(kernel, c.coarse_folds)
        at = self.steps.look("elsewhere/narrow", parted, [self.steps.space(kernel).clip(narrow)])
        if there is None or at is None:
            return None
        ard = Ard(parted.prior, parted.objective.names)
        return self.ahead("elsewhere/ahead", ard, at, loose, there.height - c.worth)

    def ahead(
        self, label: str, ard: Ard, at: Place, prior: Shrinkage, enough: float
    ) -> Place | None:
        """Where some steps lead, if the marginal likelihood is better than enough there."""
        c, n = self.steps.constants, at.posterior.objective.n
        tight = self.steps.under(at.posterior, prior)
        glance = Glance(
            ftol=c.glance_gain / n, iterations=c.ard_steps, attempts=c.attempts,
            survey=ard, posterior=tight, prior=prior, enough=enough, hope=c.hope,
        )  # fmt: skip
        led = self.steps.descended(label, tight, at, c.glance_gain, c.ard_steps, glance)
        return led if ard.marginal(led.answer, prior, n) < enough else None
