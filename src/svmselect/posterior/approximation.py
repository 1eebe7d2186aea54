"""The Gaussian that expectation propagation arrives at, as a frozen record."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from svmselect.posterior.backend import get_backend
from svmselect.posterior.latent import DensePrior
from svmselect.types import Array, IntArray, Sensitivity, Status


@dataclass(frozen=True, eq=False)
class Start:
    """What a run at neighbouring hyperparameters starts from: the sites and what they gave."""

    precision: Array
    shift: Array
    dual: Array
    cavity: Array

    def at(self, rows: IntArray) -> Start:
        """The same for some of the points, in another order or repeated."""
        return Start(self.precision[rows], self.shift[rows], self.dual[rows], self.cavity[rows])


@dataclass(frozen=True, eq=False)
class LowRank:
    """What a prior of low rank leaves: landmarks, matrices over them, and the gradient."""

    landmarks: IntArray
    inner: Array
    root: Array
    cotangent: Array


@dataclass(frozen=True, eq=False)
class EP:
    """The Gaussian approximation of the posterior, and of the evidence.

    ``log_evidence`` is ln Q, with ln kappa of every point unless normalised. Of the latent values
    theta of all rows: ``mean`` = K ``dual``, marginal ``variance``, ``covariance`` and ``root``
    (covariance = root root'). Sites are exp(-precision theta^2/2 + shift theta), ``cavity`` the
    variances without them. At new points the mean is k' dual and the variance k(x, x) -
    k_S' inner k_S over the rows S = ``support``: all rows, where inner = (K + precision^-1)^-1, or
    the landmarks of a prior of low rank.

    ``sweeps`` counts factorisations; ``residual`` is how far from the fixed point they ended.
    """

    log_evidence: float
    dual: Array
    mean: Array
    variance: Array
    cavity: Array
    precision: Array
    shift: Array
    slope_log_C: float
    sweeps: int
    residual: float
    status: Status
    K: Array
    y: Array
    weights: Array
    C: float
    loss: str
    normalised: bool
    full: Array | None
    low_rank: LowRank | None

    @property
    def start(self) -> Start:
        """Where to start a neighbouring run; small."""
        dual = self.shift - self.precision * self.mean  # not the landmarks', if there are any
        return Start(self.precision, self.shift, dual, self.cavity)

    @property
    def support(self) -> IntArray:
        """The rows that predictions refer to."""
        return np.arange(len(self.y)) if self.low_rank is None else self.low_rank.landmarks

    @cached_property
    def inner(self) -> Array:
        """(K + precision^-1)^-1, or its counterpart over the landmarks."""
        if self.low_rank is not None:
            return self.low_rank.inner
        if self.full is not None:
            return self.full
        signed = bool((self.precision < 0).any())
        latent = DensePrior.of(self.K, get_backend("cpu"), signed).condition(self.precision)
        if latent is None:  # the run conditioned on these very sites
            raise ArithmeticError("the sites no longer give a Gaussian; run again with gradient")
        return np.asarray(latent.inner())

    @property
    def sensitivity(self) -> Sensitivity:
        """d ln Q = sum_ij (b b' - inner)_ij / 2 dK_ij + slope_log_C dlog C, b = dual.

        With a prior of low rank, the exact derivative for the landmarks as they are.
        """
        if self.low_rank is not None:
            none = np.zeros((len(self.y), 0))
            return Sensitivity(none, none, self.slope_log_C, self.low_rank.cotangent)
        b = self.dual[:, None]
        return Sensitivity(0.5 * b, b, self.slope_log_C, -0.5 * self.inner)

    @cached_property
    def covariance(self) -> Array:
        """Posterior covariance of the latent values, n x n. O(n^3)."""
        if self.low_rank is not None:
            return self.low_rank.root @ self.low_rank.root.T
        product = self.K @ self.inner @ self.K
        return self.K - 0.5 * (product + product.T)

    @cached_property
    def root(self) -> Array:
        """A matrix with root root' = covariance: n x n and symmetric, or n x r. O(n^3)."""
        if self.low_rank is not None:
            return self.low_rank.root
        values, vectors = np.linalg.eigh(self.covariance)
        # what rounding made negative is zero
        return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T)
