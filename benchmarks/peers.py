"""A small table of ratios against peers, measured in one run: `make bench`.

    python benchmarks/peers.py [--rows NAME ...] [--liquid PYTHON] [--record]

Every row sets two times side by side, the least of a few repeats each, taken in turn: CPU seconds
of one thread. Data are generated or scikit-learn's own, so that a run needs no folder and lines of
history.csv compare. liquidSVM has a virtual environment of its own (--liquid names its Python;
`make bench` makes it where it can be built); without it its row is left out. --record, which is
`make bench RECORD=1`, keeps the ratios in benchmarks/history.csv, one line a release, and what is a
fifth slower than the line before is named.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import os
import platform
import subprocess
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, make_moons
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process import kernels as processes
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

import path
from svmselect import AutoKLR, AutoSVC, __version__
from svmselect.datasets.breiman import ringnorm, twonorm, waveform
from svmselect.kernels import RBF
from svmselect.machine.train import train

HISTORY = Path(__file__).with_name("history.csv")
LIQUID = Path(__file__).parents[1] / ".venv-liquidsvm" / "bin" / "python"
GRID = {"C": 2.0 ** np.linspace(-5, 15, 10), "gamma": 2.0 ** np.linspace(-15, 3, 10)}
COARSE = {"C": 2.0 ** np.linspace(-2, 10, 4), "gamma": 2.0 ** np.linspace(-8, 1, 4)}
MACHINES = (10.0 * 2.0 ** np.linspace(-3, 3, 3), (0.1, 1.0, 10.0, 100.0))  # widths, penalties

Array = np.ndarray[Any, Any]
Task = Callable[[], object]
Times = Iterator[tuple[float, float]]


@dataclass(frozen=True)
class Row:
    """One comparison: what is measured, and how many times faster we are meant to be at least."""

    name: str
    ours: str
    theirs: str
    aim: float
    measure: Callable[[], Times]


def standardised(X: Array, y: Array) -> tuple[Array, Array]:
    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0), y


def few(n: int = 400) -> Iterator[tuple[Array, Array]]:
    """Two classes: easy, clean and noisy, in 2 to 30 inputs."""
    X, y = load_breast_cancer(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))[:n]
    yield standardised(X[order], np.where(y[order] > 0, 1.0, -1.0))
    X, y = make_moons(n, noise=0.3, random_state=0)
    yield standardised(X, np.where(y > 0, 1.0, -1.0))
    yield from many(n)
    X, y = twonorm(n, 1)
    yield standardised(X, np.where(np.random.default_rng(1).random(n) < 0.1, -y, y))


def many(n: int = 2000) -> Iterator[tuple[Array, Array]]:
    """Breiman's problems, of which there are as many rows as wanted."""
    for made in (twonorm, ringnorm, waveform):
        yield standardised(*made(n, 0))


def digits(n: int = 600) -> tuple[Array, Array]:
    X, y = load_digits(return_X_y=True)
    return standardised(X[:n], y[:n])


def least(*tasks: Task, repeats: int = 2) -> list[float]:
    """CPU seconds of each, taken in turn."""
    best = [math.inf] * len(tasks)
    for _ in range(repeats):
        for i, task in enumerate(tasks):
            began = process_time()
            task()
            best[i] = min(best[i], process_time() - began)
    return best


def auto(X: Array, y: Array) -> AutoSVC:
    return AutoSVC(random_state=0).fit(X, y)


def grid(X: Array, y: Array, cells: dict[str, Array] | None = None) -> GridSearchCV:
    return GridSearchCV(SVC(), cells or GRID, cv=5).fit(X, y)


def against_grid(
    data: Iterator[tuple[Array, Array]], cells: dict[str, Array] | None = None
) -> Times:
    for X, y in data:
        (ours,) = least(lambda: auto(X, y))  # noqa: B023
        (theirs,) = least(lambda: grid(X, y, cells), repeats=1)  # noqa: B023
        yield ours, theirs


def against_process() -> Times:
    """scikit-learn's Gaussian process, with one length scale and an offset."""
    for X, y in few():
        width, one = np.sqrt(X.shape[1]), processes.ConstantKernel(1.0)
        kernel = one * processes.RBF(width) + one
        model = GaussianProcessClassifier(kernel, random_state=0)
        (ours,) = least(lambda: auto(X, y))  # noqa: B023
        (theirs,) = least(lambda: model.fit(X, y), repeats=1)  # noqa: B023
        yield ours, theirs


# What the Python of liquidSVM's own environment runs. Its authors look for the name of a shared
# library where newer Pythons have none.
LOADED = """
import json, sys, sysconfig, time, warnings
warnings.simplefilter("ignore")
sysconfig.get_config_vars().setdefault("SO", sysconfig.get_config_var("EXT_SUFFIX"))
import numpy as np
import liquidSVM
"""
TIMED = """
with np.load(sys.argv[1]) as file:
    X, y = file["X"], file["y"]
times = []
for _ in range(3):
    began = time.process_time()
    liquidSVM.mcSVM(X, y, scale=False, threads=1, random_seed=1)
    times.append(time.process_time() - began)
print("\\n" + json.dumps(min(times)))
"""


def able(python: Path) -> bool:
    """Whether liquidSVM is there."""
    if not python.exists():
        return False
    return subprocess.run([python, "-c", LOADED], capture_output=True, check=False).returncode == 0


def against_liquid(python: Path) -> Times:
    """liquidSVM's default search."""
    for X, y in few():
        with tempfile.TemporaryDirectory() as folder:
            np.savez(Path(folder) / "data.npz", X=X, y=y)
            (ours,) = least(lambda: auto(X, y))  # noqa: B023
            done = subprocess.run(
                [python, "-c", LOADED + TIMED, "data.npz"],
                cwd=folder,
                env=os.environ | {"OMP_NUM_THREADS": "1"},
                capture_output=True,
                text=True,
                check=True,
            )
        yield ours, float(json.loads(done.stdout.splitlines()[-1]))


def logistic() -> Times:
    for X, y in few():
        ours, theirs = least(lambda: AutoKLR(random_state=0).fit(X, y), lambda: auto(X, y))  # noqa: B023
        yield ours, theirs


def machines(n: int = 1000) -> Iterator[tuple[Array, Array, float]]:
    """Gram matrices, labels and penalties."""
    for X, y in many(n):
        for width in MACHINES[0]:
            for C in MACHINES[1]:
                yield RBF(float(width))(X), y, C


def against_libsvm() -> Times:
    """One exact machine; LIBSVM at its usual tolerance, the whole matrix in its cache."""
    for K, y, C in machines():
        svc = SVC(C=C, kernel="precomputed", cache_size=1000)
        ones = np.ones(len(y))
        yield tuple(least(lambda: train(K, y, C, "hinge", True, ones), lambda: svc.fit(K, y)))  # noqa: B023


def warm() -> Times:
    """The solution after 5 % of C, from the one before."""
    for K, y, C in machines():
        ones = np.ones(len(y))
        before = train(K, y, C, "hinge", True, ones)
        problem = (K, y, 1.05 * C, "hinge", True, ones)
        yield tuple(least(lambda: train(*problem, before), lambda: train(*problem), repeats=3))  # noqa: B023


def against_path() -> Times:
    """500 exact machines and their held-out errors, as benchmarks/path.py has them."""
    splits = StratifiedKFold(path.FOLDS, shuffle=True, random_state=0)
    for X, y in few():
        widths = np.sqrt(X.shape[1]) * np.logspace(-1, 1, 10)
        parts = list(splits.split(X, y))
        folds = np.zeros(len(y), dtype=int)
        for fold, (_, test) in enumerate(parts):
            folds[test] = fold
        (ours,) = least(lambda: path.ours(X, y, widths, folds, True))  # noqa: B023
        (theirs,) = least(lambda: path.grid_search(X, y, widths, parts), repeats=1)  # noqa: B023
        yield ours, theirs


def predictions(rows: int = 20_000) -> Times:
    """Seconds for a row and a support vector, with C and length scale the same."""
    for X, y in (*few(), digits()):
        model = AutoSVC(ard="no", standardize=False, random_state=0).fit(X, y)
        svc = SVC(C=model.C_, gamma=0.5 / model.length_scale_**2).fit(X, y)
        rng = np.random.default_rng(0)
        new = X[rng.integers(0, len(X), rows)] + 1e-3 * rng.normal(size=(rows, X.shape[1]))
        ours, theirs = least(lambda: model.predict(new), lambda: svc.predict(new))  # noqa: B023
        yield ours / len(model.support_vectors_), theirs / len(svc.support_vectors_)


def table(liquid: Path) -> list[Row]:
    grid_words = "GridSearchCV, 10 x 10 x 5"
    return [
        Row("liquidsvm", "AutoSVC, 400 rows", "liquidSVM", 1.0, lambda: against_liquid(liquid)),
        Row("grid", "AutoSVC, 400 rows", grid_words, 50.0, lambda: against_grid(few())),
        Row("gpc", "AutoSVC, 400 rows", "GaussianProcessClassifier", 1.0, against_process),
        Row("logistic", "AutoKLR, 400 rows", "AutoSVC", 0.5, logistic),
        Row(
            "digits", "AutoSVC, digits, 600 rows", grid_words, 15.0,
            lambda: against_grid(iter([digits()])),
        ),
        Row("grid-2000", "AutoSVC, 2000 rows", grid_words, 20.0, lambda: against_grid(many())),
        Row(
            "grid-3000", "AutoSVC, 3000 rows", "GridSearchCV, 4 x 4 x 5", 1.0,
            lambda: against_grid(many(3000), COARSE),
        ),
        Row("path", "500 machines, 400 rows", grid_words, 10.0, against_path),
        Row("libsvm", "one machine, 1000 rows", "SVC (LIBSVM)", 1.0, against_libsvm),
        Row("warm", "machine after 5 % of C, warm", "the same, cold", 5.0, warm),
        Row("predict", "predict, a row and vector", "SVC (LIBSVM)", 1.0, predictions),
    ]  # fmt: skip


def measured(row: Row) -> float:
    """Print the row; the geometric mean of its ratios."""
    times = np.array(list(row.measure()))
    ratios = times[:, 1] / times[:, 0]
    middle = float(np.exp(np.log(ratios).mean()))
    ours, theirs = (f"{1e3 * mean:.3g}" for mean in times.mean(axis=0))
    print(
        f"| {row.ours} | {row.theirs} | {ours} | {theirs} | {middle:.3g} | "
        f"{ratios.min():.3g} to {ratios.max():.3g} | {row.aim:g} |",
        flush=True,
    )
    return middle


def record(found: dict[str, float], names: list[str], file: Path = HISTORY) -> None:
    """Set the line of this version; what was not measured keeps its figure."""
    heads = ["version", "date", "machine", *names]
    lines: dict[str, dict[str, str]] = {}
    if file.exists():
        with file.open(newline="") as known:
            lines = {line["version"]: line for line in csv.DictReader(known)}
    line = lines.setdefault(__version__, {})
    line |= {"version": __version__, "date": date.today().isoformat()}
    line |= {"machine": platform.machine()}
    line |= {name: f"{ratio:.3g}" for name, ratio in found.items()}
    with file.open("w", newline="") as kept:
        writer = csv.DictWriter(kept, heads, restval="", extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines.values())


def last(file: Path = HISTORY) -> dict[str, str]:
    """The newest line of the history."""
    if not file.exists():
        return {}
    with file.open(newline="") as known:
        lines = list(csv.DictReader(known))
    return lines[-1] if lines else {}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--liquid", type=Path, default=LIQUID, help="liquidSVM's Python")
    parser.add_argument("--rows", nargs="*", help="only these rows of the table, by name")
    parser.add_argument("--record", action="store_true", help="write benchmarks/history.csv")
    options = parser.parse_args()
    rows = table(options.liquid)
    names = [row.name for row in rows]
    unknown = sorted(set(options.rows or []) - set(names))
    if unknown:
        parser.error(f"no row {', '.join(unknown)}; there are {', '.join(names)}")
    before, found = last(), {}
    print("| ours | theirs | ours, ms | theirs, ms | times faster | range | aim |")
    print("|---|---|---|---|---|---|---|", flush=True)
    for row in rows:
        if options.rows and row.name not in options.rows:
            continue
        if row.name == "liquidsvm" and not able(options.liquid):
            print("| AutoSVC, 400 rows | liquidSVM | | | not built | | 1 |", flush=True)
            continue
        found[row.name] = measured(row)
    slower = [name for name, ratio in found.items() if ratio < 0.8 * float(before.get(name) or 0.0)]
    if slower:
        print(f"\nMore than a fifth slower than {before['version']}: {', '.join(slower)}")
    if options.record:
        record(found, names)


if __name__ == "__main__":
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        main()
