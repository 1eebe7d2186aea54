"""Second derivatives of the exact evidence, from posterior averages (GS section 4.3).

In the frame of expectation propagation (``frame``: residual R, force r, G = I - S Sigma, inner
matrix J = (K + S^-1)^-1) the sites are held, and ln Q is that of a Gaussian integral plus
ln E exp(-R) over N(m, Sigma). As a parameter moves, K_p = dK/dtheta_p, that Gaussian flows along
v_p = G'K_p (b + k/2), k = K^-1 delta. Differentiating twice along it gives, with A = d ln Q/dK,
s_p = r'v_p, rho = G <r>, Y = G <r k'> and M = K_q J K_p,

    d2 ln Q = sum_ij A_ij K_pq,ij - b'M b + tr(J K_p J K_q)/2
            + Cov(s_p, s_q) - sum_i <R''_i v_pi v_qi>
            + rho'(M + M')b + tr((M + M')Y')/2 + tr(K_p (K^-1 - J) K_q Y')/4,
    d2 ln Q / dlog C dtheta_p = Cov(dV/dlog C, s_p) - <(dV'/dlog C)'v_p>,
    d2 ln Q / dlog C^2 = n d2 ln kappa + Var(dV/dlog C) - <d2V/dlog C^2>:

what expectation propagation gives at fixed sites, and a correction that is sampled. The hinge's R''
is a spike; by parts, with e = delta + Sigma r, <R''_i f> = <r_i (f e_i - (Sigma f')_i)> / Sigma_ii,
where (Sigma v_pi')_i = (G'K_p G)_ii / 2. K_p and the kernel's own second derivative are differences
of five points (errors of 1e-10).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import cho_solve

from svmselect.kernels import Kernel
from svmselect.posterior.averages import Gatherer
from svmselect.posterior.backend import get_backend
from svmselect.posterior.ep import expectation_propagation
from svmselect.posterior.frame import Frame
from svmselect.posterior.hmc import run
from svmselect.posterior.importance import annealed_importance
from svmselect.posterior.kappa import log_kappa
from svmselect.posterior.noise import get_noise
from svmselect.posterior.tuning import settled, tune
from svmselect.types import Array, IntArray

_STEP = 2e-3  # in the logarithm of a hyperparameter
_GROUPS = 16
_SMALL = 1e-12  # directions of the prior with less than this share of variance are left out


@dataclass(frozen=True, eq=False)
class SampledHessian:
    """The Hessian of E = ln Q / n in ``names``, and the standard error of every entry."""

    matrix: Array
    stderr: Array
    names: tuple[str, ...]


def evidence_hessian(
    X: Array,
    y: Array,
    C: float,
    kernel: Kernel,
    loss: str = "hinge",
    weights: ArrayLike | None = None,
    normalised: bool = False,
    draws: int = 20_000,
    chains: int = 64,
    random_state: int = 0,
) -> SampledHessian:
    """Sample the Hessian of the evidence per point. O(p n^2) a draw, O(p n^2) memory."""
    if draws < chains or chains < _GROUPS:
        raise ValueError(
            f"give at least {_GROUPS} chains and a draw of each, got {chains}, {draws}"
        )
    K = kernel(X)
    ep = expectation_propagation(K, y, C, loss, weights, normalised, gradient=False)
    on = get_backend("cpu")
    frame, noise = Frame.of(ep, on), get_noise(random_state, on)
    stepper, accept = tune(frame, noise)
    delta = annealed_importance(stepper, noise, chains, keep=0.8)[1]
    state = settled(stepper, noise, delta, accept)
    moments = _Moments(_Flow.of(frame, _directions(kernel, X)))
    gathered = Gatherer(frame, _GROUPS)

    def collect(delta: Array) -> None:
        gathered.add(delta)
        moments.add(delta)

    run(stepper, state, noise, -(-draws // chains), collect)
    total = float(ep.weights.sum())
    curve = 0.0 if normalised else total * _kappa_curvature(loss, C)
    centre = moments.centre()
    each = []
    for k, columns in enumerate(np.array_split(np.arange(chains), _GROUPS)):
        A = gathered.sensitivity(k).gram
        bent = np.array([_slope(_pulled(kernel, X, A, q)) for q in range(len(kernel.theta))])
        H = moments.hessian(columns, centre, A[np.ix_(frame.rows, frame.rows)])
        H[0, 0] += curve
        H[1:, 1:] += bent
        each.append(0.5 * (H + H.T) / total)
    spread = np.std(each, axis=0, ddof=1) / np.sqrt(_GROUPS)
    return SampledHessian(np.mean(each, axis=0), spread, ("log C", *kernel.names))


@dataclass(frozen=True, eq=False)
class _Flow:
    """What does not change from draw to draw; slopes are K_p in margins, (p, n, n)."""

    frame: Frame
    slopes: Array
    G: Array
    inner: Array
    inverse: Array  # of K at the pivots
    pivots: IntArray
    Q: Array  # K_p k = Q_p delta at the pivots
    still: Array  # K_p b, (p, n, 1)
    diagonal: Array  # (G'K_p G)_ii / 2

    @classmethod
    def of(cls, frame: Frame, slopes: Array) -> _Flow:
        y, S, Sigma = frame.signs, frame.precision, frame.covariance
        signed = slopes[:, frame.rows[:, None], frame.rows] * np.outer(y, y)
        size = frame.pivoted.diagonal() ** 2
        rank = int(np.count_nonzero(size > _SMALL * size.max()))
        pivots = frame.pivots[:rank]
        inverse = cho_solve((frame.pivoted[:rank, :rank], True), np.eye(rank))
        G = np.eye(len(frame)) - S * Sigma
        return cls(
            frame=frame,
            slopes=signed,
            G=G,
            inner=G * S.T,
            inverse=inverse,
            pivots=pivots,
            Q=signed[:, :, pivots] @ inverse,
            still=signed @ frame.dual,
            diagonal=0.5 * np.einsum("ji,pjk,ki->pi", G, signed, G, optimize=True),
        )

    def along(self, delta: Array) -> Array:
        """v_p of every draw, (p, n, chains)."""
        u = self.still + 0.5 * (self.Q @ delta[self.pivots])
        return np.asarray(self.G.T @ u)

    def gaussian(self) -> Array:
        """What expectation propagation gives with its sites held."""
        thin = self.inner @ self.slopes  # inner K_p
        quadratic = np.einsum("pi,ij,qj->pq", self.still[..., 0], self.inner, self.still[..., 0])
        return np.asarray(0.5 * np.einsum("pij,qji->pq", thin, thin) - quadratic)

    def bend(self, rho: Array, Y: Array) -> Array:
        """The terms in rho and Y."""
        inner, Kb = self.inner, self.still[..., 0]
        Y = 0.5 * (Y + Y.T)
        pulled = self.slopes @ rho  # K_p rho
        twice = np.einsum("pi,ij,qj->pq", pulled, inner, Kb, optimize=True)
        traced = np.einsum("pij,qji->pq", self.slopes @ Y, self.slopes @ inner)
        at = self.slopes[:, self.pivots]
        between = np.einsum("pij,qji->pq", Y @ self.Q, at) - np.einsum(
            "pij,qji->pq", Y @ self.slopes, inner @ self.slopes
        )
        H = twice + twice.T + 0.5 * (traced + traced.T) + 0.25 * between
        return np.asarray(0.5 * (H + H.T))


class _Moments:
    """Statistics of every draw, (draws, ..., chains)."""

    def __init__(self, flow: _Flow) -> None:
        self.flow = flow
        self.first: list[Array] = []  # -dV/dlog C and -s_p, whose means are slopes of ln Q
        self.second: list[Array] = []  # -d2V/dlog C^2 and -(dg/dlog C)'v_p
        self.spiked: list[Array] = []  # sum_i R''_i v_pi v_qi
        self.force: list[Array] = []  # G r

    def add(self, delta: Array) -> None:
        frame, V = self.flow.frame, self.flow.frame.potential
        z, v = frame.mean + delta, self.flow.along(delta)
        r = frame.residual_force(delta)
        push = frame.spread(r)
        s, ds = (np.einsum("ic,pic->pc", f, v) for f in (r, V.slope_by_log_C(z)))
        self.first.append(-np.vstack([V.by_log_C(z)[None], s]))
        self.second.append(-np.vstack([V.by_log_C_twice(z)[None], ds]))
        lift = r / frame.covariance.diagonal()[:, None]
        main = np.einsum("pic,qic->pqc", lift * (delta + push) * v, v)
        cross = np.einsum("pi,ic,qic->pqc", self.flow.diagonal, lift, v, optimize=True)
        self.spiked.append(main - cross - cross.transpose(1, 0, 2))
        self.force.append(r - frame.precision * push)

    def centre(self) -> Array:
        return np.asarray(np.mean(self.first, axis=(0, 2)))

    def hessian(self, columns: IntArray, centre: Array, A: Array) -> Array:
        """All but the kernel's own curvature and kappa's, from some chains and their A."""
        flow, b = self.flow, self.flow.frame.dual
        first = np.array(self.first)[:, :, columns] - centre[:, None]
        second = np.array(self.second)[:, :, columns].mean(axis=(0, 2))
        rho = np.array(self.force)[:, :, columns].mean(axis=(0, 2))
        H: Array = np.einsum("dpc,dqc->pq", first, first) / (len(first) * len(columns))
        H[0] += second
        H[1:, 0] += second[1:]
        H[1:, 1:] -= np.array(self.spiked)[..., columns].mean(axis=(0, 3))
        # the sampled part of A is (both - b rho' - rho b')/2, and Y = -both
        A = A * np.outer(flow.frame.signs, flow.frame.signs)
        outer = b * rho
        Y = b @ b.T - flow.inner - outer - outer.T - 2.0 * A
        H[1:, 1:] += flow.gaussian() + flow.bend(rho, Y)
        return H


def _directions(kernel: Kernel, X: Array) -> Array:
    """All K_p, (p, n, n)."""

    def moved(q: int) -> Callable[[float], Array]:
        axis = np.eye(len(kernel.theta))[q]
        return lambda t: kernel.at(kernel.theta + t * axis)(X)

    return np.array([_slope(moved(q)) for q in range(len(kernel.theta))])


def _pulled(kernel: Kernel, X: Array, A: Array, q: int) -> Callable[[float], Array]:
    axis = np.eye(len(kernel.theta))[q]
    return lambda t: kernel.at(kernel.theta + t * axis).pullback(X, A)


def _kappa_curvature(loss: str, C: float) -> float:
    """d2 ln kappa / dlog C^2."""

    def slope(t: float) -> Array:
        there = C * np.exp(t)
        return np.asarray(there * log_kappa(loss, there)[1])

    return float(_slope(slope))


def _slope(f: Callable[[float], Array], h: float = _STEP) -> Array:
    """f'(0) by five points."""
    return np.asarray((8.0 * (f(h) - f(-h)) - (f(2.0 * h) - f(-2.0 * h))) / (12.0 * h))
