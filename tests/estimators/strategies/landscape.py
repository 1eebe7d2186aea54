"""The likelihood of a task at a point, in totals over all rows, for tests that count by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from svmselect.data import Pair
from svmselect.estimators.strategies.task import Task
from svmselect.kernels import RBF
from svmselect.parallel import Serial
from svmselect.priors import Prior, Shrinkage, Together, Vague
from svmselect.search.base import Space
from svmselect.search.gauss_newton import GaussNewton
from svmselect.search.run import Job, Session, run
from svmselect.selection.deviations import Deviations
from svmselect.selection.objective import Objective, Posterior
from svmselect.types import Array


def kernel_at(log_scale: Array) -> RBF:
    scale = np.exp(log_scale)
    return RBF(float(scale[0])) if len(scale) == 1 else RBF(tuple(scale.tolist()))


def prior_at(middle: float, tau: float, d: int) -> Prior:
    centre = np.array([0.0, *np.full(d, middle)])
    return Together((Vague(2.0, 0.5, 2.0, centre), Shrinkage(tau)))


@dataclass(frozen=True)
class Reading:
    point: Array
    loss: float
    gradient: Array | None
    hessian: Array | None
    trained: Any

    def level_three(self, middle: float, tau: float) -> float:
        names = ("log C", *kernel_at(self.point[1:]).names)
        prior = prior_at(middle, tau, len(self.point) - 1)
        model = Deviations.of(self.hessian, names)
        height = self.loss - prior.log_density(self.point, names)[0]
        return height + model.volume(Shrinkage(tau), self.point)

    def expected(self, middle: float, tau: float) -> float:
        names = ("log C", *kernel_at(self.point[1:]).names)
        beside = prior_at(middle, tau, len(self.point) - 1).parts[0]
        model = Deviations.of(self.hessian, names)
        height = self.loss - beside.log_density(self.point, names)[0]
        return height + model.expected(self.gradient, Shrinkage(tau), self.point)


@dataclass(frozen=True)
class Landscape:
    task: Task
    most: int | None = None

    @classmethod
    def of(
        cls,
        X: Array,
        pairs: Sequence[Pair],
        loss: str = "hinge",
        most: int | None = None,
        threads: int = 1,
    ) -> Landscape:
        return cls(Task.of(X, pairs, RBF(1.0), loss, threads), most)

    @property
    def total(self) -> float:
        return self.objective(np.zeros(1)).n

    def objective(self, log_scale: Array) -> Objective:
        return self.task.objective(kernel_at(log_scale), self.most)

    def read(
        self, log_C: float, log_scale: Array, start: Reading | None = None, slopes: bool = True
    ) -> Reading:
        objective = self.objective(log_scale)
        point = np.concatenate([[log_C], log_scale])
        known = None if start is None else start.trained
        score, trained = objective.at(point, 2 if slopes else 0, known)
        n = objective.n
        gradient = None if score.gradient is None else -n * score.gradient
        hessian = None if score.hessian is None else -n * score.hessian
        return Reading(point, -n * score.value, gradient, hessian, trained)

    def unfold(self, at: Reading) -> Any:
        objective = self.objective(at.point[1:])
        kernel, C = objective.kernel.at(at.point[1:]), float(np.exp(at.point[0]))
        return objective.criterion.unfold(objective.context(kernel, C), True)

    def descend(self, at: Reading, prior: Prior) -> Reading:
        objective = self.objective(at.point[1:])
        p = len(at.point)
        space = Space(objective.names, np.full(p, -9.0), np.full(p, 9.0))
        search = GaussNewton(ftol=1e-9 / objective.n, iterations=60)
        job = Job("descend", Posterior(objective, prior), search, at.point, space, 0)
        best = run([job], Session(Serial()))[0].best
        assert best is not None
        return self.read(float(best.point[0]), best.point[1:])
