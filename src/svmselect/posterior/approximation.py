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
    """The sites of a run at neighbouring hyperparameters, to start from.

    Attributes
    ----------
    precision, shift, dual, cavity : ndarray of shape (n,)
        As in ``EP``.
    """

    precision: Array
    shift: Array
    dual: Array
    cavity: Array

    def at(self, rows: IntArray) -> Start:
        """Take some of the points, in another order or repeated.

        Parameters
        ----------
        rows : ndarray of int
            The points.

        Returns
        -------
        Start
            The start for these points.
        """
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

    Attributes
    ----------
    log_evidence : float
        ln Q, with ln kappa of every point unless ``normalised``.
    dual : ndarray of shape (n,)
        b, such that the mean at a new point is k' b.
    mean : ndarray of shape (n,)
        The posterior means of the latent values, K b.
    variance : ndarray of shape (n,)
        Their marginal variances.
    cavity : ndarray of shape (n,)
        Their variances without the site of the point.
    precision, shift : ndarray of shape (n,)
        The sites, exp(-precision theta^2/2 + shift theta).
    slope_log_C : float
        The derivative of ln Q with respect to log C.
    sweeps : int
        The number of factorisations.
    residual : float
        How far from the fixed point they ended.
    status : Status
        Whether the fixed point was reached.
    K : ndarray of shape (n, n)
        The Gram matrix.
    y : ndarray of shape (n,)
        The labels, -1 and +1.
    weights : ndarray of shape (n,)
        The sample weights.
    C : float
        The penalty.
    loss : str
        The name of the loss.
    normalised : bool
        Whether likelihoods are divided by their sum over both labels.
    full : ndarray or None
        ``inner``, if it was computed on the way.
    low_rank : LowRank or None
        What a prior of low rank leaves.

    Notes
    -----
    At new points the variance is ``k(x, x) - k_S' inner k_S`` over the rows S = ``support``: all
    rows, where inner = (K + precision^-1)^-1, or the landmarks of a prior of low rank.
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
        """What a run at neighbouring hyperparameters can start from."""
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
        """The derivative of ln Q with respect to K and log C.

        ``d ln Q = sum_ij (b b' - inner)_ij / 2 dK_ij + slope_log_C dlog C`` with b = ``dual``. With
        a prior of low rank it is the exact derivative for the landmarks as they are.
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
