"""Class probabilities from a Gaussian over the latent value at a new point.

With latent theta(x) ~ N(mean, variance), as ``latent_at`` gives it from expectation propagation:

- unnormalised model (Sollich 2002): P(+1) = E[q_+] / (E[q_+] + E[q_-]), where
  q_y = exp(-C loss(y theta));
- normalised model: P(+1) = E[q_+ / (q_+ + q_-)];
- Kwok's moderated output: inside the margins the normalised hinge is sigmoid(2 C theta), averaged
  by MacKay's approximation, sigmoid(a mean / sqrt(1 + pi a^2 variance / 8)) with a = 2 C.

All are one half where the mean is zero; P(+1) > 1/2 where it is positive. O(1) a point.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from svmselect.machine.losses import get_loss
from svmselect.posterior.approximation import EP
from svmselect.posterior.factors import get_sites
from svmselect.types import Array

_LEAST = 1e-24  # of a variance, relative to one: below it a latent value counts as known


def latent_at(ep: EP, cross: ArrayLike, diagonal: ArrayLike) -> tuple[Array, Array]:
    """Compute mean and variance of the latent value at new points.

    Parameters
    ----------
    ep : EP
        The posterior.
    cross : array-like of shape (m, n)
        The kernel's values k(X_new, X).
    diagonal : array-like of shape (m,)
        The values k(x, x) at the new points.

    Returns
    -------
    mean : ndarray of shape (m,)
        The means.
    variance : ndarray of shape (m,)
        The variances. O(m n^2), or O(m r^2) with a prior of low rank.
    """
    k, d = np.asarray(cross, dtype=np.float64), np.asarray(diagonal, dtype=np.float64)
    if k.ndim != 2 or k.shape[1] != len(ep.y) or d.shape != (len(k),):
        raise ValueError(
            f"cross has shape {k.shape} and diagonal {d.shape}; for m new points give the kernel "
            f"between them and the {len(ep.y)} training points, (m, {len(ep.y)}), and its (m,) "
            "diagonal"
        )
    return k @ ep.dual, latent_variance(k[:, ep.support], d, ep.inner)


def latent_variance(near: Array, diagonal: Array, inner: Array) -> Array:
    """k(x, x) - k' inner k, k the kernel's values with the rows that ``inner`` is over."""
    return np.asarray(np.maximum(diagonal - np.einsum("ij,ij->i", near @ inner, near), 0.0))


def class_probability(
    mean: ArrayLike,
    variance: ArrayLike,
    C: float,
    loss: str = "hinge",
    normalised: bool = False,
) -> Array:
    """Compute P(y = +1) at points with a Gaussian over their latent value.

    Parameters
    ----------
    mean, variance : array-like of shape (m,)
        The Gaussian at each point.
    C : float
        The penalty.
    loss : {"hinge", "squared_hinge", "logistic"}, default "hinge"
        The loss.
    normalised : bool, default False
        Whether the model is the normalised one.

    Returns
    -------
    ndarray of shape (m,)
        The probabilities.

    Notes
    -----
    With ``q_y = exp(-C loss(y theta))`` it is ``E[q_+] / (E[q_+] + E[q_-])``, and ``E[q_+ / (q_+ +
    q_-)]`` in the normalised model. One half where the mean is zero. O(1) a point.

    References
    ----------
    Sollich 2002.
    """
    return np.asarray(expit(log_odds(mean, variance, C, loss, normalised)))


def log_odds(
    mean: ArrayLike,
    variance: ArrayLike,
    C: float,
    loss: str = "hinge",
    normalised: bool = False,
) -> Array:
    """Compute log P(+1) / P(-1), exact where ``class_probability`` rounds to 0 or 1.

    Parameters
    ----------
    mean, variance : array-like of shape (m,)
        The Gaussian over the latent value at each point.
    C : float
        The penalty.
    loss : {"hinge", "squared_hinge", "logistic"}, default "hinge"
        The loss.
    normalised : bool, default False
        Whether the model is the normalised one.

    Returns
    -------
    ndarray of shape (m,)
        The log odds.
    """
    get_loss(loss)
    m, v = _gaussian(mean, variance)
    if not (np.isfinite(C) and C > 0):
        raise ValueError(f"C must be a positive finite number, got {C!r}")
    sites = get_sites(loss, C, np.ones_like(m), normalised)
    # for the normalised model the two add up to one already
    return np.asarray(sites(m, v).log_Z - sites(-m, v).log_Z)


def moderated_output(mean: ArrayLike, variance: ArrayLike, C: float = 1.0) -> Array:
    """Compute Kwok's moderated output for P(y = +1).

    Parameters
    ----------
    mean, variance : array-like of shape (m,)
        The Gaussian over the latent value at each point.
    C : float, default 1.0
        The penalty.

    Returns
    -------
    ndarray of shape (m,)
        The probabilities.

    Notes
    -----
    Inside the margins the normalised hinge is sigmoid(2 C theta), averaged by MacKay's
    approximation, ``sigmoid(a mean / sqrt(1 + pi a^2 variance / 8))`` with a = 2 C.

    References
    ----------
    Kwok 1999; MacKay 1992.
    """
    return np.asarray(expit(moderated_log_odds(mean, variance, C)))


def moderated_log_odds(mean: ArrayLike, variance: ArrayLike, C: float = 1.0) -> Array:
    """Compute the log odds of ``moderated_output``, exact where that rounds to 0 or 1.

    Parameters
    ----------
    mean, variance : array-like of shape (m,)
        The Gaussian over the latent value at each point.
    C : float, default 1.0
        The penalty; 1 where the likelihood is exp(-slack), as it is Kwok's.

    Returns
    -------
    ndarray of shape (m,)
        The log odds.
    """
    m, v = _gaussian(mean, variance)
    a = 2.0 * C
    return np.asarray(a * m / np.sqrt(1.0 + np.pi * a * a * v / 8.0))


def predict_probability(ep: EP, cross: ArrayLike, diagonal: ArrayLike) -> Array:
    """Compute P(y = +1) at new points under the model that ``ep`` was run for.

    Parameters
    ----------
    ep : EP
        The posterior.
    cross : array-like of shape (m, n)
        The kernel's values k(X_new, X).
    diagonal : array-like of shape (m,)
        The values k(x, x) at the new points.

    Returns
    -------
    ndarray of shape (m,)
        The probabilities.
    """
    return class_probability(*latent_at(ep, cross, diagonal), ep.C, ep.loss, ep.normalised)


def _gaussian(mean: ArrayLike, variance: ArrayLike) -> tuple[Array, Array]:
    m, v = np.asarray(mean, dtype=np.float64), np.asarray(variance, dtype=np.float64)
    if m.ndim != 1 or m.shape != v.shape:
        raise ValueError(
            f"mean and variance must be vectors of one length, got shapes {m.shape} and {v.shape}"
        )
    if not (np.isfinite(m).all() and np.isfinite(v).all() and (v >= 0).all()):
        raise ValueError("mean and variance must be finite, and variance not negative")
    return m, np.maximum(v, _LEAST)
