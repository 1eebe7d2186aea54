"""Gauss-Newton descent on the landscape under a prior that ties the length scales together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from svmselect.auto.landscape import Reading
from svmselect.types import Array

Read = Callable[[float, Array, Reading | None, bool], Reading]

_LONGEST_STEP = 1.0  # in any logarithm
_FIRM = 0.6  # the least damping after a step too long
_ATTEMPTS = 3  # at one step: the likelihood has kinks, where no step will do
_SPREAD_C = 2.0  # of log C, and of the mean log scale
_SPREAD_WIDTH = 0.5


@dataclass(frozen=True)
class Prior:
    """-log prior of (log C, *log scales): normal in log C, in the mean log scale, and about it.

    The mean log scale is expected at ``middle``, what the median distance between rows suggests,
    and log C at zero, within a factor of e^2 or so: a likelihood of few rows is flat and ragged,
    and this keeps it from the far ends. Deviations from the mean have spread ``tau`` > 0.
    """

    middle: float
    tau: float = 1.0

    def value(self, point: Array) -> float:
        """-log prior, up to its normaliser."""
        log_C, scales = float(point[0]), point[1:]
        mean = float(scales.mean())
        level = (log_C / _SPREAD_C) ** 2 + ((mean - self.middle) / _SPREAD_WIDTH) ** 2
        return 0.5 * (level + float(np.sum((scales - mean) ** 2)) / self.tau**2)

    def gradient(self, point: Array) -> Array:
        """By log C and the log scales."""
        scales = point[1:]
        mean, d = float(scales.mean()), len(scales)
        pull = (mean - self.middle) / (d * _SPREAD_WIDTH**2)
        slopes = pull + (scales - mean) / self.tau**2
        return np.concatenate([[float(point[0]) / _SPREAD_C**2], slopes])

    def hessian(self, d: int) -> Array:
        """By log C and d log scales."""
        H = np.zeros((1 + d, 1 + d))
        H[0, 0] = _SPREAD_C**-2
        mean = np.full((d, d), 1.0 / d)
        H[1:, 1:] = (np.eye(d) - mean) / self.tau**2 + mean / (d * _SPREAD_WIDTH**2)
        return H

    def height(self, at: Reading) -> float:
        """The negative log posterior."""
        return at.loss + self.value(at.point)


def descend(
    read: Read,
    at: Reading,
    prior: Prior,
    box: Array,
    gain: float,
    max_steps: int,
    keep_going: Callable[[], bool],
    hopeless: Callable[[Reading, float], bool] | None = None,
) -> Reading:
    """Levenberg-Marquardt steps from ``at`` until one gains less than ``gain`` in log-likelihood.

    ``box`` is (1 + p, 2). Each step costs one reading, a rejected one too. ``hopeless`` sees where
    each step led and what it gained, and may end it all.
    """
    damping, height = 1e-2, prior.height(at)
    for _ in range(max_steps):
        assert at.gradient is not None
        assert at.hessian is not None
        point = at.point
        g = at.gradient + prior.gradient(point)
        H = at.hessian + prior.hessian(len(at.log_scale))
        for _ in range(_ATTEMPTS):
            if not keep_going():
                return at
            new = _step(point, g, H, damping, box)
            moved = new - point
            expected = -float(g @ moved + 0.5 * moved @ H @ moved)
            if expected < 0.3 * gain:
                return at
            reading = read(float(new[0]), new[1:], at, True)
            new_height = prior.height(reading)
            if new_height < height:
                break
            damping = max(8.0 * damping, _FIRM)  # less would lead to almost the same place
        else:
            return at
        gained, height, at = height - new_height, new_height, reading
        damping = max(0.2 * damping, 1e-4)
        if gained < gain or (hopeless is not None and hopeless(at, gained)):
            break
    return at


def _step(point: Array, g: Array, H: Array, damping: float, box: Array) -> Array:
    """A damped Newton step, bounded in length, within the box; what pushes outward stays put."""
    stuck = ((point <= box[:, 0]) & (g > 0)) | ((point >= box[:, 1]) & (g < 0))
    free = ~stuck
    A = H[np.ix_(free, free)]
    # a floor under the curvature, so that a flat direction does not become a long one
    A = A + damping * np.diag(A.diagonal() + 1e-3 * max(float(A.diagonal().max()), 1e-12))
    step = np.zeros_like(point)
    step[free] = -np.linalg.solve(A + 1e-12 * np.eye(len(A)), g[free])
    return np.clip(point + np.clip(step, -_LONGEST_STEP, _LONGEST_STEP), box[:, 0], box[:, 1])


def level_three(at: Reading, prior: Prior) -> float:
    """-log of the marginal over the deviations, by Laplace: loss + prior + 1/2 log det.

    The prior's normaliser cancels against the determinant: 1/2 sum_j log(1 + tau^2 h_j), h_j the
    eigenvalues of the Hessian on deviations that sum to zero. An isotropic kernel has none.
    """
    h, _ = _deviations(at)
    return prior.height(at) + 0.5 * float(np.log1p(prior.tau**2 * h).sum())


def expected_level_three(at: Reading, prior: Prior) -> float:
    """What ``level_three`` would be after descending, by the quadratic model at this point."""
    assert at.gradient is not None
    h, U = _deviations(at)
    g = U.T @ at.gradient[1:]
    u = U.T @ (at.log_scale - at.log_scale.mean())
    precision = prior.tau**-2
    # minimise g x + 1/2 h x^2 + (u + x)^2 / (2 tau^2) in each eigendirection
    x = -(g + u * precision) / (h + precision)
    change = g @ x + 0.5 * h @ x**2 + 0.5 * precision * (np.sum((u + x) ** 2) - np.sum(u**2))
    return prior.height(at) + float(change + 0.5 * np.log1p(prior.tau**2 * h).sum())


def _deviations(at: Reading) -> tuple[Array, Array]:
    """Eigenvalues (clipped at 0) and vectors of the Hessian on deviations that sum to zero."""
    assert at.hessian is not None
    d = len(at.log_scale)
    basis = np.linalg.qr(np.column_stack([np.ones(d), np.eye(d)[:, :-1]]))[0][:, 1:]
    h, V = np.linalg.eigh(basis.T @ at.hessian[1:, 1:] @ basis)
    return np.maximum(h, 0.0), basis @ V
