"""The only file that wires data, kernel, machine and criterion."""

from __future__ import annotations

import time
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np

from svmselect.criteria import Criterion, available
from svmselect.criteria.base import Context
from svmselect.data import Dataset
from svmselect.kernels import Kernel
from svmselect.kernels.tangents import Memo
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
    threads: int = 1
    memo: Memo = field(default_factory=dict, repr=False)

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

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The coordinates of a point: "log C", then the kernel's parameters (their logarithms)."""
        return ("log C", *self.kernel.names)

    def score(
        self,
        C: float,
        kernel: Kernel,
        order: int = 0,
        start: Mapping[Hashable, Any] | None = None,
    ) -> tuple[Score, Mapping[Hashable, Any]]:
        """Score one point; also the machines trained there, to start a neighbouring point from.

        ``order`` 0 asks for the value, 1 for the gradient too, 2 for the Hessian besides.
        """
        context = self.context(kernel, C, start)
        if order == 2 and self.criterion.curved:
            verdict = self.criterion.expand(context)
        else:
            verdict = self.criterion.evaluate(context, order > 0 and self.differentiable)
        slopes = verdict.gradient
        if verdict.sensitivity is not None:
            slopes = context.gradient(verdict.sensitivity)
        score = Score(
            value=float(verdict.value),
            names=self.names,
            gradient=slopes,
            greater_is_better=self.criterion.greater_is_better,
            stderr=verdict.stderr,
            details=verdict.details,
            status=verdict.status,
            hessian=verdict.hessian,
        )
        return score, context.trained

    @property
    def differentiable(self) -> bool:
        """Whether there are gradients, with this loss."""
        return self.criterion.differentiable_for(self.loss)

    def context(
        self,
        kernel: Kernel,
        C: float,
        start: Mapping[Hashable, Any] | None = None,
        trained: Mapping[Hashable, Any] | None = None,
    ) -> Context:
        """What the criterion may ask at this point; ``trained`` are machines of this very point."""
        settings = (self.data, kernel, C, self.loss, self.fit_intercept)
        return Context(
            *settings, start=start or {}, trained=dict(trained or {}), memo=self.memo,
            threads=self.threads,
        )  # fmt: skip

    def at(
        self,
        point: Array,
        order: int = 0,
        start: Mapping[Hashable, Any] | None = None,
    ) -> tuple[Score, Mapping[Hashable, Any]]:
        """``score`` at a point in search coordinates."""
        return self.score(float(np.exp(point[0])), self.kernel.at(point[1:]), order, start)

    @cached_property
    def n(self) -> float:
        """How many points the criterion speaks of, each counted with its weight."""
        return self.criterion.mass(self.data)

    def log_likelihood(self, value: float) -> float:
        """The criterion's value as a log-likelihood of all data, or as what stands for one.

        An error estimate or another score counts as if n times it were a negative log-likelihood.
        """
        if self.criterion.units == "deviance":
            return -0.5 * value
        sign = 1.0 if self.criterion.greater_is_better else -1.0
        return sign * value if self.criterion.units == "total" else sign * self.n * value

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
        self, point: Array, order: int, warm: Mapping[Hashable, Any] | None
    ) -> tuple[Evaluation, Mapping[Hashable, Any]]:
        """Evaluate one point, starting from the machines of another.

        ``order`` 0 asks for the value, 1 for the gradient too, 2 for the Hessian besides.
        """
        began = time.perf_counter()
        objective, n = self.objective, self.objective.n
        score, trained = objective.at(point, order, warm)
        extra, pull = self.prior.log_density(point, objective.names)
        loss = -(objective.log_likelihood(score.value) + extra) / n
        slopes = None
        if score.gradient is not None:
            # the log-likelihood is linear in the value
            slopes = -(score.gradient * objective.log_likelihood(1.0) + pull) / n
        bend = None
        if score.hessian is not None:
            curved = self.prior.hessian(point, objective.names)
            bend = -(score.hessian * objective.log_likelihood(1.0) + curved) / n
        details = {k: float(v) for k, v in score.details.items() if isinstance(v, Real)}
        details |= {"value": score.value, "log_prior": extra, "n": n}
        if self.validation is not None:
            machine = objective.train(point, trained.get("all"))
            details["validation"] = self._error(point, machine)
        seconds = time.perf_counter() - began
        stderr = None if score.stderr is None else score.stderr * abs(objective.log_likelihood(1.0))
        stderr = None if stderr is None else stderr / n
        answer = Evaluation(point, loss, slopes, stderr, seconds, score.status, details, bend)
        return answer, trained

    def under(self, prior: Prior, answer: Evaluation) -> Evaluation:
        """What this objective's answer would have been under another prior."""
        names, n = self.objective.names, self.objective.n
        (old, pull), (new, push) = (p.log_density(answer.point, names) for p in (self.prior, prior))
        slopes, bend = answer.gradient, answer.hessian
        if slopes is not None:
            slopes = slopes + (pull - push) / n
        if bend is not None:
            before, after = (p.hessian(answer.point, names) for p in (self.prior, prior))
            bend = bend + (before - after) / n
        details = {**answer.details, "log_prior": new}
        value = answer.value + (old - new) / n
        return replace(answer, value=value, gradient=slopes, hessian=bend, details=details)

    def _error(self, point: Array, machine: Solution) -> float:
        """The share of the validation set that the machine gets wrong."""
        assert self.validation is not None
        sv, kernel = machine.support, self.objective.kernel.at(point[1:])
        K = kernel(self.validation.X, self.objective.data.X[sv])
        f = K @ machine.beta[sv] + machine.intercept
        w = self.validation.weights
        return float(w @ (f * self.validation.y <= 0)) / float(w.sum())
