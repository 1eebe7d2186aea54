"""All second-order algebra of a trained machine, once.

At the optimum the free coordinates F solve (linearised, for the logistic loss)

    (K_FF + D) beta_F + K_FB beta_B + b 1 = y_F,     1'beta = 0     (with an intercept)

and every criterion that needs a derivative, a determinant or a leave-one-out formula asks for
something of the bordered matrix M = [[K_FF + D, 1], [1', 0]]. The losses differ only in D (zero,
1/(C w), 1/(C w p(1-p))) and in whether there are points at a bound that moves with C.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from svmselect.machine.bordered import Bordered
from svmselect.machine.losses import get_loss
from svmselect.machine.reference import independent_rows
from svmselect.machine.solution import Solution
from svmselect.types import Array, IntArray, Sensitivity


@dataclass(frozen=True, eq=False)
class ActiveSystem:
    """The linear system of a solution's free points, factored once.

    Make one with ``ActiveSystem.of``.

    Attributes
    ----------
    K : ndarray of shape (n, n)
        The Gram matrix.
    solution : Solution
        The trained machine.
    free : ndarray of int
        The solution's free points, less those whose columns of K depend on the others'.
    ridge : ndarray
        The diagonal D that the loss adds to K on the free points.
    matrix : Bordered
        The factored matrix M.

    Notes
    -----
    ``M = [[K_FF + D, 1], [1', 0]]`` with F the free points; without an intercept the border is
    absent. D is 0 for the hinge, 1/(C w) for the squared hinge and 1/(C w p (1 - p)) for the
    logistic loss. With an intercept and no free point the intercept is the middle of the interval
    between ``solution.ends``, and ``pullback`` differentiates that. Factoring costs O(m^3), with m
    free points.
    """

    K: Array
    solution: Solution
    free: IntArray
    ridge: Array
    matrix: Bordered

    @classmethod
    def of(cls, K: Array, solution: Solution) -> ActiveSystem:
        """Factor the system of a solution.

        Parameters
        ----------
        K : ndarray of shape (n, n)
            The Gram matrix the machine was trained with.
        solution : Solution
            The trained machine.

        Returns
        -------
        ActiveSystem
            The factored system. O(m^3), with m free points.
        """
        s = solution
        free = np.setdiff1d(s.free, s.dependent) if len(s.dependent) else s.free
        ridge = get_loss(s.loss).ridge(s.C * s.weights[free], s.alpha[free])
        block = K[np.ix_(free, free)]
        matrix = Bordered.of(block, ridge, s.fit_intercept)
        while matrix is None:  # an inexact solution: leave out what depends on the rest
            lift = float(block.diagonal().mean()) if s.fit_intercept else 0.0
            kept = independent_rows(block + np.diag(ridge) + lift)
            kept = kept if len(kept) < len(free) else kept[:-1]
            free, ridge, block = free[kept], ridge[kept], block[np.ix_(kept, kept)]
            matrix = Bordered.of(block, ridge, s.fit_intercept)
        return cls(K, s, free, ridge, matrix)

    def solve(self, rhs: Array, total: float | Array = 0.0) -> tuple[Array, Array]:
        """Solve M x = (rhs, total).

        Parameters
        ----------
        rhs : ndarray of shape (m,) or (m, k)
            The right-hand side on the free points: a vector, or a matrix of such columns.
        total : float or ndarray, default 0.0
            The right-hand side on the border.

        Returns
        -------
        free : ndarray
            The solution on the free points.
        border : ndarray
            The solution on the border.
        """
        return self.matrix.solve(rhs, total)

    @cached_property
    def inverse(self) -> Array:
        """The block of M^-1 on the free points. O(m^3)."""
        return self.matrix.inverse()

    def inverse_diagonal(self) -> Array:
        """Return the diagonal of M^-1 on the free points.

        Returns
        -------
        ndarray of shape (m,)
            The diagonal; its reciprocals are the squared spans.
        """
        return self.inverse.diagonal().copy()

    def logdet(self) -> float:
        """Return ``log |det M|``, or ``log det(K_FF + D)`` without an intercept.

        Returns
        -------
        float
            The logarithm of the absolute value of the determinant.
        """
        return self.matrix.logdet()

    def pullback(
        self,
        *,
        decision: Array | None = None,
        beta: Array | None = None,
        intercept: float = 0.0,
        log_C: float = 0.0,
        gram: Array | None = None,
    ) -> Sensitivity:
        """Turn a number's partial derivatives into total ones, through the trained machine.

        Parameters
        ----------
        decision : ndarray of shape (n,), optional
            Partial derivatives with respect to the decision values. That ``decision = K beta +
            intercept`` moves with K, beta and the intercept is taken care of here.
        beta : ndarray of shape (n,), optional
            Partial derivatives with respect to beta.
        intercept : float, default 0.0
            Partial derivative with respect to the intercept.
        log_C : float, default 0.0
            Partial derivative with respect to log C.
        gram : ndarray of shape (n, n), optional
            Partial derivatives with respect to K.

        Returns
        -------
        Sensitivity
            Total derivatives with respect to K and log C.

        Notes
        -----
        One solve, O(m^2), and O(n m) for the products, with m free points.
        """
        s, K, n = self.solution, self.K, len(self.K)
        on_decision = np.zeros(n) if decision is None else decision
        on_beta = np.zeros(n) if beta is None else beta
        if decision is not None:
            used = np.flatnonzero(decision)  # held-out rows: a few of all
            on_beta = on_beta + (decision[used] @ K[used] if len(used) < n // 2 else K @ decision)
            intercept = intercept + float(decision.sum())
        # adjoint of (K_FF + D) d_beta_F + d_b = -dK beta - K_FB d_beta_B + D beta dlog C
        w_F, w_b = self.solve(on_beta[self.free], intercept)
        adjoint = np.zeros(n)
        adjoint[self.free] = w_F
        slope = log_C
        if s.fit_intercept and not len(self.free) and len(s.ends):
            # b = mean over the ends of y - K beta; the same adjoint, with half the weight on each
            adjoint[list(s.ends)] += intercept / len(s.ends)
            w_b = np.zeros(())
        rule = get_loss(s.loss)
        if rule.reaches_bound:
            B = s.bound  # d beta_B / dlog C = beta_B
            rows = np.flatnonzero(adjoint)
            slope += float(s.beta[B] @ (on_beta[B] - K[np.ix_(B, rows)] @ adjoint[rows] - w_b))
        if rule.curved:
            slope += float(w_F @ (self.ridge * s.beta[self.free]))
        left = (on_decision - adjoint)[:, None]
        return Sensitivity(left, s.beta[:, None].copy(), slope, gram)
