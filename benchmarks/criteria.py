"""Time of one evaluation with gradient, as a multiple of one LIBSVM training at the same point.

    python benchmarks/criteria.py [criterion ...]

n = 400 points of Twonorm, as it is and with a tenth of the labels flipped; ARD Gaussian kernel with
a length scale for each of 20 inputs, C = 1. One core. LIBSVM is scikit-learn's SVC on the Gram
matrix given (tolerance 1e-3), which it does not have to compute; ours includes the Gram matrix, all
machines, the value and every derivative. Warm starts come from a point 5 % away in every
coordinate. The two are timed in turn, processor time of one thread; the best of each counts.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from time import perf_counter, process_time

import numpy as np
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from svmselect.criteria import available, get_criterion
from svmselect.criteria.base import FREE, PENALISED, Criterion
from svmselect.data import Dataset
from svmselect.kernels import RBF, Constant, Kernel
from svmselect.selection.objective import Objective

N, C, PATIENCE = 400, 1.0, 1.5  # points, penalty, seconds a row
LOSSES = ("hinge", "squared_hinge", "logistic")


def twonorm(d: int, flipped: float) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = np.where(rng.random(N) < 0.5, -1.0, 1.0)
    X = rng.normal(size=(N, d)) + 2.0 / np.sqrt(d) * y[:, None]
    return X, np.where(rng.random(N) < flipped, -y, y)


def in_turn(calls: list[Callable[[], object]]) -> list[float]:
    """Best time of each in milliseconds."""
    best = [np.inf] * len(calls)
    end = perf_counter() + PATIENCE
    rounds = 0
    while rounds < 3 or (perf_counter() < end and rounds < 40):
        for i, call in enumerate(calls):
            start = process_time()
            call()
            best[i] = min(best[i], process_time() - start)
        rounds += 1
    return [1e3 * t for t in best]


def row(criterion: Criterion, loss: str, X: np.ndarray, y: np.ndarray) -> str | None:
    d = X.shape[1]
    width = RBF([float(np.sqrt(d))] * d)
    for intercept in (True, False):
        kernel: Kernel = width if intercept else width + Constant(0.1)
        offset = FREE if intercept else PENALISED
        if (loss, offset) in criterion.serves:
            break
    else:
        return None
    if criterion.refusal(kernel, loss, intercept) is not None:
        return None
    objective = Objective(Dataset.of(X, y), kernel, criterion, loss, intercept)
    K = kernel(X)
    _, trained = objective.score(1.05 * C, kernel.at(kernel.theta + np.log(1.05)))
    libsvm, cold, warm = in_turn(
        [
            lambda: SVC(C=C, kernel="precomputed", tol=1e-3).fit(K, y),
            lambda: objective.score(C, kernel, True),
            lambda: objective.score(C, kernel, True, trained),
        ]
    )
    slopes = len(kernel.theta) + 1 if criterion.differentiable else 0
    return (
        f"{criterion.name:<17}{loss:<15}{offset:<10}{d:>3}{slopes:>8}{libsvm:>8.2f}"
        f"{cold:>9.2f}{warm:>9.2f}{cold / libsvm:>8.1f}{warm / libsvm:>8.1f}"
    )


def main(names: list[str]) -> None:
    head = f"{'criterion':<17}{'loss':<15}{'offset':<10}{'d':>3}{'slopes':>8}{'LIBSVM':>8}"
    head += f"{'cold':>9}{'warm':>9}{'cold/L':>8}{'warm/L':>8}  (ms)"
    for flipped in (0.0, 0.1):
        print(f"\nTwonorm, {flipped:.0%} of the labels flipped\n{head}")
        for name in names:
            for loss in LOSSES:
                for d in (20, 60) if name == "likelihood" and loss == "hinge" else (20,):
                    line = row(get_criterion(name), loss, *twonorm(d, flipped))
                    if line is not None:
                        print(line, flush=True)


if __name__ == "__main__":
    with threadpool_limits(1):
        main(sys.argv[1:] or list(available()))
