"""Our exact machines beside LIBSVM's answer at its usual tolerance, on the same Gram matrices.

    python benchmarks/solver.py [folder of data sets] [largest n]

The folder (or $SVMSELECT_DATA) holds raetsch_waveform.npz and its like, arrays X and y; without it,
data are drawn like Breiman's Twonorm. One core on both sides. LIBSVM through scikit-learn's SVC:
tol 1e-3, the whole matrix in its cache; ours to the last digit (duality gap of 1e-9 and better).
Cold: from nothing. Warm: after a change of 5 % of C, and of the width, from the solution before it;
as a fraction of the cold solve of the same problem. The Gram matrix is not part of any time.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import numpy as np
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from svmselect.kernels import RBF
from svmselect.machine import solve
from svmselect.machine.train import train

SETS = ("waveform", "banana", "ringnorm", "image")
SIZES = (200, 500, 1000, 2000, 5000)
PENALTIES = (0.1, 1.0, 10.0, 100.0)


def milliseconds(call: Callable[[], object]) -> float:
    """The best of several runs, about a second of them at most."""
    times: list[float] = []
    while len(times) < 2 or (sum(times) < 0.7 and len(times) < 9):
        start = perf_counter()
        call()
        times.append(perf_counter() - start)
    return 1e3 * min(times)


def twonorm(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    return rng.normal(size=(n, 20)) + y[:, None] * 2.0 / np.sqrt(20.0), y


def read(folder: Path | None) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Data sets by name, inputs standardised, rows shuffled."""
    if folder is None:
        return {"twonorm": twonorm(max(SIZES))}
    found = {}
    for name in SETS:
        with np.load(folder / f"raetsch_{name}.npz") as file:
            X, y = file["X"].astype(float), file["y"].astype(float)
        order = np.random.default_rng(0).permutation(len(y))
        found[name] = ((X - X.mean(axis=0)) / X.std(axis=0))[order], y[order]
    return found


def row(X: np.ndarray, y: np.ndarray, C: float) -> tuple[str, float, float, float]:
    n, ones = len(y), np.ones(len(y))
    width = np.sqrt(X.shape[1] / 2.0)
    K, wider = RBF(width)(X), RBF(1.05 * width)(X)
    arguments = ("hinge", True, ones)
    before = train(K, y, C, *arguments)
    cold = milliseconds(lambda: train(K, y, C, *arguments))
    checked = milliseconds(lambda: solve(K, y, C))
    svc = SVC(kernel="precomputed", C=C, tol=1e-3, cache_size=2000 + 8 * n * n / 2**20)
    libsvm = milliseconds(lambda: svc.fit(K, y))
    warm = []
    for G, D in ((K, 1.05 * C), (wider, C)):
        again = milliseconds(lambda G=G, D=D: train(G, y, D, *arguments, before))
        warm.append(again / milliseconds(lambda G=G, D=D: train(G, y, D, *arguments)))
    text = (
        f"{n:6d}{C:7g}{len(before.free):6d}{len(before.bound):6d}{libsvm:10.1f}{cold:9.1f}"
        f"{checked:9.1f}{cold / libsvm:8.2f}{checked / libsvm:8.2f}{warm[0]:9.2f}{warm[1]:8.2f}"
    )
    if not before.status.ok:
        text += f"  {before.status.name}"
    return text, checked / libsvm, warm[0], warm[1]


def main(folder: Path | None, largest: int) -> None:
    ratios = []
    for name, (X, y) in read(folder).items():
        print(f"\n{name}, {X.shape[1]} inputs, Gaussian kernel of width sqrt(d/2)   (ms)")
        print(
            f"{'n':>6}{'C':>7}{'free':>6}{'bound':>6}{'LIBSVM':>10}{'train':>9}{'solve':>9}"
            f"{'train/':>8}{'solve/':>8}{'warm C':>9}{'width':>8}"
        )
        for n in (m for m in SIZES if m <= min(len(y), largest)):
            for C in PENALTIES:
                text, *ratio = row(X[:n], y[:n], C)
                ratios.append(ratio)
                print(text, flush=True)
    middle = np.median(ratios, axis=0)
    worst = np.max(ratios, axis=0)
    print(f"\nsolve / LIBSVM: median {middle[0]:.2f}, largest {worst[0]:.2f}")
    print(f"warm / cold after 5 % of C: median {middle[1]:.2f}, largest {worst[1]:.2f}")
    print(f"warm / cold after 5 % of the width: median {middle[2]:.2f}, largest {worst[2]:.2f}")


if __name__ == "__main__":
    given = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("SVMSELECT_DATA")
    with threadpool_limits(1):
        main(Path(given) if given else None, int(sys.argv[2]) if len(sys.argv) > 2 else max(SIZES))
