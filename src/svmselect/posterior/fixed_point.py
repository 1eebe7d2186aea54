"""The fixed-point equations of expectation propagation at one point, and their linearisation.

Everything is in margins z = y theta, where K stands for its signed version y_i K_ij y_j. The
unknowns are the dual b and the log variances l = ln s2 of the cavities, whose means are
m = K b - s2 b; the sites give slopes g(m) and precisions tau, and the posterior with these sites
gives the cavities again:

    gap = g - b = 0,       call = ln(Sigma_ii / (1 - tau_i Sigma_ii)) - l = 0.

Linearised, with terms ``dg``, ``shift``, ``dtau_extra`` and ``dl_extra`` that stand for a residual
(Newton's method) or for what a change of K and C does directly (second derivatives),

    (I + SK) db = dg - tau shift + u dl,             u = (h s2 g + dg/dl) / (1 - h s2),
    (1 - h s2) dm = K db + shift - s2 (g + dg/dl) dl,
    dtau = (dtau/dm) dm + (dtau/dl) dl + dtau_extra,
    dl = dl_extra - (s2 / Sigma_ii^2) sum_{j != i} Sigma_ij^2 dtau_j.

Applying them costs a few products with n x n matrices.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from svmselect.posterior.krylov import gmres
from svmselect.posterior.latent import Latent, Prior
from svmselect.posterior.sites import Sites, Tilted
from svmselect.types import Array

TINY = 1e-200  # the least cavity variance, where K_ii = 0
_EPS = float(np.finfo(float).eps)
_IDLE = 1e-14  # a site that takes less of its marginal does not care about its cavity's variance


@dataclass(frozen=True, eq=False)
class Equations:
    """Prior, labels and factors."""

    prior: Prior
    y: Array
    sites: Sites

    def apply(self, v: Array) -> Array:
        """K v, in margins."""
        return np.asarray(self.y * self.prior.apply(self.y * v))

    def mismatch(self, dual: Array, log_s2: Array) -> float:
        """``State.off`` at a point, without its factorisation. O(n^2)."""
        s2 = np.exp(log_s2)
        slope = self.sites(self.apply(dual) - s2 * dual, s2).slope
        return float(np.max(np.abs(slope - dual) * np.sqrt(s2)))

    def visit(self, dual: Array, log_s2: Array) -> State | None:
        """Evaluate sites and posterior at a point; None if there is no Gaussian there."""
        s2 = np.exp(log_s2)
        mean = self.apply(dual)
        m = mean - s2 * dual
        tilted = self.sites(m, s2)
        if not all(np.isfinite(part).all() for part in (tilted.log_Z, tilted.slope)):
            return None
        latent = self.prior.condition(tilted.precision)
        if latent is None:
            return None
        return State(self, dual, log_s2, mean, m, tilted, latent)

    def objective(self, m: Array, s2: Array) -> float:
        """What the cavity means minimise while the cavity variances are held.

        g'Kg/2 + sum [lnZ(m) - g m - s2 g^2/2] with g = g(m): convex as a function of g.
        """
        t = self.sites(m, s2)
        g = t.slope
        return float((t.log_Z + g * (0.5 * self.apply(g) - m - 0.5 * s2 * g)).sum())


@dataclass(frozen=True, eq=False)
class State:
    """One point of the iteration and all that was computed there."""

    equations: Equations
    dual: Array
    log_s2: Array
    mean: Array
    m: Array
    tilted: Tilted
    latent: Latent

    @cached_property
    def s2(self) -> Array:
        """Cavity variances."""
        return np.exp(self.log_s2)

    @cached_property
    def next_log_s2(self) -> Array:
        """ln of the cavity variances of the posterior with these sites."""
        var, kept = self.latent.variance, self.latent.retained
        cavity = np.log(np.maximum(var, TINY)) - np.log(np.maximum(kept, _EPS))
        # a cavity can fail to be Gaussian only next to sites of negative precision: widen it
        return np.where(kept > 0, cavity, np.maximum(cavity, self.log_s2 + 1.0))

    @cached_property
    def busy(self) -> Array:
        """One for every site that takes part, zero for the idle."""
        return (np.abs(self.tilted.precision) * self.latent.variance > _IDLE).astype(float)

    @property
    def gap(self) -> Array:
        """How far the dual is from what the sites say."""
        return self.tilted.slope - self.dual

    @cached_property
    def call(self) -> Array:
        """How far the cavities' ln variances are."""
        return self.next_log_s2 - self.log_s2

    @cached_property
    def off(self) -> float:
        """The largest gap, in units of the cavity's standard deviation."""
        return float(np.max(np.abs(self.gap) * np.sqrt(self.s2)))

    @cached_property
    def moved(self) -> float:
        """The largest call of a site that takes part."""
        return float(np.max(np.abs(self.call) * self.busy, initial=0.0))

    @property
    def residual(self) -> float:
        """Zero at the fixed point."""
        return max(self.off, self.moved)

    @cached_property
    def noise(self) -> float:
        """The part of the residual that rounding in K b may account for."""
        size = np.sqrt(self.equations.prior.diagonal)
        lift = float(np.max(size / np.sqrt(self.s2) * self.busy))
        return _EPS * lift * float(size @ np.abs(self.dual))

    def value(self) -> float:
        """ln Q without kappa; second-order accurate in the residual."""
        b, t = self.dual, self.tilted
        # 1 + tau s2 = 1 / shrink
        parts = t.log_Z + 0.5 * b * (self.s2 * b - self.mean) - 0.5 * np.log(t.shrink)
        return float(parts.sum()) - 0.5 * self.latent.logdet

    def descent(self) -> tuple[Array, Array]:
        """Newton's step for the dual while the cavity variances are held; also that of m."""
        y = self.equations.y
        db = np.asarray(y * self.latent.solve(y * self.gap / self.tilted.shrink))
        return db, self.equations.apply(db) - self.s2 * db

    def newton(self) -> tuple[Array, Array]:
        """The step (db, dl) of Newton's method in all unknowns."""
        linear = Linearised.of(self, *self.bends())
        accuracy = min(1e-2, 0.1 * self.residual)
        # g moves to b where the cavity mean is short of it by -s2 gap
        step = linear.respond(self.gap, self.call * self.busy, accuracy, -self.s2 * self.gap)
        return step.dual, np.where(self.busy > 0, step.log_s2, self.call)

    def bends(self) -> tuple[Array, Array]:
        """First and second derivative of h in m, by central differences: good to six digits."""
        s2, sites = self.s2, self.equations.sites
        m, d = self.m, 1e-3 * np.sqrt(s2)
        right, left = sites(m + d, s2).curvature, sites(m - d, s2).curvature
        return (right - left) / (2.0 * d), (right - 2.0 * self.tilted.curvature + left) / d**2


@dataclass(frozen=True, eq=False)
class Step:
    """A change of the unknowns and what it does to means and precisions."""

    dual: Array
    m: Array
    log_s2: Array
    precision: Array


@dataclass(frozen=True, eq=False)
class Linearised:
    """The equations above, at a state, with the sites' partial derivatives."""

    state: State
    tau_m: Array
    tau_l: Array
    g_l: Array

    @classmethod
    def of(cls, state: State, h_m: Array, h_mm: Array) -> Linearised:
        """Derivatives in l follow from those in m: the heat equation dlnZ/ds2 = (g^2 - h)/2."""
        t, s2 = state.tilted, state.s2
        steep = 1.0 / t.shrink**2  # dtau/dh
        tau_l = s2 * (t.slope * h_m + 0.5 * h_mm) * steep
        return cls(state, h_m * steep, tau_l, -s2 * (t.slope * t.curvature + 0.5 * h_m))

    def follow(
        self,
        dg: Array | float,
        dl: Array,
        shift: Array | float = 0.0,
        dtau_extra: Array | float = 0.0,
    ) -> tuple[Step, Array]:
        """Let everything else follow a step dl; also dl_next."""
        at, y = self.state, self.state.equations.y
        t, s2, latent = at.tilted, at.s2, at.latent
        u = (t.curvature * s2 * t.slope + self.g_l) / t.shrink
        db = y * latent.solve(y * (dg - t.precision * shift + u * dl))
        dm = (at.equations.apply(db) + shift - s2 * (t.slope + self.g_l) * dl) / t.shrink
        dtau = self.tau_m * dm + self.tau_l * dl + dtau_extra
        scale = np.maximum(latent.variance, TINY) * np.maximum(latent.retained, _EPS)
        return Step(db, dm, dl, dtau), -at.busy * latent.spread(dtau) / scale

    def respond(
        self,
        dg: Array,
        dl_extra: Array,
        tolerance: float,
        shift: Array | float = 0.0,
        dtau_extra: Array | float = 0.0,
    ) -> Step:
        """Solve for the step that answers the extra terms (``dl_extra`` on dl_next)."""
        still = np.zeros_like(dl_extra)
        rhs = dl_extra + self.follow(dg, still, shift, dtau_extra)[1]
        dl, _ = gmres(lambda v: v - self.follow(0.0, v)[1], rhs, tolerance)
        return self.follow(dg, dl, shift, dtau_extra)[0]
