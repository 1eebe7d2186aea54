"""Expectation propagation for the evidence of a support vector machine.

The model is theta ~ N(0, K) with a likelihood exp(-C loss(y_i theta_i)) for each point. Every factor
is replaced by a Gaussian site so that the marginals agree in mean and variance. Written in
margins z = y theta, with cavity variance s2 and dual b (the mean is K b), the fixed point is

    b_i = g_i(m_i),  m = K b - s2 b,       g = dlnZ_i/dm, lnZ_i of the cavity N(m_i, s2_i),
    tau_i = h_i / (1 - h_i s2_i),          h = -d2lnZ_i/dm2,
    1/s2_i = 1/Sigma_ii - tau_i,           Sigma = (K^-1 + diag(tau))^-1,

and the evidence, stationary in b, s2 and tau there,

    ln Q = sum lnZ_i - b'Kb/2 + sum s2 b^2/2 - ln det(I + KS)/2 + sum ln(1 + tau s2)/2 + n ln kappa.

A parallel sweep of the classical algorithm is Newton's method in b with s2 one sweep behind, which
leaves linear convergence. Here, once the sweeps have come near, Newton's method is taken in b and
ln s2 together: its equations need only products with n x n matrices at hand (a few, by GMRES), and
five to ten factorisations replace fifteen to forty. Minka 2001; Opper & Winther 2000.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from svmselect.kappa import log_kappa
from svmselect.losses import get_loss
from svmselect.machine.check import check_gram, check_signs, check_weights
from svmselect.posterior.backend import get_backend
from svmselect.posterior.krylov import gmres
from svmselect.posterior.latent import DensePrior, Latent, Prior
from svmselect.posterior.sites import Sites, Tilted, hinge, squared_hinge
from svmselect.types import OK, Array, Sensitivity, Status

_EPS = float(np.finfo(float).eps)
_TINY = 1e-200  # the least cavity variance, where K_ii = 0
_NEAR = 0.5  # Newton's method takes over when ln s2 moves by less than this
_LEAP = 1.0  # and no Newton step moves ln s2 further than this


@dataclass(frozen=True)
class Start:
    """What the next run needs to start near: the dual and the cavity variances."""

    dual: Array
    cavity: Array


@dataclass(frozen=True, eq=False)
class EP:
    """The Gaussian approximation of the posterior and of the evidence.

    ``log_evidence`` is ln Q, ln kappa of every point included (none where normalised). Of the
    latent values theta: ``mean`` = K ``dual``, ``variance`` the marginal variances, ``covariance``
    and ``root`` (covariance = root root'). Sites are exp(-precision theta^2/2 + shift theta).
    ``inner`` = (K + S^-1)^-1, so that at new points the mean is k dual and the variance
    k(x, x) - k' inner k.
    """

    log_evidence: float
    dual: Array
    mean: Array
    variance: Array
    cavity: Array
    precision: Array
    slope_log_C: float
    sweeps: int
    residual: float
    status: Status
    K: Array
    inner: Array
    y: Array
    weights: Array
    C: float
    loss: str
    normalised: bool

    @property
    def shift(self) -> Array:
        """The sites' linear coefficient, precision times site mean."""
        return self.dual + self.precision * self.mean

    @property
    def start(self) -> Start:
        """Where to start a neighbouring run; small."""
        return Start(self.dual, self.cavity)

    @property
    def sensitivity(self) -> Sensitivity:
        """d ln Q = sum_ij (b b' - inner)_ij / 2 dK_ij + slope_log_C dlog C."""
        b = self.dual[:, None]
        return Sensitivity(0.5 * b, b, self.slope_log_C, -0.5 * self.inner)

    @cached_property
    def covariance(self) -> Array:
        """Sigma = K - K inner K. O(n^3)."""
        product = self.K @ self.inner @ self.K
        return self.K - 0.5 * (product + product.T)

    @cached_property
    def root(self) -> Array:
        """A symmetric square root of the covariance; what rounding made negative is zero. O(n^3)."""
        values, vectors = np.linalg.eigh(self.covariance)
        return (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T


def expectation_propagation(
    K: ArrayLike,
    y: ArrayLike,
    C: float,
    loss: str = "hinge",
    weights: ArrayLike | None = None,
    normalised: bool = False,
    start: EP | Start | None = None,
    rank: int | None = None,
    device: str = "cpu",
    tol: float = 1e-9,
    max_sweeps: int = 100,
) -> EP:
    """Run expectation propagation for one Gram matrix, with the penalty C and a loss.

    ``tol`` bounds the residual: the largest change of a cavity's mean (in standard deviations) and
    log variance. Weight k counts as k copies of the row; a row of weight zero has no factor, but a
    posterior. ``start`` is the answer at neighbouring hyperparameters. O(n^3) a sweep, O(n^2)
    memory; ``device="cuda"`` runs the matrices through torch.
    """
    get_loss(loss)
    gram = check_gram(K)
    signs = check_signs(y, len(gram))
    w = check_weights(weights, signs)
    if not (np.isfinite(C) and C > 0):
        raise ValueError(f"C must be a positive finite number, got {C!r}")
    if start is not None and len(start.dual) != len(signs):
        raise ValueError(
            f"start is for {len(start.dual)} points, this problem has {len(signs)}; "
            "start from the posterior of the same points, or leave it out"
        )
    sites = {"hinge": hinge, "squared_hinge": squared_hinge}[loss]
    prior = DensePrior.of(gram, get_backend(device))
    dual = np.zeros(len(signs)) if start is None else signs * start.dual
    cavity = prior.diagonal if start is None else start.cavity
    problem = _Problem(prior, signs, C * w, sites)
    end = problem.run(dual, np.log(np.maximum(cavity, _TINY)), tol, max_sweeps)
    shift, slope = (0.0, 0.0) if normalised else log_kappa(loss, C)
    total = float(w.sum())
    backend = get_backend(device)
    return EP(
        log_evidence=end.value() + total * shift,
        dual=signs * end.dual,
        mean=signs * end.mean,
        variance=end.latent.variance,
        cavity=end.s2,
        precision=end.tilted.precision,
        slope_log_C=float(end.tilted.log_C.sum()) + total * C * slope,
        sweeps=end.sweep,
        residual=end.residual,
        status=end.status,
        K=gram,
        inner=backend.get(end.latent.inner()),
        y=signs,
        weights=w,
        C=float(C),
        loss=loss,
        normalised=normalised,
    )


@dataclass(frozen=True, eq=False)
class _State:
    """One point of the iteration and all that was computed there (in margins, z = y theta)."""

    dual: Array
    log_s2: Array
    mean: Array
    tilted: Tilted
    latent: Latent
    next_log_s2: Array
    residual: float
    noise: float
    sweep: int
    status: Status = OK

    @property
    def s2(self) -> Array:
        return np.exp(self.log_s2)

    def value(self) -> float:
        """Give ln Q without kappa."""
        b, s2, t = self.dual, self.s2, self.tilted
        # 1 + tau s2 = 1 / shrink
        gain = float(t.log_Z.sum() + 0.5 * (s2 * b * b).sum() - 0.5 * np.log(t.shrink).sum())
        return gain - 0.5 * float(b @ self.mean) - 0.5 * self.latent.logdet


@dataclass(frozen=True, eq=False)
class _Problem:
    prior: Prior
    y: Array
    c: Array
    sites: Sites

    def apply(self, v: Array) -> Array:
        """K in margins."""
        return self.y * self.prior.apply(self.y * v)

    def visit(self, dual: Array, log_s2: Array, sweep: int) -> _State | None:
        """Evaluate sites and posterior at a point; None if the posterior is no Gaussian there."""
        s2 = np.exp(log_s2)
        mean = self.apply(dual)
        tilted = self.sites(mean - s2 * dual, s2, self.c)
        latent = self.prior.condition(tilted.precision)
        if latent is None:
            return None
        cavity = latent.variance / latent.retained
        after = np.log(np.maximum(cavity, _TINY))
        s = np.sqrt(s2)
        # a site that takes nothing from its marginal does not care about its cavity's variance
        matters = tilted.precision * latent.variance > 1e-14
        off = np.abs(tilted.slope - dual) * s
        moved = np.abs(after - log_s2)[matters]
        residual = max(float(off.max()), float(np.max(moved, initial=0.0)))
        size = np.sqrt(self.prior.diagonal)
        noise = _EPS * float(np.max(size / s)) * float(size @ np.abs(dual))
        return _State(dual, log_s2, mean, tilted, latent, after, residual, noise, sweep)

    def run(self, dual: Array, log_s2: Array, tol: float, limit: int) -> _State:
        """Iterate to the fixed point."""
        state = self.visit(dual, log_s2, 1)
        if state is None:
            state = self.visit(np.zeros_like(dual), np.log(self.prior.diagonal), 1)
        assert state is not None
        for sweep in range(2, limit + 1):
            if state.residual <= max(tol, 100.0 * state.noise):
                return state
            near = np.abs(state.next_log_s2 - state.log_s2).max() < _NEAR
            point = self.newton(state) if near else self.plain(state)
            new = self.visit(*point, sweep)
            if new is None:
                break
            state = new
        return state

    def plain(self, at: _State) -> tuple[Array, Array]:
        """The classical parallel sweep."""
        step = self.y * at.latent.solve(self.y * (at.tilted.slope - at.dual) / at.tilted.shrink)
        return at.dual + step, at.next_log_s2

    def newton(self, at: _State) -> tuple[Array, Array]:
        """Newton's method in b and ln s2 together.

        With dtau = tau_m dm + tau_l dl, dl the step in ln s2:
        (I + SK) db = (g - b + u dl) / (1 - h s2), u = h s2 b + dg/dl, dm = K db - s2 (db + b dl) and
        dl_next = -(s2 / Sigma_ii^2) sum_{j != i} Sigma_ij^2 dtau_j.
        """
        t, s2, b, latent = at.tilted, at.s2, at.dual, at.latent
        tau_m, tau_l, g_l = self.partials(at)
        off = (t.slope - b) / t.shrink
        u = (t.curvature * s2 * b + g_l) / t.shrink
        var = np.maximum(latent.variance, _TINY)
        scale = -1.0 / (var * np.maximum(latent.retained, _EPS))

        def follow(rhs: Array, dl: Array) -> tuple[Array, Array]:
            db = self.y * latent.solve(self.y * rhs)
            dm = self.apply(db) - s2 * (db + b * dl)
            return db, scale * latent.spread(tau_m * dm + tau_l * dl)

        def equations(dl: Array) -> Array:
            return dl - follow(u * dl, dl)[1]

        rhs = at.next_log_s2 - at.log_s2 + follow(off, np.zeros_like(b))[1]
        dl, _ = gmres(equations, rhs, min(1e-3, 0.1 * at.residual))
        db = follow(off + u * dl, dl)[0]
        short = min(1.0, _LEAP / max(float(np.abs(dl).max()), _TINY))
        return b + short * db, at.log_s2 + short * dl

    def partials(self, at: _State) -> tuple[Array, Array, Array]:
        """d tau/dm, d tau/dln s2 and dg/dln s2 of each site, by differences."""
        s2, t = at.s2, at.tilted
        m, step = at.mean - s2 * at.dual, 1e-6
        s = np.sqrt(s2)
        moved = self.sites(m + step * s, s2, self.c)
        wider = self.sites(m, s2 * (1.0 + step), self.c)
        tau_m = (moved.precision - t.precision) / (step * s)
        h_m = (moved.curvature - t.curvature) / (step * s)
        tau_l = (wider.precision - t.precision) / step
        # the heat equation: dlnZ/ds2 = (g^2 - h)/2
        return tau_m, tau_l, -s2 * (t.slope * t.curvature + 0.5 * h_m)
