"""Shared records, without logic: what the stages hand to one another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "OK",
    "Array",
    "BoolArray",
    "ErrorEstimate",
    "Evaluation",
    "IntArray",
    "Note",
    "Score",
    "Sensitivity",
    "Status",
]

Array = NDArray[np.float64]
IntArray = NDArray[np.integer[Any]]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True)
class Status:
    """How a computation ended: a word and, where it did not succeed, a sentence of advice.

    Attributes
    ----------
    name : str
        "ok", or a word for what went wrong.
    advice : str
        What to do about it; empty where nothing needs doing.
    """

    name: str
    advice: str = ""

    @property
    def ok(self) -> bool:
        """Whether the result can be relied on."""
        return self.name == "ok"

    def __str__(self) -> str:
        return f"{self.name}: {self.advice}" if self.advice else self.name


OK = Status("ok")


class Note(str):
    """A remark for the user: a sentence that knows what kind it is of.

    Parameters
    ----------
    kind : str
        "choice" (what was decided), "unit" (that inputs keep one they share), "course" (how the
        search went), "training" (how the final machines were made), "edge" (a result on the edge of
        the search box), "data" (what was found in the data), "status" (something that is not
        exact), or the name of the status that ended the search early.
    text : str
        The sentence, without a full stop.
    """

    __slots__ = ("kind",)
    kind: str

    def __new__(cls, kind: str, text: str) -> Note:
        """Make one."""
        note = super().__new__(cls, text)
        note.kind = kind
        return note

    @property
    def warns(self) -> bool:
        """Whether it says more than what was done."""
        return self.kind not in ("choice", "unit", "course", "training")

    def __getnewargs__(self) -> tuple[str, str]:  # type: ignore[override]
        return self.kind, str(self)


@dataclass(frozen=True)
class ErrorEstimate:
    """An error rate and the number of rows it was seen in.

    Attributes
    ----------
    error : float
        The share of new rows expected to be classified wrongly.
    n : float
        How many rows were held out, each counted with its weight.
    of : {"classes", "pairs"}
        Whether all classes were asked about together, or two at a time.
    spread : float
        The standard deviation that is due to choosing, beside that of counting n rows.
    seen : float, optional
        The share as it was counted, where ``error`` allows for the rows' say in the choice.
    """

    error: float
    n: float
    of: str = "classes"
    spread: float = 0.0
    seen: float | None = None

    @property
    def standard_error(self) -> float:
        """That of a mean over ``n`` independent rows, and of what choosing adds."""
        counted = max(self.error * (1.0 - self.error), 0.0) / self.n
        return float(np.sqrt(counted + self.spread**2))


@dataclass(frozen=True)
class Sensitivity:
    """The derivative of a number with respect to the Gram matrix K and log C.

    Sensitivities can be added and multiplied by a number.

    Attributes
    ----------
    left, right : ndarray of shape (n, r)
        Factors of the low-rank part of the derivative with respect to K.
    log_C : float
        The derivative with respect to log C, at fixed K.
    dense : ndarray of shape (n, n), optional
        The rest of the derivative with respect to K.

    Notes
    -----
    ``d value = sum_ij gram_ij dK_ij + log_C d(log C)`` with ``gram = left @ right.T + dense``. Each
    trained machine contributes one column to each factor, so summing over folds and samples is
    cheap.
    """

    left: Array
    right: Array
    log_C: float
    dense: Array | None = None

    @property
    def gram(self) -> Array:
        """The derivative with respect to the Gram matrix, as one (n, n) array."""
        product = self.left @ self.right.T
        return product if self.dense is None else product + self.dense

    def tile(self, rows: slice, cols: slice) -> Array:
        """Compute one tile of ``gram`` without making the whole matrix.

        Parameters
        ----------
        rows, cols : slice
            Which rows and columns.

        Returns
        -------
        ndarray
            ``gram[rows, cols]``.
        """
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
    """A criterion's value at one point, with gradient and Hessian if they were asked for.

    Attributes
    ----------
    value : float
        The criterion's value, in its own units.
    names : tuple of str
        What the derivatives are with respect to: ``("log C", *kernel.names)``.
    gradient : ndarray of shape (p,), optional
        Derivatives with respect to ``names``, all of them logarithms; None where the criterion has
        no gradient or none was asked for.
    greater_is_better : bool
        Whether a greater value is better.
    stderr : float, optional
        Monte Carlo standard error of the value, where it is sampled.
    details : mapping
        Whatever else the criterion reports.
    status : Status
        Whether the value can be relied on.
    hessian : ndarray of shape (p, p), optional
        Second derivatives, exact or those of Gauss and Newton; None where the criterion has none or
        none were asked for.
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
    """The objective at one point: a value to be minimised and, if known, its derivatives.

    Attributes
    ----------
    point : ndarray of shape (p,)
        The point, in search coordinates.
    value : float
        The value to be minimised.
    gradient : ndarray of shape (p,), optional
        The gradient of that value, in the same units.
    stderr : float, optional
        Monte Carlo standard error of the value.
    seconds : float
        How long the evaluation took.
    status : Status
        Whether the value can be relied on.
    details : mapping of str to float
        The criterion's own value under "value", and the numbers it reports.
    hessian : ndarray of shape (p, p), optional
        The Hessian of that value, in the same units. It may be that of Gauss and Newton, without
        second derivatives of what is squared: then it is never indefinite.
    """

    point: Array
    value: float
    gradient: Array | None = None
    stderr: float | None = None
    seconds: float = 0.0
    status: Status = OK
    details: Mapping[str, float] = field(default_factory=dict)
    hessian: Array | None = None
