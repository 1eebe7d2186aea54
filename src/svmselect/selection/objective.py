"""The only file that wires data, kernel, machine and criterion."""

from __future__ import annotations

import time
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np

from svmselect.criteria import Criterion, available
from svmselect.criteria.base import Context
from svmselect.data import Dataset
from svmselect.kernels import Kernel
from svmselect.machine import Solution
from svmselect.machine.losses import get_loss
from svmselect.machine.train import train
from svmselect.priors import Flat, Prior
from svmselect.types import Array, Evaluation, Score


@dataclass(frozen=True, eq=False)
class Objective:
    """A criterion as a function of (C, kernel parameters), for given data, kernel form and loss."""

    data: Dataset
    kernel: Kernel
    criterion: Criterion
    loss: str = "hinge"
    fit_intercept: bool = True

    def __post_init__(self) -> None:
        """Refuse, before any work, what the criterion does not serve."""
        get_loss(self.loss)
        reason = self.criterion.refusal(self.kernel, self.loss, self.fit_intercept)
        if reason is None:
            return
        served = [
            name
            for name, cls in available().items()
            if cls().refusal(self.kernel, self.loss, self.fit_intercept) is None
        ]
        raise ValueError(
            f"criterion {self.criterion.name!r} does not serve loss={self.loss!r} with "
            f"fit_intercept={self.fit_intercept}: {reason}. "
            f"Criteria that serve it: {', '.join(served)}"
        )

    @property
    def names(self) -> tuple[str, ...]:
        """The coordinates of a point: "log C", then the kernel's parameters (their logarithms)."""
        return ("log C", *self.kernel.names)

    def score(
        self,
        C: float,
        kernel: Kernel,
        gradient: bool = False,
        start: Mapping[Hashable, Any] | None = None,
    ) -> tuple[Score, Mapping[Hashable, Any]]:
        """Score one point; also the machines trained there, to start a neighbouring point from."""
        arguments = (self.data, kernel, C, self.loss, self.fit_intercept)
        context = Context(*arguments, start={} if start is None else start)
        wanted = gradient and self.criterion.differentiable
        verdict = self.criterion.evaluate(context, wanted)
        slopes = None
        if wanted and verdict.sensitivity is not None:
            slopes = context.gradient(verdict.sensitivity)
        score = Score(
            value=float(verdict.value),
            names=self.names,
            gradient=slopes,
            greater_is_better=self.criterion.greater_is_better,
            stderr=verdict.stderr,
            details=verdict.details,
            status=verdict.status,
        )
        return score, context.trained

    def at(
        self,
        point: Array,
        gradient: bool = False,
        start: Mapping[Hashable, Any] | None = None,
    ) -> tuple[Score, Mapping[Hashable, Any]]:
        """``score`` at a point in search coordinates."""
        return self.score(float(np.exp(point[0])), self.kernel.at(point[1:]), gradient, start)

    def log_likelihood(self, value: float) -> float:
        """The criterion's value as a log-likelihood of all data, or as what stands for one.

        An error estimate or another score counts as if n times it were a negative log-likelihood.
        """
        total = float(self.data.weights.sum())
        if self.criterion.units == "deviance":
            return -0.5 * value
        sign = 1.0 if self.criterion.greater_is_better else -1.0
        return sign * value if self.criterion.units == "total" else sign * total * value

    def train(self, point: Array, start: Solution | None = None) -> Solution:
        """The machine on all rows at a point in search coordinates."""
        K = self.kernel.at(point[1:])(self.data.X)
        y, w = self.data.y, self.data.weights
        return train(K, y, float(np.exp(point[0])), self.loss, self.fit_intercept, w, start)


@dataclass(frozen=True, eq=False)
class Posterior:
    """What a search minimises: -(log-likelihood + log prior) / n, as a function of a point.

    With ``validation`` (another data set) the error of the machine there is among the details.
    """

    objective: Objective
    prior: Prior = field(default_factory=Flat)
    validation: Dataset | None = None

    def __call__(
        self, point: Array, gradient: bool, warm: Mapping[Hashable, Any] | None
    ) -> tuple[Evaluation, Mapping[Hashable, Any]]:
        """Evaluate one point, starting from the machines of another."""
        began = time.perf_counter()
        objective, n = self.objective, float(self.objective.data.weights.sum())
        score, trained = objective.at(point, gradient, warm)
        extra, pull = self.prior.log_density(point, objective.names)
        loss = -(objective.log_likelihood(score.value) + extra) / n
        slopes = None
        if score.gradient is not None:
            # the log-likelihood is linear in the value
            slopes = -(score.gradient * objective.log_likelihood(1.0) + pull) / n
        details = {k: float(v) for k, v in score.details.items() if isinstance(v, Real)}
        details |= {"value": score.value, "log_prior": extra, "n": n}
        if self.validation is not None:
            machine = objective.train(point, trained.get("all"))
            details["validation"] = self._error(point, machine)
        seconds = time.perf_counter() - began
        stderr = None if score.stderr is None else score.stderr * abs(objective.log_likelihood(1.0))
        stderr = None if stderr is None else stderr / n
        answer = Evaluation(point, loss, slopes, stderr, seconds, score.status, details)
        return answer, trained

    def _error(self, point: Array, machine: Solution) -> float:
        """The share of the validation set that the machine gets wrong."""
        assert self.validation is not None
        sv, kernel = machine.support, self.objective.kernel.at(point[1:])
        K = kernel(self.validation.X, self.objective.data.X[sv])
        f = K @ machine.beta[sv] + machine.intercept
        w = self.validation.weights
        return float(w @ (f * self.validation.y <= 0)) / float(w.sum())
