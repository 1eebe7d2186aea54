"""One criterion for several pairs of classes that share C and the kernel."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from svmselect.criteria import Criterion
from svmselect.criteria.base import Context, Verdict
from svmselect.criteria.likelihood import Likelihood, Unfolded
from svmselect.criteria.resampling import Resampled, prepare
from svmselect.data import Dataset
from svmselect.kernels import Kernel
from svmselect.types import OK, Array, IntArray, Sensitivity


@dataclass(frozen=True, eq=False)
class Part:
    """One pair of classes: its rows among all, the problem they pose, the criterion's view of it.

    The criterion is the same for all parts but for its folds.
    """

    rows: IntArray
    data: Dataset
    criterion: Criterion


@dataclass(frozen=True, repr=False)
class Pairwise(Criterion):
    """A criterion summed over pairs, each row counted once: over (classes - 1) if it is a total.

    Means and scores are averaged with the pairs' weights. Its own y is not looked at. ``sample``
    are the pairs that the value is made of, each class in equally many; None: all of them.
    """

    parts: Sequence[Part] = field(compare=False)
    classes: int
    sample: tuple[int, ...] | None = None

    @property
    def _one(self) -> Criterion:
        return self.parts[0].criterion

    @property
    def name(self) -> str:  # type: ignore[override]
        return self._one.name

    @property
    def greater_is_better(self) -> bool:  # type: ignore[override]
        return self._one.greater_is_better

    @property
    def units(self) -> str:  # type: ignore[override]
        return self._one.units

    @property
    def differentiable(self) -> bool:
        return self._one.differentiable

    def differentiable_for(self, loss: str) -> bool:
        return self._one.differentiable_for(loss)

    @property
    def continuous(self) -> bool:
        return self._one.continuous

    def price_of_C(self, details: Mapping[str, Any]) -> float:
        return self._one.price_of_C(details)

    def refusal(self, kernel: Kernel, loss: str, fit_intercept: bool) -> str | None:
        return self._one.refusal(kernel, loss, fit_intercept)

    @property
    def looked_at(self) -> Sequence[int]:
        """The pairs that the value is made of."""
        return range(len(self.parts)) if self.sample is None else self.sample

    @property
    def meetings(self) -> float:
        """In how many of them each class is."""
        return 2.0 * len(self.looked_at) / self.classes

    def shares(self) -> Array:
        """The factor of each pair's value in the sum."""
        if self.units in ("total", "deviance"):
            return np.full(len(self.looked_at), 1.0 / self.meetings)
        mass = self._masses
        return np.asarray(mass / mass.sum())

    @cached_property
    def _masses(self) -> Array:
        """What each pair's value is a mean over."""
        judged = (self.parts[p] for p in self.looked_at)
        return np.array([part.criterion.mass(part.data) for part in judged])

    @property
    def curved(self) -> bool:
        return self._one.curved

    def mass(self, data: Dataset) -> float:
        return float(self._masses.sum()) / self.meetings

    def expand(self, context: Context) -> Verdict:
        value, status = 0.0, OK
        gradient = np.zeros(1 + len(context.kernel.theta))
        hessian = np.zeros((len(gradient), len(gradient)))
        details: Mapping[str, Any] = {}
        contexts = self._contexts(context, self.looked_at, jacobian=True)
        for (part, own), share in zip(contexts, self.shares(), strict=True):
            verdict = part.criterion.expand(own)
            assert verdict.gradient is not None
            assert verdict.hessian is not None
            value += share * verdict.value
            gradient += share * verdict.gradient
            hessian += share * verdict.hessian
            details = verdict.details
            if status.ok:
                status = verdict.status
        return Verdict(
            float(value),
            status=status,
            gradient=gradient,
            hessian=hessian,
            details=_of_all(details),
        )

    def unfold(self, context: Context, jacobian: bool) -> list[Unfolded]:
        """What the value is made of, pair by pair, all of them; for the likelihood."""
        found: list[Unfolded] = []
        for part, own in self._contexts(context, range(len(self.parts)), jacobian):
            assert isinstance(part.criterion, Likelihood)
            found += part.criterion.unfold(own, jacobian)
        return found

    def _contexts(
        self, context: Context, pairs: Sequence[int], jacobian: bool = False
    ) -> Iterator[tuple[Part, Context]]:
        """Each of some pairs as its criterion sees it: a part of the same Gram matrix.

        Machines of folds are trained for all pairs at once.
        """
        settings = (context.kernel, context.C, context.loss, context.fit_intercept)
        known, trained = _by_pair(context.start), _by_pair(context.trained)
        found = []
        for p in pairs:
            part = self.parts[p]
            rows = part.rows
            whole = len(rows) == len(context.y)
            memo = context.memo if whole else context.memo.setdefault(p, {})
            own = Context(
                part.data, *settings, start=known.get(p, {}), trained=trained.get(p, {}),
                memo=memo, threads=context.threads, whole=context, rows=None if whole else rows,
            )  # fmt: skip
            found.append((part, own))
        prepare(
            [(own, j) for part, own in found if isinstance(j := part.criterion, Resampled)],
            jacobian,
        )
        for p, (part, own) in zip(pairs, found, strict=True):
            yield part, own
            context.trained.update({(p, key): s for key, s in own.trained.items()})

    def evaluate(self, context: Context, gradient: bool) -> Verdict:
        value, variance, status, sensitivity = 0.0, 0.0, OK, None
        noisy = False
        details: Mapping[str, Any] = {}
        contexts = self._contexts(context, self.looked_at)
        for (part, own), share in zip(contexts, self.shares(), strict=True):
            verdict = part.criterion.evaluate(own, gradient)
            details = verdict.details
            value += share * verdict.value
            if verdict.stderr is not None:
                noisy, variance = True, variance + (share * verdict.stderr) ** 2
            if status.ok:
                status = verdict.status
            if verdict.sensitivity is not None:
                lifted = _lifted(verdict.sensitivity * share, part.rows, len(context.y))
                sensitivity = lifted if sensitivity is None else sensitivity + lifted
        stderr = float(np.sqrt(variance)) if noisy else None
        return Verdict(float(value), sensitivity, stderr, status=status, details=_of_all(details))

    def __repr__(self) -> str:
        return f"Pairwise({self._one!r}, pairs={len(self.looked_at)})"


def balanced_sample(classes: int, most: int) -> tuple[int, ...] | None:
    """Draw about ``most`` pairs, numbered as ``itertools.combinations`` goes; None: no more exist.

    Classes sit in a ring, in a random order, and each meets its nearest neighbours on both sides.
    """
    if classes * (classes - 1) // 2 <= most:
        return None
    ring = np.random.default_rng(0).permutation(classes)
    steps = range(1, 1 + max(1, most // classes))
    met = np.sort([np.stack([ring, np.roll(ring, step)]) for step in steps], axis=1)
    low, high = met.transpose(1, 0, 2).reshape(2, -1)
    before = low * (2 * classes - low - 1) // 2  # pairs of the classes before the lower one
    return tuple(np.sort(before + high - low - 1).tolist())


def _by_pair(machines: Mapping[Hashable, Any]) -> dict[int, dict[Hashable, Any]]:
    """Machines of each pair, by the key the pair knows them by."""
    found: dict[int, dict[Hashable, Any]] = {}
    for key, machine in machines.items():
        if isinstance(key, tuple) and isinstance(key[0], int):
            found.setdefault(key[0], {})[key[1]] = machine
    return found


def _of_all(details: Mapping[str, Any]) -> dict[str, Any]:
    """What a pair says that holds for all of them."""
    return {"folds": details["folds"]} if "folds" in details else {}


def _lifted(sensitivity: Sensitivity, rows: IntArray, n: int) -> Sensitivity:
    """A cotangent on the pair's Gram matrix as one on that of all rows."""
    left, right = (np.zeros((n, sensitivity.left.shape[1])) for _ in range(2))
    left[rows], right[rows] = sensitivity.left, sensitivity.right
    dense = None
    if sensitivity.dense is not None:
        dense = np.zeros((n, n))
        dense[np.ix_(rows, rows)] = sensitivity.dense
    return Sensitivity(left, right, sensitivity.log_C, dense)
