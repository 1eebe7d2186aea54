"""The smallest ball in feature space that holds every point."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from svmselect.machine.box_qp import BoxQP, BoxSolution, solve_box
from svmselect.types import Array, Status


@dataclass(frozen=True)
class Ball:
    """The smallest ball in feature space that holds every point.

    Attributes
    ----------
    radius2 : float
        The squared radius.
    weights : ndarray of shape (n,)
        The weights of the points whose mean is the centre: not negative, with sum 1.
    status : Status
        Whether the optimum was reached.
    solution : BoxSolution
        The quadratic program's solution, for warm starts.
    """

    radius2: float
    weights: Array
    status: Status
    solution: BoxSolution

    @property
    def gram(self) -> Array:
        """The derivative of ``radius2`` with respect to K: diag(weights) - weights weights'."""
        return np.diag(self.weights) - np.outer(self.weights, self.weights)


def enclosing_ball(
    K: Array,
    ridge: Array | None = None,
    start: Ball | None = None,
    weights: Array | None = None,
) -> Ball:
    """Find the smallest ball in feature space that holds every point, exactly.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        The Gram matrix.
    ridge : ndarray of shape (n,), optional
        What to add to the diagonal of K.
    start : Ball, optional
        The ball at neighbouring hyperparameters, to start from.
    weights : ndarray of shape (n,), optional
        Sample weights. A row of weight zero is left out; other weights do not matter.

    Returns
    -------
    Ball
        The ball.

    Notes
    -----
    Maximises ``sum_i b_i K_ii - b'K b`` over ``b >= 0, sum(b) = 1``. By the envelope theorem ``d
    radius2 = sum_ij gram_ij dK_ij``, where ``gram = diag(b) - b b'``; a ridge counts through the
    diagonal of the same matrix. One quadratic program of size n.
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
