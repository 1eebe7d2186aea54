"""The smallest ball in feature space that holds every point."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from svmselect.machine.box_qp import BoxQP, BoxSolution, solve_box
from svmselect.types import Array, Status


@dataclass(frozen=True)
class Ball:
    """Squared radius, the convex weights of the points that hold the centre, and its derivative.

    By the envelope theorem ``d radius2 = sum_ij gram_ij dK_ij``, gram = diag(weights) - weights
    weights'; a ridge on the diagonal counts through the diagonal of the same matrix.
    """

    radius2: float
    weights: Array
    status: Status
    solution: BoxSolution

    @property
    def gram(self) -> Array:
        """The derivative of the squared radius with respect to K."""
        return np.diag(self.weights) - np.outer(self.weights, self.weights)


def enclosing_ball(
    K: Array,
    ridge: Array | None = None,
    start: Ball | None = None,
    weights: Array | None = None,
) -> Ball:
    """Maximise sum_i b_i K_ii - b'Kb over b >= 0, sum(b) = 1, exactly. Cost as ``solve_box``.

    A row of weight zero is left out; other weights do not matter.
    """
    n = len(K)
    ridge = np.zeros(n) if ridge is None else ridge
    upper = np.ones(n) if weights is None else (weights > 0).astype(float)
    diagonal = K.diagonal() + ridge
    # Any constant on the target is a constant in the objective; centred, it is well scaled.
    target = 0.5 * (diagonal - diagonal.min())
    qp = BoxQP(K, ridge, target, np.zeros(n), upper, 1.0)
    known = None if start is None else start.solution
    s = solve_box(
        qp, None if known is None else known.states, None if known is None else known.beta
    )
    # Distance of any point on the sphere from the centre: K_ii - 2 (Kb)_i + b'Kb
    inner = s.beta @ (K @ s.beta + ridge * s.beta)
    return Ball(float(s.beta @ diagonal - inner), s.beta, s.status, s)
