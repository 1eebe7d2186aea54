"""The Gaussian over latent values: the prior N(0, K) times Gaussian sites.

With site precisions S = diag(tau) the posterior covariance is Sigma = (K^-1 + S)^-1; K is never
inverted. For sites of non-negative precision everything comes from B = I + S^1/2 K S^1/2, whose
inverse also has the marginal variances on its diagonal: [B^-1]_ii = 1 - tau_i Sigma_ii.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from svmselect.posterior.backend import Backend, Matrix
from svmselect.types import Array

# A site that takes less than this share of its marginal has its variance computed directly: as
# (1 - [B^-1]_ii) / tau_i it would lose more than three digits.
_WEAK = 1e-3


class Latent(Protocol):
    """Prior times sites, factored."""

    logdet: float
    """ln det(I + K S)."""
    variance: Array
    """Diagonal of Sigma."""
    retained: Array
    """1 - tau_i Sigma_ii: marginal variance over cavity variance."""

    def solve(self, v: Array) -> Array:
        """(I + S K)^-1 v."""

    def spread(self, v: Array) -> Array:
        """Vector of sum_{j != i} Sigma_ij^2 v_j: minus how variances follow the other sites."""

    def inner(self) -> Matrix:
        """R = (K + S^-1)^-1 = S - S Sigma S, on the device."""


class Prior(Protocol):
    """N(0, K), able to take sites."""

    diagonal: Array

    def apply(self, v: Array) -> Array:
        """K v."""

    def condition(self, precision: Array) -> Latent | None:
        """Take these sites; None where the product is not a Gaussian (or not numerically)."""


@dataclass(frozen=True, eq=False)
class DensePrior:
    """N(0, K) with K as an n x n matrix, for sites of non-negative precision."""

    K: Matrix
    diagonal: Array
    backend: Backend

    @classmethod
    def of(cls, K: Array, backend: Backend) -> DensePrior:
        """Move K to the device."""
        return cls(backend.put(K), K.diagonal().copy(), backend)

    def apply(self, v: Array) -> Array:
        return self.backend.get(self.K @ self.backend.put(v))

    def condition(self, precision: Array) -> DenseLatent | None:
        if not (np.isfinite(precision).all() and (precision >= 0).all()):
            return None
        on = self.backend
        root = np.sqrt(precision)
        scale = on.put(root)
        lower = on.cholesky(on.add_diagonal(self.K * scale * scale[:, None], 1.0))
        if lower is None:
            return None
        logdet = 2.0 * float(np.log(on.get(lower.diagonal())).sum())
        inverse = on.lower_inverse(lower)
        retained = on.column_norms(inverse)
        variance = np.divide(
            1.0 - retained, precision, out=np.zeros_like(precision), where=precision > 0
        )
        weak = np.flatnonzero(retained > 1.0 - _WEAK)
        if len(weak):
            columns = self.K[:, weak]
            taken = on.column_norms(inverse @ (scale[:, None] * columns))
            variance[weak] = np.maximum(self.diagonal[weak] - taken, 0.0)
            retained[weak] = 1.0 - precision[weak] * variance[weak]
        return DenseLatent(self, precision, inverse, logdet, variance, retained)


@dataclass(frozen=True, eq=False)
class DenseLatent:
    """DensePrior times sites. One Cholesky factorisation and its inverse: 2/3 n^3 flops."""

    prior: DensePrior
    precision: Array
    factor: Matrix  # L^-1, B = L L'
    logdet: float
    variance: Array
    retained: Array

    def solve(self, v: Array) -> Array:
        # (I + SK)^-1 = I - S^1/2 B^-1 S^1/2 K
        on, root = self.prior.backend, np.sqrt(self.precision)
        inner = on.put(root * self.prior.apply(v))
        return v - root * on.get(self.factor.T @ (self.factor @ inner))

    def spread(self, v: Array) -> Array:
        # off the diagonal Sigma = -S^-1/2 B^-1 S^-1/2
        on, tau = self.prior.backend, self.precision
        scaled = np.divide(v, tau, out=np.zeros_like(v), where=tau > 0)
        total = on.get(self._squares @ on.put(scaled))
        return np.divide(total, tau, out=np.zeros_like(v), where=tau > 0)

    def inner(self) -> Matrix:
        scale = self.prior.backend.put(np.sqrt(self.precision))
        return self._inverse * scale * scale[:, None]

    @cached_property
    def _inverse(self) -> Matrix:
        """B^-1: another n^3/3 flops."""
        return self.prior.backend.lower_gram(self.factor)

    @cached_property
    def _squares(self) -> Matrix:
        return self.prior.backend.zero_diagonal(self._inverse**2)
