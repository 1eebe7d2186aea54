"""Class probabilities from decision values: a sigmoid fitted by maximum likelihood.

P(y = +1 | f) = 1 / (1 + exp(slope f + offset)), so the slope is negative where f points the right
way (Platt 1999; the parametrisation of Glasmachers & Igel 2010, section 4.1).

Where the two classes do not overlap in f the likelihood grows with the slope for ever, and where
they barely overlap the fit is a matter of rounding. So |slope| is held to ``max_slope`` standard
deviations^-1 of f: scale-free like the fit itself, far beyond any slope that data with an overlap
ask for, and the maximum stays a continuous, differentiable function of f.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, log_expit

from svmselect.types import Array

MAX_SLOPE = 1e3
TARGETS = ("labels", "platt")

_STEPS = 200
_FLAT = 1e-12  # f that varies by less than this, relative to its size, is a constant


@dataclass(frozen=True, eq=False)
class SigmoidFit:
    """The fitted sigmoid; ``value`` is the mean log-likelihood, ``gradient`` its slope in each f.

    By the envelope theorem the gradient needs no derivative of the parameters: they are at their
    maximum.
    """

    slope: float
    offset: float
    value: float
    gradient: Array


def fit_sigmoid(
    f: ArrayLike,
    y: ArrayLike,
    weights: ArrayLike | None = None,
    *,
    targets: str = "labels",
    max_slope: float = MAX_SLOPE,
) -> tuple[float, float]:
    """Fit P(y = +1 | f) = 1 / (1 + exp(slope f + offset)); gives (slope, offset). O(n) a step.

    ``targets="labels"`` is maximum likelihood; ``"platt"`` draws the targets in from 0 and 1 to
    1/(N_- + 2) and (N_+ + 1)/(N_+ + 2), which keeps small samples from probabilities of 0 and 1.
    ``max_slope`` bounds |slope| in units of 1/(standard deviation of f).
    """
    decision, signs = np.asarray(f, dtype=np.float64), np.asarray(y, dtype=np.float64)
    w = np.ones(len(signs)) if weights is None else np.asarray(weights, dtype=np.float64)
    _check(decision, signs, w, targets, max_slope)
    there = w > 0
    fit = sigmoid_likelihood(decision[there], signs[there], w[there], targets, max_slope)
    return fit.slope, fit.offset


def sigmoid_probability(f: ArrayLike, slope: float, offset: float) -> Array:
    """P(y = +1 | f) = 1 / (1 + exp(slope f + offset))."""
    return np.asarray(expit(-(slope * np.asarray(f, dtype=np.float64) + offset)))


def sigmoid_likelihood(
    f: Array,
    y: Array,
    weights: Array,
    targets: str = "labels",
    max_slope: float = MAX_SLOPE,
    one_sided: bool = False,
) -> SigmoidFit:
    """Maximise the mean of t log p + (1 - t) log(1 - p) over the sigmoid's two parameters.

    Both classes must be there and every weight positive (``fit_sigmoid`` checks that).
    ``one_sided`` allows no sigmoid that falls with f. Works on
    u = (f - mean)/scale with p = expit(a u + c), |a| <= max_slope.
    """
    total = float(weights.sum())
    share = weights / total
    t = sigmoid_targets(y, weights, targets)
    mean = float(share @ f)
    scale = float(np.sqrt(share @ (f - mean) ** 2))
    if scale <= _FLAT * float(np.abs(f).max()):
        # f says nothing: the share of each class, which no small change of f improves to first
        # order in a direction that could be told from rounding
        rate = float(share @ t)
        value = rate * np.log(rate) + (1.0 - rate) * np.log1p(-rate)
        return SigmoidFit(0.0, float(-np.log(rate / (1.0 - rate))), value, np.zeros_like(f))
    u = (f - mean) / scale
    a, c = _maximum(u, t, share, max_slope)
    if one_sided and a < 0.0:
        # f points the wrong way, as held-out decisions do where there is nothing to learn (a class
        # that is held out more is trained on less): it says nothing then
        rate = float(share @ t)
        a, c = 0.0, float(np.log(rate / (1.0 - rate)))
    v = a * u + c
    value = float(share @ (t * log_expit(v) + (1.0 - t) * log_expit(-v)))
    # d value/du, then through mean and scale, which matters only where |a| is at its bound
    pull = share * (t - expit(v)) * a
    gradient = (pull - share * (pull.sum() + u * (pull @ u))) / scale
    return SigmoidFit(-a / scale, a * mean / scale - c, value, gradient)


def sigmoid_targets(y: Array, weights: Array, targets: str) -> Array:
    """The probability of +1 that each point asks for."""
    if targets == "labels":
        return np.where(y > 0, 1.0, 0.0)
    positive, negative = float(weights[y > 0].sum()), float(weights[y < 0].sum())
    return np.where(y > 0, (positive + 1.0) / (positive + 2.0), 1.0 / (negative + 2.0))


def _maximum(u: Array, t: Array, share: Array, bound: float) -> tuple[float, float]:
    """The best (a, c) with |a| <= bound; the problem is concave."""
    up, down = t > 0.5, t < 0.5
    if t.max() == 1.0 and t.min() == 0.0:
        # Without an overlap there is no maximum but at the bound.
        if u[up].min() >= u[down].max():
            return bound, _best_offset(bound, u, t, share)
        if u[up].max() <= u[down].min():
            return -bound, _best_offset(-bound, u, t, share)
    a, c = _newton(u, t, share)
    if abs(a) <= bound:
        return a, c
    a = float(np.clip(a, -bound, bound))
    return a, _best_offset(a, u, t, share)


def _newton(u: Array, t: Array, share: Array) -> tuple[float, float]:
    """Newton's method with step halving for a logistic regression on u and a constant."""
    rate = float(share @ t)
    # u has variance one; two normal classes of one width would have this sigmoid
    up, down = float((share * t) @ u) / rate, float((share * (1.0 - t)) @ u) / (1.0 - rate)
    a = (up - down) / max(1.0 - rate * (1.0 - rate) * (up - down) ** 2, 0.05)
    c = float(np.log(rate / (1.0 - rate))) - 0.5 * a * (up + down)
    v = a * u + c
    value = _loss(v, t, share)
    for _ in range(_STEPS):
        q = expit(v)
        r, h = share * (t - q), share * q * (1.0 - q)
        mass = float(h.sum())
        if not mass > 1e-280:
            break
        # centred where the curvature is, the Hessian is diagonal
        middle = float(h @ u) / mass
        away = u - middle
        spread = float(h @ (away * away))
        if not spread > 1e-280:
            break
        g_a, g_c = float(r @ away), float(r.sum())
        d_a = g_a / spread
        d_c = g_c / mass - d_a * middle
        gain = d_a * g_a + g_c * g_c / mass
        step = 1.0
        while True:
            new = (a + step * d_a) * u + (c + step * d_c)
            after = _loss(new, t, share)
            # below that the comparison sees only rounding, and Newton's step is best anyway
            if after <= value - 1e-4 * step * gain or gain < 1e-13 * value or step < 1e-8:
                break
            step *= 0.5
        a, c, v, value = a + step * d_a, c + step * d_c, new, after
        if gain <= 1e-22 * value:
            break
    return a, c


def _loss(v: Array, t: Array, share: Array) -> float:
    return float(share @ (np.logaddexp(0.0, v) - t * v))


def _best_offset(a: float, u: Array, t: Array, share: Array) -> float:
    """The best c for a given a, by Newton's method within a bracket.

    sum (t - p) = 0 is sum (1-t) p = sum t (1-p), solved in logarithms: both sides may underflow.
    """
    with np.errstate(divide="ignore"):
        log_up, log_down = np.log(share * t), np.log(share * (1.0 - t))
    reach = abs(a) * float(np.abs(u).max()) + 50.0 - float(np.log(share.min()))
    low, high, c = -reach, reach, 0.0
    for _ in range(_STEPS):
        v = a * u + c
        p = expit(v)
        too_much, most = _log_sum(log_down + log_expit(v))
        too_little, least = _log_sum(log_up + log_expit(-v))
        excess = too_much - too_little  # grows with c
        if abs(excess) <= 1e-15 * (1.0 + reach):
            break
        low, high = (c, high) if excess < 0.0 else (low, c)
        slope = float(most @ (1.0 - p) + least @ p)
        new = c - excess / slope if slope > 0.0 else np.nan
        if not low < new < high:
            new = 0.5 * (low + high)
        if new == c:
            break
        c = new
    return c


def _log_sum(x: Array) -> tuple[float, Array]:
    """log sum exp(x), and its gradient."""
    largest = float(x.max())
    e = np.exp(x - largest)
    total = float(e.sum())
    return largest + float(np.log(total)), e / total


def _check(f: Array, y: Array, w: Array, targets: str, max_slope: float) -> None:
    if f.ndim != 1 or y.shape != f.shape or w.shape != f.shape:
        raise ValueError(
            f"f, y and weights must be vectors of one length, got shapes {f.shape}, {y.shape} "
            f"and {w.shape}"
        )
    if not np.isfinite(f).all():
        raise ValueError(f"f[{np.flatnonzero(~np.isfinite(f))[0]}] is not finite")
    if not np.isin(y, (-1.0, 1.0)).all():
        raise ValueError("y must hold -1 and +1 only")
    if not (np.isfinite(w).all() and (w >= 0).all()):
        raise ValueError("weights must be finite and not negative")
    for sign in (-1.0, 1.0):
        if not w[y == sign].any():
            raise ValueError(f"no point of class {sign:+.0f} has weight; a sigmoid needs both")
    check_sigmoid_options(targets, max_slope)


def check_sigmoid_options(targets: str, max_slope: float) -> None:
    """Refuse options that mean nothing."""
    if targets not in TARGETS:
        raise ValueError(f"targets={targets!r} is not one of {', '.join(map(repr, TARGETS))}")
    if not (np.isfinite(max_slope) and max_slope > 0):
        raise ValueError(f"max_slope must be a positive finite number, got {max_slope!r}")
