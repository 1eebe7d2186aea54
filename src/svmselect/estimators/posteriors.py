"""Fitted posteriors of all pairs of classes: what decides where probabilities are averages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit

from svmselect.estimators.machines import blockwise, class_probabilities
from svmselect.kernels import Kernel
from svmselect.posterior.predictive import latent_variance, log_odds, moderated_log_odds
from svmselect.types import Array, IntArray

BLOCK = 2**22
"""Kernel values held at a time when predicting: 32 MiB."""


@dataclass(frozen=True)
class Model:
    """The likelihood: a loss, and whether it is normalised over both labels.

    ``moderated`` is Kwok's, whose posterior lies around a machine.
    """

    loss: str
    normalised: bool
    moderated: bool = False


@dataclass(frozen=True, eq=False)
class Gaussian:
    """The latent function of one pair: mean k'dual + b, variance s [k(x, x) - k' inner k].

    k are the kernel's values, ``offset`` added, with the pair's ``rows`` of the vectors; b is
    ``intercept`` and s ``spread``.
    """

    rows: IntArray
    dual: Array
    inner: Array
    offset: float
    C: float
    intercept: float = 0.0
    spread: float = 1.0

    def log_odds(self, kernel: Kernel, vectors: Array, X: Array, model: Model) -> Array:
        """For the later class of the pair."""
        cross = kernel(X, vectors[self.rows]) + self.offset
        variance = latent_variance(cross, kernel.diag(X) + self.offset, self.inner) * self.spread
        mean = cross @ self.dual + self.intercept
        if model.moderated:
            return moderated_log_odds(mean, variance)
        return log_odds(mean, variance, self.C, model.loss, model.normalised)


@dataclass(frozen=True, eq=False)
class Posteriors:
    """The posteriors of all pairs of classes, in place of ``Machines``; decisions are log odds."""

    kernels: tuple[Kernel, ...]
    vectors: Array
    pairs: tuple[Gaussian, ...]
    model: Model
    n_classes: int

    @property
    def slopes(self) -> Array:
        """Log odds go through the plain logistic function."""
        return np.full(len(self.pairs), -1.0)

    def decisions(self, X: Array) -> Array:
        """The log odds of all pairs, (n, pairs); zero where the probability rounds to 1/2."""
        columns = [
            pair.log_odds(self.kernels[min(p, len(self.kernels) - 1)], self.vectors, X, self.model)
            for p, pair in enumerate(self.pairs)
        ]
        f = np.column_stack(columns)
        f[expit(f) == 0.5] = 0.0
        return f

    def probabilities(self, decisions: Array) -> Array:
        """Class probabilities, (n, classes), for these log odds."""
        return class_probabilities(decisions, self.slopes, self.n_classes)

    def in_blocks(self, X: Any, scaled: Callable[[Any], Array], n_jobs: int | None = None) -> Array:
        """``decisions`` of many rows, in blocks of bounded memory; ``scaled`` prepares a block."""
        widest = max(X.shape[1], len(self.vectors))
        return blockwise(self.decisions, X, scaled, BLOCK // widest, n_jobs)

    def as_plain(self) -> dict[str, Any]:
        """Arrays, numbers and kernels, to be kept in a fitted model."""
        return {
            "vectors": self.vectors,
            "rows": [pair.rows for pair in self.pairs],
            "dual": [pair.dual for pair in self.pairs],
            "inner": [pair.inner for pair in self.pairs],
            "offset": [pair.offset for pair in self.pairs],
            "C": [pair.C for pair in self.pairs],
            "intercept": [pair.intercept for pair in self.pairs],
            "spread": [pair.spread for pair in self.pairs],
            "loss": self.model.loss,
            "normalised": self.model.normalised,
            "moderated": self.model.moderated,
        }

    @classmethod
    def from_plain(cls, kept: dict[str, Any], kernels: tuple[Kernel, ...], k: int) -> Posteriors:
        """Undo ``as_plain``."""
        count = len(kept["C"])
        old: dict[str, Any] = {
            "intercept": [0.0] * count,
            "spread": [1.0] * count,
            "moderated": False,
        }
        kept = old | kept  # models written before there were these
        names = ("rows", "dual", "inner", "offset", "C", "intercept", "spread")
        columns = (kept[name] for name in names)
        pairs = tuple(Gaussian(*parts) for parts in zip(*columns, strict=True))
        model = Model(kept["loss"], kept["normalised"], kept["moderated"])
        return cls(kernels, kept["vectors"], pairs, model, k)
