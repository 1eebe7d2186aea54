"""How decision values move with the hyperparameters: the forward twin of ``pullback``.

One adjoint serves one number and any number of parameters; this serves many numbers (the held-out
decisions) and all parameters together, which is what a Gauss-Newton method asks for.
"""

from __future__ import annotations

import numpy as np

from svmselect.machine.active_system import ActiveSystem
from svmselect.types import Array, IntArray


def decision_jacobian(system: ActiveSystem, rows: IntArray, tangent: Array) -> Array:
    """d decision[rows] / d(log C, parameters), (len(rows), 1 + p).

    ``tangent`` holds (dK/dparameter) beta, one column a parameter, (n, p). With M the bordered
    matrix of the free set and V = M^-1 (K_F,rows; 1),

        d f_r = (dK beta)_r - V_F' (dK beta)_F,
        d f_r / dlog C = (K_rB - V_F' K_FB - V_b 1') beta_B   (hinge),  V_F' D beta_F   (others).

    O(|F|^2 |rows| + n (|F| + |B|)).
    """
    s, K, F = system.solution, system.K, system.free
    ends = list(s.ends) if s.fit_intercept and not len(F) else []
    if s.loss == "hinge":
        drift = K[:, s.bound] @ s.beta[s.bound]  # d(K beta)/dlog C through the bounded ones
    else:
        drift = np.zeros(len(K))
        drift[F] = -system.ridge * s.beta[F]
    moves = np.column_stack([drift, tangent])
    jacobian = np.array(moves[rows])
    if s.loss != "hinge":
        jacobian[:, 0] = 0.0  # the ridge is there at trained rows only, through V
    if len(F):
        V, shift = system.solve(K[np.ix_(F, rows)], np.ones(len(rows)))
        jacobian -= V.T @ moves[F]
        if s.loss == "hinge":
            jacobian[:, 0] -= shift * s.beta[s.bound].sum()
    elif ends:
        jacobian -= moves[ends].mean(axis=0)
    return jacobian
