"""The problem as a strategy sees it: an objective for any kernel, on more folds or fewer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from svmselect.criteria.base import Context
from svmselect.criteria.likelihood import Likelihood, Unfolded
from svmselect.data import Dataset, Folds, Pair, classes_of, merge_equal
from svmselect.kernels import Kernel
from svmselect.kernels.tangents import Memo
from svmselect.selection.objective import Objective
from svmselect.selection.pairwise import Pairwise, Part, balanced_sample
from svmselect.types import Array, IntArray

_MOST = 300
"""Pairs that a choice is made on: with more, a sample of them in which every class is as often."""


@dataclass(frozen=True, eq=False)
class Half:
    """One pair of classes: equal rows of a class merged into one that counts for all."""

    data: Dataset
    folds: Folds
    rows: IntArray  # among the rows of X
    where: IntArray  # the merged row of each row of the pair

    @classmethod
    def of(cls, X: Array, pair: Pair, distinct: bool = False) -> Half:
        """Merge, unless all are distinct, and let the folds be weights: copies may be apart."""
        first = where = np.arange(len(pair.rows))
        if not distinct:
            first, where = merge_equal(X[pair.rows], pair.y)

        def mass(weights: Array) -> Array:
            if distinct:
                return weights
            return np.asarray(np.bincount(where, weights, len(first)), dtype=np.float64)

        tests = (*pair.tests, *pair.again)
        train, held = [], []
        for k, test in enumerate(tests):
            apart = np.zeros(len(where))
            apart[test] = pair.weights[test]
            train.append(mass(pair.trained(k)))
            held.append(mass(apart))
        rows = pair.rows[first]
        data = Dataset.of(X[rows], pair.y[first], mass(pair.weights))
        return cls(data, Folds(np.column_stack(train), np.column_stack(held)), rows, where)


@dataclass(frozen=True, eq=False)
class Task:
    """One or several pairs that share C and a kernel; Platt's targets, one sigmoid a pair.

    Platt's targets keep the sigmoid and the likelihood finite where folds are separated, so that a
    perfect score on few points is not worth an infinity.
    """

    pairs: Sequence[Pair]
    halves: tuple[Half, ...]
    data: Dataset
    kernel: Kernel
    loss: str
    threads: int
    memo: Memo = field(default_factory=dict, repr=False)
    judges: dict[int | None, Likelihood | Pairwise] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, X: Array, pairs: Sequence[Pair], kernel: Kernel, loss: str, threads: int) -> Task:
        """Merge and bind."""
        # many pairs ask about the same rows
        distinct = len(pairs) > 1 and len(merge_equal(X, np.zeros(len(X)))[0]) == len(X)
        halves = tuple(Half.of(X, pair, distinct) for pair in pairs)
        if len(pairs) == 1:
            data = halves[0].data
        else:  # what stands for all classes has no labels of its own
            labels = np.where(np.arange(len(X)) % 2, 1.0, -1.0)
            data = Dataset.of(X, labels)
        return cls(pairs, halves, data, kernel, loss, threads)

    @property
    def overlap(self) -> float:
        """Each row is in (classes - 1) pairs and should count once."""
        return 1.0 / (self.classes - 1)

    @property
    def classes(self) -> int:
        """How many classes so many pairs are of."""
        return classes_of(self.pairs)

    @cached_property
    def share(self) -> float:
        """The part of the weight that a fold's machine is trained on."""
        return float(np.mean([pair.share for pair in self.pairs]))

    @property
    def first_round(self) -> int:
        """How many folds there are in the first round."""
        return max(len(pair.tests) for pair in self.pairs)

    @property
    def rounds(self) -> int:
        """How often the rows are split into folds."""
        return 2 if any(pair.again for pair in self.pairs) else 1

    def objective(self, kernel: Kernel, folds: int | None = None) -> Objective:
        """The likelihood on the first folds, or on all of all rounds."""
        if folds not in self.judges:
            self.judges[folds] = self._judge(folds)
        judge = self.judges[folds]
        return Objective(self.data, kernel, judge, self.loss, True, self.threads, self.memo)

    def _judge(self, folds: int | None) -> Likelihood | Pairwise:
        both = zip(self.halves, self.pairs, strict=True)
        parts = [Part(h.rows, h.data, self._criterion(h, pair, folds)) for h, pair in both]
        if len(parts) > 1:
            return Pairwise(parts, self.classes, balanced_sample(self.classes, _MOST))
        (one,) = parts
        assert isinstance(one.criterion, Likelihood)
        return one.criterion

    def _criterion(self, half: Half, pair: Pair, folds: int | None) -> Likelihood:
        chosen = half.folds
        if folds is not None:  # of the first round
            chosen = chosen.first(min(folds, len(pair.tests)))
        return Likelihood(cv=chosen, targets="platt", one_sided=True)

    def unfold(self, context: Context, jacobian: bool, folds: int | None = None) -> list[Unfolded]:
        """Held-out rows, sigmoids and Jacobians of all pairs, on the first folds or all."""
        judge = self.objective(context.kernel, folds).criterion
        assert isinstance(judge, Likelihood | Pairwise)
        return judge.unfold(context, jacobian)

    def held_out(self, unfolded: Sequence[Unfolded]) -> tuple[Array, ...]:
        """The decision value of every row of each pair, by a machine that did not see it."""
        decisions = []
        for pair, half, one in zip(self.pairs, self.halves, unfolded, strict=True):
            f = np.full(len(pair.y), np.nan)
            for test, solution in zip(pair.tests, one.held.solutions, strict=False):
                f[test] = solution.decision[half.where[test]]
            decisions.append(f)
        return tuple(decisions)
