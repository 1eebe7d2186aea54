"""AutoSVC on many rows beside scikit-learn's Nystroem + LinearSVC: error, time and memory.

    python benchmarks/large.py [--rows 100000] [--data FOLDER] [--threads 2] [--methods ...]

Data: a rule in 5 of 50 inputs with noise, ``rows`` of it; connect-4 if FOLDER holds connect-4.npz
(57,557 rows of 126 inputs; 10,000 more to test on). Either method runs in a process of its own,
whose peak memory is reported. The grid of scikit-learn's method is searched on 10,000 of the rows
in three folds (on all rows it would take hours) and its best cell trained on all of them, with as
many landmarks as AutoSVC has.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np

LANDMARKS = 1000
GRID = {
    "map__gamma": [0.1, 0.3, 1.0, 3.0],  # over the number of inputs, which are standardised
    "svc__C": [0.1, 1.0, 10.0, 100.0],
}
TUNED_ON = 10_000
METHODS = ("AutoSVC", "Nystroem+LinearSVC")


def generated(n: int, seed: int, d: int = 50) -> tuple[np.ndarray, np.ndarray]:
    """Five inputs decide, not linearly; the others are noise. The rule itself errs by 6.5%."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    rule = np.sin(2.0 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * X[:, 3] ** 2 - 0.5 + 0.7 * X[:, 4]
    return X, np.where(rule + 0.3 * rng.normal(size=n) > 0, 1, -1)


def load(name: str, rows: int, folder: str) -> tuple[np.ndarray, ...]:
    """Training rows and labels, then those to test on."""
    if name == "generated":
        return *generated(rows, 0), *generated(20_000, 1)
    with np.load(Path(folder) / f"{name}.npz") as file:
        X, y = file["X"].astype(float), file["y"].astype(int)
    order = np.random.default_rng(0).permutation(len(y))
    train, test = order[:-10_000][:rows], order[-10_000:]
    return X[train], y[train], X[test], y[test]


def auto(X: np.ndarray, y: np.ndarray) -> object:
    from svmselect import AutoSVC

    return AutoSVC(random_state=0).fit(X, y)


def nystroem(X: np.ndarray, y: np.ndarray) -> object:
    from sklearn.kernel_approximation import Nystroem
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import LinearSVC

    steps = [
        ("scale", StandardScaler()),
        ("map", Nystroem(n_components=LANDMARKS, random_state=0)),
        ("svc", LinearSVC(dual=False)),
    ]
    grid = dict(GRID)
    grid["map__gamma"] = [gamma / X.shape[1] for gamma in GRID["map__gamma"]]
    search = GridSearchCV(Pipeline(steps), grid, cv=3, refit=False)
    part = np.random.default_rng(0).permutation(len(y))[:TUNED_ON]
    search.fit(X[part], y[part])
    return Pipeline(steps).set_params(**search.best_params_).fit(X, y)


def measure(method: str, name: str, rows: int, folder: str) -> dict[str, object]:
    """Fit, test, and look at the clock and at the memory; in a fresh process."""
    X, y, X_test, y_test = load(name, rows, folder)
    before, cpu = time.perf_counter(), time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = auto(X, y) if method == "AutoSVC" else nystroem(X, y)
    seconds, cpu = time.perf_counter() - before, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    error = float(np.mean(model.predict(X_test) != y_test))
    loss = None
    if method == "AutoSVC":
        p = model.predict_proba(X_test)[np.arange(len(y_test)), (y_test > 0).astype(int)]
        loss = float(-np.mean(np.log(np.maximum(p, 1e-300))))
        words = model.explain()
    else:
        words = str({key: model.get_params()[key] for key in GRID})
    return {
        "rows": len(y), "inputs": X.shape[1], "error": error, "log loss": loss,
        "seconds": seconds, "cpu": cpu, "peak": peak, "words": words,
    }  # fmt: skip


def main() -> None:
    """Run every method on every data set, one process each, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--data", default="")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--methods", nargs="*", default=METHODS, choices=METHODS)
    parser.add_argument("--sets", nargs="*", default=["generated", "connect-4"])
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(*options.one, options.rows, options.data)))
        return
    threads = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    environment = os.environ | dict.fromkeys(threads, str(options.threads))
    print("| data | method | error % | log loss | seconds | CPU s | peak GiB |")
    print("|---|---|---|---|---|---|---|")
    told = []
    for name in options.sets:
        if name != "generated" and not options.data:
            continue
        for method in options.methods:
            command = [sys.executable, __file__, "--one", method, name]
            command += ["--rows", str(options.rows), "--data", options.data]
            done = subprocess.run(
                command, env=environment, stdout=subprocess.PIPE, text=True, check=True
            )
            r = json.loads(done.stdout)
            loss = "" if r["log loss"] is None else f"{r['log loss']:.3f}"
            print(
                f"| {name}, {r['rows']} x {r['inputs']} | {method} | {100 * r['error']:.2f} | "
                f"{loss} | {r['seconds']:.0f} | {r['cpu']:.0f} | {r['peak']:.2f} |",
                flush=True,
            )
            told.append(f"{name}, {method}:\n{r['words']}")
    print("\n" + "\n\n".join(told))


if __name__ == "__main__":
    main()
