"""Second derivatives of the evidence in the hyperparameters (GS section 4.3 wishes for them).

The gradient of ln Q is sum_ij G_ij dK_ij/dtheta with G = (b b' - R)/2, R = (K + S^-1)^-1, and
sum_i dlnZ_i/dlog C. Both depend on the sites, and these on the hyperparameters through the fixed
point: its linearisation (``fixed_point``) gives their exact response, one direction at a time,

    dG = (db b' + b db' - dR)/2,   dR = -R dK R + N dS N',   N = (I + SK)^-1.

The only differences taken are of smooth elementary functions, by five points: dK/dtheta, the
kernel's own second derivative, and derivatives of the sites' moments (errors of 1e-10 and less).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from svmselect.kernels import Kernel
from svmselect.posterior.approximation import EP
from svmselect.posterior.backend import get_backend
from svmselect.posterior.factors import get_sites, log_concave
from svmselect.posterior.fixed_point import Equations, Linearised, State
from svmselect.posterior.kappa import log_kappa
from svmselect.posterior.latent import DensePrior
from svmselect.types import Array

_STEP = 2e-3  # in logarithms of the hyperparameters
_WIDE = 1e-2  # in standard deviations of a cavity, for first and second derivatives
_TIGHT = 1e-12


def evidence_hessian(ep: EP, X: Array, kernel: Kernel) -> Array:
    """Compute the Hessian of ln Q with respect to log C and the kernel's parameters.

    Parameters
    ----------
    ep : EP
        The run at this kernel and C.
    X : ndarray of shape (n, d)
        The inputs.
    kernel : Kernel
        The kernel.

    Returns
    -------
    ndarray of shape (1 + p, 1 + p)
        The second derivatives in ``("log C", *kernel.names)``; symmetric.

    Notes
    -----
    One factorisation, then two products of n x n matrices and a few pullbacks of the kernel for
    every hyperparameter: O(p n^3) time, O(n^2) memory.
    """
    if ep.low_rank is not None:
        raise ValueError(
            "second derivatives are for the full prior; run expectation propagation without rank"
        )
    prior = DensePrior.of(ep.K, get_backend("cpu"), not log_concave(ep.loss, ep.normalised))
    equations = Equations(prior, ep.y, get_sites(ep.loss, ep.C, ep.weights, ep.normalised))
    state = equations.visit(ep.y * ep.dual, np.log(ep.cavity))
    if state is None:
        raise ValueError("these sites give no Gaussian: see the status of this run")
    response = _Response.at(state, ep)
    theta, size = kernel.theta, 1 + len(kernel.theta)
    gram = ep.sensitivity.gram
    rows = np.empty((size, size))
    slope, G = response.along_C()
    rows[0] = np.concatenate([[slope], kernel.pullback(X, G, K=ep.K)])

    for q, axis in enumerate(np.eye(len(theta))):

        def grams(t: float, axis: Array = axis) -> Array:
            return kernel.at(theta + t * axis)(X)

        def slopes(t: float, axis: Array = axis) -> Array:
            return kernel.at(theta + t * axis).pullback(X, gram)

        slope, G = response.along_K(_slope(grams))
        bent = _slope(slopes)
        rows[1 + q] = np.concatenate([[slope], kernel.pullback(X, G, K=ep.K) + bent])
    return np.asarray(0.5 * (rows + rows.T))


@dataclass(frozen=True, eq=False)
class _Response:
    """How dlnQ/dlog C and G answer a change of C or K."""

    ep: EP
    state: State
    linear: Linearised
    N_t: Array
    g_C: Array  # of the sites: dg/dlog C,
    tau_C: Array  # dtau/dlog C,
    P_l: Array  # d2lnZ/dlog C dl
    P_C: float  # and the sum of d2lnZ/dlog C^2

    @classmethod
    def at(cls, state: State, ep: EP) -> _Response:
        s2, t, sites = state.s2, state.tilted, state.equations.sites
        m, s = state.m, np.sqrt(s2)

        def across(z: float) -> Array:
            at = sites(m + z * s, s2)
            return np.array([at.curvature, at.log_C])

        far, near = (across(-2 * _WIDE), across(2 * _WIDE)), (across(-_WIDE), across(_WIDE))
        centre = np.array([t.curvature, t.log_C])
        first = (8.0 * (near[1] - near[0]) - (far[1] - far[0])) / (12.0 * _WIDE)
        second = 16.0 * (near[1] + near[0]) - (far[1] + far[0]) - 30.0 * centre
        (h_m, P_m), (h_mm, P_mm) = first / s, second / (12.0 * _WIDE**2 * s2)

        def at_C(t: float) -> Array:
            C = ep.C * np.exp(t)
            return get_sites(ep.loss, C, ep.weights, ep.normalised)(m, s2).log_C

        # with P = dlnZ/dlog C: g_C = P_m, h_C = -P_mm, and the heat equation for its slope in s2
        return cls(
            ep=ep,
            state=state,
            linear=Linearised.of(state, h_m, h_mm),
            N_t=np.eye(len(s)) - ep.K @ ep.inner,
            g_C=P_m,
            tau_C=-P_mm / t.shrink**2,
            P_l=s2 * (t.slope * P_m + 0.5 * P_mm),
            # the factors see C in units of 1/s
            P_C=float(_slope(at_C, max(_STEP / (1.0 + ep.C * float(s.max())), 1e-6)).sum()),
        )

    def along_C(self) -> tuple[float, Array]:
        none = np.zeros(len(self.ep.y))
        shift = -self.state.s2 * self.g_C
        step = self.linear.respond(self.g_C, none, _TIGHT, shift, self.tau_C)
        slope = self._slope_C(step.m, step.log_s2) + self.P_C
        if not self.ep.normalised:
            C, total = self.ep.C, float(self.ep.weights.sum())
            slope += total * float(_slope(lambda t: _kappa_slope(self.ep.loss, C * np.exp(t))))
        return slope, self._gram(step.dual, step.precision)

    def along_K(self, dK: Array) -> tuple[float, Array]:
        ep, latent = self.ep, self.state.latent
        half = self.N_t @ dK
        dvar = np.einsum("ij,ij->i", half, self.N_t)
        step = self.linear.respond(
            np.zeros(len(ep.y)),
            dvar / (latent.variance * latent.retained),
            _TIGHT,
            shift=ep.y * (dK @ ep.dual),
        )
        direct = ep.inner @ dK @ ep.inner
        G = self._gram(step.dual, step.precision) + 0.5 * direct
        return self._slope_C(step.m, step.log_s2), G

    def _slope_C(self, dm: Array, dl: Array) -> float:
        return float(self.g_C @ dm + self.P_l @ dl)

    def _gram(self, db: Array, dtau: Array) -> Array:
        b = self.ep.dual
        outer = np.outer(self.ep.y * db, b)
        return 0.5 * (outer + outer.T - (self.N_t.T * dtau) @ self.N_t)


def _slope(f: Callable[[float], Array], h: float = _STEP) -> Array:
    """f'(0) by five points."""
    return np.asarray((8.0 * (f(h) - f(-h)) - (f(2.0 * h) - f(-2.0 * h))) / (12.0 * h))


def _kappa_slope(loss: str, C: float) -> Array:
    return np.asarray(C * log_kappa(loss, C)[1])
