"""Machines of many rows as kernel expansions: exact, or on the features of landmarks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from svmselect.data import Pair
from svmselect.devices import within_memory
from svmselect.kernels import Kernel
from svmselect.machine import Solution
from svmselect.machine.features import FeatureMap
from svmselect.machine.on_device import Gram, train_on
from svmselect.machine.primal import CORNERS, Features, LinearMachine, fit_linear
from svmselect.machine.train import train
from svmselect.types import Array, IntArray, Status

EACH, EACH_FEATURE = 50.0, 3.0
"""Multiplications of an entry of the Gram matrix, and of a product of features, in training."""


@dataclass(frozen=True, eq=False)
class Expansion:
    """f(x) = sum_s coefficients_s k(x, X[rows_s]) + intercept; ``decision`` at the pair's rows.

    ``rows`` are support vectors, or landmarks where ``exact`` is False. ``source`` is what another
    machine of the pair can start from, and is of use with the features of ``kernel`` only.
    """

    rows: IntArray
    coefficients: Array
    intercept: float
    decision: Array
    status: Status
    exact: bool
    kernel: Kernel
    source: Solution | LinearMachine


@dataclass(eq=False)
class Trainer:
    """Trains pairs of classes of the rows of X; ``landmarks`` of a pair are None for exactness.

    Exact machines are trained on ``device``, where their Gram matrix is made. Keeps that or the
    features of the last pair and kernel, and no other.
    """

    X: Array
    pairs: Sequence[Pair]
    landmarks: Sequence[IntArray | None]
    loss: str
    single: bool = False
    device: str = "cpu"
    _key: tuple[int, Kernel] | None = None
    _gram: Array | Gram = field(default_factory=lambda: np.empty((0, 0)))
    _map: tuple[FeatureMap, Features] | None = None

    @property
    def work(self) -> float:
        """Multiplications of training all pairs once, roughly."""
        total = 0.0
        for pair, rows in zip(self.pairs, self.landmarks, strict=True):
            n = len(pair.rows)
            total += EACH * n * n if rows is None else EACH_FEATURE * n * len(rows) ** 2
        return total

    def train(
        self,
        pair: int,
        kernel: Kernel,
        C: float,
        weights: Array,
        start: Expansion | None = None,
        rough: bool = False,
    ) -> Expansion:
        """Train one pair; rows of weight zero are not trained on. ``rough`` saves the last digit.

        Exact: O(n^2) memory. On features: O(n m) memory, O(n m^2) time.
        """
        self._prepare(pair, kernel)
        members, y = self.pairs[pair].rows, self.pairs[pair].y
        if self._map is None:
            known = start.source if start is not None else None
            begin = known if isinstance(known, Solution) else None
            if isinstance(self._gram, Gram):
                with within_memory(self.device, len(y), 'use device="cpu"'):
                    s = train_on(self._gram, y, C, self.loss, True, weights, begin)
            else:
                s = train(self._gram, y, C, self.loss, True, weights, begin)
            used = s.support
            f, rows = s.decision, members[used]
            return Expansion(rows, s.beta[used], s.intercept, f, s.status, True, kernel, s)
        to_features, Phi = self._map
        before: LinearMachine | None = None
        if start is not None and start.kernel == kernel and isinstance(start.source, LinearMachine):
            before = start.source
        corners = CORNERS[:-1] if rough else CORNERS
        found = fit_linear(Phi, y, C * weights, self.loss, before, corners)
        chosen = self.landmarks[pair]
        assert chosen is not None
        coefficients = to_features.coefficients(found.theta)
        b, f, status = found.intercept, found.decision, found.status
        return Expansion(chosen, coefficients, b, f, status, False, kernel, found)

    def _prepare(self, pair: int, kernel: Kernel) -> None:
        """Have the Gram matrix or the features of this pair at hand."""
        if self._key == (pair, kernel):
            return
        self._key, self._map, self._gram = None, None, np.empty((0, 0))  # before new ones are made
        members = self.pairs[pair].rows
        whole = len(members) == len(self.X)
        inputs = self.X if whole else self.X[members]
        chosen = self.landmarks[pair]
        if chosen is None:
            if self.device == "cpu":
                self._gram = kernel(inputs)
            else:
                with within_memory(self.device, len(members), 'use device="cpu"'):
                    self._gram = Gram.of(kernel, inputs, self.device)
        else:
            to_features = FeatureMap.of(kernel, self.X[chosen])
            self._map = to_features, to_features(inputs, self.single)
        self._key = pair, kernel
