"""Gauss-Newton descent on the landscape under a prior that ties the length scales together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from svmselect.auto.landscape import Reading
from svmselect.types import Array

Read = Callable[[float, Array, Reading | None, bool], Reading]

_LONGEST_STEP = 1.0  # in any logarithm


@dataclass(frozen=True, eq=False)
class Prior:
    """-log prior: |deviations of the log scales from their mean|^2 / (2 tau^2), tau > 0."""

    tau: float

    def value(self, log_scale: Array) -> float:
        """-log prior, up to its normaliser."""
        return float(np.sum((log_scale - log_scale.mean()) ** 2)) / (2.0 * self.tau**2)

    def gradient(self, log_scale: Array) -> Array:
        """By the log scales."""
        return np.asarray((log_scale - log_scale.mean()) / self.tau**2)

    def hessian(self, d: int) -> Array:
        """By the log scales: a projection over tau^2."""
        return np.asarray((np.eye(d) - 1.0 / d) / self.tau**2)


def descend(
    read: Read,
    at: Reading,
    tau: float,
    box: Array,
    gain: float,
    max_steps: int,
    keep_going: Callable[[], bool],
) -> Reading:
    """Levenberg-Marquardt steps from ``at`` until one gains less than ``gain`` in log-likelihood.

    ``box`` is (1 + p, 2). Each step costs one reading, a rejected one too.
    """
    prior = Prior(tau)
    damping = 1e-2
    height = at.loss + prior.value(at.log_scale)
    for _ in range(max_steps):
        assert at.gradient is not None
        assert at.hessian is not None
        g, H = at.gradient.copy(), at.hessian.copy()
        g[1:] += prior.gradient(at.log_scale)
        H[1:, 1:] += prior.hessian(len(at.log_scale))
        point = at.point
        while keep_going():
            new = _step(point, g, H, damping, box)
            moved = new - point
            expected = -float(g @ moved + 0.5 * moved @ H @ moved)
            if expected < 0.3 * gain:
                return at
            reading = read(float(new[0]), new[1:], at, True)
            new_height = reading.loss + prior.value(reading.log_scale)
            if new_height < height:
                break
            damping *= 8.0
            if damping > 1e6:
                return at
        else:
            return at
        gained, height, at = height - new_height, new_height, reading
        damping = max(0.2 * damping, 1e-4)
        if gained < gain:
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


def level_three(at: Reading, tau: float) -> float:
    """-log of the marginal over the deviations, by Laplace: loss + prior + 1/2 log det.

    The prior's normaliser cancels against the determinant: 1/2 sum_j log(1 + tau^2 h_j), h_j the
    eigenvalues of the Hessian on deviations that sum to zero. tau = 0 is the isotropic kernel.
    """
    h, _ = _deviations(at)
    value = at.loss + Prior(tau).value(at.log_scale)
    return value + 0.5 * float(np.log1p(tau**2 * h).sum())


def expected_level_three(at: Reading, tau: float) -> float:
    """What ``level_three`` would be after descending, by the quadratic model at this point."""
    assert at.gradient is not None
    h, U = _deviations(at)
    g = U.T @ at.gradient[1:]
    u = U.T @ (at.log_scale - at.log_scale.mean())
    # minimise g x + 1/2 h x^2 + (u + x)^2 / (2 tau^2) in each eigendirection
    x = -(g + u / tau**2) / (h + 1.0 / tau**2)
    change = g @ x + 0.5 * h @ x**2 + np.sum((u + x) ** 2) / (2.0 * tau**2)
    return at.loss + float(change + 0.5 * np.log1p(tau**2 * h).sum())


def _deviations(at: Reading) -> tuple[Array, Array]:
    """Eigenvalues (clipped at 0) and vectors of the Hessian on deviations that sum to zero."""
    assert at.hessian is not None
    d = len(at.log_scale)
    basis = np.linalg.qr(np.column_stack([np.ones(d), np.eye(d)[:, :-1]]))[0][:, 1:]
    h, V = np.linalg.eigh(basis.T @ at.hessian[1:, 1:] @ basis)
    return np.maximum(h, 0.0), basis @ V
