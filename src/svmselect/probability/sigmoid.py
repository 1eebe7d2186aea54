"""Class probabilities from decision values: a sigmoid fitted by maximum likelihood.

P(y = +1 | f) = 1 / (1 + exp(slope f + offset)), so the slope is negative where f points the right
way (Platt 1999; the parametrisation of Glasmachers & Igel 2010, section 4.1).

Where the two classes do not overlap in f the likelihood grows with the slope for ever, and where
they barely overlap the fit is a matter of rounding. So |slope| is held to ``max_slope`` standard
deviations^-1 of f: scale-free like the fit itself, far beyond any slope that data with an overlap
ask for, and the maximum stays a continuous, differentiable function of f.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import expit, log_expit

from svmselect.machine import box_qp
from svmselect.types import Array

MAX_SLOPE = 1e3
TARGETS = ("labels", "platt")

_STEPS = 200
_NEWTON_STEPS = 30
_SMALL = 1e-2  # a step of v that Newton's method need not be watched at
_NO_CURVATURE = 1e-250
_TOLERANCE = 1e-6  # of the gap, per row
_FLAT = 1e-12  # f that varies by less than this, relative to its size, is a constant
_TINY = 1e-290  # so is this: a slope of its inverse is no number


@dataclass(frozen=True, eq=False)
class SigmoidFit:
    """A fitted sigmoid, P(y = +1 | f) = 1 / (1 + exp(slope f + offset)).

    Attributes
    ----------
    slope : float
        The slope, negative where a larger f means class +1.
    offset : float
        The offset.
    value : float
        The mean log-likelihood.
    gradient : ndarray of shape (n,)
        Its derivative with respect to each f. By the envelope theorem the parameters, which are at
        their maximum, need no derivative.
    gap : float
        A bound on what any other sigmoid could gain.
    """

    slope: float
    offset: float
    value: float
    gradient: Array
    gap: float


def fit_sigmoid(
    f: ArrayLike,
    y: ArrayLike,
    weights: ArrayLike | None = None,
    *,
    targets: str = "labels",
    max_slope: float = MAX_SLOPE,
) -> tuple[float, float]:
    """Fit P(y = +1 | f) = 1 / (1 + exp(slope f + offset)) by maximum likelihood.

    Parameters
    ----------
    f : array-like of shape (n,)
        Decision values, best of rows that the machine was not trained on.
    y : array-like of shape (n,)
        Labels -1 and +1.
    weights : array-like of shape (n,), optional
        Sample weights, all 1 if None.
    targets : {"labels", "platt"}, default "labels"
        "platt" draws the targets in from 0 and 1 to ``1/(N_- + 2)`` and ``(N_+ + 1)/(N_+ + 2)``,
        which keeps small samples from probabilities of 0 and 1.
    max_slope : float
        Bound on the slope's size, in units of 1/(standard deviation of f).

    Returns
    -------
    slope : float
        The slope, negative where a larger f means class +1.
    offset : float
        The offset.

    Notes
    -----
    Where the two classes do not overlap in f the likelihood grows with the slope for ever;
    ``max_slope``, far beyond any slope that overlapping classes ask for, keeps the maximum a
    continuous function of f. O(n) a step.

    References
    ----------
    Platt 1999; Glasmachers & Igel 2010, section 4.1.

    Examples
    --------
    >>> from svmselect.probability import fit_sigmoid, sigmoid_probability
    >>> slope, offset = fit_sigmoid([-2.0, -1.0, 0.5, -0.5, 1.0, 2.0], [-1, -1, -1, 1, 1, 1])
    >>> sigmoid_probability([0.0], slope, offset).round(2)
    array([0.5])
    """
    decision, signs = np.asarray(f, dtype=np.float64), np.asarray(y, dtype=np.float64)
    w = np.ones(len(signs)) if weights is None else np.asarray(weights, dtype=np.float64)
    _check(decision, signs, w, targets, max_slope)
    there = w > 0
    fit = sigmoid_likelihood(decision[there], signs[there], w[there], targets, max_slope)
    return fit.slope, fit.offset


def sigmoid_probability(f: ArrayLike, slope: float | Array, offset: float | Array) -> Array:
    """Compute P(y = +1 | f) = 1 / (1 + exp(slope f + offset)).

    Parameters
    ----------
    f : array-like of shape (n,)
        Decision values.
    slope, offset : float
        What ``fit_sigmoid`` returned.

    Returns
    -------
    ndarray of shape (n,)
        Probabilities of class +1.
    """
    return np.asarray(expit(-(slope * np.asarray(f, dtype=np.float64) + offset)))


def sigmoid_log_probability(f: ArrayLike, slope: float | Array, offset: float | Array) -> Array:
    """Evaluate log P(y = +1 | f) of a sigmoid, without underflow.

    Parameters
    ----------
    f : array-like
        Decision values.
    slope, offset : float
        The sigmoid's parameters; negate both for log P(y = -1 | f).

    Returns
    -------
    ndarray
        The logarithms.
    """
    return np.asarray(log_expit(-(slope * np.asarray(f, dtype=np.float64) + offset)))


def sigmoid_likelihood(
    f: Array,
    y: Array,
    weights: Array,
    targets: str = "labels",
    max_slope: float = MAX_SLOPE,
    one_sided: bool = False,
) -> SigmoidFit:
    """Maximise the mean of t log p + (1 - t) log(1 - p) over the sigmoid's two parameters.

    Unlike ``fit_sigmoid`` it checks nothing: both classes must be there and every weight positive.

    Parameters
    ----------
    f : ndarray of shape (n,)
        Decision values.
    y : ndarray of shape (n,)
        Labels -1 and +1.
    weights : ndarray of shape (n,)
        Sample weights.
    targets : {"labels", "platt"}, default "labels"
        The targets t, as in ``fit_sigmoid``.
    max_slope : float
        Bound on the slope's size, in units of 1/(standard deviation of f).
    one_sided : bool, default False
        Allow no sigmoid that falls with f.

    Returns
    -------
    SigmoidFit
        The sigmoid, the maximum and its gradient.

    Notes
    -----
    Works on u = (f - mean)/scale with p = expit(a u + c), where a is between -max_slope and
    max_slope.
    """
    t = sigmoid_targets(y, weights, targets)
    known = _compiled(f, t, weights, max_slope, one_sided)
    if known is not None:
        return known
    total = float(weights.sum())
    share = weights / total
    mean = float(share @ f)
    away = f - mean
    furthest = max(float(np.abs(away).max()), _TINY)
    scale = furthest * float(np.sqrt(share @ (away / furthest) ** 2))
    if scale <= max(_FLAT * float(np.abs(f).max()), _TINY):
        # f says nothing: the share of each class, which no small change of f improves to first
        # order in a direction that could be told from rounding
        rate = float(share @ t)
        value = rate * np.log(rate) + (1.0 - rate) * np.log1p(-rate)
        return SigmoidFit(0.0, float(-np.log(rate / (1.0 - rate))), value, np.zeros_like(f), 0.0)
    u = away / scale
    a, c = _maximum(u, t, share, max_slope)
    gap = _gap(a, c, u, t, share, max_slope)
    if gap > _TOLERANCE:
        _warn(gap)
    if one_sided and a < 0.0:
        # f points the wrong way, as held-out decisions do where there is nothing to learn (a class
        # that is held out more is trained on less): it says nothing then
        rate = float(share @ t)
        a, c = 0.0, float(np.log(rate / (1.0 - rate)))
    v = a * u + c
    value = -_loss(v, t, share)
    # d value/du, then through mean and scale, which matters only where |a| is at its bound
    pull = share * _surplus(v, t) * a
    gradient = (pull - share * (pull.sum() + u * (pull @ u))) / scale
    return SigmoidFit(-a / scale, a * mean / scale - c, value, gradient, gap)


def _compiled(
    f: Array, t: Array, weights: Array, max_slope: float, one_sided: bool
) -> SigmoidFit | None:
    """What compiled code finds, where the classes overlap; None where it leaves the work to us."""
    fit = getattr(box_qp.backend(), "sigmoid", None)
    if fit is None:
        return None
    gradient = np.empty(len(f))
    found = fit(f, t, weights, max_slope, one_sided, gradient)
    if found is None:
        return None
    slope, offset, value, gap = found
    return SigmoidFit(slope, offset, value, gradient, gap)


def sigmoid_targets(y: Array, weights: Array, targets: str) -> Array:
    """Compute the probability of +1 that each point asks for.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Labels -1 and +1.
    weights : ndarray of shape (n,)
        Sample weights.
    targets : {"labels", "platt"}
        As in ``fit_sigmoid``.

    Returns
    -------
    ndarray of shape (n,)
        The targets.
    """
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
    found = _newton(u, t, share, bound)
    return _bracketed(u, t, share, bound) if found is None else found


def _newton(u: Array, t: Array, share: Array, bound: float) -> tuple[float, float] | None:
    """Newton's method on both parameters; None where it leaves |a| <= bound or is too slow.

    The third derivative of log expit is at most the second, so a step that moves no v by more
    than m changes the curvature by at most a factor e^m: small steps need no line search, and a
    step of log(1 + m)/m of Newton's always leads uphill (Sun & Tran-Dinh 2019, theorem 2).
    """
    a, c = _first_guess(u, t, share)
    v = a * u + c
    value = _loss(v, t, share)
    for _ in range(_NEWTON_STEPS):
        q = expit(v)
        r, h = share * _surplus(v, t), share * q * (1.0 - q)
        mass = float(h.sum())
        if not mass > _NO_CURVATURE:
            return None
        # centred where the curvature is, the Hessian is diagonal
        middle = float(h @ u) / mass
        away = u - middle
        spread = float(h @ (away * away))
        if not spread > _NO_CURVATURE:
            return None
        d_a = float(r @ away) / spread
        d_c = float(r.sum()) / mass - d_a * middle
        d_v = d_a * u + d_c
        most = float(np.abs(d_v).max())
        if most <= _SMALL:  # quadratic convergence from here on
            a, c, v = a + d_a, c + d_c, v + d_v
            if abs(a) > bound:
                return None
            if most <= _SMALL**4:
                return a, c
            value = _loss(v, t, share)
            continue
        step, sure = 1.0, float(np.log1p(most)) / most
        while True:
            new = v + step * d_v
            after = _loss(new, t, share)
            if after < value:
                break
            if step == sure:
                return None  # by theory only rounding can bring us here
            step = max(0.25 * step, sure)
        a, c, v, value = a + step * d_a, c + step * d_c, new, after
        if abs(a) > bound:
            return None
    return None


def _first_guess(u: Array, t: Array, share: Array) -> tuple[float, float]:
    """What two normal classes of one width would have, or two classes without any width."""
    rate = float(share @ t)
    # u has variance one
    up, down = float((share * t) @ u) / rate, float((share * (1.0 - t)) @ u) / (1.0 - rate)
    apart = up - down
    within = 1.0 - rate * (1.0 - rate) * apart**2
    a = apart / max(within, 0.1 * apart**2, 1e-3)
    return a, float(np.log(rate / (1.0 - rate))) - 0.5 * a * (up + down)


def _bracketed(u: Array, t: Array, share: Array, bound: float) -> tuple[float, float]:
    """The best (a, c) by halving an interval of a, the best c found for each: slow and sure.

    The derivative of the profile in a falls with a, so its sign says on which side the best is.
    """
    offsets: dict[float, float] = {}

    def uphill(a: float) -> float:
        offsets[a] = _best_offset(a, u, t, share)
        # centred, for the offset is at its best up to rounding only
        r = share * _surplus(a * u + offsets[a], t)
        return float(r @ u) - float(r.sum()) * float(share @ u)

    for end in (bound, -bound):
        if uphill(end) * end >= 0.0:
            return end, offsets[end]
    a = float(brentq(uphill, -bound, bound, xtol=1e-14 * bound, rtol=1e-14, maxiter=_STEPS))
    return a, _best_offset(a, u, t, share)


def _gap(a: float, c: float, u: Array, t: Array, share: Array, bound: float) -> float:
    """A bound on what another (a, c) could gain, by duality.

    log(1 + e^v) is the largest p v + H(p) over p, H the entropy. With p as fitted, the loss of any
    other (a', c') is at least this one's plus (a' - a) e_1 + (c' - c) e_0, where e are the
    residuals of the two moments, and |a'| and |c'| have bounds.
    """
    residual = -share * _surplus(a * u + c, t)
    e_0, e_1 = float(residual.sum()), float(residual @ u)
    return bound * abs(e_1) + a * e_1 + _reach(bound, u, share) * abs(e_0) + c * e_0


def _reach(a: float, u: Array, share: Array) -> float:
    """No best offset for this a, or one nearer to zero, is further from zero."""
    return abs(a) * float(np.abs(u).max()) + 50.0 - float(np.log(share.min()))


def _warn(gap: float) -> None:
    from sklearn.exceptions import ConvergenceWarning

    warnings.warn(
        f"the sigmoid of the probabilities is not at its maximum: another may gain up to {gap:.2g} "
        "in log-likelihood a row; decision values with a few extreme outliers do this",
        ConvergenceWarning,
        stacklevel=3,
    )


def _surplus(v: Array, t: Array) -> Array:
    """t - expit(v), without cancellation."""
    return np.asarray(t * expit(-v) - (1.0 - t) * expit(v))


def _loss(v: Array, t: Array, share: Array) -> float:
    return -float(share @ (t * log_expit(v) + (1.0 - t) * log_expit(-v)))


def _best_offset(a: float, u: Array, t: Array, share: Array) -> float:
    """The best c for a given a, by Newton's method within a bracket.

    sum (t - p) = 0 is sum (1-t) p = sum t (1-p), solved in logarithms: both sides may underflow.
    """
    with np.errstate(divide="ignore"):
        log_up, log_down = np.log(share * t), np.log(share * (1.0 - t))
    reach = _reach(a, u, share)
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
    """Raise a ValueError for options that mean nothing.

    Parameters
    ----------
    targets : str
        Must be "labels" or "platt".
    max_slope : float
        Must be positive and finite.
    """
    if targets not in TARGETS:
        raise ValueError(f"targets={targets!r} is not one of {', '.join(map(repr, TARGETS))}")
    if not (np.isfinite(max_slope) and max_slope > 0):
        raise ValueError(f"max_slope must be a positive finite number, got {max_slope!r}")
