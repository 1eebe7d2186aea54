"""The posterior as a Gaussian times what is left over, and the evidence's gradient in those terms.

In margins z = y theta, take Gaussian sites exp(-S z^2/2 + nu z) from expectation propagation. They
turn the prior N(0, K) into N(m, Sigma), Sigma = (K^-1 + S)^-1, and the posterior is, delta = z - m,

    exp(-delta' Sigma^-1 delta / 2 - R(delta)),   R = V(m + delta) + b'delta - delta'S delta/2,

with dual b = K^-1 m and residual force r = R' = g + b - S delta. Integration by parts gives
<delta> = -Sigma <r> and <delta delta'> = Sigma + Sigma (<r r'> - diag rho) Sigma, rho = <R''>, so

    d ln Q / dK = 1/2 (<h h'> - K^-1),                                h = K^-1 z   (GS eqs 19, 20)
                = 1/2 (b b' - inner) + 1/2 (b d' + d b') + 1/2 G (<r r'> - diag rho) G',
    G = K^-1 Sigma = I - S Sigma,   d = -G <r>,   inner = (K + S^-1)^-1,
    rho_i = <r_i (delta_i + (Sigma r)_i)> / Sigma_ii.

The first term is what expectation propagation says; only the correction is sampled (EP as control
variate), and neither K^-1 nor the hinge's second derivative occurs. The last term is also
-G <r delta'> K^-1 / 2, made symmetric, which is the quieter estimate where the Gaussian is a poor
one; ``mix`` is the share of this form. All this is true for any sites, converged or not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import lapack

from svmselect.devices import Matrix
from svmselect.posterior.approximation import EP
from svmselect.posterior.backend import Backend, TorchBackend
from svmselect.posterior.low_rank import Landmarks
from svmselect.posterior.noise import array_module
from svmselect.posterior.potential import Potential
from svmselect.types import Array, IntArray

_JITTERS = (0.0, 1e-14, 1e-13, 1e-12, 1e-11, 1e-10)  # of the largest prior variance, where needed


@dataclass(frozen=True, eq=False)
class Frame:
    """Reference Gaussian and potential, on the device, for the rows of positive weight.

    Columns are (n, 1). ``covariance`` = ``factor @ factor.T``, the factor n x rank; ``pivoted`` is
    the Cholesky factor of K at the rows ``pivots``, which determine all others. ``log_partition``
    is ln of the integral of prior times sites and ``constant`` what R lacks, so that
    ln Q = log_partition - constant + ln E exp(-R), without kappa.
    """

    mean: Matrix
    dual: Matrix
    precision: Matrix
    covariance: Matrix
    factor: Matrix
    deviation: Matrix
    pivots: IntArray
    pivoted: Matrix
    potential: Potential
    log_partition: float
    constant: float
    rows: IntArray  # indices of the rows of positive weight
    signs: Array
    size: int  # of all rows
    landmarks: Landmarks | None
    backend: Backend

    @classmethod
    def of(cls, ep: EP, backend: Backend) -> Frame:
        """Take the sites of expectation propagation; a site that no Gaussian allows is dropped."""
        rows = np.flatnonzero(ep.weights > 0)
        y = ep.y[rows]
        landmarks = None
        if ep.low_rank is None:
            K = ep.K if len(rows) == len(ep.y) else ep.K[np.ix_(rows, rows)]
            F, pivots = prior_factor(K * y * y[:, None], backend)
        else:
            landmarks = Landmarks.choose(ep.K, len(ep.low_rank.landmarks))
            F, pivots = backend.put(y[:, None] * landmarks.factor[rows]), rows[:0]
        tau, nu = ep.precision[rows], y * ep.shift[rows]
        good = np.isfinite(tau) & np.isfinite(nu)
        tau, nu = np.where(good, tau, 0.0), np.where(good, nu, 0.0)
        lower = _conditioned(F, tau, backend)
        if lower is None:  # a negative precision too many
            tau = np.maximum(tau, 0.0)
            lower = _conditioned(F, tau, backend)
        if lower is None:
            raise ValueError("the kernel matrix is not finite or not positive semi-definite")
        L = backend.lower_solve(lower, F.T).T
        xp = array_module(backend)
        covariance = L @ L.T
        column = backend.put(nu[:, None])
        S = backend.put(tau[:, None])
        m = L @ (L.T @ column)
        logdet = 2.0 * float(np.log(backend.get(lower.diagonal())).sum())
        return cls(
            mean=m,
            dual=column - S * m,
            precision=S,
            covariance=covariance,
            factor=L,
            deviation=xp.sqrt(covariance.diagonal())[:, None],
            pivots=pivots,
            pivoted=F[pivots],
            potential=Potential.of(ep.C, ep.loss, ep.normalised, ep.weights[rows], backend),
            log_partition=0.5 * float((column * m).sum()) - 0.5 * logdet,
            constant=float((m * (column - 0.5 * S * m)).sum()),
            rows=rows,
            signs=y,
            size=len(ep.y),
            landmarks=landmarks,
            backend=backend,
        )

    @property
    def xp(self) -> Any:
        """The array module."""
        return self.potential.xp

    def __len__(self) -> int:
        return len(self.rows)

    def residual(self, delta: Matrix) -> tuple[Matrix, Matrix]:
        """R and V of every column."""
        V = self.potential.value(self.mean + delta)
        return V + ((self.dual - 0.5 * self.precision * delta) * delta).sum(0), V

    def residual_force(self, delta: Matrix) -> Matrix:
        """Give r = g + b - S delta."""
        return self.potential.slope(self.mean + delta) + self.dual - self.precision * delta

    def spread(self, force: Matrix) -> Matrix:
        """Multiply by Sigma, through the factor where that is cheaper."""
        n, rank = self.factor.shape
        if 2 * rank < n:
            return self.factor @ (self.factor.T @ force)
        return self.covariance @ force

    def gram_slope(self, r: Matrix, r_delta: Matrix, rr: Matrix, mix: float = 0.0) -> Array:
        """d ln Q / dK from the averages <r>, <r delta'> and <r r'>. O(n^3).

        With a prior of low rank there is no K^-1, and ``mix`` must be zero.
        """
        xp, Sigma, S, b = self.xp, self.covariance, self.precision, self.dual
        both = 0.0
        if mix < 1.0:
            rho = (r_delta.diagonal() + (Sigma * rr).sum(1)) / Sigma.diagonal()
            core = rr - xp.diag(rho)
            half = core - S * (Sigma @ core)
            both = (1.0 - mix) * (half - (half @ Sigma) * S.T)
        if mix > 0.0:
            lagging = self._unspread(S * (Sigma @ r_delta) - r_delta)
            both = both + 0.5 * mix * (lagging + lagging.T)
        d = S * (Sigma @ r[:, None]) - r[:, None]
        inner = xp.diag(S[:, 0]) - S * Sigma * S.T
        slope = 0.5 * (b @ b.T - inner + b @ d.T + d @ b.T + both)
        return self._of_all_rows(self.backend.get(slope) * self.signs * self.signs[:, None])

    def _of_all_rows(self, slope: Array) -> Array:
        """The derivative by K of every row, through the landmarks where there are some."""
        if len(self.rows) < self.size:
            full = np.zeros((self.size, self.size))
            full[np.ix_(self.rows, self.rows)] = slope
            slope = full
        return (
            slope
            if self.landmarks is None
            else self.landmarks.pullback(slope @ self.landmarks.weights)
        )

    def _unspread(self, rows: Matrix) -> Matrix:
        """Give X with X K = rows, for rows in the range of K; zero off the pivots."""
        on, L = self.backend, self.pivoted
        solved = on.lower_solve(L, rows[:, self.pivots].T)
        back = on.lower_solve(self._flipped, solved[self._reverse])
        out = 0.0 * rows
        out[:, self.pivots] = back[self._reverse].T
        return out

    @property
    def _reverse(self) -> IntArray:
        return np.arange(len(self.pivots))[::-1].copy()

    @property
    def _flipped(self) -> Matrix:
        """L' with both orders reversed is lower triangular again."""
        return self.pivoted.T[self._reverse][:, self._reverse]


def prior_factor(K: Array, backend: Backend) -> tuple[Matrix, IntArray]:
    """Give F with F F' = K up to rounding, and the rows at which F is lower triangular.

    In NumPy by Cholesky with pivots, without the columns that rounding has made of null
    directions; in torch, which has no pivots, by the plain one with the least jitter that lets it
    succeed.
    """
    if isinstance(backend, TorchBackend):
        scale = float(K.diagonal().max())
        for jitter in _JITTERS:
            matrix = backend.put(K)
            if jitter:
                matrix = backend.add_diagonal(matrix, jitter * scale)
            lower = backend.cholesky(matrix)
            if lower is not None:
                return lower, np.arange(len(K))
        raise ValueError("the kernel matrix is not positive semi-definite; use device='cpu'")
    lower, pivots, rank, _ = lapack.dpstrf(K, lower=1)
    factor = np.zeros((len(K), rank))
    factor[pivots - 1] = np.tril(lower)[:, :rank]
    return factor, pivots[:rank].astype(np.intp) - 1


def _conditioned(F: Matrix, tau: Array, backend: Backend) -> Matrix | None:
    """Cholesky factor of I + F'SF."""
    weighted = backend.put(tau[:, None]) * F
    return backend.cholesky(backend.add_diagonal(F.T @ weighted, 1.0))
