"""Data sets drawn, or enumerated, on the spot."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from svmselect.datasets.record import Raw, standardised
from svmselect.datasets.sources.base import Places
from svmselect.types import Array


@dataclass(frozen=True)
class Generated:
    """``draw(n, rng)`` gives X and y; ``first`` rows, if any, are the one training partition."""

    draw: Callable[[int, np.random.Generator], tuple[Array, Array]]
    n: int
    first: int | None = None
    standardise: bool = False
    names: tuple[str, ...] = ()
    kind = "generated"

    def at_hand(self, places: Places) -> bool:
        return True

    def read(self, places: Places) -> Raw:
        X, y = self.draw(self.n, np.random.default_rng(places.random_state))
        if self.standardise:
            X = standardised(X)
        if self.first is None:
            return Raw(X, y, self.names)
        rows = np.arange(len(y))
        return Raw(X, y, self.names, rows[None, : self.first], rows[None, self.first :])

    def way(self) -> str:
        return "generate it: nothing is needed"


@dataclass(frozen=True)
class Enumerated:
    """A set that is complete by construction: no chance in it."""

    build: Callable[[], tuple[Array, Array, tuple[str, ...]]]
    kind = "enumerated"

    def at_hand(self, places: Places) -> bool:
        return True

    def read(self, places: Places) -> Raw:
        return Raw(*self.build())

    def way(self) -> str:
        return "enumerate it: nothing is needed"
