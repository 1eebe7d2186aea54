"""Machines over the same Gram matrix, trained together in one compiled call.

The folds of an evaluation, and those of all its pairs of classes, differ in their rows and weights
only. The interpreter's lock is released while they are trained, side by side on threads if wanted;
which thread trains a machine, and when, makes no difference to it. What the compiled code leaves
undone (a loss it does not know, a kernel matrix that is singular to working precision) is trained
by ``train`` of this package, which is also what it is tested against.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from svmselect.machine import box_qp
from svmselect.machine.losses import get_loss
from svmselect.machine.solution import Solution
from svmselect.types import OK, Array, IntArray

_LARGEST = 3000  # rows; beyond, copying the block of the rows trained on costs memory, not time
_NOBODY = np.empty(0, dtype=np.intp)
_NOBODY.flags.writeable = False


class Moving(Protocol):
    """dK/dtheta for one or several parameters of a kernel; arrays, or None where it has none."""

    def arrays(self) -> tuple[Any, ...] | None:
        """(matrix, other or None, scale), or (matrix, scaled inputs, variables or None, count)."""


@dataclass(frozen=True, eq=False)
class Asked:
    """A machine over some rows of K (all of them, if None), and where its decisions are asked."""

    rows: IntArray | None
    solution: Solution
    held: IntArray


@dataclass(frozen=True, eq=False)
class Group:
    """Machines over the same rows of K (all of them, if None), one for each row of ``weights``.

    ``starts`` has a solution of a neighbouring problem for each, or None; the second and later
    machines then start from the first.
    """

    rows: IntArray | None
    y: Array
    weights: Array
    starts: Sequence[Solution | None]


def train_compiled(
    K: Array, groups: Sequence[Group], C: float, loss: str, fit_intercept: bool, threads: int
) -> list[list[Solution | None]]:
    """Train all machines of all groups; None for each that was left undone."""
    native, name = getattr(box_qp.backend(), "train", None), get_loss(loss).compiled
    if native is None or name is None or max(len(group.y) for group in groups) > _LARGEST:
        return [[None] * len(group.weights) for group in groups]
    given = [_arrays(group) for group in groups]
    records = iter(native(K, given, name, fit_intercept, C, threads))
    found = []
    for _, given_y, table, _, alpha, beta, decision, order in given:
        y = given_y.view()  # the caller may hold the array itself
        for array in (alpha, beta, decision, order, y):
            array.flags.writeable = False
        machines: list[Solution | None] = []
        for i, weights in enumerate(table):
            weights.flags.writeable = False
            record = next(records)
            if record is None:
                machines.append(None)
                continue
            m, k, first, last, intercept, objective, gap, kkt, rounding = record
            ends = () if first < 0 else (first,) if first == last else (first, last)
            free, bound = order[i, :m], order[i, m : m + k]
            machines.append(
                Solution(
                    alpha[i], beta[i], intercept, decision[i], free, bound, _NOBODY, ends,
                    objective, gap, kkt, rounding, OK, y, weights, C, loss, fit_intercept,
                )
            )  # fmt: skip
        found.append(machines)
    return found


def _arrays(group: Group) -> tuple[Any, ...]:
    """What the compiled code reads and fills."""
    shape = group.weights.shape
    alpha, beta, decision = np.empty((3, *shape))
    order = np.empty(shape, dtype=np.int64)
    starts = [
        None if s is None else _machine(s)
        for s in group.starts
    ]  # fmt: skip
    y, weights = (np.ascontiguousarray(values) for values in (group.y, group.weights))
    return group.rows, y, weights, starts, alpha, beta, decision, order


def _machine(s: Solution) -> tuple[Any, ...]:
    """A machine as the compiled code reads it."""
    return s.beta, s.decision, s.weights, s.free, s.bound, s.C, s.intercept


def jacobians_compiled(
    K: Array, asked: Sequence[Asked], tangents: Sequence[Moving], threads: int
) -> list[Array | None]:
    """d decision/d(log C, parameters) at the rows asked, machine by machine; None: left undone.

    All machines have the same loss, C and kind of offset. ``tangents`` are those of all rows of K.
    """
    native = getattr(box_qp.backend(), "jacobian", None)
    one, terms = asked[0].solution, [tangent.arrays() for tangent in tangents]
    name = get_loss(one.loss).compiled
    if native is None or name is None or None in terms:
        return [None] * len(asked)
    width = 1 + sum(term[3] if len(term) == 4 else 1 for term in terms if term is not None)
    found: list[Array | None] = [
        np.empty((len(one.held), width)) if not len(one.solution.dependent) else None
        for one in asked
    ]
    given = [
        (a.rows, a.solution.y, _machine(a.solution), a.held, *_ends(a.solution), J)
        for a, J in zip(asked, found, strict=True)
        if J is not None
    ]
    done = iter(native(K, terms, given, name, one.fit_intercept, one.C, threads))
    return [J if J is not None and next(done) else None for J in found]


def _ends(s: Solution) -> tuple[int, int]:
    """What limits the intercept where no point is free; -1 where some is."""
    return (s.ends[0], s.ends[-1]) if s.ends else (-1, -1)
