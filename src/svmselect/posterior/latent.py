"""The Gaussian over latent values: the prior N(0, K) times Gaussian sites.

With site precisions S = diag(tau) the posterior covariance is Sigma = (K^-1 + S)^-1; K is never
inverted. For sites of non-negative precision everything comes from B = I + S^1/2 K S^1/2, whose
inverse also has the marginal variances on its diagonal: [B^-1]_ii = 1 - tau_i Sigma_ii. For sites
of either sign, and for a prior of low rank, K = F F' and everything comes from A = I + F'S F.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from svmselect.devices import Matrix
from svmselect.posterior.backend import Backend
from svmselect.types import Array

# A site that takes less than this share of its marginal has its variance computed directly: as
# (1 - [B^-1]_ii) / tau_i it would lose more than five digits of sixteen.
_WEAK = 1e-5


class Latent(Protocol):
    """Prior times sites, factored."""

    @property
    def logdet(self) -> float:
        """ln det(I + K S)."""

    @property
    def variance(self) -> Array:
        """Diagonal of Sigma."""

    @property
    def retained(self) -> Array:
        """1 - tau_i Sigma_ii: marginal variance over cavity variance."""

    def solve(self, v: Array) -> Array:
        """(I + S K)^-1 v."""

    def spread(self, v: Array) -> Array:
        """Vector of sum_{j != i} Sigma_ij^2 v_j: minus how variances follow the other sites."""

    def inner(self, right: Matrix | None = None) -> Matrix:
        """R = (K + S^-1)^-1 = S - S Sigma S, or its product with a matrix; on the device."""


class Prior(Protocol):
    """N(0, K), able to take sites."""

    @property
    def diagonal(self) -> Array:
        """Prior variances."""

    @property
    def backend(self) -> Backend:
        """Where the matrices are."""

    def apply(self, v: Array) -> Array:
        """K v."""

    def condition(self, precision: Array) -> Latent | None:
        """Take these sites; None where the product is not a Gaussian (or not numerically)."""


@dataclass(frozen=True, eq=False)
class DensePrior:
    """N(0, K) with K as an n x n matrix.

    Sites of negative precision (of the normalised models) are allowed where ``signed``; then, and
    only when one occurs, K is factored too.
    """

    K: Matrix
    diagonal: Array
    backend: Backend
    signed: bool = False

    @classmethod
    def of(cls, K: Array, backend: Backend, signed: bool = False) -> DensePrior:
        """Move K to the device."""
        return cls(backend.put(K), K.diagonal().copy(), backend, signed)

    @cached_property
    def factored(self) -> FactoredPrior | None:
        """K = F F' by Cholesky; a multiple of rounding on the diagonal makes it definite."""
        scale = float(np.max(self.diagonal, initial=0.0)) * len(self.diagonal) * 2.3e-16
        for lift in (scale, 1e2 * scale, 1e4 * scale):
            lower = self.backend.cholesky(self.backend.add_diagonal(self.K + 0.0, lift))
            if lower is not None:
                return FactoredPrior(lower, self.diagonal, self.backend)
        return None

    def apply(self, v: Array) -> Array:
        return self.backend.get(self.K @ self.backend.put(v))

    def condition(self, precision: Array) -> Latent | None:
        if not np.isfinite(precision).all():
            return None
        if (precision < 0).any():
            return self.factored.condition(precision) if self.signed and self.factored else None
        on = self.backend
        scale = on.put(np.sqrt(precision))
        lower = on.cholesky(on.add_diagonal(self.K * scale * scale[:, None], 1.0))
        if lower is None:
            return None
        logdet = 2.0 * float(np.log(on.get(lower.diagonal())).sum())
        inverse = on.lower_inverse(lower)
        retained = on.column_norms(inverse)
        variance = _ratio(1.0 - retained, precision)
        weak = np.flatnonzero(retained > 1.0 - _WEAK)
        if len(weak):
            taken = on.column_norms(on.lower_times(inverse, scale[:, None] * self.K[:, weak]))
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
        return np.asarray(v - root * on.get(self.factor.T @ (self.factor @ inner)))

    def spread(self, v: Array) -> Array:
        # off the diagonal Sigma = -S^-1/2 B^-1 S^-1/2
        on, tau = self.prior.backend, self.precision
        return _ratio(on.get(self._squares @ on.put(_ratio(v, tau))), tau)

    def inner(self, right: Matrix | None = None) -> Matrix:
        scale = self.prior.backend.put(np.sqrt(self.precision))
        if right is None:
            return self._inverse * scale * scale[:, None]
        return scale[:, None] * (self._inverse @ (scale[:, None] * right))

    @cached_property
    def _inverse(self) -> Matrix:
        """B^-1: another n^3/3 flops."""
        return self.prior.backend.lower_gram(self.factor)

    @cached_property
    def _squares(self) -> Matrix:
        return self.prior.backend.zero_diagonal(self._inverse**2)


@dataclass(frozen=True, eq=False)
class FactoredPrior:
    """N(0, F F') with F an n x r matrix; sites of either sign. O(n r^2) a factorisation."""

    F: Matrix
    diagonal: Array
    backend: Backend

    def apply(self, v: Array) -> Array:
        return self.backend.get(self.F @ (self.F.T @ self.backend.put(v)))

    def condition(self, precision: Array) -> FactoredLatent | None:
        if not np.isfinite(precision).all():
            return None
        on = self.backend
        tau = on.put(precision)
        lower = on.cholesky(on.add_diagonal(self.F.T @ (tau[:, None] * self.F), 1.0))
        if lower is None:
            return None
        logdet = 2.0 * float(np.log(on.get(lower.diagonal())).sum())
        root = on.lower_solve(lower, self.F.T)  # Sigma = root' root
        variance = on.column_norms(root)
        return FactoredLatent(self, precision, root, logdet, variance, 1.0 - precision * variance)


@dataclass(frozen=True, eq=False)
class FactoredLatent:
    """FactoredPrior times sites; ``root`` is L^-1 F', A = L L'."""

    prior: FactoredPrior
    precision: Array
    root: Matrix
    logdet: float
    variance: Array
    retained: Array

    def solve(self, v: Array) -> Array:
        # (I + SK)^-1 = I - S Sigma
        on = self.prior.backend
        return np.asarray(v - self.precision * on.get(self.root.T @ (self.root @ on.put(v))))

    def spread(self, v: Array) -> Array:
        on, (r, n) = self.prior.backend, self.root.shape
        if n <= 8 * r:  # a few products cost more than the matrix itself
            return on.get(self._squares @ on.put(v))
        small = (self.root * on.put(v)) @ self.root.T
        whole = on.get((self.root * (small @ self.root)).sum(0))
        return np.asarray(whole - self.variance**2 * v)

    def inner(self, right: Matrix | None = None) -> Matrix:
        on = self.prior.backend
        tau = on.put(self.precision)
        scaled = self.root * tau
        if right is None:
            return on.add_diagonal(-(scaled.T @ scaled), tau)
        return tau[:, None] * right - scaled.T @ (scaled @ right)

    @cached_property
    def _squares(self) -> Matrix:
        return self.prior.backend.zero_diagonal((self.root.T @ self.root) ** 2)


def _ratio(over: Array, under: Array) -> Array:
    """over / under, zero where under is."""
    return np.asarray(np.divide(over, under, out=np.zeros_like(over), where=under != 0))
