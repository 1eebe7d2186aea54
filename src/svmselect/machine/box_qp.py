"""Exact solutions of a quadratic program over a box, the form of every dual in this library.

    minimise 1/2 b'(K + diag(ridge)) b - target'b,   lower <= b <= upper,   [sum(b) = total]

Three compiled methods follow one another, each from where the last one ended:

1. descent by working sets of two, to a loose tolerance;
2. descent by active sets ("settling"), which ends in the optimal sets;
3. block pivoting from these, which makes the answer exact, or says that it cycles.

From a warm start whose sets are nearly right the third comes first, then the second; from one that
is further away only the values are kept, and descent begins there. Where the kernel matrix is so
badly conditioned that all this fails, it is tried again from a tenth of the tolerance, and so
forth; and where that has used up its steps, an interior-point method (or Newton's) finds the sets.

Cost: O(n) a step of 1, O(n |F|) a round of 2, O(|F|^3 + n |F|) a round of 3, F the free ones.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, cached_property
from types import ModuleType

import numpy as np
from scipy.linalg import cho_solve, lapack

from svmselect.clock import look
from svmselect.machine import reference
from svmselect.machine.interior import interior_point
from svmselect.machine.reference import (
    ABSENT,
    AT_LOWER,
    AT_UPPER,
    EXACT,
    FREE,
    HASTY,
    NO_FREE,
    PARKED,
)
from svmselect.types import OK, Array, IntArray, Status

_FIRST_TOLERANCE, _LAST_TOLERANCE = 1e-1, 1e-13
_PIVOT_TOLERANCE = 1e-12
_EPS = 2.2e-16
_ROUNDS, _PATIENCE, _SHORT_PATIENCE = 40, 3, HASTY
_INFINITE = 1e299
_FEW = 0.05  # of the free ones: so many exchanges are made by pivoting


@cache
def backend() -> ModuleType:
    """Return the compiled functions, or their NumPy twins with one warning."""
    try:
        from svmselect.machine import _native  # type: ignore[attr-defined,unused-ignore]
    except ImportError:
        warnings.warn(
            "svmselect was installed without its compiled extension; the NumPy reference is used "
            "instead, which is many times slower. Reinstall with a C++ compiler at hand.",
            RuntimeWarning,
            stacklevel=2,
        )
        return reference
    from scipy.linalg import cython_blas, cython_lapack

    routines = cython_lapack.__pyx_capi__ | cython_blas.__pyx_capi__
    native: ModuleType = _native
    native.use_lapack(*(routines[name] for name in ("dpotrf", "dpotrs", "dpstrf", "dgemm")))
    native.use_clock(look)
    return native


@dataclass(frozen=True)
class BoxQP:
    """The program: K symmetric positive semi-definite; the rest vectors; total None for no sum."""

    K: Array
    ridge: Array
    target: Array
    lower: Array
    upper: Array
    total: float | None

    @cached_property
    def scale(self) -> float:
        """The size of a residual, against which tolerances are measured."""
        scale = float(np.abs(self.target).max(initial=0.0))
        if self.total:  # what moving the total from one coordinate to the others would change
            here, diagonal = self.lower < self.upper, self.K.diagonal()
            i = int(np.argmax(here))
            distance2 = (diagonal + diagonal[i] - 2.0 * self.K[i])[here]
            scale = max(scale, abs(self.total) * float(distance2.max(initial=0.0)))
        return scale or 1.0

    def residual(self, beta: Array) -> Array:
        """target - (K + ridge) beta."""
        residual = self.target.copy()
        backend().subtract(self.K, self.ridge, beta, residual)
        return residual

    def is_clean(self, beta: Array, churn: float) -> bool:
        """Whether a residual through which so much has gone is as good as a new one."""
        return churn <= 4.0 * float(self.K.diagonal() @ beta**2)

    def arguments(self) -> tuple[Array, Array, Array, Array, Array, bool, float]:
        """Give them in the order of the compiled functions."""
        balanced = self.total is not None
        total = 0.0 if self.total is None else self.total
        return self.K, self.ridge, self.target, self.lower, self.upper, balanced, total


@dataclass(frozen=True)
class BoxSolution:
    """beta with the state of each coordinate, and how it ended.

    PARKED coordinates are strictly inside the box, but their columns of K depend, to working
    precision, on those of the FREE ones: any of a range of values would do for them.

    ``ends`` are the coordinates that limit the offset when none is free (empty otherwise): the
    offset is then the middle of the interval that the optimality conditions leave open.
    """

    beta: Array
    states: IntArray
    residual: Array
    offset: float
    ends: tuple[int, ...]
    status: Status


@dataclass
class _Work:
    """A feasible point on its way down, and its residual; what it went through is its churn."""

    qp: BoxQP
    beta: Array
    residual: Array
    churn: float = 0.0

    @classmethod
    def at(cls, qp: BoxQP, beta: Array) -> _Work:
        """Begin at the feasible point next to this one."""
        beta = _feasible(qp, beta)
        return cls(qp, beta, qp.residual(beta))

    def descend(self, tol: float, most: int) -> int:
        """Descend by pairs; how many steps."""
        arguments = (*self.qp.arguments(), self.beta, self.residual)
        steps, _, churn = backend().decompose(*arguments, tol * self.qp.scale, most)
        self.churn += churn
        return int(steps)

    def finish(self, rounds: int) -> BoxSolution | None:
        """Descend by active sets to the optimal ones, and pivot from there."""
        arguments = (*self.qp.arguments(), self.beta, self.residual)
        tol = _PIVOT_TOLERANCE * self.qp.scale
        _, _, churn = backend().settle(*arguments, tol, rounds)
        self.churn += churn
        return self.pivot(_PATIENCE)

    def pivot(self, patience: int) -> BoxSolution | None:
        """Try for the exact answer from here; None, and nothing changed, where that fails."""
        known = self.residual.copy() if self.qp.is_clean(self.beta, self.churn) else None
        return _pivot(self.qp, _states(self.qp, self.beta), self.beta.copy(), known, patience)


def solve_box(
    qp: BoxQP,
    states: IntArray | None = None,
    beta: Array | None = None,
    last_resort: Callable[[], Array] | None = None,
    stretch: float = 1.0,
) -> BoxSolution:
    """Solve exactly, from the active sets (and values) of a neighbouring problem if given.

    ``stretch`` is by what the box has grown since: where the sets stay, the values grow with it.
    ``last_resort`` finds beta where descent crawls; an interior-point method if there is none.
    """
    n = len(qp.target)
    beta = np.zeros(n) if beta is None else beta
    rounds, steps, steps_left, tol = 200, n, max(50_000, n * n // 16), _FIRST_TOLERANCE
    if states is not None:
        work = _Work.at(qp, _with_sets(qp, states, stretch * beta))
        if _nearly_right(qp, states, work.residual):
            answer = work.pivot(_SHORT_PATIENCE) or work.finish(rounds)
            if answer is not None:
                return answer
    else:
        work = _Work.at(qp, np.clip(beta, qp.lower, qp.upper))
    while steps_left > 0 and tol >= _LAST_TOLERANCE:
        steps_left -= max(work.descend(tol, min(steps_left, steps)), 1)
        # factorisations are quick; what settles the sets where they go in circles is not
        if (answer := work.pivot(_SHORT_PATIENCE) or work.finish(rounds)) is not None:
            return answer
        # once more, from further down
        tol, rounds, steps = 0.1 * tol, min(4 * rounds, 100_000), 4 * steps
    beta = work.beta
    if steps_left > 0:
        return _describe(qp, beta, OK)  # converged, whatever the sets: they differ by round-off
    if last_resort is None:
        return _finish(qp, *_interior(qp), beta)
    guess = np.clip(last_resort(), qp.lower, qp.upper)
    return _finish(qp, guess, _states(qp, guess), beta)


def _with_sets(qp: BoxQP, states: IntArray, beta: Array) -> Array:
    """These values, those at a bound put there."""
    beta = np.clip(beta, qp.lower, qp.upper)
    beta = np.where(states == AT_LOWER, qp.lower, np.where(states == AT_UPPER, qp.upper, beta))
    beta[np.abs(beta) >= _INFINITE] = 0.0
    return beta


def _nearly_right(qp: BoxQP, states: IntArray, residual: Array) -> bool:
    """Whether few coordinates want to leave their bounds, beside those that are free.

    Exchanging many costs more than it takes to find the sets anew.
    """
    free = states == FREE
    if not free.any():
        return True
    pull = residual if qp.total is None else residual - residual[free].mean()
    slack = 1e-3 * qp.scale
    here = qp.lower < qp.upper
    leave = here & (
        ((states == AT_LOWER) & (pull > slack)) | ((states == AT_UPPER) & (pull < -slack))
    )
    return bool(np.count_nonzero(leave) <= _FEW * np.count_nonzero(free))


def _states(qp: BoxQP, beta: Array) -> IntArray:
    states = np.where(beta <= qp.lower, AT_LOWER, np.where(beta >= qp.upper, AT_UPPER, FREE))
    states[qp.lower == qp.upper] = ABSENT
    return states.astype(np.int8)


def _feasible(qp: BoxQP, beta: Array) -> Array:
    """Move as few coordinates as will do within the box so that the sum is right."""
    missing = 0.0 if qp.total is None else qp.total - float(beta.sum())
    if abs(missing) <= 1e-15 * float(np.abs(beta).sum()):
        return beta  # round-off: making up for it would take coordinates off their bounds
    room = qp.upper - beta if missing > 0 else beta - qp.lower
    # those inside share it; what they cannot take goes to one after the other of the rest
    share = np.where((qp.lower < beta) & (beta < qp.upper), np.minimum(room, abs(missing)), 0.0)
    share *= min(1.0, abs(missing) / (float(share.sum()) or 1.0))
    rest = np.minimum(room - share, abs(missing))
    before = np.cumsum(rest) - rest
    share += np.clip(abs(missing) - float(share.sum()) - before, 0.0, rest)
    return np.asarray(np.clip(beta + np.sign(missing) * share, qp.lower, qp.upper))


def _pivot(
    qp: BoxQP,
    states: IntArray,
    beta: Array,
    residual: Array | None = None,
    patience: int = _PATIENCE,
) -> BoxSolution | None:
    """Try block pivoting from these sets; None where it does not end with an exact answer."""
    answer = _pivot_once(qp, states, beta, residual, patience)
    if answer is None or not np.any(answer.states == PARKED):
        return answer
    settled = _pivot_once(qp, *_settled(qp, answer.states, answer.beta))
    return answer if settled is None or np.any(settled.states == PARKED) else settled


def _pivot_once(
    qp: BoxQP,
    states: IntArray,
    beta: Array,
    residual: Array | None = None,
    patience: int = _PATIENCE,
) -> BoxSolution | None:
    """As ``_pivot``; in place. ``residual`` is that of beta, where it is known."""
    known = residual is not None
    residual = np.empty_like(beta) if residual is None else residual
    tol = _PIVOT_TOLERANCE * qp.scale
    arguments = (*qp.arguments(), states, beta, residual, known, tol, _ROUNDS, patience)
    _, ending, offset = backend().pivot(*arguments)
    if ending == NO_FREE:
        return _without_free(qp, states, beta, residual, tol)
    if ending != EXACT:
        return None
    corner = _at_corner(qp, states, beta, tol)
    return corner or BoxSolution(beta, states, residual, offset, (), OK)


def _at_corner(qp: BoxQP, states: IntArray, beta: Array, tol: float) -> BoxSolution | None:
    """Put free coordinates that are all at a bound there: none is free, the offset is open.

    Equal bounds make this common: with one coordinate left the sum decides, and gives 0 or C.
    """
    free = np.flatnonzero((states == FREE) | (states == PARKED))
    if qp.total is None or len(free) > 4:  # with more it would be a coincidence
        return None
    rounding = 1e-14 * (np.abs(beta).sum() + abs(qp.total))
    low = beta[free] - qp.lower[free] <= rounding
    high = qp.upper[free] - beta[free] <= rounding
    if not np.all(low | high):
        return None
    states, beta = states.copy(), beta.copy()
    states[free] = np.where(low, AT_LOWER, AT_UPPER)
    beta[free] = np.where(low, qp.lower[free], qp.upper[free])
    return _without_free(qp, states, beta, qp.residual(beta), tol)


def _without_free(
    qp: BoxQP, states: IntArray, beta: Array, residual: Array, tol: float
) -> BoxSolution | None:
    """Every coordinate at a bound: optimal if the sum is right and an offset fits between them."""
    assert qp.total is not None
    rounding = 1e-14 * (np.abs(beta).sum() + abs(qp.total))
    low = np.flatnonzero(states == AT_LOWER)
    high = np.flatnonzero(states == AT_UPPER)
    if abs(beta.sum() - qp.total) > rounding:
        return None
    # r <= offset at the lower bound, r >= offset at the upper; either may be empty, not both
    ends = tuple(
        int(k) for k in (*low[_first_max(residual[low])], *high[_first_max(-residual[high])])
    )
    noise = 8.0 * _EPS * np.sqrt(qp.K.diagonal().max() * (qp.K.diagonal() @ beta**2))
    if residual[ends[0]] - residual[ends[-1]] > max(tol, noise):
        return None
    offset = 0.5 * float(residual[ends[0]] + residual[ends[-1]])
    return BoxSolution(beta, states, residual, offset, ends, OK)


def _first_max(values: Array) -> slice:
    """Where the largest is, as a slice: empty if there is none."""
    where = int(np.argmax(values)) if len(values) else 0
    return slice(where, where + 1)


def _settled(qp: BoxQP, states: IntArray, beta: Array) -> tuple[IntArray, Array]:
    """Send each parked coordinate, in order, along the null space until something meets a bound.

    Where the dependence is exact (duplicated points) neither K beta nor the objective changes, and
    everything that is not free is then at a bound: the vertex nearest to where they were.
    """
    states, beta = states.copy(), beta.copy()
    for k in np.flatnonzero(states == PARKED):
        free = np.flatnonzero(states == FREE)
        A = qp.K[np.ix_(free, free)] + np.diag(qp.ridge[free])
        column = qp.K[free, k].copy()
        if qp.total is not None:
            lift = float(A.diagonal().mean()) or 1.0
            A, column = A + lift, column + lift
        L, info = lapack.dpotrf(A, lower=1)
        move = -cho_solve((L, True), column) if info == 0 else np.zeros(len(free))
        move[np.abs(move) < 1e-9] = 0.0
        group, move = np.append(free, k), np.append(move, 1.0)
        value, low, high = beta[group], qp.lower[group], qp.upper[group]
        rise, fall = np.where(move > 0, high, low) - value, value - np.where(move > 0, low, high)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            ahead = np.where(move != 0, rise / move, np.inf)
            back = np.where(move != 0, fall / move, np.inf)
        sign, reach = (1.0, ahead) if ahead.min() <= back.min() else (-1.0, back)
        step = max(float(reach.min()), 0.0)
        beta[group] = np.clip(value + sign * step * move, low, high)
        states[k] = FREE
        met = group[int(np.argmin(reach))]
        upward = sign * move[int(np.argmin(reach))] > 0
        states[met] = AT_UPPER if upward else AT_LOWER
        beta[met] = qp.upper[met] if upward else qp.lower[met]
    return states, beta


def _interior(qp: BoxQP) -> tuple[Array, IntArray]:
    """Solve by interior point; the multipliers tell which coordinates belong at a bound."""
    here = np.flatnonzero(qp.lower < qp.upper)
    H = qp.K[np.ix_(here, here)] + np.diag(qp.ridge[here])
    target, lower, upper = qp.target[here], qp.lower[here], qp.upper[here]
    x, z_lower, z_upper = interior_point(H, target, lower, upper, qp.total, qp.scale)
    unit = np.minimum(upper - lower, float(np.abs(x).max()) or 1.0)  # C may be far above any alpha
    at_lower = (x - lower) / unit < z_lower / qp.scale
    at_upper = (upper - x) / unit < z_upper / qp.scale
    beta, states = np.zeros(len(qp.target)), np.full(len(qp.target), ABSENT, dtype=np.int8)
    beta[here] = np.clip(x, lower, upper)
    states[here] = np.where(at_lower, AT_LOWER, np.where(at_upper, AT_UPPER, FREE))
    return beta, states


def _finish(qp: BoxQP, guess: Array, states: IntArray, descended: Array) -> BoxSolution:
    """Pivot from a good guess; failing that, the better of it and where descent got to."""
    for finish in (_pivot, _by_proximal_points):
        if (answer := finish(qp, states.copy(), guess.copy())) is not None:
            return answer
    status = Status(
        "inexact",
        "the active sets could not be settled to machine precision: the kernel matrix is close to "
        "singular for this C; rescale the inputs, shorten the length scale or lower C",
    )
    snapped = np.where(states == AT_LOWER, qp.lower, np.where(states == AT_UPPER, qp.upper, guess))
    tried = (snapped, guess, descended)
    candidates = [_describe(qp, _feasible(qp, b), status) for b in tried]
    return min(candidates, key=lambda c: _gap(qp, c))


def _by_proximal_points(qp: BoxQP, states: IntArray, beta: Array) -> BoxSolution | None:
    """Pivot on a sequence of strongly convex programs, each tied to the last one's answer.

    The fixed point solves the program itself; a nearly singular free block is no obstacle.
    """
    largest = float(qp.K.diagonal().max())
    tie = 1e-9 * largest
    for _ in range(30):
        tied = replace(qp, ridge=qp.ridge + tie, target=qp.target + tie * beta)
        answer = _pivot_once(tied, states, beta.copy())
        if answer is None:
            return None
        moved = tie * float(np.abs(answer.beta - beta).max())
        states, beta = answer.states, answer.beta
        noise = 4e-16 * largest * float(np.abs(beta).sum())
        if moved <= max(_PIVOT_TOLERANCE * qp.scale, noise):
            exact = _pivot(qp, states.copy(), beta.copy())
            return exact or replace(answer, residual=qp.residual(beta))
    return None


def _describe(qp: BoxQP, beta: Array, status: Status) -> BoxSolution:
    """Complete an answer that was not pivoted to, with the offset that suits its residuals best."""
    states = _states(qp, beta)
    residual = qp.residual(beta)
    if qp.total is None:
        return BoxSolution(beta, states, residual, 0.0, (), status)
    return BoxSolution(beta, states, residual, _best_offset(qp, beta, residual), (), status)


def _best_offset(qp: BoxQP, beta: Array, residual: Array) -> float:
    """The offset of the smallest gap: where the steps each coordinate would take sum to zero."""
    low, high = float(residual.min()), float(residual.max())
    while low < (middle := 0.5 * (low + high)) < high:
        grows = float(_step(qp, beta, residual - middle).sum()) > 0.0
        low, high = (middle, high) if grows else (low, middle)
    return high


def _step(qp: BoxQP, beta: Array, slack: Array) -> Array:
    """How far each coordinate would go on its own."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        step = np.where(qp.ridge > 0, slack / qp.ridge, np.copysign(np.inf, slack))
    return np.clip(step, qp.lower - beta, qp.upper - beta)


def _gap(qp: BoxQP, s: BoxSolution) -> float:
    """The duality gap: what each coordinate could still gain on its own, at this offset."""
    slack = s.residual - s.offset
    step = _step(qp, s.beta, slack)
    return float(slack @ step - 0.5 * qp.ridge @ step**2)
