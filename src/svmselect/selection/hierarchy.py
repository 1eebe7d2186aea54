"""One length scale an input without overfitting: how far they may part is itself chosen.

Isotropic first, by a coarse grid and then the search; from there on the search is run with the
scales shrunk to their mean, ever more loosely; and the looseness tau is chosen by the marginal
likelihood, the third level of inference (Kwok 2000) applied to the length scales themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from svmselect.kernels import Kernel
from svmselect.kernels.base import Composite
from svmselect.kernels.names import stem, vectors
from svmselect.kernels.stationary import Stationary
from svmselect.priors import Hierarchical, Prior, Shrinkage, Together
from svmselect.search.base import Space
from svmselect.search.grid import Grid
from svmselect.search.run import Job, Outcome, Session, run
from svmselect.search.trace import Record
from svmselect.selection.deviations import Deviations
from svmselect.selection.look import Look
from svmselect.selection.objective import Posterior
from svmselect.types import Array

COARSE = Grid(size=4, refine=2)
"""Sixteen points and two refinements: from one start alone the likelihood is often stuck."""


@dataclass(frozen=True, eq=False)
class Rung:
    """One tau: the run there and the negative log marginal likelihood of all data."""

    tau: float
    outcome: Outcome
    marginal: float


@dataclass(frozen=True, eq=False)
class Climb:
    """All rungs that were tried, and the best."""

    rungs: tuple[Rung, ...]
    best: Rung

    @property
    def marginals(self) -> dict[float, float]:
        """Negative log marginal likelihood by tau."""
        return {rung.tau: rung.marginal for rung in self.rungs}


def climb(jobs: Sequence[Job], prior: Hierarchical, session: Session, stage: str = "") -> Climb:
    """Choose tau for one kernel; ``jobs`` are the runs without a prior, one a start."""
    function = jobs[0].function
    assert isinstance(function, Posterior)
    _check(function)
    data = function.objective.data
    n = function.objective.n
    outcome = _isotropic_optimum(jobs, function, prior.beside, session, stage)
    if outcome.best is None:
        first = Rung(0.0, outcome, np.inf)
        return Climb((first,), first)
    point = outcome.best.point
    rungs = [Rung(0.0, outcome, n * outcome.best.loss)]
    worse = 0
    for tau in sorted(prior.ladder):
        label = f"{stage}tau={tau:g}"
        shrinkage = Shrinkage(tau, prior.tails)
        together = Together((shrinkage, prior.beside))
        tight = replace(function, prior=together.bind(data, function.objective.kernel))
        # from the optimum of the rung below, and from the starts: the isotropic optimum may be
        # in another basin, a wide kernel with a large C, than scales that differ
        outcome = _better(
            run(
                [
                    replace(job, label=f"{label}/{i}", function=tight, start=x)
                    for i, (job, x) in enumerate(
                        [(jobs[0], point), *((job, job.start) for job in jobs)]
                    )
                ],
                session,
            )
        )
        if session.halted is not None or outcome.best is None:
            break
        point = outcome.best.point
        job = replace(jobs[0], label=f"{label}/hessian", function=function, start=point)
        H = _hessian(job, session, prior.step)
        if H is None:
            break
        volume = Deviations.of(H, job.space.names).volume(shrinkage, point)
        marginal = n * outcome.best.loss + volume
        rungs.append(Rung(tau, outcome, marginal))
        worse = 0 if marginal <= min(r.marginal for r in rungs) else worse + 1
        if worse >= prior.patience:
            break
    return Climb(tuple(rungs), min(rungs, key=lambda rung: rung.marginal))


def _isotropic_optimum(
    jobs: Sequence[Job], function: Posterior, prior: Prior, session: Session, stage: str
) -> Outcome:
    """A coarse grid, then the search from its best point and from the starts.

    The result is given as a point of the kernel with the vectors, all entries alike.
    """
    kernel = isotropic(function.objective.kernel)
    prior = prior.bind(function.objective.data, kernel)
    plain = replace(function, objective=replace(function.objective, kernel=kernel), prior=prior)
    full, names = function.objective.names, plain.objective.names
    members = [[i for i, name in enumerate(full) if stem(name) == short] for short in names]
    box = jobs[0].space
    space = Space(
        names,
        np.array([box.lower[m].max() for m in members]),
        np.array([box.upper[m].min() for m in members]),
    )
    starts = [np.array([job.start[m].mean() for m in members]) for job in jobs]
    # the grid is over C and the length scales; other parameters stay where they start
    held = [i for i, name in enumerate(names) if i > 0 and "length_scale" not in name]
    coarse = replace(COARSE, values={names[i]: [float(np.exp(starts[0][i]))] for i in held})
    job = replace(jobs[0], function=plain, space=space, start=starts[0])
    ends = run([replace(job, label=f"{stage}isotropic/grid", search=coarse)], session)
    if session.halted is None and ends[0].best is not None:
        ends += run(
            [
                replace(job, label=f"{stage}isotropic/{i}", start=x, seed=job.seed + i)
                for i, x in enumerate([ends[0].best.point, *starts])
            ],
            session,
        )
    winner = _better(ends)
    if winner.best is None:
        return winner
    alike = np.empty(len(full))
    for value, m in zip(winner.best.point, members, strict=True):
        alike[m] = value
    told = replace(winner.best.evaluation, point=alike, gradient=None)
    best = Record(f"{stage}tau=0", 0, full, told)
    return replace(winner, best=best, edges=(box.lower, box.upper))


def _better(outcomes: Sequence[Outcome]) -> Outcome:
    """The one with the lowest loss."""
    return min(outcomes, key=lambda o: np.inf if o.best is None else o.best.loss)


def _hessian(job: Job, session: Session, step: float) -> Array | None:
    """The Hessian of the negative log-likelihood of all data; None if it was cut short.

    The criterion's own where it has one that is finite; else central differences of the exact
    gradient in the coordinates of the vectors, made symmetric, and zero elsewhere.
    """
    space, point, function = job.space, job.start, job.function
    assert isinstance(function, Posterior)
    n = function.objective.n
    if function.objective.criterion.curved:
        (end,) = run([replace(job, search=Look(((*point.tolist(),),), order=2))], session)
        found = None if end.best is None else end.best.evaluation.hessian
        if found is None or np.isfinite(found).all():
            return None if found is None else n * found
    members = [i for group in vectors(space.names) for i in group]
    around = []
    for i in members:
        for sign in (1.0, -1.0):
            x = point.copy()
            x[i] = np.clip(x[i] + sign * step, space.lower[i], space.upper[i])
            around.append(x)
    before = len(session.records)
    run([replace(job, search=Look(tuple(tuple(x.tolist()) for x in around)))], session)
    records = sorted(session.records[before:], key=lambda record: record.index)
    answers = [record.evaluation for record in records]
    if len(answers) < len(around):
        return None
    H = np.zeros((len(point), len(point)))
    for row, i in enumerate(members):
        ahead, behind = answers[2 * row], answers[2 * row + 1]
        if ahead.gradient is None or behind.gradient is None:
            return None
        width = ahead.point[i] - behind.point[i]
        if width > 0:  # a parameter whose bounds coincide does not vary
            H[i, members] = n * (ahead.gradient - behind.gradient)[members] / width
    return np.asarray(0.5 * (H + H.T))


def isotropic(kernel: Kernel) -> Kernel:
    """The kernel with one length scale in place of each vector of them, their geometric mean."""
    if isinstance(kernel, Composite):
        return type(kernel)(tuple(isotropic(part) for part in kernel.parts))
    if isinstance(kernel, Stationary) and isinstance(kernel.length_scale, tuple):
        mean = float(np.exp(np.mean(np.log(kernel.length_scale))))
        return kernel.with_scales(mean)
    return kernel


def per_input(kernel: Kernel, inputs: int) -> Kernel:
    """The kernel with a vector of equal length scales, one a variable, in place of each single one.

    Where a kernel does not say which columns make up a variable, each of the inputs is one.
    """
    if isinstance(kernel, Composite):
        return type(kernel)(tuple(per_input(part, inputs) for part in kernel.parts))
    return kernel.parted(inputs) if isinstance(kernel, Stationary) else kernel


def of_variables(kernel: Kernel, variables: Sequence[int]) -> Kernel:
    """The kernel, told which variable each column belongs to."""
    if isinstance(kernel, Composite):
        return type(kernel)(tuple(of_variables(part, variables) for part in kernel.parts))
    if isinstance(kernel, Stationary) and kernel.variables is None:
        return replace(kernel, variables=tuple(variables))  # type: ignore[type-var]
    return kernel


def _check(function: Posterior) -> None:
    objective = function.objective
    if not vectors(objective.names):
        raise ValueError(
            f"a hierarchical prior shrinks a vector of length scales and {objective.kernel!r} has "
            "none; give one for each input, e.g. RBF(length_scale=[1.0] * X.shape[1])"
        )
    criterion = objective.criterion
    if criterion.units == "score" or not criterion.differentiable:
        raise ValueError(
            f"a hierarchical prior needs a log-likelihood or evidence with a gradient, which "
            f"{criterion.name!r} is not; use 'likelihood' or another prior"
        )
