"""Dense references for small problems: nothing in common with the solver but the definition."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
from scipy.optimize import lsq_linear, nnls


def enumerate_active_sets(
    K: np.ndarray, y: np.ndarray, cost: np.ndarray, loss: str, fit_intercept: bool
) -> tuple[np.ndarray, np.ndarray, float]:
    """Minimise by trying every active set; (beta, decision, objective). 3^n or 2^n solves.

    A set is accepted where its linear system gives a point that satisfies all KKT conditions.
    """
    n = len(y)
    choices = "0FC" if loss == "hinge" else "0F"
    for labels in product(choices, repeat=n):
        kind = np.array(labels)
        F, B = np.flatnonzero(kind == "F"), np.flatnonzero(kind == "C")
        if np.any(cost[F] == 0) or np.any(cost[B] == 0):
            continue
        beta = np.where(kind == "C", y * cost, 0.0)
        A = K[np.ix_(F, F)] + (np.diag(1.0 / cost[F]) if loss == "squared_hinge" else 0.0)
        rhs = y[F] - K[np.ix_(F, B)] @ beta[B]
        if fit_intercept:
            ones = np.ones((len(F), 1))
            A = np.block([[A, ones], [ones.T, np.zeros((1, 1))]])
            rhs = np.append(rhs, -beta.sum())
        x = np.linalg.lstsq(A, rhs, rcond=1e-12)[0] if len(rhs) else rhs
        if len(rhs) and np.abs(A @ x - rhs).max() > 1e-9:
            continue
        beta[F] = x[: len(F)]
        g = K @ beta
        for b in _intercepts(x, g, y, F) if fit_intercept else (0.0,):
            if _optimal(y * beta, y * (g + b), cost, loss):
                slack = np.maximum(1.0 - y * (g + b), 0.0)
                losses = cost @ (slack if loss == "hinge" else slack**2 / 2)
                return beta, g + b, float(beta @ g / 2 + losses)
    raise AssertionError("no active set satisfies the KKT conditions")


def _intercepts(x: np.ndarray, g: np.ndarray, y: np.ndarray, F: np.ndarray) -> list[float]:
    if len(F):
        return [float(x[-1])]
    ends = np.sort(y - g)  # none free: some pair of neighbours holds the interval
    return [float((a + b) / 2) for a, b in pairwise(ends)]


def _optimal(alpha: np.ndarray, z: np.ndarray, cost: np.ndarray, loss: str) -> bool:
    here, tol = cost > 0, 1e-9
    alpha, z, cost = alpha[here], z[here], cost[here]
    if loss == "squared_hinge":
        return bool(np.all(np.abs(alpha - cost * np.maximum(1.0 - z, 0.0)) <= tol * (1 + cost)))
    inside = np.all((alpha >= -tol * cost) & (alpha <= cost * (1 + tol)))
    grows, shrinks = (
        (alpha < cost * (1 - tol)) & (z < 1 - tol),
        (alpha > tol * cost) & (z > 1 + tol),
    )
    return bool(inside and not np.any(grows | shrinks))


def by_least_squares(K: np.ndarray, y: np.ndarray, cost: np.ndarray, loss: str) -> np.ndarray:
    """The dual without intercept as a bounded least-squares problem; alpha.

    1/2 a'Qa - 1'a = 1/2 |L'a - L^-1 1|^2 + const with Q = LL'; K must be positive definite.
    """
    Q = K * np.outer(y, y) + (np.diag(1.0 / cost) if loss == "squared_hinge" else 0.0)
    L = np.linalg.cholesky(Q)
    rhs = np.linalg.solve(L, np.ones(len(y)))
    if loss == "squared_hinge":
        return np.asarray(nnls(L.T, rhs, maxiter=1000)[0])
    return np.asarray(lsq_linear(L.T, rhs, (0.0, cost), method="bvls", tol=1e-15).x)
