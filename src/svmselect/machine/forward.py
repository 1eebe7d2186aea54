"""How decision values move with the hyperparameters: the forward twin of ``pullback``.

One adjoint serves one number and any number of parameters; this serves many numbers (the held-out
decisions) and all parameters together, which is what a Gauss-Newton method asks for.
"""

from __future__ import annotations

import numpy as np

from svmselect.machine.active_system import ActiveSystem
from svmselect.machine.losses import get_loss
from svmselect.types import Array, IntArray


def decision_jacobian(system: ActiveSystem, rows: IntArray, tangent: Array) -> Array:
    """d decision[rows] / d(log C, parameters), (len(rows), 1 + p).

    ``tangent`` holds (dK/dparameter) beta, one column a parameter, (n, p), of which the free rows
    and those asked for (and the ends, where none is free) are looked at. With M the bordered
    matrix of the free set, g the columns of ``tangent`` and, for log C, (K beta)_B of the bounded
    ones less, at the free rows, D beta_F (for the hinge D is 0, for the others B is empty),

        d f_r = g_r - (K_rF, 1) M^-1 (g_F; t),    t = 1'beta_B for log C, else 0.

    O(|F|^2 p + |rows| |F| p + (|rows| + |F|) |B|).
    """
    s, K, F = system.solution, system.K, system.free
    rule = get_loss(s.loss)
    on_free, jacobian = (np.column_stack([np.zeros(len(at)), tangent[at]]) for at in (F, rows))
    total = np.zeros(on_free.shape[1])
    if rule.reaches_bound:
        bounded = s.beta[s.bound]
        on_free[:, 0] = K[np.ix_(F, s.bound)] @ bounded
        jacobian[:, 0] = K[np.ix_(rows, s.bound)] @ bounded
        total[0] = float(bounded.sum())
    if rule.curved:
        on_free[:, 0] -= system.ridge * s.beta[F]
    if len(F):
        x, shift = system.solve(on_free, total)
        jacobian -= K[np.ix_(rows, F)] @ x + shift
    elif s.fit_intercept and s.ends:
        ends = np.array(s.ends)
        drift = np.zeros(len(ends))
        if rule.reaches_bound:
            drift = K[np.ix_(ends, s.bound)] @ bounded
        jacobian -= np.column_stack([drift, tangent[ends]]).mean(axis=0)
    return jacobian
