"""Time of predicting, against SVC.predict (LIBSVM) with as many support vectors: ratios, one run.

Both have the same rows, C and length scale, so the same support vectors. Below one we are faster.
"latency" is of one row, "throughput" of many; "threads" is throughput on all cores. Process time,
least of several; one thread of algebra: OMP_NUM_THREADS=1.
"""

import argparse
import os
import time
from collections.abc import Callable

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, make_classification
from sklearn.svm import SVC

from svmselect import AutoSVC


def least(call: Callable[[], object], times: int, clock: Callable[[], float]) -> float:
    """Seconds of one call, the least of five series."""
    found = []
    for _ in range(5):
        began = clock()
        for _ in range(times):
            call()
        found.append((clock() - began) / times)
    return min(found)


def measure(name: str, X: np.ndarray, y: np.ndarray, rows: int) -> None:
    auto = AutoSVC(ard="no", random_state=0).fit(X, y)
    scaled = (X - auto.mean_) / auto.scale_
    svc = SVC(C=auto.C_, gamma=0.5 / auto.length_scale_**2).fit(scaled, y)
    rng = np.random.default_rng(0)
    many = np.ascontiguousarray(
        X[rng.integers(0, len(X), rows)] + 1e-3 * rng.normal(size=X[0].shape)
    )
    ours, theirs = auto.support_vectors_.shape[0], svc.support_vectors_.shape[0]
    ready = (many - auto.mean_) / auto.scale_
    one, first = many[:1].copy(), ready[:1].copy()
    clock = time.process_time
    latency = [
        least(call, 300, clock) for call in (lambda: auto.predict(one), lambda: svc.predict(first))
    ]
    through = [
        least(call, 1, clock) for call in (lambda: auto.predict(many), lambda: svc.predict(ready))
    ]
    walls = [
        least(lambda: auto.set_params(n_jobs=n_jobs).predict(many), 1, time.perf_counter)  # noqa: B023
        for n_jobs in (1, -1)
    ]
    print(
        f"{name:16s} {X.shape[1]:4d} {len(np.unique(y)):3d} {ours:5d} {theirs:5d}  "
        f"{latency[0] * 1e6:7.0f} us {latency[0] / latency[1]:5.2f}  "
        f"{through[0] / rows / ours * 1e9:6.2f} ns {through[0] / through[1]:5.2f}"
        f" {through[0] / ours / (through[1] / theirs):5.2f}  {walls[1] / walls[0]:5.2f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    rows = parser.parse_args().rows
    print(
        "data              inputs, classes, vectors (ours, SVC); one row: time, ratio; many rows: "
        "time a row and vector, ratio, ratio a vector; wall time on all cores over one"
    )
    measure("breast cancer", *load_breast_cancer(return_X_y=True), rows)
    X, y = load_digits(return_X_y=True)
    measure("digits", X[:600], y[:600], rows)
    for d in (2, 20, 100):
        X, y = make_classification(
            1000, d, n_informative=min(d, 10), n_redundant=0, flip_y=0.1, random_state=0
        )
        measure("noisy", X, y, rows)


if __name__ == "__main__":
    main()
