"""AutoSVC beside what people use today: error, log loss and CPU time, on the same splits.

    python benchmarks/auto.py [FOLDER] [--table auto.csv] [--rows 400] [--splits 10] [--jobs 1]

Every line of the CSV is one method on one split; what is there already is not run again, so the
benchmark resumes. One thread each. Inputs are standardised for every method. Data sets: the .npz
files of FOLDER (X, y), scikit-learn's breast-cancer data as wdbc. The group HELD_BACK was not
looked at while the default of AutoSVC was decided. --plot draws each method's error beside ours.
"""

from __future__ import annotations

import argparse
import csv
import os
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy.stats import rankdata
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, HalvingGridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

DECIDED_ON = [
    "raetsch_banana",
    "raetsch_flare-solar",
    "raetsch_german",
    "raetsch_heart",
    "raetsch_image",
    "raetsch_ringnorm",
    "raetsch_splice",
    "raetsch_thyroid",
    "raetsch_titanic",
    "raetsch_twonorm",
    "raetsch_waveform",
    "ionosphere",
    "sonar",
    "spambase",
    "transfusion",
    "raetsch_breast-cancer",
    "raetsch_diabetis",
    "connect-4",
    "cylinder-bands",
    "image-segmentation",
    "wdbc",
]
HELD_BACK = [
    "biopsy",
    "bupa",
    "chess",
    "crabs",
    "magic",
    "mammographic",
    "pima",
    "synth",
    "tic-tac-toe",
]
Array = np.ndarray[Any, Any]
Models = tuple[Any, Any]  # one that predicts, one that gives probabilities (or None)
GRID = {"C": 2.0 ** np.linspace(-5, 15, 10), "gamma": 2.0 ** np.linspace(-15, 3, 10)}


def calibrated(model: Any) -> Any:
    """Add probabilities by a sigmoid on five folds, as scikit-learn advises."""
    return CalibratedClassifierCV(model, ensemble=False, cv=5)


def auto(X: Array, y: Array, seed: int) -> Models:
    """Our default."""
    from svmselect import AutoSVC

    model = AutoSVC(random_state=seed).fit(X, y)
    return model, model


def svc(X: Array, y: Array, seed: int) -> Models:  # noqa: ARG001
    """What people get who tune nothing."""
    return SVC().fit(X, y), calibrated(SVC()).fit(X, y)


def grid(X: Array, y: Array, seed: int) -> Models:  # noqa: ARG001
    """What people do who tune."""
    model = GridSearchCV(SVC(), GRID, cv=5).fit(X, y)
    return model, calibrated(model.best_estimator_).fit(X, y)


def halving(X: Array, y: Array, seed: int) -> Models:
    """The same grid, by successive halving."""
    model = HalvingGridSearchCV(SVC(), GRID, cv=5, random_state=seed).fit(X, y)
    return model, calibrated(model.best_estimator_).fit(X, y)


def gpc(X: Array, y: Array, seed: int) -> Models:
    """A Gaussian process with one length scale and an offset."""
    kernel = ConstantKernel(1.0) * RBF(np.sqrt(X.shape[1])) + ConstantKernel(1.0)
    model = GaussianProcessClassifier(kernel, random_state=seed).fit(X, y)
    return model, model


def gpc_ard(X: Array, y: Array, seed: int) -> Models:
    """A Gaussian process with a length scale for each input."""
    kernel = ConstantKernel(1.0) * RBF(np.full(X.shape[1], np.sqrt(X.shape[1])))
    kernel += ConstantKernel(1.0)
    model = GaussianProcessClassifier(kernel, random_state=seed).fit(X, y)
    return model, model


def optuna_tpe(X: Array, y: Array, seed: int) -> Models:
    """A hundred trials of Optuna's default sampler."""
    import optuna
    from sklearn.model_selection import cross_val_score

    optuna.logging.set_verbosity(optuna.logging.WARNING)

    def objective(trial: Any) -> float:
        C = trial.suggest_float("C", 2.0**-5, 2.0**15, log=True)
        gamma = trial.suggest_float("gamma", 2.0**-15, 2.0**3, log=True)
        return float(cross_val_score(SVC(C=C, gamma=gamma), X, y, cv=5).mean())

    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed))
    study.optimize(objective, n_trials=100)
    best = SVC(**study.best_params)
    return best.fit(X, y), calibrated(SVC(**study.best_params)).fit(X, y)


def liquid(X: Array, y: Array, seed: int) -> Models:
    """liquidSVM with its defaults; it has no probabilities."""
    import sysconfig

    # where its authors look for the name of a shared library, newer Pythons have none
    sysconfig.get_config_vars().setdefault("SO", sysconfig.get_config_var("EXT_SUFFIX"))
    import liquidSVM

    model = liquidSVM.mcSVM(X, y.astype(float), scale=False, threads=1, random_seed=seed + 1)

    class Wrapped:
        def predict(self, Z: Array) -> Array:
            # it wants to see both labels, whatever they are
            found = np.asarray(model.test(Z, np.resize([-1.0, 1.0], len(Z)))[0])
            return np.where(found.reshape(len(Z), -1)[:, 0] > 0, 1, -1)

    return Wrapped(), None


METHODS: dict[str, Callable[[Array, Array, int], Models]] = {
    "AutoSVC": auto,
    "SVC": svc,
    "grid": grid,
    "halving": halving,
    "GPC": gpc,
    "GPC-ARD": gpc_ard,
    "optuna": optuna_tpe,
    "liquidSVM": liquid,
}
DEFAULT = ["AutoSVC", "SVC", "grid", "halving", "GPC"]


def load(folder: Path, name: str) -> tuple[Array, Array]:
    """Inputs and labels, -1 and +1."""
    if name == "wdbc":
        data = load_breast_cancer()
        return data.data, np.where(data.target > 0, 1, -1)
    with np.load(folder / f"{name}.npz") as file:
        return file["X"].astype(float), file["y"].astype(int)


def split(X: Array, y: Array, rows: int, seed: int) -> tuple[Array, Array, Array, Array]:
    """At most ``rows`` and two thirds for training, at most 4000 for testing, standardised."""
    order = np.random.default_rng(1000 + seed).permutation(len(y))
    n = min(rows, 2 * len(y) // 3)
    train, test = order[:n], order[n : n + 4000]
    scaler = make_pipeline(StandardScaler()).fit(X[train])
    return scaler.transform(X[train]), y[train], scaler.transform(X[test]), y[test]


def measure(folder: Path, key: tuple[str, str, str, str]) -> list[str]:
    """One line of the table."""
    name, rows, seed, method = key
    X, y, X_test, y_test = split(*load(folder, name), int(rows), int(seed))
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        began = time.process_time()
        model, probable = METHODS[method](X, y, int(seed))
        seconds = time.process_time() - began
        error = float(np.mean(model.predict(X_test) != y_test))
        loss = np.nan
        if probable is not None:
            loss = log_loss(y_test, probable.predict_proba(X_test), labels=[-1, 1])
    return [*key, f"{error:.6f}", f"{loss:.6f}", f"{seconds:.4f}"]


def wanted(folder: Path, rows: int, splits: int, methods: list[str]) -> Iterator[tuple[str, ...]]:
    """What the table should have, the first split of all data sets first.

    Beyond 400 rows only data sets that have more, and no Gaussian processes.
    """
    names = [
        name for name in DECIDED_ON + HELD_BACK
        if name == "wdbc" or (folder / f"{name}.npz").exists()
    ]  # fmt: skip
    if rows > 400:
        names = [name for name in names if 2 * len(load(folder, name)[1]) // 3 > 400]
        methods = [method for method in methods if not method.startswith("GPC")]
    for seed in range(splits):
        for method in methods:
            for name in names:
                yield name, str(rows), str(seed), method


def run(folder: Path, table: Path, rows: int, splits: int, methods: list[str], jobs: int) -> None:
    """Fill the table with what is missing."""
    seen: set[tuple[str, ...]] = set()
    if table.exists():
        with table.open() as file:
            seen = {tuple(row[:4]) for row in csv.reader(file)}
    keys = [key for key in wanted(folder, rows, splits, methods) if key not in seen]
    pool = Parallel(jobs, return_as="generator_unordered", batch_size=1)
    with table.open("a", newline="") as file:
        writer = csv.writer(file)
        for line in pool(delayed(measure)(folder, key) for key in keys):
            writer.writerow(line)
            file.flush()


Cells = dict[tuple[str, str], dict[str, list[float]]]


def read(table: Path, rows: int, methods: list[str]) -> Cells:
    """Figures by (data set, split) and method: the splits on which all the methods were run."""
    cells: Cells = defaultdict(dict)
    with table.open() as file:
        for name, n, seed, method, *figures in csv.reader(file):
            if int(n) == rows and method in methods:
                cells[name, seed][method] = [float(v) for v in figures]
    return {key: cell for key, cell in cells.items() if len(cell) == len(methods)}


def means_of(cells: Cells, group: list[str], methods: list[str]) -> dict[str, Array]:
    """(methods, 3) means over splits for each data set of a group."""
    found = {}
    for name in group:
        values = [[cell[m] for m in methods] for (d, _), cell in cells.items() if d == name]
        if values:
            found[name] = np.array(values).mean(axis=0)
    return found


def report(table: Path, rows: int, methods: list[str]) -> None:
    """Mean error, log loss and seconds a data set; ranks and ratios over both groups."""
    cells = read(table, rows, methods)
    for title, group in (("decided on", DECIDED_ON), ("held back", HELD_BACK)):
        means = means_of(cells, group, methods)
        if not means:
            continue
        count = len({seed for _, seed in cells})
        print(f"\n{title}: error % (log loss), {rows} rows, up to {count} splits")
        print("| data | " + " | ".join(methods) + " |")
        print("|---" * (len(methods) + 1) + "|")
        for name, mean in means.items():
            row = " | ".join(f"{100 * e:.2f} ({p:.3f})" for e, p, _ in mean)
            print(f"| {name.removeprefix('raetsch_')} | {row} |")
        values = np.array(list(means.values()))
        ranks = rankdata(values[:, :, 0], axis=1)
        error, loss, seconds = values.mean(axis=0).T
        summary = {
            "mean error": [f"{100 * v:.2f}" for v in error],
            "mean rank": [f"{v:.2f}" for v in ranks.mean(axis=0)],
            "mean log loss": [f"{v:.4f}" for v in loss],
            "CPU seconds": [f"{v:.2f}" for v in seconds],
        }
        if "grid" in methods:
            ratio = values[:, [methods.index("grid")], 2] / values[:, :, 2]
            summary["times faster than the grid"] = [f"{v:.1f}" for v in ratio.mean(axis=0)]
        for label, figures in summary.items():
            print(f"| {label} | " + " | ".join(figures) + " |")


def plot(table: Path, rows: int, methods: list[str], file: Path) -> None:
    """Each rival's error on each data set beside AutoSVC's: a point above the line is our gain."""
    import matplotlib.pyplot as plt

    rivals = [m for m in methods if m != "AutoSVC"]
    figure, axes = plt.subplots(
        2, -(-len(rivals) // 2), figsize=(2.6 * -(-len(rivals) // 2), 6.2), layout="constrained",
        squeeze=False,
    )  # fmt: skip
    for ax in axes.flat[len(rivals) :]:
        ax.set_axis_off()
    for ax, rival in zip(axes.flat, rivals, strict=False):
        cells = read(table, rows, ["AutoSVC", rival])
        for group, mark, label in ((DECIDED_ON, "o", "decided on"), (HELD_BACK, "D", "held back")):
            means = np.array(list(means_of(cells, group, ["AutoSVC", rival]).values()))
            ax.plot(100 * means[:, 0, 0], 100 * means[:, 1, 0], mark, ms=4, alpha=0.8, label=label)
        ends = (0.25, 45.0)
        ax.plot(ends, ends, color="0.6", lw=0.8, zorder=0)
        ax.set(xscale="log", yscale="log", xlim=ends, ylim=ends, title=rival, aspect="equal")
        ax.set_xlabel("AutoSVC, error %")
    for ax in axes[:, 0]:
        ax.set_ylabel("the other's error %")
    axes[0, 0].legend(frameon=False, fontsize=7)
    figure.savefig(file, dpi=150)


def main() -> None:
    """Run what is missing and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?", default=os.environ.get("SVMSELECT_DATA"))
    parser.add_argument("--table", type=Path, default=Path("auto.csv"))
    parser.add_argument("--rows", type=int, default=400)
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--methods", nargs="*", default=DEFAULT, choices=list(METHODS))
    parser.add_argument("--jobs", type=int, default=1, help="splits at a time, one thread each")
    parser.add_argument("--report", action="store_true", help="print the tables only")
    parser.add_argument("--plot", type=Path, help="draw the errors, in this file")
    options = parser.parse_args()
    if options.folder is None:
        print("benchmarks/auto.py: give a folder of data sets, or set SVMSELECT_DATA to one")
        return
    if not options.report:
        run(
            options.folder, options.table, options.rows, options.splits, options.methods,
            options.jobs,
        )  # fmt: skip
    report(options.table, options.rows, options.methods)
    if options.plot is not None:
        plot(options.table, options.rows, options.methods, options.plot)


if __name__ == "__main__":
    main()
