"""Shared records, without logic: what the stages hand to one another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
IntArray = NDArray[np.integer[Any]]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True)
class Status:
    """How a computation ended: a word, and where it did not succeed, a sentence of advice."""

    name: str
    advice: str = ""

    @property
    def ok(self) -> bool:
        """Whether the result can be relied on."""
        return self.name == "ok"

    def __str__(self) -> str:
        return f"{self.name}: {self.advice}" if self.advice else self.name


OK = Status("ok")


@dataclass(frozen=True)
class Sensitivity:
    """The derivative of a number: a cotangent on the Gram matrix and a slope in log C.

    ``d value = sum_ij gram_ij dK_ij + log_C d(log C)`` with ``gram = left @ right.T + dense``: a
    trained machine contributes one column to each factor, so folds and samples add cheaply.
    """

    left: Array
    right: Array
    log_C: float
    dense: Array | None = None

    @property
    def gram(self) -> Array:
        """The cotangent on the Gram matrix, n x n."""
        product = self.left @ self.right.T
        return product if self.dense is None else product + self.dense

    def tile(self, rows: slice, cols: slice) -> Array:
        """A part of ``gram``; the kernel asks for one after the other and the whole is not made."""
        product = self.left[rows] @ self.right[cols].T
        return product if self.dense is None else product + self.dense[rows, cols]

    def __add__(self, other: Sensitivity) -> Sensitivity:
        both = [d for d in (self.dense, other.dense) if d is not None]
        return Sensitivity(
            np.hstack([self.left, other.left]),
            np.hstack([self.right, other.right]),
            self.log_C + other.log_C,
            sum(both[1:], both[0]) if both else None,
        )

    def __mul__(self, factor: float) -> Sensitivity:
        dense = None if self.dense is None else self.dense * factor
        return Sensitivity(self.left * factor, self.right, self.log_C * factor, dense)

    __rmul__ = __mul__


@dataclass(frozen=True)
class Score:
    """What a criterion says at one point, and how that changes with the hyperparameters.

    ``gradient`` is with respect to ``names`` = ("log C", *kernel.names); None where the criterion
    has none or none was asked for. So is ``hessian``, exact or that of Gauss and Newton.
    """

    value: float
    names: tuple[str, ...]
    gradient: Array | None = None
    greater_is_better: bool = True
    stderr: float | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
    status: Status = OK
    hessian: Array | None = None


@dataclass(frozen=True)
class Evaluation:
    """One point a search has asked about, and the answer: a loss to be minimised.

    ``gradient`` and ``hessian`` are of ``value``, in the units of ``value``. The Hessian may be
    that of Gauss and Newton, without second derivatives of what is squared: then never indefinite.
    ``details`` are numbers besides: the criterion's own value under "value", and what it reports.
    """

    point: Array
    value: float
    gradient: Array | None = None
    stderr: float | None = None
    seconds: float = 0.0
    status: Status = OK
    details: Mapping[str, float] = field(default_factory=dict)
    hessian: Array | None = None
