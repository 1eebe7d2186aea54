"""How far Monte Carlo draws can be trusted: R-hat, effective sample size, tails of weights.

Draws are (draws, chains). R-hat and the bulk effective sample size are those of Vehtari, Gelman,
Simpson, Carpenter & Buerkner 2021 (split chains, rank-normalised; Geyer's initial monotone
sequence), the tail index of importance weights that of Vehtari, Simpson, Gelman, Yao & Gabry 2024
with the fit of Zhang & Stephens 2009.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from svmselect.types import Array


def rhat(draws: ArrayLike) -> float:
    """Split, rank-normalised R-hat, the larger of that of the location and of the scale.

    Near 1 where the chains agree; NaN for fewer than four draws a chain or constant draws.
    """
    x = _checked(draws)
    if len(x) < 4 or np.ptp(x) == 0.0:
        return float("nan")
    folded = np.abs(x - np.median(x))
    return max(_plain_rhat(rank_normal(_split(part))) for part in (x, folded))


def bulk_ess(draws: ArrayLike) -> float:
    """Effective sample size of the rank-normalised draws: how many independent ones they equal."""
    x = _checked(draws)
    if len(x) < 4 or np.ptp(x) == 0.0:
        return float("nan")
    return _ess(rank_normal(_split(x)))


def mean_ess(draws: ArrayLike) -> float:
    """Effective sample size for the mean: the variance over the squared error of the mean."""
    x = _checked(draws)
    if len(x) < 4 or np.ptp(x) == 0.0:
        return float("nan")
    return _ess(_split(x))


def weight_ess(log_weights: ArrayLike) -> float:
    """Give (sum w)^2 / sum w^2."""
    logs = np.asarray(log_weights, dtype=np.float64).ravel()
    w = np.exp(logs - logs.max())
    return float(w.sum() ** 2 / (w @ w))


def pareto_k(log_weights: ArrayLike) -> float:
    """Tail index of importance weights: below 0.5 their variance exists, above 0.7 beware.

    The largest min(N/5, 3 N^1/2) weights are fitted by a generalised Pareto distribution; minus
    infinity where they are all alike, NaN for fewer than 25 weights.
    """
    logs = np.sort(np.asarray(log_weights, dtype=np.float64).ravel())
    n = len(logs)
    if n < 25:
        return float("nan")
    tail = int(np.ceil(min(n / 5.0, 3.0 * np.sqrt(n))))
    w = np.exp(logs - logs[-1])
    excess = w[-tail:] - w[-tail - 1]
    if excess[-1] <= 1e-12:
        return float("-inf")
    return _pareto_shape(excess)


def rank_normal(x: Array) -> Array:
    """Replace every draw by the normal score of its rank among all; equals share their ranks."""
    _, place, count = np.unique(x.ravel(), return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    ranks = (last - 0.5 * (count - 1))[place].reshape(x.shape)
    return np.asarray(ndtri((ranks - 0.375) / (x.size + 0.25)))


def _checked(draws: ArrayLike) -> Array:
    x = np.asarray(draws, dtype=np.float64)
    if x.ndim == 1:
        x = x[:, None]
    if x.ndim != 2:
        raise ValueError(f"draws must have shape (draws, chains), got {x.shape}")
    return x


def _split(x: Array) -> Array:
    """Cut every chain in two halves."""
    half = len(x) // 2
    return np.hstack([x[:half], x[-half:]])


def _plain_rhat(x: Array) -> float:
    n = len(x)
    within = x.var(axis=0, ddof=1).mean()
    between = x.mean(axis=0).var(ddof=1)  # at least two columns: chains are split
    return float(np.sqrt((n - 1) / n + between / within)) if within > 0 else float("inf")


def _ess(x: Array) -> float:
    n, chains = x.shape
    centred = x - x.mean(axis=0)
    size = 1 << (2 * n - 1).bit_length()
    spectrum = np.fft.rfft(centred, size, axis=0)
    covariance = np.fft.irfft(np.abs(spectrum) ** 2, size, axis=0)[:n].mean(axis=1) / n
    within = covariance[0] * n / (n - 1)
    total = covariance[0] + (x.mean(axis=0).var(ddof=1) if chains > 1 else 0.0)
    if total <= 0.0:
        return float("nan")
    rho = 1.0 - (within - covariance) / total
    rho[0] = 1.0
    pairs = rho[: 2 * (n // 2)].reshape(-1, 2).sum(axis=1)  # Geyer: positive, then monotone
    ends = np.flatnonzero(pairs <= 0.0)
    kept = np.minimum.accumulate(pairs[: ends[0]] if len(ends) else pairs)
    tail = max(rho[2 * ends[0]], 0.0) if len(ends) else 0.0
    draws = n * chains
    tau = max(2.0 * kept.sum() - 1.0 + tail, 1.0 / np.log10(draws))
    return float(draws / tau)


def _pareto_shape(excess: Array) -> float:
    """Posterior mean of the shape (Zhang & Stephens 2009), drawn a little towards 1/2."""
    n = len(excess)
    grid = 30 + int(np.sqrt(n))
    j = np.arange(1, grid + 1)
    quartile = excess[int(n / 4 + 0.5) - 1]
    floor = max(quartile, 1e-300)
    b = 1.0 / excess[-1] + (1.0 - np.sqrt(grid / (j - 0.5))) / (3.0 * floor)
    k = np.log1p(-b[:, None] * excess).mean(axis=1)
    profile = n * (np.log(-b / k) - k - 1.0)
    weight = np.exp(profile - profile.max())
    weight /= weight.sum()
    shape = float(np.log1p(-(b @ weight) * excess).mean())
    return (n * shape + 5.0) / (n + 10.0)
