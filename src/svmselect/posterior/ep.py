"""Expectation propagation for the evidence of a support vector machine.

The model is theta ~ N(0, K) with a likelihood exp(-C loss(y_i theta_i)) for each point. Every
factor is replaced by a Gaussian site such that the marginals agree in mean and variance. Written in
margins z = y theta, with cavity variance s2 and dual b (the mean is K b), the fixed point is

    b_i = g_i(m_i),  m = K b - s2 b,       g = dlnZ_i/dm, lnZ_i of the cavity N(m_i, s2_i),
    tau_i = h_i / (1 - h_i s2_i),          h = -d2lnZ_i/dm2,
    1/s2_i = 1/Sigma_ii - tau_i,           Sigma = (K^-1 + diag(tau))^-1,

and the evidence, stationary in b, s2 and tau there,

    ln Q = sum lnZ_i - b'Kb/2 + sum s2 b^2/2 - ln det(I + KS)/2 + sum ln(1 + tau s2)/2 + n ln kappa.

A parallel sweep of the classical algorithm is Newton's method in b with s2 one sweep behind, which
leaves linear convergence. Here, once the sweeps have come near, Newton's method is taken in b and
ln s2 together: its equations need only products with n x n matrices at hand (a few, by GMRES), and
four to ten factorisations replace fifteen to forty. Opper & Winther 2000; Minka 2001.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from svmselect.machine.check import check_gram, check_signs, check_weights
from svmselect.machine.losses import get_loss
from svmselect.posterior import landmark_start
from svmselect.posterior.approximation import EP, LowRank, Start
from svmselect.posterior.backend import get_backend
from svmselect.posterior.factors import get_sites, log_concave
from svmselect.posterior.fixed_point import Equations
from svmselect.posterior.iteration import find_fixed_point
from svmselect.posterior.kappa import log_kappa
from svmselect.posterior.latent import DensePrior, FactoredLatent, FactoredPrior, Prior
from svmselect.posterior.low_rank import Landmarks
from svmselect.types import Array

__all__ = ["EP", "Start", "expectation_propagation", "propagate"]

TOLERANCE = 1e-8
SWEEPS = 200


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
    tol: float = TOLERANCE,
    max_sweeps: int = SWEEPS,
    gradient: bool = True,
) -> EP:
    """Run expectation propagation for one Gram matrix.

    Parameters
    ----------
    K : array-like of shape (n, n)
        The Gram matrix.
    y : array-like of shape (n,)
        The labels, -1 and +1.
    C : float
        The penalty.
    loss : {"hinge", "squared_hinge", "logistic"}, default "hinge"
        The loss.
    weights : array-like of shape (n,), optional
        Sample weights. Weight k counts as k copies of the row; a row of weight zero has no factor,
        but a posterior.
    normalised : bool, default False
        Divide the likelihood of each point by its sum over both labels, and drop kappa.
    start : EP or Start, optional
        The answer at neighbouring hyperparameters.
    rank : int, optional
        Take a prior of that rank from as many landmarks, O(n r^2) a sweep.
    device : {"cpu", "cuda", "torch-cpu"}, default "cpu"
        Where matrices are computed; the last two need torch.
    tol : float
        Bound on the residual: the largest change of a cavity's mean, in standard deviations, and of
        its log variance.
    max_sweeps : int
        Stop after that many sweeps.
    gradient : bool, default True
        If False the n x n matrix ``inner`` is left until it is asked for.

    Returns
    -------
    EP
        The Gaussian approximation, and the log evidence.

    Notes
    -----
    The model is theta ~ N(0, K) with a likelihood exp(-C loss(y_i theta_i)) for each point. O(n^3)
    a sweep, O(n^2) memory.

    References
    ----------
    Opper & Winther 2000; Minka 2001.
    """
    get_loss(loss)
    gram = check_gram(K)
    signs = check_signs(y, len(gram))
    w = check_weights(weights, signs)
    if not (np.isfinite(C) and C > 0):
        raise ValueError(f"C must be a positive finite number, got {C!r}")
    begin = start.start if isinstance(start, EP) else start
    if begin is not None and len(begin.precision) != len(signs):
        raise ValueError(
            f"start is for {len(begin.precision)} points, this problem has {len(signs)}; "
            "start from the posterior of the same points, or leave it out"
        )
    return propagate(
        gram, signs, float(C), loss, w, normalised, begin, rank, device, tol, max_sweeps, gradient
    )


def propagate(
    K: Array,
    y: Array,
    C: float,
    loss: str,
    weights: Array,
    normalised: bool = False,
    start: Start | None = None,
    rank: int | None = None,
    device: str = "cpu",
    tol: float = TOLERANCE,
    max_sweeps: int = SWEEPS,
    gradient: bool = True,
) -> EP:
    """``expectation_propagation`` for arguments that are known to be sound."""
    if start is not None and len(start.precision) != len(y):
        start = None  # of other points: no help here
    backend = get_backend(device)
    marks = None if rank is None else Landmarks.choose(K, rank)
    prior: Prior
    if marks is None:
        prior = dense = DensePrior.of(K, backend, signed=not log_concave(loss, normalised))
        if start is None and not dense.signed:
            start = landmark_start.begin(dense, y, C, loss, weights)
    else:
        reduced = np.einsum("ij,ij->i", marks.factor, marks.factor)
        prior = FactoredPrior(backend.put(marks.factor), reduced, backend)

    def equations(C: float) -> Equations:
        return Equations(prior, y, get_sites(loss, C, weights, normalised))

    state, sweeps, status = find_fixed_point(equations, C, start, tol, max_sweeps)
    shift, slope = (0.0, 0.0) if normalised else log_kappa(loss, C)
    total = float(weights.sum())
    b = y * state.dual
    thin = None
    if marks is not None and isinstance(state.latent, FactoredLatent):
        thin = _reduce(marks, state.latent, b)
    return EP(
        log_evidence=state.value() + total * shift,
        dual=b if marks is None else marks.spread_dual(b),
        mean=y * state.mean,
        variance=state.latent.variance,
        cavity=state.s2,
        precision=state.tilted.precision,
        shift=b + state.tilted.precision * y * state.mean,
        slope_log_C=float(state.tilted.log_C.sum()) + total * C * slope,
        sweeps=sweeps,
        residual=state.residual,
        status=status,
        K=K,
        y=y,
        weights=weights,
        C=C,
        loss=loss,
        normalised=normalised,
        full=backend.get(state.latent.inner()) if gradient and marks is None else None,
        low_rank=thin,
    )


def _reduce(marks: Landmarks, latent: FactoredLatent, b: Array) -> LowRank:
    """What a prior of low rank leaves for prediction and for the gradient. O(n r^2)."""
    Y, on = marks.weights, latent.prior.backend
    RY = on.get(latent.inner(on.put(Y)))
    cotangent = marks.pullback(0.5 * (np.outer(b, b @ Y) - RY))
    return LowRank(marks.rows, Y.T @ RY, on.get(latent.root.T), cotangent)
