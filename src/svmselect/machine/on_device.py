"""Exact machines whose Gram matrix is made on a device and stays there; only vectors travel.

Newton's method on the primal, as in ``newton.py``, for any loss with a curvature,

    (K_FF + D) beta_F + b 1 = f_F + y slope/curvature - K_FR beta_R,    D = 1/(C w curvature),

where F are the points with a curvature and R those on a slope without one. The hinge has its corner
rounded (``RoundedHinge``), ever less. Its points inside the corner are those that will be free, so
from some stage on they are solved for without a corner, and whoever then breaks the conditions of
optimality changes sides: a few rounds of that, and the machine is as exact as those of ``train``.

O(n^2) a product and O(|F|^3) a factorisation, of which a hinge takes 20 to 60 and the logistic loss
five to ten. Memory on the device: K, and twice its block of F.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from svmselect.clock import look
from svmselect.devices import Device, Matrix, free_bytes, get_device
from svmselect.kernels import Kernel
from svmselect.kernels.portable import values
from svmselect.machine.check import check_penalty, check_scale
from svmselect.machine.interior import Solve, interior_point
from svmselect.machine.losses import Curve, Loss, get_loss
from svmselect.machine.newton import halving
from svmselect.machine.solution import Solution, describe
from svmselect.types import OK, Array, BoolArray, IntArray, Status

CORNERS = (1.5, 0.5, 0.1, 0.02, 4e-3, 8e-4, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)
"""Half-widths of the hinge's rounded corner, stage by stage."""

_AGAIN = 0.1  # the first of them for a machine that starts from a neighbour
_SETTLES = 0.02  # from here on points inside the corner are tried as the free ones
_ROUNDS = 12  # of exchanges
_EXACT = 1e-10  # of a condition of optimality
_FINEST = 1e-13  # the same, where one more step has nothing to add
_MOST = 100  # steps
_STEPS = 40  # of a stage
_ROUGH = 1e-4  # what a step has to gain, relative to the objective, before the last stage
_BARE = 1e-14  # ridge, relative to K, where the loss gives none
_MATRICES = 3.2  # of n x n that are on the device at a time
_EPS = float(np.finfo(float).eps)
_UNSETTLED = Status("inexact", "the active sets were not settled: lower C or rescale the kernel")


@dataclass(frozen=True, eq=False)
class Gram:
    """A Gram matrix on a device."""

    on: Device
    K: Matrix
    size: Array

    @classmethod
    def of(cls, kernel: Kernel, X: Array, device: str) -> Gram:
        """Make it there. O(n^2 d)."""
        diagonal = np.asarray(kernel.diag(X), dtype=np.float64)
        check_scale(np.diag(diagonal[[int(np.argmax(diagonal))]]))
        on = get_device(device)
        return cls(on, values(kernel, X, X, on), diagonal)

    def __len__(self) -> int:
        return len(self.size)

    def __matmul__(self, v: Array) -> Array:
        return self.on.get(self.K @ self.on.put(v))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.asarray(self.on.get(self.K), dtype=dtype)

    def diagonal(self) -> Array:
        """K_ii."""
        return self.size

    def part(self, rows: IntArray) -> Gram:
        """Only these rows and columns."""
        return Gram(self.on, self.on.block(self.K, rows), self.size[rows])

    def lifted(self, theta: Array) -> Solve | None:
        """Factor K + diag(theta), lifted a little where round-off makes it indefinite."""
        on, jitter = self.on, 0.0
        for _ in range(6):
            A = on.block(self.K, np.arange(len(self)))
            A.reshape(-1)[:: len(A) + 1] += on.put(theta + jitter)
            factor = on.cholesky(A)
            if factor is not None:
                return lambda rhs: on.get(on.cholesky_solve(factor, on.put(rhs[:, None])))[:, 0]
            jitter = max(100.0 * jitter, 1e-15 * float(self.size.max()))
        return None


@dataclass(frozen=True, eq=False)
class _System:
    """K_FF + ridge with the intercept's border, factored; see ``bordered.py``."""

    gram: Gram
    F: IntArray
    ridge: Array
    factor: Matrix
    lift: float
    ones: Array  # (A + lift 11')^-1 1
    border: bool

    @classmethod
    def of(cls, gram: Gram, F: IntArray, ridge: Array, border: bool) -> _System:
        """Factor it, with as much added to the diagonal as that takes."""
        on = gram.on
        most = float(gram.size[F].max())
        lift = (float(gram.size[F].mean()) or 1.0) if border else 0.0
        least, jitter = max(_BARE * most, 1e-300), 0.0
        while True:
            ridge = ridge + jitter
            A = on.block(gram.K, F)
            A.reshape(-1)[:: len(F) + 1] += on.put(ridge)  # the diagonal
            A += lift
            factor = on.cholesky(A)
            if factor is not None:
                break
            jitter = max(10.0 * jitter, least)
            if not jitter < 1e300:
                raise ValueError("K holds entries that are not finite; rescale the inputs")
        ones = on.get(on.cholesky_solve(factor, on.put(np.ones((len(F), 1)))))[:, 0]
        return cls(gram, F, ridge, factor, lift, ones, border)

    def solve(self, rhs: Array, total: float) -> tuple[Array, float]:
        """x and the shift b: (K_FF + ridge) x + b = rhs, sum(x) = total; refined once."""
        x, b = self._once(rhs, total)
        whole = np.zeros(len(self.gram))
        whole[self.F] = x
        rest = rhs - (self.gram @ whole)[self.F] - self.ridge * x - b
        dx, db = self._once(rest, total - float(x.sum()))
        return x + dx, b + db

    def _once(self, rhs: Array, total: float) -> tuple[Array, float]:
        on = self.gram.on
        x = on.get(on.cholesky_solve(self.factor, on.put(rhs[:, None])))[:, 0]
        if not self.border:
            return x, 0.0
        shift = (float(x.sum()) - total) / float(self.ones.sum())
        return x - shift * self.ones, shift + self.lift * total


@dataclass(frozen=True, eq=False)
class _At:
    """A machine: f = K beta + b at every row."""

    beta: Array
    b: float
    f: Array

    @property
    def norm(self) -> float:
        return float(self.beta @ (self.f - self.b))


@dataclass(frozen=True, eq=False)
class _Problem:
    gram: Gram
    y: Array
    cost: Array
    border: bool

    def objective(self, at: _At, rule: Curve) -> float:
        return 0.5 * at.norm + float(self.cost @ rule.value(self.y * at.f))

    def noise(self, at: _At) -> float:
        """The rounding error of a decision value, with some room."""
        size = np.sqrt(np.maximum(self.gram.size, 0.0))
        return 20.0 * _EPS * (1.0 + float(size.max() * (size @ np.abs(at.beta))))

    def off(self, rule: Loss, at: _At) -> float:
        """The largest violation of a condition of optimality."""
        off = rule.residual(self.y * at.f, self.y * at.beta, self.cost)
        most = float(np.max(off[self.cost > 0], initial=0.0))
        total = float(np.abs(at.beta).sum())
        return max(most, abs(float(at.beta.sum())) / total) if self.border and total else most

    def at(self, beta: Array, b: float) -> _At:
        return _At(beta, b, self.gram @ beta + b)

    def between(self, F: IntArray, rest: Array, rhs: Array, ridge: Array, b: float) -> _At:
        """Solve for F, given the others' coefficients: f_F + ridge beta_F = rhs."""
        look()
        beta = rest.copy()
        if not len(F):
            return self.at(beta, b)
        system = _System.of(self.gram, F, ridge, self.border)
        known = self.gram @ rest if rest.any() else np.zeros(len(rest))
        beta[F], b = system.solve(rhs - known[F], -float(rest.sum()))
        return self.at(beta, b if self.border else 0.0)


def most_rows(device: str) -> int | None:
    """How many rows have room on a card; None where the processor's memory is asked for."""
    free = free_bytes(device)
    return None if free is None else int(np.sqrt(free / (8.0 * _MATRICES)))


def train_on(
    gram: Gram,
    y: Array,
    C: float,
    loss: str,
    fit_intercept: bool,
    weights: Array,
    start: Solution | None = None,
) -> Solution:
    """What ``train`` gives for the Gram matrix on the device, to the same duality gap."""
    rule, C = get_loss(loss), check_penalty(C, weights)
    problem = _Problem(gram, y, C * weights, fit_intercept)
    n = len(y)
    at = _At(np.zeros(n), 0.0, np.zeros(n))
    if start is not None:
        beta = np.where(problem.cost > 0, start.beta, 0.0)
        near = problem.at(beta, start.intercept if fit_intercept else 0.0)
        if problem.objective(near, rule) < problem.objective(at, rule):
            at = near
    found = (_train_curved if rule.curved else _train_cornered)(problem, rule, at)
    none = np.empty(0, dtype=np.intp)
    at = found.at
    return describe(
        gram, y, weights, C, loss, fit_intercept, at.beta, at.b, at.f,
        found.free, found.bound, none, found.ends, found.status,
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class _Found:
    """A machine, its sets, and how it ended."""

    at: _At
    free: IntArray
    bound: IntArray
    ends: tuple[int, ...]
    status: Status


def _train_curved(problem: _Problem, rule: Loss, at: _At) -> _Found:
    """Newton's method alone."""
    y, cost = problem.y, problem.cost
    status = Status(
        "max-iterations", "Newton's method used all its steps: lower C or rescale the kernel"
    )
    best, last, stalled = at, np.inf, 0
    for _ in range(_MOST):
        _, at = _step(problem, rule, at)
        off = problem.off(rule, at)
        stalled = 0 if off < 0.5 * last else stalled + 1
        best, last = (at, off) if off < last else (best, last)
        enough = off <= max(_EXACT, problem.noise(at))
        if enough and (stalled or off <= _FINEST):
            status = OK
            break
    at = best
    beta = np.where(y * at.beta > 0, at.beta, 0.0)
    if not rule.smooth and not np.array_equal(beta, at.beta):
        at = problem.at(beta, at.b)
    free = np.flatnonzero(cost > 0 if rule.smooth else beta)
    return _Found(at, free, np.empty(0, dtype=np.intp), (), status)


def _train_cornered(problem: _Problem, rule: Loss, at: _At) -> _Found:
    """Less and less of the corner rounded, until the points inside it are the free ones."""
    warm, best = bool(at.beta.any()), None
    for corner in CORNERS:
        if warm and corner > _AGAIN:
            continue
        rounded = rule.rounded(corner)
        at = _descend(problem, rounded, at, _ROUGH)
        if corner > _SETTLES:
            continue
        inside = rounded.curvature(problem.y * at.f) > 0
        found, off = _settle(problem, rule, at, inside)
        if best is None or off < best[1]:
            best = found, off
        if found.status.ok:
            return found
    assert best is not None
    found, off = _by_interior_point(problem, rule)
    return found if off < best[1] else best[0]


def _by_interior_point(problem: _Problem, rule: Loss) -> tuple[_Found, float]:
    """What all but never fails, at 15 to 40 factorisations of all of K."""
    y, gram, here = problem.y, problem.gram, np.flatnonzero(problem.cost > 0)
    limit = rule.bound(problem.cost)
    signed, bound = y[here], limit[here]
    part = gram if len(here) == len(gram) else gram.part(here)
    lower, upper = np.where(signed < 0, -bound, 0.0), np.where(signed > 0, bound, 0.0)
    total = 0.0 if problem.border else None
    x, z_lower, z_upper = interior_point(part, signed, lower, upper, total, 1.0, lifted=part.lifted)
    unit = np.minimum(bound, float(np.abs(x).max()) or 1.0)  # C may be far above any alpha
    at_lower, at_upper = (x - lower) / unit < z_lower, (upper - x) / unit < z_upper
    beta, inside = np.zeros(len(y)), np.zeros(len(y), dtype=bool)
    beta[here] = np.where(at_lower, lower, np.where(at_upper, upper, x))
    inside[here] = ~at_lower & ~at_upper
    at, alpha = problem.at(beta, 0.0), y * beta
    free, full = np.flatnonzero(inside), np.flatnonzero((alpha > 0) & ~inside)
    found = _Found(at, free, full, (), _UNSETTLED)
    if problem.border:
        b = float(np.median((y - at.f)[inside])) if inside.any() else None
        if b is None:
            at, ends = _between_ends(problem, at, (alpha > 0) & ~inside)
            found = replace(found, at=at, ends=ends)
        else:
            found = replace(found, at=_At(at.beta, b, at.f + b))
    off = problem.off(rule, found.at)
    settled, less = _settle(problem, rule, found.at, inside)
    if less <= off:
        return settled, less
    return found, off  # the record judges it by its duality gap


def _descend(problem: _Problem, rule: Curve, at: _At, goal: float) -> _At:
    """Newton's method until a whole step gains less than ``goal`` of the objective."""
    value = problem.objective(at, rule)
    for _ in range(_STEPS):
        step, new = _step(problem, rule, at)
        before, value = value, problem.objective(new, rule)
        if not value <= before:  # rounding hides what there is to gain
            return at
        at = new
        if step == 1.0 and not before - value > goal * abs(value):
            break
    return at


def _step(problem: _Problem, rule: Curve, at: _At) -> tuple[float, _At]:
    """Newton's step, and how much of it was taken."""
    y, cost = problem.y, problem.cost
    z = y * at.f
    slope, W = cost * rule.slope(z), cost * rule.curvature(z)
    F = np.flatnonzero(W > 1e-280)
    rest = y * slope
    rest[F] = 0.0
    ridge = 1.0 / W[F]
    if len(F) or not problem.border:
        to = problem.between(F, rest, at.f[F] + y[F] * slope[F] * ridge, ridge, at.b)
    else:
        to = _shifted(problem, rule, problem.at(rest, at.b))
    t = _line_search(problem, rule, at, to)
    whole = to if t == 1.0 else None
    return t, whole or _At(
        at.beta + t * (to.beta - at.beta), at.b + t * (to.b - at.b), at.f + t * (to.f - at.f)
    )


def _shifted(problem: _Problem, rule: Curve, at: _At) -> _At:
    """The intercept where the losses are least, the coefficients held."""
    y, g = problem.y, at.f - at.b
    low, high = float((-2.0 - np.abs(g)).min()), float((2.0 + np.abs(g)).max())
    for _ in range(60):
        b = 0.5 * (low + high)
        rises = float((problem.cost * y) @ rule.slope(y * (g + b))) > 0.0
        low, high = (b, high) if rises else (low, b)
    return _At(at.beta, high, g + high)


def _line_search(problem: _Problem, rule: Curve, at: _At, to: _At) -> float:
    """The minimum of the convex objective along the step, within (0, 1]; 1 near the optimum."""
    y, cost = problem.y, problem.cost
    d_beta, d_f, d_b = to.beta - at.beta, to.f - at.f, to.b - at.b
    first = 0.5 * float(d_beta @ (at.f - at.b) + at.beta @ (d_f - d_b))
    second = float(d_beta @ (d_f - d_b))

    def derivative(t: float) -> float:
        pull = cost * y * rule.slope(y * (at.f + t * d_f))
        return first + t * second - float(pull @ d_f)

    at_zero, at_one = derivative(0.0), derivative(1.0)
    if at_one <= 1e-3 * abs(at_zero) or at_zero >= 0.0:
        return 1.0
    return halving(derivative, at_zero)


def _settle(problem: _Problem, rule: Loss, at: _At, inside: BoolArray) -> tuple[_Found, float]:
    """Free the points inside the corner, and let those that break a condition change sides."""
    y, cost = problem.y, problem.cost
    limit, inside = rule.bound(cost), inside & (cost > 0)
    full = (y * at.f < 1.0) & ~inside & (cost > 0)
    best, fewest, patience = None, len(y) + 1, 2
    for _ in range(_ROUNDS):
        F = np.flatnonzero(inside)
        rest = np.where(full, y * limit, 0.0)
        new = problem.between(F, rest, y[F], np.zeros(len(F)), at.b)
        alpha, slack = y * new.beta, 1.0 - y * new.f
        alpha[full] = limit[full]
        noise = max(_EXACT, problem.noise(new))
        under, over = inside & (alpha < 0.0), inside & (alpha > limit)
        ends: tuple[int, ...] = ()
        if not len(F) and problem.border:
            new, ends = _between_ends(problem, new, full)
            slack = 1.0 - y * new.f
        enters = ~inside & (cost > 0) & np.where(full, slack < -noise, slack > noise)
        kept = np.clip(alpha, 0.0, limit)
        # what is out of its box by rounding alone is moved there, and nothing else changes
        moved = float(np.max(np.abs(kept - alpha) / np.maximum(limit, 1e-300), initial=0.0))
        broken = int(enters.sum() + (0 if moved <= 1e-12 else under.sum() + over.sum()))
        if problem.border and abs(float(y @ kept)) > _EXACT * float(kept.sum()):
            broken += 1  # with no point free nothing balances the classes
        if broken < fewest:
            if not np.array_equal(kept * y, new.beta):
                new = problem.at(kept * y, new.b)
            off = problem.off(rule, new)
            bound = np.flatnonzero((kept >= limit) & (cost > 0))
            free = np.flatnonzero((kept > 0) & (kept < limit))
            status = OK if not broken else _UNSETTLED
            best, fewest, patience = (_Found(new, free, bound, ends, status), off), broken, 2
            if not broken:
                break
        else:
            patience -= 1
            if patience < 0:
                break
        inside = (inside & ~under & ~over) | enters
        full = (full & ~enters) | over
    assert best is not None
    return best


def _between_ends(problem: _Problem, at: _At, full: BoolArray) -> tuple[_At, tuple[int, ...]]:
    """With no point free, the middle of what the others leave to the intercept."""
    there = np.flatnonzero(problem.cost > 0)
    y, g = problem.y[there], (at.f - at.b)[there]
    # a point at its bound wants y f <= 1, one at zero y f >= 1
    below = (y > 0) == full[there]
    high = np.where(below, y - g, np.inf)
    low = np.where(below, -np.inf, y - g)
    i, j = int(np.argmax(low)), int(np.argmin(high))
    if not (np.isfinite(low[i]) and np.isfinite(high[j])):
        return at, ()
    b = 0.5 * float(low[i] + high[j])
    return _At(at.beta, b, at.f - at.b + b), (int(there[i]), int(there[j]))
