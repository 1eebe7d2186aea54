"""The functions of ``box_qp.hpp`` in NumPy: the oracle of the tests, and what runs where the
extension could not be compiled. Same arguments, same results, one to two orders slower."""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_solve, lapack

from svmselect.types import Array, BoolArray, IntArray

HUGE_NUMBER = 1e300
AT_LOWER, FREE, AT_UPPER, ABSENT, PARKED = -1, 0, 1, 2, 3
EXACT, CYCLING, NO_FREE = 0, 1, 2
HASTY = 1  # a patience too short to sort out coordinates that depend on others
_GIVE_UPS = 4  # coordinates given up for each round that is allowed
_EPS = 2.2e-16
_ATTEMPTS = 12  # a factor of 100 each: from round-off to beyond the largest entry


def subtract(K: Array, ridge: Array, beta: Array, residual: Array) -> None:
    """Take (K + diag(ridge)) beta from the residual, in place."""
    residual -= K @ beta + ridge * beta


def decompose(
    K: Array,
    ridge: Array,
    target: Array,  # noqa: ARG001 (it is in the residual; same signature as the extension)
    lower: Array,
    upper: Array,
    balanced: bool,
    total: float,  # noqa: ARG001 (every step keeps the sum)
    beta: Array,
    residual: Array,
    tol: float,
    max_steps: int,
) -> tuple[int, float, float]:
    """Descend by working sets of two, in place on beta and residual; (steps, violation, churn)."""
    if not len(beta):
        return 0, 0.0, 0.0
    r, churn = residual, 0.0
    q = K.diagonal() + ridge
    tiny = max(1e-14 * q.max(initial=0.0), 1e-140)  # its square must not vanish
    q = np.maximum(q, tiny)
    for step in range(max_steps + 1):
        if balanced:
            grow = np.where(beta < upper, r, -np.inf)
            shrink = np.where(beta > lower, r, np.inf)
            i = int(np.argmax(grow))
            violation = max(float(grow[i] - shrink.min()), 0.0)
            if violation <= tol or step == max_steps:
                break
            # Fan, Chen & Lin 2005: the partner with the largest decrease to second order
            d = np.maximum(grow[i] - shrink, 0.0)
            curvature = np.maximum(q[i] + q - 2.0 * K[i], tiny)
            j = int(np.argmax(d * d / curvature))
            room_i, room_j = upper[i] - beta[i], beta[j] - lower[j]
            s = min(d[j] / curvature[j], room_i, room_j)
            di, dj = s, -s
            beta[i] = upper[i] if s >= room_i else beta[i] + s
            beta[j] = lower[j] if s >= room_j else beta[j] - s
        else:
            p = np.where(beta < upper, r, np.minimum(r, 0.0))
            p = np.where(beta > lower, p, np.maximum(p, 0.0))
            violation = float(np.abs(p).max())
            if violation <= tol or step == max_steps:
                break
            i = int(np.argmax(p * p / q))
            det = np.maximum(q[i] * q - K[i] ** 2, 1e-10 * q[i] * q)
            gain = (p[i] ** 2 * q - 2.0 * p[i] * p * K[i] + p**2 * q[i]) / det
            gain[(p == 0.0)] = 0.0
            gain[i] = p[i] ** 2 / q[i]
            j = int(np.argmax(gain))
            low, high = lower - beta, upper - beta
            if j == i:
                di, dj = float(np.clip(r[i] / q[i], low[i], high[i])), 0.0
            else:
                di, dj = _two_step(
                    q[i], q[j], K[i, j], r[i], r[j], low[i], high[i], low[j], high[j]
                )
            for k, d_k in ((i, di), (j, dj)):
                if d_k != 0.0:
                    v = beta[k] + d_k
                    slack = 1e-14 * (abs(v) + abs(d_k))
                    at_upper, at_lower = v >= upper[k] - slack, v <= lower[k] + slack
                    beta[k] = upper[k] if at_upper else lower[k] if at_lower else v
        r -= di * K[i] + dj * K[j]
        r[i] -= ridge[i] * di
        r[j] -= ridge[j] * dj
        churn += q[i] * di * di + q[j] * dj * dj
    return step, violation, churn


def _two_step(
    qi: float,
    qj: float,
    kij: float,
    ri: float,
    rj: float,
    li: float,
    ui: float,
    lj: float,
    uj: float,
) -> tuple[float, float]:
    """Minimise 1/2 (qi x^2 + 2 kij x y + qj y^2) - ri x - rj y over [li, ui] x [lj, uj]."""
    det = qi * qj - kij * kij
    if det > 1e-14 * qi * qj:
        x, y = (ri * qj - rj * kij) / det, (rj * qi - ri * kij) / det
        if li <= x <= ui and lj <= y <= uj:
            return x, y
    finite = HUGE_NUMBER / 10
    edges = [(x, min(max((rj - kij * x) / qj, lj), uj)) for x in (li, ui) if abs(x) < finite]
    edges += [(min(max((ri - kij * y) / qi, li), ui), y) for y in (lj, uj) if abs(y) < finite]
    edges = edges or [(ri / qi, 0.0)]
    return min(
        edges,
        key=lambda e: (
            0.5 * (qi * e[0] ** 2 + 2 * kij * e[0] * e[1] + qj * e[1] ** 2) - ri * e[0] - rj * e[1]
        ),
    )


def _factor(A: Array) -> tuple[Array, bool]:
    """Cholesky factor, and whether every pivot stands clear of round-off."""
    if not len(A):
        return A, True
    L, info = lapack.dpotrf(A, lower=1)
    clear = info == 0 and (L.diagonal() ** 2).min() > 4.0 * _EPS * len(A) * A.diagonal().max()
    return L, bool(clear)


def independent_rows(A: Array) -> IntArray:
    """The rows of A, in order, that a pivoted Cholesky factorisation finds independent."""
    stop = 4.0 * _EPS * len(A) * A.diagonal().max()
    for _ in range(_ATTEMPTS):
        _, order, rank, _ = lapack.dpstrf(A, lower=1, tol=stop)
        kept = np.sort(order[:rank] - 1)
        if rank == len(A) or _factor(A[np.ix_(kept, kept)])[1]:
            return kept
        stop *= 100.0
    return np.empty(0, dtype=np.intp)


def pivot(
    K: Array,
    ridge: Array,
    target: Array,
    lower: Array,
    upper: Array,
    balanced: bool,
    total: float,
    states: IntArray,
    beta: Array,
    residual: Array,
    known: bool,  # noqa: ARG001 (whether residual is that of beta; here it is always computed)
    tol: float,
    max_rounds: int,
    patience: int,
) -> tuple[int, int, float]:
    """Exchange active sets until exact, in place; (rounds, ending, offset).

    With a patience of HASTY it also ends where coordinates depend on others.
    """
    held = np.clip(beta, lower, upper)
    states[states == PARKED] = FREE
    largest = K.diagonal().max(initial=0.0)
    fewest, waited, offset = len(beta) + 1, 0, 0.0
    for turn in range(1, max_rounds + 1):
        beta[:] = np.where(states == AT_LOWER, lower, np.where(states == AT_UPPER, upper, 0.0))
        free = np.flatnonzero(states == FREE)
        A = K[np.ix_(free, free)] + np.diag(ridge[free])
        lift = (float(A.diagonal().mean()) or 1.0) if balanced and len(free) else 0.0
        A += lift
        L, clear = _factor(A)
        if not clear and patience <= HASTY:
            return turn, CYCLING, offset
        if not clear:
            kept = independent_rows(A)
            parked = np.setdiff1d(free, free[kept])
            states[parked] = PARKED
            beta[parked] = held[parked]
            free, A = free[kept], A[np.ix_(kept, kept)]
            L, _ = _factor(A)
        fixed = beta.copy()
        residual[:] = target - K @ beta - ridge * beta
        if balanced and not len(free):
            return turn, NO_FREE, 0.0
        # the mean is left to the offset: alpha may be far smaller than 1 / K
        offset, error = float(residual[free].mean()) if balanced else 0.0, 0.0
        sum_left = total - fixed.sum()
        ones = cho_solve((L, True), np.ones(len(free))) if len(free) else np.empty(0)
        for _ in range(3):
            x = cho_solve((L, True), residual[free] - offset) if len(free) else np.empty(0)
            if balanced:
                shift = (x.sum() - sum_left) / ones.sum()
                x = x - shift * ones
                offset += shift + lift * sum_left
            beta[free] += x
            residual -= x @ K[free]
            residual[free] -= ridge[free] * x
            error = np.abs(residual[free] - offset).max(initial=0.0)
            noise = max(tol, 8.0 * _EPS * np.sqrt(largest * (K.diagonal() @ beta**2)))
            # at small C the sum is a difference of numbers far larger than beta: it counts too
            sum_left = total - beta.sum()
            summed = not balanced or abs(sum_left) <= 1e-15 * np.abs(beta).sum()
            if error <= 0.1 * noise and summed:
                break
        slack = residual - offset
        wrong = (states == FREE) & ((beta < lower) | (beta > upper))
        wrong |= (states == AT_LOWER) & (slack > noise)
        wrong |= (states == AT_UPPER) & (slack < -noise)
        wrong |= (states == PARKED) & (np.abs(slack) > 4.0 * noise)
        count = int(wrong.sum())
        if count == 0:
            return turn, EXACT if error <= 4.0 * noise else CYCLING, offset
        if count < fewest:
            fewest, waited = count, 0
        else:
            waited += 1
            if waited > patience:
                break
        _exchange(states, beta, held, slack, wrong, lower, upper, max(8, len(free) // 4))
    return turn, CYCLING, offset


def _exchange(
    states: IntArray,
    beta: Array,
    held: Array,
    slack: Array,
    wrong: BoolArray,
    lower: Array,
    upper: Array,
    most: int,
) -> None:
    """Move what is on the wrong side: every free or parked one, the worst of the bounded."""
    free, parked = states == FREE, states == PARKED
    bounded = (states == AT_LOWER) | (states == AT_UPPER)
    scores = np.sort(np.abs(slack[bounded & wrong]))[::-1]
    bar = scores[most] if len(scores) > most else 0.0
    released = bounded & wrong & (np.abs(slack) >= bar)
    held[(free & ~wrong) | released | parked] = beta[(free & ~wrong) | released | parked]
    states[released | parked] = FREE
    low, high = free & wrong & (beta < lower), free & wrong & (beta > upper)
    low |= parked & wrong & (slack < 0) & (np.abs(lower) < HUGE_NUMBER / 10)
    high |= parked & wrong & (slack > 0) & (np.abs(upper) < HUGE_NUMBER / 10)
    states[low], states[high] = AT_LOWER, AT_UPPER


def settle(
    K: Array,
    ridge: Array,
    target: Array,  # noqa: ARG001 (it is in the residual)
    lower: Array,
    upper: Array,
    balanced: bool,
    total: float,  # noqa: ARG001 (every step keeps the sum)
    beta: Array,
    residual: Array,
    tol: float,
    max_rounds: int,
) -> tuple[int, bool, float]:
    """Descend by active sets, in place on beta and residual; (rounds, settled, churn)."""
    if not len(beta):
        return 1, True, 0.0
    diagonal = K.diagonal()
    lift = (float((diagonal + ridge).mean()) or 1.0) if balanced else 0.0
    H = K.copy()
    H.flat[:: len(H) + 1] += ridge
    A = H + lift
    before, r = beta.copy(), residual
    free: list[int] = []
    for k in np.flatnonzero((lower < beta) & (beta < upper)):
        moved = r - H @ (beta - before)
        _enter(int(k), A, moved, K, ridge, lower, upper, balanced, beta, free)
    crowd, churn, given_up = True, 0.0, 0
    for turn in range(1, max_rounds + 1):
        r -= H @ (beta - before)
        churn += float(diagonal @ (beta - before) ** 2)
        before = beta.copy()
        before_them = len(free)
        offset, travelled = _minimise(A, r[free], lower, upper, balanced, beta, free)
        given_up += before_them - len(free)
        step = beta - before
        r -= H @ step
        churn += float(diagonal @ step**2)
        before = beta.copy()
        noise = max(tol, 8.0 * _EPS * np.sqrt(diagonal.max() * (diagonal @ beta**2)))
        if balanced and not free:
            most = r[beta < upper].max(initial=-np.inf)
            least = r[beta > lower].min(initial=np.inf)
            if most <= least + noise:
                return turn, True, churn
            offset = 0.5 * float(most + least)
        pull = r - offset
        leaves = ((pull > noise) & (beta < upper)) | ((pull < -noise) & (beta > lower))
        leaves[free] = False
        wanted = np.flatnonzero(leaves)
        if not len(wanted):
            return turn, True, churn
        if given_up > _GIVE_UPS * max_rounds:  # descent by pairs is the better guide
            return turn, False, churn
        # a crowd may block its own way; one alone (two, where none is free) always gets on
        crowd = travelled > 0.0 or turn == 1 or not crowd
        count = max(8, len(free) // 4) if crowd else 2 if balanced and not free else 1
        for k in wanted[np.argsort(-np.abs(pull[wanted]), kind="stable")][:count]:
            if k not in free:
                moved = r - H @ (beta - before)
                _enter(int(k), A, moved, K, ridge, lower, upper, balanced, beta, free)
    r -= H @ (beta - before)
    return max_rounds, False, churn


def _direction(
    A: Array, free: list[int], rhs: Array, balanced: bool, total: float
) -> tuple[Array, float]:
    """Solve on the free block, with the sum of the answer given where it is fixed."""
    if not free:
        return np.empty(0), 0.0
    L = lapack.dpotrf(A[np.ix_(free, free)], lower=1)[0]
    x = cho_solve((L, True), rhs)
    if not balanced:
        return x, 0.0
    ones = cho_solve((L, True), np.ones(len(free)))
    shift = float((x.sum() - total) / ones.sum())
    return x - shift * ones, shift


def _first_met(
    x: Array, reach: float, lower: Array, upper: Array, beta: Array, free: list[int]
) -> tuple[float, int]:
    """How far along until a free coordinate meets a bound; which, or -1."""
    room = np.abs(np.where(x > 0, upper[free], lower[free]) - beta[free])
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        reaches = np.where(x != 0, room / np.abs(x), np.inf)
    met = int(np.argmin(reaches)) if len(x) else -1
    return (float(reaches[met]), met) if len(x) and reaches[met] < reach else (reach, -1)


def _travel(
    x: Array, reach: float, met: int, lower: Array, upper: Array, beta: Array, free: list[int]
) -> None:
    beta[free] += reach * x
    if met >= 0:
        k = free.pop(met)
        beta[k] = upper[k] if x[met] > 0 else lower[k]


def _minimise(
    A: Array,
    slack: Array,
    lower: Array,
    upper: Array,
    balanced: bool,
    beta: Array,
    free: list[int],
) -> tuple[float, float]:
    """Go to the minimum over the free coordinates, giving up each that meets a bound."""
    offset = travelled = 0.0
    while free:
        mean = float(slack.mean()) if balanced else 0.0
        x, shift = _direction(A, free, slack - mean, balanced, 0.0)
        offset = mean + shift
        reach, met = _first_met(x, 1.0, lower, upper, beta, free)
        slack = slack + reach * (offset - slack)
        travelled = max(travelled, reach * float(np.abs(x).max()))
        _travel(x, reach, met, lower, upper, beta, free)
        if met < 0:
            break
        slack = np.delete(slack, met)
    return offset, travelled


def _enter(
    k: int,
    A: Array,
    r: Array,
    K: Array,
    ridge: Array,
    lower: Array,
    upper: Array,
    balanced: bool,
    beta: Array,
    free: list[int],
) -> None:
    """Let k in; where it depends on the free ones it slides downhill, to a bound or a minimum."""
    while True:
        more = [*free, k]
        L, info = lapack.dpotrf(A[np.ix_(more, more)], lower=1)
        if info == 0 and L[-1, -1] ** 2 > 4.0 * _EPS * len(more) * A[k, k]:
            free.append(k)
            return
        x, _ = _direction(A, free, -A[free, k], balanced, -1.0)
        slope, curvature = float(r[k] + x @ r[free]), float(ridge[k] + x**2 @ ridge[free])
        group, move = [*free, k], np.append(x, 1.0)
        bend = float(move @ K[np.ix_(group, group)] @ move)
        size = float(np.sqrt(np.maximum(K.diagonal()[group], 0.0)) @ np.abs(move))
        # the rounding of a longer step would exceed its gain
        curvature += max(bend, _EPS * size * size)
        sign = -1.0 if slope < 0 else 1.0
        x = sign * x
        room = upper[k] - beta[k] if sign > 0 else beta[k] - lower[k]
        reach = min(abs(slope) / curvature, float(room)) if curvature > 0 else float(room)
        turns = reach < room
        reach, met = _first_met(x, reach, lower, upper, beta, free)
        if reach > HUGE_NUMBER / 10:
            return
        _travel(x, reach, met, lower, upper, beta, free)
        if met < 0 and not turns:
            beta[k] = upper[k] if sign > 0 else lower[k]
        else:
            beta[k] += sign * reach
        if met < 0:
            return


def inspect(K: Array, tol: float) -> tuple[int, int, int]:
    """Name an entry that shows K infinite, asymmetric or indefinite: (fault, row, column)."""
    d = K.diagonal()
    if not np.all(finite := np.isfinite(d)):
        return 3, int(np.argmin(finite)), int(np.argmin(finite))
    slack = tol * np.abs(d).max(initial=0.0)
    if np.any(negative := d < -slack):
        return 2, int(np.argmax(negative)), int(np.argmax(negative))
    root = np.sqrt(d + slack)
    for i in range(len(K)):
        u, v = K[i, : i + 1], K[: i + 1, i]
        infinite = ~(np.isfinite(u) & np.isfinite(v))
        with np.errstate(invalid="ignore"):
            skew = np.abs(u - v) > np.maximum(slack, tol * np.abs(u))
            large = np.abs(u) > root[i] * root[: i + 1]
        if np.any(bad := infinite | skew | large):
            j = int(np.argmax(bad))
            return 3 if infinite[j] else 1 if skew[j] else 2, i, j
    return 0, 0, 0
