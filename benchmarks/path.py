"""A whole grid: 10 widths x 10 penalties x 5 folds at n = 400, 500 exact machines.

    python benchmarks/path.py [folder of data sets]

The folder (or $SVMSELECT_DATA) is that of benchmarks/solver.py; without it, data are drawn like
Breiman's Twonorm. Seconds of one core, Gram matrices and held-out errors included. Beside it
scikit-learn's GridSearchCV on the same grid and folds, and liquidSVM on its own grid where it is
installed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from time import process_time

import numpy as np
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from solver import read
from svmselect.kernels import RBF
from svmselect.machine.train import train

N, FOLDS = 400, 5
PENALTIES = np.logspace(-2, 4, 10)


def seconds(call: Callable[[], object], repeats: int) -> float:
    times = []
    for _ in range(repeats):
        start = process_time()
        call()
        times.append(process_time() - start)
    return min(times)


def ours(
    X: np.ndarray, y: np.ndarray, widths: np.ndarray, folds: np.ndarray, warm: bool
) -> tuple[np.ndarray, int]:
    """Held-out error for each width and penalty; and how many machines were not exact."""
    errors, inexact = np.zeros((len(widths), len(PENALTIES))), 0
    for i, width in enumerate(widths):
        K = RBF(float(width))(X)
        for fold in range(FOLDS):
            held_out = folds == fold
            weights, start = np.where(held_out, 0.0, 1.0), None
            for j, C in enumerate(PENALTIES):
                s = train(K, y, float(C), "hinge", True, weights, start)
                start = s if warm else None
                inexact += not s.status.ok
                errors[i, j] += np.sum((s.decision > 0) != (y > 0), where=held_out)
    return errors / len(y), inexact


def grid_search(
    X: np.ndarray, y: np.ndarray, widths: np.ndarray, folds: list[tuple[np.ndarray, np.ndarray]]
) -> GridSearchCV:
    grid = {"gamma": 0.5 / widths**2, "C": PENALTIES}
    return GridSearchCV(SVC(cache_size=500), grid, cv=folds, refit=False).fit(X, y)


def row(X: np.ndarray, y: np.ndarray) -> tuple[list[float], str]:
    """Times of each contestant, and what they found."""
    widths = np.sqrt(X.shape[1]) * np.logspace(-1, 1, 10)
    splits = list(StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(X, y))
    folds = np.zeros(N, dtype=int)
    for fold, (_, test) in enumerate(splits):
        folds[test] = fold
    errors, inexact = ours(X, y, widths, folds, True)
    search = grid_search(X, y, widths, splits)
    times = [
        seconds(lambda: ours(X, y, widths, folds, False), 3),
        seconds(lambda: ours(X, y, widths, folds, True), 3),
        seconds(lambda: grid_search(X, y, widths, splits), 1),
    ]
    if find_spec("liquidSVM") is not None:
        import liquidSVM

        times.append(seconds(lambda: liquidSVM.SVM(X, y, folds=FOLDS, threads=1), 3))
    found = f"best {100 * errors.min():.2f} and {100 * (1 - search.best_score_):.2f}"
    return times, found + (f", {inexact} not exact" if inexact else "")


def main(folder: Path | None) -> None:
    heads = ("cold", "warm", "GridSearchCV", "liquidSVM")
    print(
        f"{'':<12}{'ratio':>8}"
        + "".join(f"{h:>14}" for h in heads)
        + "  (seconds of CPU; errors %)"
    )
    for name, (X, y) in read(folder).items():
        times, found = row(X[:N], y[:N])
        shown = "".join(f"{t:14.3f}" for t in times) + f"{'-':>14}" * (4 - len(times))
        print(f"{name:<12}{times[2] / times[1]:8.1f}{shown}  {found}", flush=True)


if __name__ == "__main__":
    given = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("SVMSELECT_DATA")
    with threadpool_limits(1):
        main(Path(given) if given else None)
