"""Our classifiers beside what people use today: error, log loss and CPU time, on the same splits.

    python benchmarks/auto.py [FOLDER] [--table auto.csv] [--rows 400] [--splits 10] [--jobs 1]

Every line of the CSV is one method on one split; what is there already is not run again, so the
benchmark resumes. One thread each. Inputs are standardised for the rivals that need it; ours and
trees take them as they are. Data sets: the .npz files of FOLDER (X, y), those of scikit-learn, and
for several classes the Parquet files of numbers in FOLDER/smalldata. The group HELD_BACK was not
looked at while the default of AutoSVC was decided.
--plot draws each method's error beside ours, --significance counts the sets where one of ours is
worse than a rival.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import os
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from scipy.stats import rankdata, ttest_rel
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, HalvingGridSearchCV
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
SEVERAL_CLASSES = [
    "digits",
    "iris",
    "wine",
    "artificial-characters",
    "balance-scale",
    "mfeat-fourier",
    "robot-failure-lp4",
    "thyroid-ann",
    "thyroid-newthyroid",
    "volcanoes-a4",
    "waveform-v1",
    "wine-quality-5class",
]
GROUPS = {
    "decided on": DECIDED_ON,
    "held back": HELD_BACK,
    "several classes": SEVERAL_CLASSES,
}
BUNDLED = {"wdbc": load_breast_cancer, "digits": load_digits, "iris": load_iris, "wine": load_wine}
Array = np.ndarray[Any, Any]
Models = tuple[Any, Any]  # one that predicts, one that gives probabilities (or None)
GRID = {"C": 2.0 ** np.linspace(-5, 15, 10), "gamma": 2.0 ** np.linspace(-15, 3, 10)}


def calibrated(model: Any) -> Any:
    """Add probabilities by a sigmoid on five folds, as scikit-learn advises."""
    return CalibratedClassifierCV(model, ensemble=False, cv=5)


def ours(name: str, **options: Any) -> Callable[[Array, Array, int], Models]:
    """One of our classifiers, with these options."""

    def fit(X: Array, y: Array, seed: int) -> Models:
        import svmselect

        model = getattr(svmselect, name)(random_state=seed, **options).fit(X, y)
        return model, model

    return fit


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
    labels = np.unique(y)

    class Wrapped:
        def predict(self, Z: Array) -> Array:
            # it wants to see all labels, whatever they are
            found = np.asarray(model.test(Z, np.resize(labels.astype(float), len(Z)))[0])
            return np.asarray(np.rint(found.reshape(len(Z), -1)[:, 0])).astype(int)

    return Wrapped(), None


def catboost(X: Array, y: Array, seed: int) -> Models:
    """A thousand oblivious trees, untuned."""
    from catboost import CatBoostClassifier

    model = CatBoostClassifier(
        thread_count=1, random_seed=seed, verbose=False, allow_writing_files=False
    ).fit(X, y)
    return flat(model), model


def flat(model: Any) -> Any:
    """The same, its predictions in one dimension."""

    class Wrapped:
        def predict(self, Z: Array) -> Array:
            return np.asarray(model.predict(Z)).ravel()

    return Wrapped()


def lightgbm(X: Array, y: Array, seed: int) -> Models:
    """A hundred trees, untuned."""
    from lightgbm import LGBMClassifier

    model = LGBMClassifier(n_jobs=1, random_state=seed, verbose=-1).fit(X, y)
    return model, model


def forest(X: Array, y: Array, seed: int) -> Models:
    """Five hundred trees."""
    model = RandomForestClassifier(500, random_state=seed, n_jobs=1).fit(X, y)
    return model, model


def xrfm(X: Array, y: Array, seed: int) -> Models:
    """Recursive feature machines, stopped by a fifth of the rows."""
    import torch
    from sklearn.model_selection import train_test_split
    from xrfm import xRFM

    torch.set_num_threads(1)
    torch.manual_seed(seed)
    labels = np.unique(y)
    codes = np.searchsorted(labels, y)
    A, B, a, b = train_test_split(X, codes, test_size=0.2, stratify=codes, random_state=seed)
    model = xRFM(device="cpu", tuning_metric="logloss", verbose=False, random_state=seed)
    model.fit(A, a, B, b)

    class Wrapped:
        def predict_proba(self, Z: Array) -> Array:
            found = np.asarray(model.predict_proba(Z))
            found = np.hstack([1.0 - found, found]) if found.shape[1] == 1 else found
            return np.clip(found, 1e-6, 1.0) / np.clip(found, 1e-6, 1.0).sum(1, keepdims=True)

        def predict(self, Z: Array) -> Array:
            return labels[self.predict_proba(Z).argmax(axis=1)]

    return Wrapped(), Wrapped()


METHODS: dict[str, Callable[[Array, Array, int], Models]] = {
    "AutoClassifier": ours("AutoClassifier"),
    "AutoSVC": ours("AutoSVC"),
    "AutoKLR": ours("AutoKLR"),
    "SVC": svc,
    "grid": grid,
    "halving": halving,
    "GPC": gpc,
    "GPC-ARD": gpc_ard,
    "optuna": optuna_tpe,
    "liquidSVM": liquid,
    "CatBoost": catboost,
    "LightGBM": lightgbm,
    "forest": forest,
    "xRFM": xrfm,
    # what each part of the default brings (docs/guide/default.md)
    "AutoClassifier, standardised": ours("AutoClassifier", standardize=True),
    "AutoClassifier, Gaussian": ours("AutoClassifier", kernel="rbf"),
    "AutoClassifier, one machine": ours("AutoClassifier", averaging=False),
    "AutoClassifier, logistic": ours("AutoClassifier", loss="logistic"),
    "AutoClassifier, one scale": ours("AutoClassifier", ard="no"),
    "AutoClassifier, also Matern": ours("AutoClassifier", kernel=["rbf", "laplacian", "matern"]),
}
OURS = [name for name in METHODS if name.startswith("Auto")]
TAKE_ANY_UNITS = [*OURS, "CatBoost", "LightGBM", "forest"]
DEFAULT = ["AutoClassifier", "AutoSVC", "SVC", "grid", "halving", "GPC"]


def path_of(folder: Path, name: str) -> Path:
    """Where a data set lies that does not come with scikit-learn."""
    if name in SEVERAL_CLASSES:
        return folder / "smalldata" / f"{name}.parquet"
    return folder / f"{name}.npz"


def load(folder: Path, name: str) -> tuple[Array, Array]:
    """Inputs and labels: -1 and +1, or 0, 1, 2, ..."""
    if name in BUNDLED:
        X, y = BUNDLED[name](return_X_y=True)
        return X, np.where(y > 0, 1, -1) if name == "wdbc" else y
    if name in SEVERAL_CLASSES:
        table = pd.read_parquet(path_of(folder, name))
        X = table.drop(columns="Class").to_numpy(float)
        return X, table["Class"].factorize(sort=True)[0].astype(int)
    with np.load(folder / f"{name}.npz") as file:
        return file["X"].astype(float), file["y"].astype(int)


def split(
    X: Array, y: Array, rows: int, seed: int, scaled: bool = True
) -> tuple[Array, Array, Array, Array]:
    """At most ``rows`` and two thirds for training, at most 4000 for testing."""
    order = np.random.default_rng(1000 + seed).permutation(len(y))
    n = min(rows, 2 * len(y) // 3)
    train, test = order[:n], order[n : n + 4000]
    if not scaled:
        return X[train], y[train], X[test], y[test]
    scaler = StandardScaler().fit(X[train])
    return scaler.transform(X[train]), y[train], scaler.transform(X[test]), y[test]


def measure(folder: Path, key: tuple[str, str, str, str]) -> list[str]:
    """One line of the table."""
    name, rows, seed, method = key
    scaled = method not in TAKE_ANY_UNITS
    X, y, X_test, y_test = split(*load(folder, name), int(rows), int(seed), scaled)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        began = time.process_time()
        model, probable = METHODS[method](X, y, int(seed))
        seconds = time.process_time() - began
        error = float(np.mean(model.predict(X_test) != y_test))
        loss = np.nan
        if probable is not None:
            loss = log_loss(y_test, probable.predict_proba(X_test), labels=np.unique(y))
    return [*key, f"{error:.6f}", f"{loss:.6f}", f"{seconds:.4f}"]


def wanted(folder: Path, rows: int, splits: int, methods: list[str]) -> Iterator[tuple[str, ...]]:
    """What the table should have, the first split of all data sets first.

    Beyond 400 rows only data sets that have more, and no Gaussian processes.
    """
    names = [
        name for name in itertools.chain(*GROUPS.values())
        if name in BUNDLED or path_of(folder, name).exists()
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
    for title, group in GROUPS.items():
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
        ranks = [rankdata(values[:, :, k], axis=1).mean(axis=0) for k in (0, 1)]
        error, loss, seconds = values.mean(axis=0).T
        summary = {
            "mean error": [f"{100 * v:.2f}" for v in error],
            "mean rank in error": [f"{v:.2f}" for v in ranks[0]],
            "mean log loss": [f"{v:.4f}" for v in loss],
            "mean rank in log loss": [f"{v:.2f}" for v in ranks[1]],
            "CPU seconds": [f"{v:.2f}" for v in seconds],
        }
        if "grid" in methods:
            ratio = values[:, [methods.index("grid")], 2] / values[:, :, 2]
            summary["times faster than the grid"] = [f"{v:.1f}" for v in ratio.mean(axis=0)]
        for label, figures in summary.items():
            print(f"| {label} | " + " | ".join(figures) + " |")


def significance(table: Path, rows: int, method: str, rival: str) -> None:
    """On how many sets ``method`` errs more than a rival: paired over splits, Holm at 5 %."""
    cells = read(table, rows, [method, rival])
    better, worse = [], []
    for name in itertools.chain(*GROUPS.values()):
        pairs = np.array([(c[method][0], c[rival][0]) for (d, _), c in cells.items() if d == name])
        if len(pairs) < 3:
            continue
        less, more = pairs.T
        p = 1.0 if np.ptp(less - more) == 0 else float(ttest_rel(less, more).pvalue)
        (worse if less.mean() > more.mean() else better).append((p, name))
    found = sorted(better + worse)
    held = []
    for i, (p, name) in enumerate(found):
        if p > 0.05 / (len(found) - i):
            break
        held.append(name)
    bad = [name for name in held if name in {n for _, n in worse}]
    print(f"\n{method} and {rival}, {len(found)} sets: {len(better)} better, {len(worse)} worse;")
    print(f"significantly better {len(held) - len(bad)}, significantly worse {bad or 'nowhere'}")


def plot(table: Path, rows: int, methods: list[str], file: Path) -> None:
    """Each rival's error on each data set beside ours: a point above the line is our gain."""
    import matplotlib.pyplot as plt

    first, *rivals = methods
    figure, axes = plt.subplots(
        2, -(-len(rivals) // 2), figsize=(2.6 * -(-len(rivals) // 2), 6.2), layout="constrained",
        squeeze=False,
    )  # fmt: skip
    for ax in axes.flat[len(rivals) :]:
        ax.set_axis_off()
    for ax, rival in zip(axes.flat, rivals, strict=False):
        cells = read(table, rows, [first, rival])
        for group, mark, label in ((DECIDED_ON, "o", "decided on"), (HELD_BACK, "D", "held back")):
            means = np.array(list(means_of(cells, group, [first, rival]).values()))
            ax.plot(100 * means[:, 0, 0], 100 * means[:, 1, 0], mark, ms=4, alpha=0.8, label=label)
        ends = (0.25, 45.0)
        ax.plot(ends, ends, color="0.6", lw=0.8, zorder=0)
        ax.set(xscale="log", yscale="log", xlim=ends, ylim=ends, title=rival, aspect="equal")
        ax.set_xlabel(f"{first}, error %")
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
    parser.add_argument("--significance", action="store_true", help="the first against the rest")
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
    if options.significance:
        for rival in options.methods[1:]:
            significance(options.table, options.rows, options.methods[0], rival)
    if options.plot is not None:
        plot(options.table, options.rows, options.methods, options.plot)


if __name__ == "__main__":
    main()
