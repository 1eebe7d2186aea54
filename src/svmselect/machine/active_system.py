"""All second-order algebra of a trained machine, once.

At the optimum the free coordinates F solve (linearised, for the logistic loss)

    (K_FF + D) beta_F + K_FB beta_B + b 1 = y_F,     1'beta = 0     (with an intercept)

and every criterion that needs a derivative, a determinant or a leave-one-out formula asks for
something of the bordered matrix M = [[K_FF + D, 1], [1', 0]]. The losses differ only in D: zero,
1/(C w), 1/(C w p(1-p)).
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
    """The bordered system of the free set of one solution, factored once: O(|F|^3).

    ``free`` are the solution's free points less those whose columns depend on the others'. With an
    intercept and no free point the intercept is the middle of the interval between
    ``solution.ends``, and ``pullback`` differentiates that.
    """

    K: Array
    solution: Solution
    free: IntArray
    ridge: Array
    matrix: Bordered

    @classmethod
    def of(cls, K: Array, solution: Solution) -> ActiveSystem:
        """Factor the system of a solution for the Gram matrix K."""
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
        """M^-1 (rhs, total): the part on the free set and the part on the border.

        ``rhs`` is a vector over ``free`` or a matrix of such columns.
        """
        return self.matrix.solve(rhs, total)

    @cached_property
    def inverse(self) -> Array:
        """The block of M^-1 on the free set. O(|F|^3)."""
        return self.matrix.inverse()

    def inverse_diagonal(self) -> Array:
        """diag(M^-1) on the free set: its reciprocals are the squared spans."""
        return self.inverse.diagonal().copy()

    def logdet(self) -> float:
        """log |det M| (of K_FF + D alone without an intercept)."""
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
        """Turn partial derivatives of a number into total ones, through the trained machine.

        The number is phi(decision, beta, intercept, log C, K) and the arguments are its partials;
        that ``decision = K beta + intercept`` moves with K, beta and b is taken care of here. One
        solve, O(|F|^2), and O(n |F|) for the products.
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
        if s.loss == "hinge":
            B = s.bound  # d beta_B / dlog C = beta_B
            rows = np.flatnonzero(adjoint)
            slope += float(s.beta[B] @ (on_beta[B] - K[np.ix_(B, rows)] @ adjoint[rows] - w_b))
        else:
            slope += float(w_F @ (self.ridge * s.beta[self.free]))
        left = (on_decision - adjoint)[:, None]
        return Sensitivity(left, s.beta[:, None].copy(), slope, gram)
