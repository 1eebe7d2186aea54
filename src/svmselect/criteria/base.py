"""What a criterion is, and all it may ask at one point."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from svmselect.data import Dataset
from svmselect.kernels import Kernel
from svmselect.kernels.tangents import Memo, Tangent
from svmselect.machine import ActiveSystem, Solution
from svmselect.machine.batch import Group
from svmselect.machine.check import check_scale
from svmselect.machine.train import train, train_together
from svmselect.types import OK, Array, IntArray, Sensitivity, Status

FREE, PENALISED = "free", "penalised"  # the offset: an intercept, or a Constant in the kernel


@dataclass(frozen=True)
class Verdict:
    """What a criterion returns: its value and, if asked for, how the value depends on K and C.

    Attributes
    ----------
    value : float
        The value.
    sensitivity : Sensitivity, optional
        Its derivative with respect to the Gram matrix and log C.
    stderr : float, optional
        Monte Carlo standard error of the value, where it has one.
    details : mapping
        Whatever else the criterion reports.
    status : Status
        Whether the value can be relied on.
    gradient : ndarray of shape (p,), optional
        Its derivatives by ``("log C", *kernel.names)``. A criterion that has a Hessian gives this
        and the Hessian in place of a sensitivity.
    hessian : ndarray of shape (p, p), optional
        Its second derivatives by the same coordinates.
    """

    value: float
    sensitivity: Sensitivity | None = None
    stderr: float | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
    status: Status = OK
    gradient: Array | None = None
    hessian: Array | None = None


@dataclass(frozen=True, eq=False)
class Context:
    """All that a criterion may ask at one point, computed when first asked for and then kept.

    Attributes
    ----------
    data : Dataset
        The rows, their labels and weights.
    kernel : Kernel
        The kernel, with its parameters at this point.
    C : float
        The penalty.
    loss : str
        The loss of the machines: "hinge", "squared_hinge" or "logistic".
    fit_intercept : bool
        Whether the machines have an unpenalised intercept.
    start : mapping
        Machines trained at a neighbouring point, by key, for warm starts.
    trained : dict
        The machines of this point, by key, to be handed on to the next. What is there already is
        not trained again.
    memo : dict
        What depends on the rows only and is kept from point to point.
    threads : int
        How many threads may train side by side.
    whole : Context, optional
        The same point as seen from more rows, whose Gram matrix this one is a part of.
    rows : ndarray of int, optional
        Which rows of ``whole`` are those of the data; None: all of them.
    jacobians : dict
        How held-out decisions move with the hyperparameters, by the names of machines.
    """

    data: Dataset
    kernel: Kernel
    C: float
    loss: str
    fit_intercept: bool
    start: Mapping[Hashable, Any] = field(default_factory=dict)
    trained: dict[Hashable, Any] = field(default_factory=dict)
    memo: Memo = field(default_factory=dict)
    threads: int = 1
    whole: Context | None = None
    rows: IntArray | None = None
    jacobians: dict[Hashable, Array] = field(default_factory=dict)

    @property
    def X(self) -> Array:
        """The inputs, (n, d)."""
        return self.data.X

    @property
    def y(self) -> Array:
        """The labels, -1 and +1."""
        return self.data.y

    @property
    def weights(self) -> Array:
        """How many copies each row counts for; 0 is absence."""
        return self.data.weights

    @property
    def total(self) -> float:
        """The number of points, each counted with its weight: the n of a mean."""
        return float(self.data.weights.sum())

    @cached_property
    def K(self) -> Array:
        """The Gram matrix of all rows."""
        if self.whole is not None:
            K = self.whole.K
            return K if self.rows is None else K[np.ix_(self.rows, self.rows)]
        with np.errstate(invalid="ignore"):  # infinity less infinity
            K = self.kernel.gram(self.X, self.memo)
        check_scale(K)
        return K

    @cached_property
    def tangents(self) -> list[Tangent]:
        """How K moves with the kernel's parameters."""
        return self.kernel.tangents(self.X, self.K, self.memo)

    @cached_property
    def solution(self) -> Solution:
        """The machine trained on every row."""
        return self.refit(self.weights, key="all")

    @cached_property
    def system(self) -> ActiveSystem:
        """Its second-order algebra."""
        return ActiveSystem.of(self.K, self.solution)

    def refit(self, weights: Array, key: Hashable, start: Solution | None = None) -> Solution:
        """Train with other weights.

        Parameters
        ----------
        weights : ndarray of shape (n,)
            The weights; a row of weight zero is held out, and its decision value is given.
        key : hashable
            The machine's name, which is the same from point to point.
        start : Solution, optional
            Where to begin if no machine of that name was trained at the neighbouring point.

        Returns
        -------
        Solution
            The machine.
        """
        if key in self.trained:
            known: Solution = self.trained[key]
            return known
        known = self.start.get(key, start)
        arguments = (self.C, self.loss, self.fit_intercept, weights, known)
        solution = train(self.K, self.y, *arguments)
        self.trained[key] = solution
        return solution

    def refit_all(self, weights: Array, keys: Sequence[Hashable]) -> list[Solution]:
        """Train with several sets of weights at once.

        Parameters
        ----------
        weights : ndarray of shape (k, n)
            A machine's weights in each row.
        keys : sequence of hashable
            The machines' names, which are the same from point to point.

        Returns
        -------
        list of Solution
            The machines. Where no machine of its name was trained at the neighbouring point, each
            starts from the first.
        """
        refit_together([(self, weights, keys)])
        return [self.trained[key] for key in keys]

    def gradient(self, sensitivity: Sensitivity) -> Array:
        """Turn a sensitivity into derivatives by ``("log C", *kernel.names)``.

        Parameters
        ----------
        sensitivity : Sensitivity
            The derivative with respect to the Gram matrix and log C.

        Returns
        -------
        ndarray of shape (p,)
            The gradient.
        """
        slopes = self.kernel.pullback(self.X, sensitivity, K=self.K)
        return np.concatenate([[sensitivity.log_C], slopes])


def refit_together(
    wanted: Sequence[tuple[Context, Array, Sequence[Hashable]]],
) -> None:
    """Train what several contexts ask for at once; parts of one Gram matrix, or one context.

    Parameters
    ----------
    wanted : sequence of tuple
        Contexts, each with weights of shape (k, n) and the names of k machines, as in
        ``Context.refit_all``. What a context has already is not trained again.
    """
    missing, groups = [], []
    for context, weights, keys in wanted:
        new = [i for i, key in enumerate(keys) if key not in context.trained]
        if not new:
            continue
        leader = context.trained.get(keys[0])
        starts = [context.start.get(keys[i], leader) for i in new]
        table = weights if len(new) == len(keys) else weights[new]
        missing.append((context, [keys[i] for i in new]))
        groups.append(Group(context.rows, context.y, table, starts))
    if not groups:
        return
    one = missing[0][0].whole or missing[0][0]
    settings = (one.C, one.loss, one.fit_intercept, one.threads)
    found = train_together(one.K, groups, *settings)
    for (context, names), machines in zip(missing, found, strict=True):
        context.trained.update(zip(names, machines, strict=True))


@dataclass(frozen=True)
class Criterion(ABC):
    """Base class of criteria: a number for one setting of the hyperparameters.

    The options of a criterion are the fields of its class.

    Notes
    -----
    A criterion is one file in the folder ``criteria``: a subclass that sets the class variables and
    writes ``evaluate``. It supplies its own partial derivatives only; ``context.system.pullback``
    adds what flows through the trained machine, and the kernel is differentiated once, by the
    caller.
    """

    name: ClassVar[str]
    greater_is_better: ClassVar[bool]
    serves: ClassVar[frozenset[tuple[str, str]]]
    """Pairs (loss, offset) it is defined for, offset FREE or PENALISED."""
    smooth: ClassVar[bool] = True
    """Whether it has a gradient, with the default options."""
    counts_weights: ClassVar[bool] = True
    """Whether weight k is k copies of the row; if not, weights other than 1 are refused."""
    splits_alpha: ClassVar[bool] = False
    """Whether, for the hinge, it matters how copies of a row share their alpha. The dual leaves it
    open; a weight then counts as copies that share it in one set way."""
    scaling: ClassVar[float | None] = None
    """The power p of value(t C, K / t) = t^p value(C, K), 0 if unchanged; None: no such law.
    With the default options."""
    units: ClassVar[str] = "score"
    """What the value is, for priors and comparisons of kernels: "mean" or "total" (log-likelihood
    or evidence, per point or of all data), "deviance" (-2 times the total), else "score"."""
    formula: ClassVar[str]
    """In one line, for lists and documentation."""
    cost: ClassVar[str]
    """O(.) beyond the Gram matrix, in words."""
    reference: ClassVar[str]

    @abstractmethod
    def evaluate(self, context: Context, gradient: bool) -> Verdict:
        """Evaluate the criterion at one point.

        Parameters
        ----------
        context : Context
            The point, and all that may be asked there.
        gradient : bool
            Whether the sensitivity is wanted.

        Returns
        -------
        Verdict
            The value, and the sensitivity where it is wanted and there is one.
        """

    def expand(self, context: Context) -> Verdict:
        """Evaluate with gradient and Hessian; for a criterion that is ``curved``.

        Parameters
        ----------
        context : Context
            The point, and all that may be asked there.

        Returns
        -------
        Verdict
            The value, the gradient and the Hessian.
        """
        raise NotImplementedError(f"{self.name!r} has no Hessian")

    @property
    def curved(self) -> bool:
        """Whether it has a Hessian, exact or that of Gauss and Newton, with these options."""
        return False

    def mass(self, data: Dataset) -> float:
        """Count the points that the value is a mean over, each with its weight.

        Parameters
        ----------
        data : Dataset
            The data.

        Returns
        -------
        float
            Their total weight.
        """
        return float(data.weights.sum())

    @property
    def differentiable(self) -> bool:
        """Whether it has a gradient with these options."""
        return self.smooth

    def differentiable_for(self, loss: str) -> bool:
        """Tell whether it has a gradient with machines of a loss, with these options.

        Parameters
        ----------
        loss : str
            The loss.

        Returns
        -------
        bool
            The same as ``differentiable``, but for criteria whose formula depends on the loss.
        """
        return self.differentiable

    @property
    def continuous(self) -> bool:
        """Whether the value is continuous where active sets change, with these options."""
        return self.differentiable

    def price_of_C(self, details: Mapping[str, Any]) -> float:
        """Tell what a fitted C costs where kernels are compared, in units of log-likelihood.

        Parameters
        ----------
        details : mapping
            Those of the best point.

        Returns
        -------
        float
            One, as ABIC counts every hyperparameter, unless the criterion knows better.
        """
        return 1.0

    def refusal(self, kernel: Kernel, loss: str, fit_intercept: bool) -> str | None:
        """Tell why it cannot serve a combination of kernel, loss and intercept.

        Parameters
        ----------
        kernel : Kernel
            The kernel.
        loss : str
            The loss of the machines.
        fit_intercept : bool
            Whether they have an unpenalised intercept.

        Returns
        -------
        str or None
            The reason, in one sentence; None if it can serve.
        """
        offset = FREE if fit_intercept else PENALISED
        if (loss, offset) in self.serves:
            return None
        kinds = {FREE: "an intercept", PENALISED: "fit_intercept=False"}
        served = "; ".join(f"{a} with {kinds[b]}" for a, b in sorted(self.serves))
        return f"it is defined for {served}"


IN_THE_KERNEL = (
    "the offset is a Constant in the kernel here, because an unpenalised intercept has no proper "
    "prior and so no evidence: pass fit_intercept=False and add, for example, + Constant(0.1) to "
    "the kernel"
)
"""What evidences say to an intercept of its own."""


def every(*losses: str, offsets: tuple[str, ...] = (FREE, PENALISED)) -> frozenset[tuple[str, str]]:
    """List all pairs of some losses and offsets, for ``Criterion.serves``.

    Parameters
    ----------
    *losses : str
        The losses.
    offsets : tuple of str, default ("free", "penalised")
        The offsets: "free" is an intercept, "penalised" a ``Constant`` in the kernel.

    Returns
    -------
    frozenset of tuple of str
        The pairs (loss, offset).
    """
    return frozenset((loss, offset) for loss in losses for offset in offsets)
