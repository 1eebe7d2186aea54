"""What a machine with a hinge would say of a point, had it not been trained on it; many at once.

Removing a point moves the solution by a few exchanges between the active sets. With the points in
the order (free, fixed) the optimality conditions are v = T x, where

    x = -d slack on the free points, d beta on the fixed;   v = d beta on the free, -d slack on the
    fixed;   slack = y - (K + ridge) beta - b,

and T, the principal pivot transform of K, comes from one factorisation: O(n |F| (n + |F|)). Points
that change sides trade the known for the unknown half: a system of the size of their number, O(n)
for each of them. All removals are followed in parallel, by block pivoting as in ``box_qp``; the
outcome is checked on K itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from svmselect.clock import look
from svmselect.machine.active_system import ActiveSystem
from svmselect.machine.bordered import Bordered
from svmselect.machine.losses import get_loss
from svmselect.machine.solution import Solution
from svmselect.types import Array, BoolArray, IntArray

_LOWER, _FREE, _UPPER, _GONE = -1, 0, 1, 2
_ROUNDS, _LARGEST = 100, 48
_PATIENCE = np.array([2, 12])  # rounds without progress: of all at once, of one at a time
_BATCH = 64_000  # entries of an array, removals x points: they stay in cache


def margins_without(K: Array, solution: Solution, rows: IntArray) -> Array:
    """y_i f(x_i) of the machine trained without row i, for each i in ``rows``, exact as ``solve``.

    For either hinge, and rows of weight at most one. NaN where the exchanges did not settle: those
    need a training of their own.
    """
    margins = np.full(len(rows), np.nan)
    if len(solution.dependent) or not len(rows):
        return margins
    tableau = _Tableau.of(K, solution)
    if tableau is None:
        return margins
    size = max(1, _BATCH // len(tableau.order))
    for first in range(0, len(rows), size):
        look()
        part = slice(first, first + size)
        margins[part] = _Removals(tableau, rows[part]).margins()
    return margins


@dataclass(frozen=True, eq=False)
class _Tableau:
    """The optimum in the order (free, fixed), rows of weight zero left out."""

    order: IntArray
    position: IntArray
    n_free: int
    transform: Array  # T'
    K: Array
    ridge: Array
    y: Array
    beta: Array
    slack: Array
    lower: Array
    upper: Array
    state: IntArray
    border: bool
    tolerance: float  # of the optimality conditions, as ``Solution`` judges them

    @classmethod
    def of(cls, K: Array, s: Solution) -> _Tableau | None:
        system = ActiveSystem.of(K, s)
        free, matrix = system.free, system.matrix
        if s.fit_intercept and not len(free):
            # A vertex: let one of the ends of the intercept's interval be free, at its bound.
            free = np.array(s.ends[:1], dtype=np.intp)
            found = Bordered.of(K[np.ix_(free, free)], np.zeros(len(free)), True)
            if not len(free) or found is None:
                return None
            matrix = found
        there = s.weights > 0
        there[free] = False
        order = np.concatenate([free, np.flatnonzero(there)])
        position = np.full(len(s.y), -1)
        position[order] = np.arange(len(order))
        gram, y, beta = K[np.ix_(order, order)], s.y[order], s.beta[order]
        cost = s.C * s.weights[order]
        rule, m = get_loss(s.loss), len(free)
        ridge, limit = rule.ridge(cost, cost), rule.bound(cost)
        slack = y - s.decision[order] - ridge * beta
        lower, upper = np.where(y < 0, -limit, 0.0), np.where(y > 0, limit, 0.0)
        if m and s.fit_intercept and not len(system.free):
            slack -= slack[0]  # the offset that makes the end's slack vanish
        slack[:m] = 0.0
        state = np.where(beta <= lower, _LOWER, _UPPER)
        state[:m] = _FREE
        transform = _transform(gram, ridge, m, matrix, s.fit_intercept)
        size = np.sqrt(gram.diagonal())
        spread = 2.2e-16 * (1.0 + float(size.max() * (size @ np.abs(beta))))
        return cls(
            order, position, m, transform, gram, ridge, y, beta, slack, lower, upper,
            state.astype(np.int8), s.fit_intercept, min(max(1e-9, 100.0 * spread), 1e-3),
        )  # fmt: skip


def _transform(K: Array, ridge: Array, m: int, matrix: Bordered, border: bool) -> Array:
    """T', with blocks M^-1, M^-1 Q', -Q M^-1 and K + ridge - Q M^-1 Q'; Q = (K_NF, 1)."""
    Q, inverse = K[m:, :m], matrix.inverse()
    if border:
        one = matrix.ones / matrix.ones.sum()
        corner = matrix.lift - 1.0 / matrix.ones.sum()
        Q = np.column_stack([Q, np.ones(len(Q))])
        inverse = np.block([[inverse, one[:, None]], [one, np.full((1, 1), corner)]])
    G = Q @ inverse
    T = np.empty_like(K)
    T[:m, :m] = inverse[:m, :m]
    T[:m, m:] = G[:, :m].T
    T[m:, :m] = -G[:, :m]
    np.subtract(K[m:, m:], G @ Q.T, out=T[m:, m:])
    T.flat[m * (len(K) + 1) :: len(K) + 1] += ridge[m:]
    return T


class _Removals:
    """One row for each removal: the state of every point, and the point that is gone."""

    def __init__(self, tableau: _Tableau, rows: IntArray) -> None:
        self.t = tableau
        self.gone = tableau.position[rows]
        self.state = np.empty((len(rows), len(tableau.order)), dtype=np.int8)
        self._restart(np.arange(len(rows)))

    def margins(self) -> Array:
        """Exchange until every point is on its right side, then check.

        All that are wrong change sides at once; beside few free points many newcomers overshoot
        together, so there, and where it does not lead on, they are let in one at a time.
        """
        count = len(self.gone)
        beta = np.zeros((count, len(self.t.order)))
        settled, careful = np.zeros(count, dtype=np.bool_), np.zeros(count, dtype=np.bool_)
        fewest, waited = np.full(count, len(self.t.order) + 1), np.zeros(count, dtype=int)
        active = np.arange(count)
        for turn in range(_ROUNDS):
            if not len(active):
                break
            look()
            here, slack, solved = self._solve(active)
            wrong = self._wrong(active, here, slack)
            number = wrong.sum(axis=1)
            if turn == 0:
                careful |= number > self.t.n_free // 2
            done = solved & (number == 0)
            beta[active[done]], settled[active[done]] = here[done], True
            better = number < fewest[active]
            fewest[active] = np.where(better, number, fewest[active])
            waited[active] = np.where(better, 0, waited[active] + 1)
            lost = ~solved | (waited[active] > _PATIENCE[careful[active].astype(int)])
            self._exchange(active, wrong & ~lost[:, None], here, slack, careful[active])
            again = active[lost & ~done & ~careful[active]]
            self._restart(again)
            careful[again], fewest[again], waited[again] = True, len(self.t.order) + 1, 0
            active = np.union1d(active[~lost & ~done], again)
        margins = np.full(count, np.nan)
        margins[settled] = self._checked(np.flatnonzero(settled), beta[settled])
        return margins

    def _restart(self, rows: IntArray) -> None:
        self.state[rows] = self.t.state
        self.state[rows, self.gone[rows]] = _GONE

    def _wrong(self, rows: IntArray, beta: Array, slack: Array) -> BoolArray:
        t, state = self.t, self.state[rows]
        # at a bound the slack must point out of the box
        wrong = state * slack < -0.05 * t.tolerance
        rounding = 1e-12 * np.abs(t.beta).max()
        outside = (beta < t.lower - rounding) | (beta > t.upper + rounding)
        wrong |= outside  # those at a bound are there exactly
        wrong[np.arange(len(rows)), self.gone[rows]] = False
        return np.asarray(wrong)

    def _exchange(
        self, rows: IntArray, wrong: BoolArray, beta: Array, slack: Array, careful: BoolArray
    ) -> None:
        """Send what left the box to the bound it crossed; free what wants to leave its bound.

        Of the latter, only the one that wants it most in rows that are careful.
        """
        single = np.flatnonzero(careful)
        if len(single):
            stuck = wrong[single] & (self.state[rows[single]] != _FREE)
            first = np.argmax(np.where(stuck, np.abs(slack[single]), 0.0), axis=1)
            stuck[np.arange(len(single)), first] = False
            wrong[single] &= ~stuck
        i, j = np.nonzero(wrong)
        state = self.state[rows[i], j]
        bound = np.where(beta[i, j] < self.t.lower[j], _LOWER, _UPPER)
        self.state[rows[i], j] = np.where(state == _FREE, bound, _FREE)

    def _solve(self, rows: IntArray) -> tuple[Array, Array, BoolArray]:
        """Beta and slack for the present states; and for which rows they could be found."""
        t, m = self.t, self.t.n_free
        if t.border:
            self._keep_one_free(rows)
        state = self.state[rows]
        free = state == _FREE
        # known drivers: fixed points that were moved to another bound, or away
        moved = (state != t.state) & ~free
        moved[:, :m] = False
        i, j = np.nonzero(moved)
        value = _value(t, state[i, j], j)
        v = _sparse(i, j, value - t.beta[j], moved.shape) @ t.transform
        # points that changed sides: their response is known, their driver is not
        swapped = free
        np.logical_not(free[:, :m], out=swapped[:, :m])
        steps_i, steps_j, steps, solved = _drivers(t, state, swapped, v)
        v += _sparse(steps_i, steps_j, steps, v.shape) @ t.transform
        slack = t.slack - v
        slack[:, :m] = 0.0
        beta = np.tile(t.beta, (len(rows), 1))
        beta[:, :m] += v[:, :m]
        beta[i, j] = value
        fixed = steps_j < m
        a, b = steps_i[fixed], steps_j[fixed]
        slack[a, b], beta[a, b] = -steps[fixed], _value(t, state[a, b], b)
        a, b = steps_i[~fixed], steps_j[~fixed]
        slack[a, b], beta[a, b] = 0.0, t.beta[b] + steps[~fixed]
        return beta, slack, solved

    def _keep_one_free(self, rows: IntArray) -> None:
        """With an intercept and no free point, free the one that best makes the sum right."""
        t = self.t
        none = rows[(self.state[rows] != _FREE).all(axis=1)]
        if not len(none):
            return
        state = self.state[none]
        beta = _value(t, state, np.arange(len(t.order)))
        residual = t.y - beta @ t.K - t.ridge * beta
        missing = -beta.sum(axis=1, keepdims=True)
        can = np.where(missing > 0, beta < t.upper, beta > t.lower) & (state != _GONE)
        towards = np.where(can, np.sign(missing) * residual, -np.inf)
        self.state[none, np.argmax(towards, axis=1)] = _FREE

    def _checked(self, rows: IntArray, beta: Array) -> Array:
        """Margins of the removed points, computed afresh; NaN where an optimality condition fails.

        Where no point is strictly inside its box the intercept is the middle of its interval.
        """
        t, state = self.t, self.state[rows]
        rounding = 1e-12 * np.abs(beta).sum(axis=1, keepdims=True)
        free = state == _FREE
        low, high = free & (beta <= t.lower + rounding), free & (beta >= t.upper - rounding)
        if low.any() or high.any():
            state[low], state[high] = _LOWER, _UPPER
            i, j = np.nonzero(low | high)
            beta[i, j] = _value(t, state[i, j], j)
            free = state == _FREE
        used = np.flatnonzero(beta.any(axis=0))
        decision = beta[:, used] @ t.K[used]
        slack = t.y - decision
        slack -= t.ridge * beta
        offset = np.zeros(len(rows))
        if t.border:
            number = np.count_nonzero(free, axis=1)
            offset = np.einsum("ij,ij->i", free, slack) / np.maximum(number, 1)
            none = np.flatnonzero(number == 0)
            floor = np.where(state[none] == _LOWER, slack[none], -np.inf).max(axis=1)
            ceiling = np.where(state[none] == _UPPER, slack[none], np.inf).min(axis=1)
            known = np.isfinite(floor) & np.isfinite(ceiling)
            offset[none] = np.nan
            offset[none[known]] = 0.5 * (floor + ceiling)[known]
            slack -= offset[:, None]
        here = np.arange(len(rows)), self.gone[rows]
        slack[here] = 0.0
        off = np.where(free, np.abs(slack), -state * slack)
        sound = off.max(axis=1) <= t.tolerance  # false for NaN
        if t.border:
            sound &= np.abs(beta.sum(axis=1)) <= 10.0 * rounding[:, 0]
        margin = t.y[here[1]] * (decision[here] + offset)
        return np.where(sound, margin, np.nan)


def _value(t: _Tableau, state: IntArray, j: IntArray) -> Array:
    """Where points j are that are at a bound, or gone."""
    return np.where(state == _LOWER, t.lower[j], np.where(state == _UPPER, t.upper[j], 0.0))


def _sparse(i: IntArray, j: IntArray, values: Array, shape: tuple[int, int]) -> csr_array:
    """Entries given row by row."""
    pointer = np.zeros(shape[0] + 1, dtype=np.intp)
    np.cumsum(np.bincount(i, minlength=shape[0]), out=pointer[1:])
    return csr_array((values, j, pointer), shape=shape)


def _drivers(
    t: _Tableau, state: IntArray, swapped: BoolArray, v: Array
) -> tuple[IntArray, IntArray, Array, BoolArray]:
    """Solve T_SS x_S = wanted_S - v_S for the swapped points S of each row; (i, j, x, solved).

    Rows are taken together with others of about as many points, and filled up with an identity.
    """
    i, j = np.nonzero(swapped)
    sizes = np.bincount(i, minlength=len(state))
    wanted = np.where(j < t.n_free, _value(t, state[i, j], j) - t.beta[j], t.slack[j]) - v[i, j]
    place = np.arange(len(i)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    x, solved = np.zeros(len(i)), sizes <= _LARGEST
    for low, high in ((0, 4), (4, 12), (12, 24), (24, _LARGEST)):
        group = np.flatnonzero((sizes > low) & (sizes <= high))
        if not len(group):
            continue
        size = int(sizes[group].max())
        slot = np.full(len(state), -1)
        slot[group] = np.arange(len(group))
        mine = np.flatnonzero(slot[i] >= 0)
        at = slot[i[mine]], place[mine]
        where, real = np.zeros((len(group), size), dtype=np.intp), np.zeros((len(group), size))
        rhs = np.zeros((len(group), size, 1))
        where[at], real[at], rhs[(*at, 0)] = j[mine], 1.0, wanted[mine]
        # T' is stored: T[a, b] = T'[b, a]
        A = t.transform[where[:, None, :], where[:, :, None]] * (real[:, :, None] * real[:, None])
        A += np.eye(size) * (1.0 - real)[:, None]
        found, fine = _solve_each(A, rhs)
        x[mine] = found[(*at, 0)]
        solved[group] = fine
    return i, j, x, solved


def _solve_each(A: Array, rhs: Array) -> tuple[Array, BoolArray]:
    """Solutions of many small systems, and which of these are not singular."""
    fine = np.ones(len(A), dtype=np.bool_)
    try:
        x = np.linalg.solve(A, rhs)
    except np.linalg.LinAlgError:
        fine = np.asarray(np.linalg.cond(A) < 1e14)
        x = np.linalg.solve(np.where(fine[:, None, None], A, np.eye(A.shape[1])), rhs)
    return np.asarray(x, dtype=np.float64), fine
