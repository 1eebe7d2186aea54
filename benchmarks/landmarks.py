"""Which rows serve best as landmarks: far apart from one another, by leverage, or drawn evenly.

    python benchmarks/landmarks.py [FOLDER] [--landmarks 100 300 1000] [--draws 3]

What the landmarks leave of the trace of the Gram matrix of rows held out, the error and log loss
there of a logistic machine on their features (its sigmoid as it is), and the CPU seconds of
choosing them among 20,000 rows or those there are; means over draws. Two generated sets, and the
.npz files of FOLDER (arrays X and y) with 5,000 rows or more.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from large import generated
from svmselect.kernels import RBF
from svmselect.machine.features import FeatureMap
from svmselect.machine.landmarks import RULES, order_landmarks
from svmselect.machine.primal import fit_linear

MOST, HELD = 20_000, 5_000


def heaps(n: int, seed: int) -> tuple[Any, Any]:
    """Three inputs; nine tenths of the rows in one small heap, the classes told apart outside."""
    rng = np.random.default_rng(seed)
    wide = rng.random(n) < 0.1
    X = np.where(wide[:, None], 3.0, 0.3) * rng.normal(size=(n, 3))
    f = np.sin(2.0 * X[:, 0]) + np.cos(X[:, 1] * X[:, 2])
    return X, np.where(f + 0.2 * rng.normal(size=n) > 0.8, 1, -1)


def data(folder: Path | None) -> Iterator[tuple[str, Any, Any]]:
    """Names, standardised inputs and labels of -1 and 1, in random order."""
    yield "a rule in 5 of 20 inputs", *generated(MOST + HELD, 0, 20)
    yield "a heap, and few around it", *heaps(MOST + HELD, 0)
    for path in sorted(folder.glob("*.npz")) if folder else ():
        with np.load(path) as file:
            X, y = file["X"].astype(float), file["y"]
        order = np.random.default_rng(0).permutation(len(y))[: MOST + HELD]
        if len(y) >= HELD and len(np.unique(y)) == 2:
            X = X[order] - X[order].mean(axis=0)
            spread = X.std(axis=0)
            yield path.stem, X[:, spread > 0] / spread[spread > 0], np.where(y[order] > 0, 1, -1)


def measure(X: Any, y: Any, rule: str, m: int, draws: int) -> Any:
    """Share left, error, log loss, seconds."""
    held = len(y) // 5
    A, B, a, b = X[held:], X[:held], y[held:].astype(float), y[:held]
    kernel, found = RBF(float(np.sqrt(X.shape[1]))), []
    for seed in range(draws):
        began = time.process_time()
        rows = order_landmarks(rule, kernel, A, m, np.random.default_rng(seed))
        seconds = time.process_time() - began
        features = FeatureMap.of(kernel, A[rows])
        machine = fit_linear(features(A), a, np.full(len(a), 10.0), "logistic")
        Phi = features(B)
        z = b * (Phi @ machine.theta + machine.intercept)
        left = 1.0 - float(np.sum(Phi * Phi)) / float(kernel.diag(B).sum())
        found.append((left, np.mean(z <= 0), np.logaddexp(0.0, -z).mean(), seconds))
    return np.mean(found, axis=0)


def main() -> None:
    """Print a line a set, a number of landmarks and a rule."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--landmarks", type=int, nargs="*", default=[100, 300, 1000])
    parser.add_argument("--draws", type=int, default=3)
    given = parser.parse_args()
    print("| data | landmarks | rule | left of the trace, % | error, % | log loss | seconds |")
    print("|---|---|---|---|---|---|---|")
    with threadpool_limits(1):
        for name, X, y in data(given.folder):
            for m in given.landmarks:
                for rule in RULES:
                    left, error, loss, spent = measure(X, y, rule, m, given.draws)
                    print(
                        f"| {name} | {m} | {rule} | {100 * left:.2f} | {100 * error:.2f} | "
                        f"{loss:.4f} | {spent:.2f} |",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
