"""Where expectation propagation begins for thousands of rows: at the answer for a simpler prior.

That prior has the covariances that landmarks explain and, on the diagonal, all of the variance,
K ~ F F' + diag(K - F F') (FITC: Snelson & Ghahramani 2006; Quinonero-Candela & Rasmussen 2005). A
sweep for it costs O(n r^2), and from its dual and cavities those for K are three to five sweeps
away, where from the prior they are seven to eleven.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from svmselect.devices import Matrix
from svmselect.posterior.approximation import Start
from svmselect.posterior.backend import Backend
from svmselect.posterior.factors import get_sites
from svmselect.posterior.fixed_point import Equations
from svmselect.posterior.iteration import find_fixed_point
from svmselect.posterior.latent import DensePrior
from svmselect.types import Array

SEVERAL = 1500
"""Rows from which on it pays."""

_SHARE, _MOST = 10, 2000  # a landmark for so many rows, and the most
_PRECISE = 1e-3  # a residual
_SWEEPS = 40


def begin(prior: DensePrior, y: Array, C: float, loss: str, weights: Array) -> Start | None:
    """Give the answer for the simpler prior; None for few rows, or where it is not found.

    For models whose factors are log-concave.
    """
    n, on = len(y), prior.backend
    if n < SEVERAL:
        return None
    rows = np.random.default_rng(0).permutation(n)[: min(n // _SHARE, _MOST)]
    columns = prior.K[:, rows]
    lift = 1e-8 * float(prior.diagonal.max())
    lower = on.cholesky(on.add_diagonal(columns[rows] + 0.0, lift))
    if lower is None:
        return None
    F = on.lower_solve(lower, columns.T).T
    explained = on.column_norms(F.T)
    rest = np.maximum(prior.diagonal - explained, 0.0)
    simpler = SparsePrior(F, rest, explained + rest, on)

    def equations(C: float) -> Equations:
        return Equations(simpler, y, get_sites(loss, C, weights, False))

    state, _, status = find_fixed_point(equations, C, None, _PRECISE, _SWEEPS)
    if status.name == "not converged":
        return None
    dual, tau = y * state.dual, state.tilted.precision
    return Start(tau, dual + tau * y * state.mean, dual, state.s2)


@dataclass(frozen=True, eq=False)
class SparsePrior:
    """N(0, F F' + diag(rest)), F an n x r matrix; sites of non-negative precision."""

    F: Matrix
    rest: Array
    diagonal: Array
    backend: Backend

    def apply(self, v: Array) -> Array:
        on = self.backend
        return np.asarray(on.get(self.F @ (self.F.T @ on.put(v))) + self.rest * v)

    def condition(self, precision: Array) -> SparseLatent | None:
        if not np.isfinite(precision).all() or (precision < 0).any():
            return None
        on, shrink = self.backend, 1.0 + precision * self.rest
        weight = on.put(precision / shrink)
        lower = on.cholesky(on.add_diagonal(self.F.T @ (weight[:, None] * self.F), 1.0))
        if lower is None:
            return None
        logdet = 2.0 * float(np.log(on.get(lower.diagonal())).sum()) + float(np.log(shrink).sum())
        root = on.lower_solve(lower, self.F.T) / on.put(shrink)
        own, rest = on.column_norms(root), self.rest / shrink
        return SparseLatent(self, precision, root, own, rest, logdet)


@dataclass(frozen=True, eq=False)
class SparseLatent:
    """SparsePrior times sites: Sigma = root' root + diag(rest)."""

    prior: SparsePrior
    precision: Array
    root: Matrix
    own: Array
    rest: Array
    logdet: float

    @cached_property
    def variance(self) -> Array:
        return np.asarray(self.own + self.rest)

    @cached_property
    def retained(self) -> Array:
        return np.asarray(1.0 - self.precision * self.variance)

    def solve(self, v: Array) -> Array:
        # (I + SK)^-1 = I - S Sigma
        on = self.prior.backend
        product = on.get(self.root.T @ (self.root @ on.put(v))) + self.rest * v
        return np.asarray(v - self.precision * product)

    def spread(self, v: Array) -> Array:
        on = self.prior.backend
        small = (self.root * on.put(v)) @ self.root.T
        whole = on.get((self.root * (small @ self.root)).sum(0))
        return np.asarray(whole - self.own**2 * v)

    def inner(self, right: Matrix | None = None) -> Matrix:
        on = self.prior.backend
        tau = on.put(self.precision)
        scaled, kept = self.root * tau, on.put(self.precision * (1.0 - self.precision * self.rest))
        if right is None:
            return on.add_diagonal(-(scaled.T @ scaled), kept)
        return kept[:, None] * right - scaled.T @ (scaled @ right)
