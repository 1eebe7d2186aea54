"""The only file that wires data, kernel, machine and criterion."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from svmselect.criteria import Criterion, available
from svmselect.criteria.base import Context
from svmselect.data import Dataset
from svmselect.kernels import Kernel
from svmselect.losses import get_loss
from svmselect.types import Score


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
        point: np.ndarray[Any, np.dtype[np.float64]],
        gradient: bool = False,
        start: Mapping[Hashable, Any] | None = None,
    ) -> tuple[Score, Mapping[Hashable, Any]]:
        """``score`` at a point in search coordinates."""
        return self.score(float(np.exp(point[0])), self.kernel.at(point[1:]), gradient, start)
