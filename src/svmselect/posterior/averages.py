"""Posterior averages by groups of chains, from which the gradient and its error follow.

The evidence's gradient (GS eqs 18, 20) needs <dV/dlog C> and, in the frame of expectation
propagation, <r>, <r delta'> and <r r'>. They are kept for each of a few groups of chains: the
groups are independent, so their spread is the Monte Carlo error of anything linear in them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from svmselect.devices import Matrix
from svmselect.posterior.frame import Frame
from svmselect.types import Array, Sensitivity

_COLUMNS = 64  # columns a group gathers before they are multiplied: a product needs some width


@dataclass(eq=False)
class Gatherer:
    """Sums over draws, for groups of chains. Memory: 2 groups n^2.

    A group is a share of the chains; where there are fewer chains than groups, ``stretch`` draws in
    a row of all of them, every so often.
    """

    frame: Frame
    groups: int
    stretch: int = 32
    count: Array = field(init=False)  # sum of the weights of each group
    log_C: Array = field(init=False)
    sums: list[list[Any]] = field(init=False)  # of r, r delta', r r'
    waiting: list[tuple[Matrix, Matrix, Matrix]] = field(init=False, default_factory=list)
    here: int = field(init=False, default=0)  # the group of the present stretch
    draws: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self.count, self.log_C = np.zeros(self.groups), np.zeros(self.groups)
        self.sums = [[0.0] * self.groups for _ in range(3)]

    def add(self, delta: Matrix, weights: Matrix | None = None) -> None:
        """Take one draw of every chain, (n, chains); ``weights``, one a chain, default to one."""
        frame = self.frame
        slope = frame.backend.get(frame.potential.by_log_C(frame.mean + delta))
        group = self.draws // self.stretch % self.groups
        if group != self.here:
            self.flush()
            self.here = group
        shares = np.ones(len(slope)) if weights is None else frame.backend.get(weights)
        for k, block in self._blocks(len(slope)):
            self.count[k] += shares[block].sum()
            self.log_C[k] += shares[block] @ slope[block]
        r = frame.residual_force(delta)
        self.waiting.append((r if weights is None else r * weights, r, delta))
        self.draws += 1
        if len(self.waiting) * len(slope) >= _COLUMNS * self.groups:
            self.flush()

    def flush(self) -> None:
        """Multiply what has been gathered into the sums."""
        if not self.waiting:
            return
        cat = self.frame.xp.hstack
        for k, block in self._blocks(self.waiting[0][0].shape[1]):
            left, r, delta = (cat([draw[i][:, block] for draw in self.waiting]) for i in range(3))
            products = (left.sum(1), left @ delta.T, left @ r.T)
            for sums, part in zip(self.sums, products, strict=True):
                sums[k] = sums[k] + part
        self.waiting.clear()

    def _blocks(self, chains: int) -> list[tuple[int, slice]]:
        if chains < self.groups:
            return [(self.here, slice(None))]
        edges = np.linspace(0, chains, self.groups + 1).round().astype(int).tolist()
        return [(k, slice(a, b)) for k, (a, b) in enumerate(pairwise(edges))]

    def sensitivity(self, group: int | None, mix: float = 0.0) -> Sensitivity:
        """d ln Q without kappa, from one group or (None) from all. O(n^3)."""
        self.flush()
        chosen = range(self.groups) if group is None else (group,)
        total = float(sum(self.count[k] for k in chosen))
        r, r_delta, rr = (sum((s[k] for k in chosen), start=0.0) / total for s in self.sums)
        slope = self.frame.gram_slope(r, r_delta, rr, mix)
        return dense(slope, -float(sum(self.log_C[k] for k in chosen)) / total)


def dense(slope: Array, log_C: float) -> Sensitivity:
    """Make a sensitivity of a full matrix."""
    empty = np.zeros((len(slope), 0))
    return Sensitivity(empty, empty, log_C, slope)
