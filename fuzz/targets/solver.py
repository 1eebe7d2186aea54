"""The solver, with the duality gap and the optimality conditions as judges.

An input is a recipe: how many rows, which shape and scale the matrix has, the penalty, the loss,
the weights, then the numbers it is made of. Every input is some problem.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from svmselect.kernels import RBF
from svmselect.machine import solve

LOSSES = ("hinge", "squared_hinge", "logistic")
SHAPES = (
    "gaussian", "narrow", "linear", "rank one", "polynomial", "repeated", "nearly repeated", "ones",
    "identity", "zero", "many sizes", "far away", "raw", "blocks",
)  # fmt: skip
EPS = float(np.finfo(float).eps)
HEAD = 8
TOKENS = tuple(
    np.array([v]).astype("<f2").tobytes() for v in (0.0, 1.0, -1.0, 6e-8, 65504.0, 1.0009765625)
)


@dataclass(frozen=True)
class Case:
    """One training problem."""

    K: np.ndarray
    y: np.ndarray
    C: float
    loss: str
    fit_intercept: bool
    weights: np.ndarray


def seeds() -> list[bytes]:
    """Every shape with every loss."""
    rng = np.random.default_rng(0)
    made = []
    for shape in range(len(SHAPES)):
        for loss in range(len(LOSSES)):
            n = int(rng.integers(0, 30))
            head = [n, shape, 128, 128, loss + 3 * int(rng.integers(0, 2)), 0, 3, 0]
            body = rng.normal(size=3 * (n + 2)).astype("<f2").tobytes()
            made.append(bytes(head) + rng.bytes(n + 2) + body)
    return made


def read(data: bytes) -> Case:
    """The problem that an input stands for."""
    data = data.ljust(HEAD, b"\0")
    size, shape, scale, penalty, kind, weighting, width, _ = data[:HEAD]
    n, d = 2 + size % 60, 1 + width % 4
    labels = np.frombuffer(data[HEAD : HEAD + n].ljust(n, b"\1"), np.uint8)
    y = np.where(labels % 2 == 0, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    body = data[HEAD + n :]
    numbers = np.frombuffer(body[: len(body) // 2 * 2], "<f2").astype(float)
    numbers = np.nan_to_num(numbers, nan=1.0, posinf=1e5, neginf=-1e5)
    X = np.resize(numbers if len(numbers) else np.ones(1), (n, d))
    # one as often as anything far from it
    K = _matrix(SHAPES[shape % len(SHAPES)], X) * 10.0 ** (0.0 if scale < 160 else scale - 200)
    C = 10.0 ** (0.0 if penalty < 40 else (penalty - 128) / 12)
    weights = (np.ones(n), labels % 3 + 0.0, 10.0 ** (labels / 16.0 - 8.0))[weighting % 3]
    weights = np.where((np.arange(n) < 2) & (weights == 0), 1.0, weights)
    return Case(K, y, C, LOSSES[kind % 3], bool(kind // 3 % 2), weights)


def _matrix(shape: str, X: np.ndarray) -> np.ndarray:
    n = len(X)
    unit = X / max(1e-300, float(np.abs(X).max()))
    with np.errstate(all="ignore"):
        match shape:
            case "narrow":
                return np.asarray(RBF(1e-3)(X))
            case "linear":
                return X @ X.T
            case "rank one":
                return np.outer(X[:, 0], X[:, 0])
            case "polynomial":
                return np.asarray((1.0 + unit @ unit.T) ** 7)
            case "repeated":
                return np.asarray(RBF(1.0)(X[np.arange(n) // 2]))
            case "nearly repeated":
                return np.asarray(RBF(1.0)(X[np.arange(n) // 2] + 1e-8 * unit))
            case "ones":
                return np.ones((n, n))
            case "identity":
                return np.eye(n)
            case "zero":
                return np.zeros((n, n))
            case "many sizes":
                size = 10.0 ** (8 * unit[:, 0])
                return np.asarray(RBF(1.0)(X) * size[:, None] * size)
            case "far away":
                return 1e8 + unit @ unit.T
            case "raw":  # maybe no kernel at all
                return np.resize(X, (n, n))
            case "blocks":
                return np.equal.outer(np.sign(X[:, 0]), np.sign(X[:, 0])).astype(float)
    return np.asarray(RBF(1.0)(X))


def check(data: bytes) -> None:
    """Refused with a remedy, owned up to with advice, or optimal."""
    case = read(data)
    try:
        s = solve(**vars(case))
    except ValueError as error:
        assert "\n" not in str(error), str(error)
        assert _refusable(case), f"refused without need: {error}"
        return
    for array in (s.alpha, s.decision, s.objective, s.gap, s.kkt):
        assert np.all(np.isfinite(array)), "not finite"
    assert len(np.intersect1d(s.free, s.bound)) == 0, "free and at its bound at once"
    if not s.status.ok:
        assert s.status.advice, "a failure without advice"
        return
    gap, violation, balance = _judged(case, s.beta, s.intercept)
    size = np.sqrt(np.maximum(case.K.diagonal(), 0.0))
    spread = EPS * (1.0 + size.max() * float(size @ np.abs(s.beta)))
    assert abs(gap) <= min(max(1e-9, 100.0 * s.rounding), 1e-3), f"duality gap {gap}"
    assert violation <= min(max(1e-9, 100.0 * spread), 1e-3), f"KKT conditions by {violation}"
    assert not case.fit_intercept or balance <= 1e-12, f"sum of beta {balance}"


def _refusable(case: Case) -> bool:
    """Whether there is a reason not to try: no kernel matrix, or numbers beyond all scales."""
    K, cost = case.K, case.C * case.weights[case.weights > 0]
    if not np.isfinite(K).all() or np.abs(K - K.T).max() > 0:
        return True
    largest = float(K.diagonal().max(initial=0.0))
    if largest > 1e100 or cost.max() > 1e100 or cost.min() < 1e-100:
        return True
    scaled = K / largest if largest > 0 else K
    return bool(np.linalg.eigvalsh(scaled).min() < -1e-12)


def _judged(case: Case, beta: np.ndarray, intercept: float) -> tuple[float, float, float]:
    """Relative duality gap, violation of the conditions, and |sum beta| / sum |beta|.

    Products are exact, in fractions, so that no rounding of the judge's own is held against it.
    """
    few = len(beta) <= 24
    exact = Fraction if few else np.longdouble
    b = [exact(v) for v in beta.tolist()]
    g = [sum(exact(k) * v for k, v in zip(row, b, strict=True)) for row in case.K.tolist()]
    norm = sum(v * h for v, h in zip(b, g, strict=True))
    primal, dual, worst = norm / 2, -norm / 2, 0.0
    for i, cost in enumerate((case.C * case.weights).tolist()):
        if cost == 0:
            assert beta[i] == 0, "a row without weight counts"
            continue
        slack = 1 - int(case.y[i]) * (g[i] + exact(intercept))
        alpha = case.y[i] * float(beta[i])
        loss, conjugate, off = _terms(case.loss, float(slack), alpha, cost)
        primal, dual, worst = primal + exact(loss), dual - exact(conjugate), max(worst, off)
    gap = float((primal - dual) / max(abs(primal), exact(1e-300)))
    total = abs(math.fsum(beta)) / max(math.fsum(np.abs(beta)), sys.float_info.min)
    return gap, worst, total


def _terms(loss: str, slack: float, alpha: float, cost: float) -> tuple[float, float, float]:
    """C loss, C loss*(-alpha / C), and how far alpha and the margin are from belonging together."""
    if loss == "hinge":
        assert 0 <= alpha <= cost, "alpha outside its bounds"
        off = (max(slack, 0.0) if alpha < cost else 0.0) + (max(-slack, 0.0) if alpha > 0 else 0.0)
        return cost * max(slack, 0.0), -alpha, off
    if loss == "squared_hinge":
        assert alpha >= 0, "alpha below zero"
        lacking = max(slack, 0.0)
        off = abs(alpha / cost - lacking)
        return cost * lacking * lacking / 2, alpha * alpha / (2 * cost) - alpha, off
    p = min(max(alpha / cost, 0.0), 1.0)
    entropy = (p * math.log(p) if p > 0 else 0.0) + ((1 - p) * math.log1p(-p) if p < 1 else 0.0)
    z = 1 - slack
    expected = math.exp(-float(np.logaddexp(0.0, z)))
    return cost * float(np.logaddexp(0.0, -z)), cost * entropy, abs(alpha / cost - expected)
