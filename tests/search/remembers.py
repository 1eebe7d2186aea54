"""Functions for runs to evaluate; in a module of their own, which workers can import."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from svmselect.testing.searches import FUNCTIONS
from svmselect.types import Array, Evaluation


@dataclass(frozen=True)
class Remembers:
    """A function whose last digits depend on all that was evaluated before it in the chain.

    As machines do that start from the ones before: a run that resumes must repeat the chain.
    """

    name: str

    def __call__(self, point: Array, gradient: bool, warm: Any) -> tuple[Evaluation, Any]:
        answer = FUNCTIONS[self.name].answer(point)
        past = 0.0 if warm is None else warm
        details = {"value": answer.value, "past": past, "validation": float(point[0] ** 2)}
        slope = answer.gradient if gradient else None
        told = Evaluation(point, answer.value + 1e-9 * past, slope, details=details)
        return told, math.fmod(3.7 * past + 0.739 * float(np.abs(point).sum()) + 0.123, 1.0)


@dataclass(frozen=True)
class Fails:
    """A defect in what is evaluated."""

    def __call__(self, point: Array, gradient: bool, warm: Any) -> tuple[Evaluation, Any]:
        raise ValueError("column 3")
