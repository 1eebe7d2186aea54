"""The radius-margin bound."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from svmselect.criteria.base import Context, Criterion, Verdict, every
from svmselect.machine.box_qp import BoxQP, BoxSolution, solve_box
from svmselect.types import Array, BoolArray, Sensitivity


@dataclass(frozen=True)
class RadiusMargin(Criterion):
    """Squared radius of the smallest ball around the data, over the squared margin, per point.

    Notes
    -----
    ``R^2/n sum_i alpha_i``, both in the feature space of K + I/C, where sum(alpha) = ``|w|^2`` is
    the inverse squared margin. Both factors are optima of quadratic programs, so by the envelope
    theorem the gradient needs no derivative of alpha, and is continuous.

    Loss: squared hinge only; with the hinge sum(alpha) is not ``|w|^2`` and R does not depend on C.
    A weight k counts as k copies, each with its own direction of length C^-1/2. One more quadratic
    program of size n.

    References
    ----------
    Vapnik 1998; Chapelle et al. 2002; Gold & Sollich 2003, eq. 9.
    """

    name = "radius-margin"
    greater_is_better = False
    serves = every("squared_hinge")
    scaling = 0.0
    formula = "R^2/n sum_i alpha_i in the feature space of K + I/C"
    cost = "one more quadratic program of size n"
    reference = "Vapnik 1998; Chapelle et al. 2002; Gold & Sollich 2003, eq. 9"

    def evaluate(self, context: Context, gradient: bool) -> Verdict:
        s, K, C = context.solution, context.K, context.C
        alphas = float(s.alpha.sum())
        ridge = np.divide(1.0, C * s.weights, out=np.zeros(len(K)), where=s.weights > 0)
        ball = _ball(K, ridge, s.weights > 0, context.start.get("radius-margin ball"))
        context.trained["radius-margin ball"] = ball
        b = ball.beta
        radius2 = 1.0 / C + float(b @ K.diagonal() - b @ (K @ b + ridge * b))
        value = radius2 * alphas / context.total
        details = {"radius2": radius2, "margin": alphas**-0.5, "ball": np.flatnonzero(b)}
        status = s.status if not s.status.ok else ball.status
        if not gradient:
            return Verdict(value, details=details, status=status)
        # sum(alpha) is twice the dual optimum: d sum(alpha) = -beta' d(K + D) beta, dD = -D dlog C
        on_radius, on_alphas = alphas / context.total, radius2 / context.total
        left = np.stack([on_radius * b, on_alphas * s.beta], axis=1)
        right = -np.stack([b, s.beta], axis=1)
        slope = on_radius * (ridge @ b**2 - 1.0 / C) + on_alphas * float(ridge @ s.beta**2)
        sensitivity = Sensitivity(left, right, float(slope), np.diag(on_radius * b))
        return Verdict(value, sensitivity, details=details, status=status)


def _ball(K: Array, ridge: Array, present: BoolArray, start: BoxSolution | None) -> BoxSolution:
    """Maximise b'diag(K) - b'(K + ridge)b over b >= 0, sum(b) = 1, on the rows present.

    The diagonal 1/C of K + I/C is the same for all copies and is left to the caller, while the k
    copies of a row share b: hence a ridge in the quadratic term alone.
    """
    target = 0.5 * (K.diagonal() - K.diagonal()[present].min())
    qp = BoxQP(K, ridge, target, np.zeros(len(K)), present.astype(float), 1.0)
    if start is None:
        return solve_box(qp)
    return solve_box(qp, start.states, start.beta)
