"""Many rows beside rivals: error, log loss, time, and the peak of memory.

    python benchmarks/large.py memory  [--rows 100000] [--methods ...]
    python benchmarks/large.py parquet [--rows 1000000 2000000] [--inputs 50] --folder FOLDER
    python benchmarks/large.py chunks  [--rows 1000000] [--inputs 50] --folder FOLDER
    python benchmarks/large.py tables  --folder FOLDER [--sets connect-4 flights ...]
    python benchmarks/large.py dask    [--rows 4000000] [--inputs 20] --folder FOLDER
    python benchmarks/large.py plot    --out FILE --plot PICTURE

``memory``: a rule in 5 of 50 inputs with noise, in arrays; the rule itself errs by 6.5 %.
``parquet``: the same in a folder of Parquet files, which are made first and deleted at last.
``chunks``: the same in files of NumPy's, of 100,000 rows each, that are loaded one after another.
``tables``: every NAME.parquet of the folder (columns as they are, the target called "target"), the
same fifth of the rows held apart for all methods. ``dask``: the files of ``parquet`` read and added
up by one worker and by two, of one thread each. With --out each line goes into a file of comma-
separated values too, and ``plot`` draws AutoSVC's time and memory against rows from it.

Every method runs in a process of its own, of --threads threads, whose peak memory is reported; what
it is given is in it. The grid of Nystroem + LinearSVC is searched on 10,000 rows in three folds and
its best cell trained on all, with as many landmarks as AutoSVC has at most; SGDClassifier sees the
rows once, on as many random features; LightGBM and HistGradientBoosting have their defaults.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import resource
import shutil
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

LANDMARKS = 1000
GRID = {
    "map__gamma": [0.1, 0.3, 1.0, 3.0],  # over the number of inputs, which are standardised
    "svc__C": [0.1, 1.0, 10.0, 100.0],
}
TUNED_ON = 10_000
METHODS = ("AutoSVC", "Nystroem+LinearSVC", "SGDClassifier", "LightGBM")
OF_TABLES = ("AutoClassifier", "LightGBM", "HistGradientBoosting")
PART = 500_000  # rows of a file
DEFAULT_ROWS = {"memory": 100_000, "parquet": 1_000_000, "chunks": 1_000_000, "dask": 4_000_000}


def generated(n: int, seed: int, d: int = 50) -> tuple[np.ndarray, np.ndarray]:
    """Five inputs decide, not linearly; the others are noise. The rule itself errs by 6.5%."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    rule = np.sin(2.0 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * X[:, 3] ** 2 - 0.5 + 0.7 * X[:, 4]
    return X, np.where(rule + 0.3 * rng.normal(size=n) > 0, 1, -1)


def write_parquet(folder: Path, rows: int, inputs: int) -> None:
    """The generated rows as files of at most half a million."""
    import pandas as pd

    folder.mkdir(parents=True, exist_ok=True)
    for part, first in enumerate(range(0, rows, PART)):
        X, y = generated(min(PART, rows - first), 1000 + part, inputs)
        frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(inputs)]).assign(target=y)
        path = folder / f"part{part:03d}.parquet"
        frame.to_parquet(path, index=False, row_group_size=PART // 5)


def write_chunks(folder: Path, rows: int, inputs: int) -> None:
    """The generated rows as arrays in files."""
    folder.mkdir(parents=True, exist_ok=True)
    for part, first in enumerate(range(0, rows, PART // 5)):
        X, y = generated(min(PART // 5, rows - first), 1000 + part, inputs)
        np.savez(folder / f"part{part:03d}.npz", X=X, y=y)


class Chunks:
    """Pairs of arrays, one file after another, every time they are asked for."""

    def __init__(self, folder: str) -> None:
        self.files = sorted(Path(folder).glob("*.npz"))

    def __iter__(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        for file in self.files:
            with np.load(file) as part:
                yield part["X"], part["y"]


def given(source: str, rows: int, inputs: int, folder: str) -> tuple[Any, Any, Any, Any]:
    """What to fit to, and rows to test on."""
    if source == "memory":
        return *generated(rows, 0, inputs), *generated(20_000, 1, inputs)
    if source == "chunks":
        return Chunks(folder), None, *generated(20_000, 1, inputs)
    if source == "parquet":
        import pandas as pd

        X, y = generated(20_000, 1, inputs)
        return folder, "target", pd.DataFrame(X, columns=[f"x{j}" for j in range(inputs)]), y
    import pandas as pd

    frame = pd.read_parquet(folder)
    order = np.random.default_rng(0).permutation(len(frame))
    held = len(frame) // 5
    X, y = frame.drop(columns="target"), frame["target"].to_numpy()
    return X.iloc[order[held:]], y[order[held:]], X.iloc[order[:held]], y[order[:held]]


def whole(X: Any, y: Any) -> tuple[Any, Any]:
    """Files as a frame in memory, for those who need one."""
    if isinstance(X, Chunks):
        inputs, labels = zip(*X, strict=True)
        return np.concatenate(inputs), np.concatenate(labels)
    if not isinstance(X, str):
        return X, y
    import pandas as pd

    frame = pd.read_parquet(X)
    return frame.drop(columns=y), frame[y].to_numpy()


def auto(X: Any, y: Any) -> Any:
    from svmselect import AutoSVC

    return AutoSVC(random_state=0, n_jobs=int(os.environ["OMP_NUM_THREADS"])).fit(X, y)


def auto_classifier(X: Any, y: Any) -> Any:
    from svmselect import AutoClassifier

    return AutoClassifier(random_state=0, n_jobs=int(os.environ["OMP_NUM_THREADS"])).fit(X, y)


def encoder() -> Any:
    """Words one-hot, numbers standardised, gaps filled in."""
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    words = OneHotEncoder(handle_unknown="ignore", max_categories=100, sparse_output=False)
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    return make_column_transformer(
        (numbers, make_column_selector(dtype_include="number")),
        (words, make_column_selector(dtype_exclude="number")),
    )


def nystroem(X: Any, y: Any) -> Any:
    from sklearn.kernel_approximation import Nystroem
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import LinearSVC

    X, y = whole(X, y)
    steps = [
        ("scale", StandardScaler() if isinstance(X, np.ndarray) else encoder()),
        ("map", Nystroem(n_components=LANDMARKS, random_state=0)),
        ("svc", LinearSVC(dual=False)),
    ]
    grid = dict(GRID)
    grid["map__gamma"] = [gamma / X.shape[1] for gamma in GRID["map__gamma"]]
    search = GridSearchCV(Pipeline(steps), grid, cv=3, refit=False)
    part = np.random.default_rng(0).permutation(len(y))[:TUNED_ON]
    rows = X[part] if isinstance(X, np.ndarray) else X.iloc[part]
    search.fit(rows, y[part])
    return Pipeline(steps).set_params(**search.best_params_).fit(X, y)


def gradient_descent(X: Any, y: Any) -> Any:
    from sklearn.kernel_approximation import RBFSampler
    from sklearn.linear_model import SGDClassifier
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import StandardScaler

    X, y = whole(X, y)
    scale = (StandardScaler() if isinstance(X, np.ndarray) else encoder()).fit(X)
    features = RBFSampler(gamma=0.3 / X.shape[1], n_components=LANDMARKS, random_state=0)
    made, labels = SGDClassifier(loss="log_loss", alpha=1e-6, random_state=0), np.unique(y)
    for at in range(0, len(y), 20_000):
        part = slice(at, at + 20_000)
        Z = scale.transform(X[part] if isinstance(X, np.ndarray) else X.iloc[part])
        Z = features.fit_transform(Z) if at == 0 else features.transform(Z)
        made.partial_fit(Z, y[part], labels)
    return Pipeline([("scale", scale), ("map", features), ("svc", made)])


def boosted(X: Any, y: Any) -> Any:
    from lightgbm import LGBMClassifier

    X, y = whole(X, y)
    return LGBMClassifier(verbose=-1, n_jobs=int(os.environ["OMP_NUM_THREADS"])).fit(words(X), y)


def words(X: Any) -> Any:
    """Texts as categories, which is how LightGBM takes them, and times as numbers."""
    if isinstance(X, np.ndarray):
        return X
    times = [name for name in X.columns if X[name].dtype.kind == "M"]
    texts = [name for name in X.columns if X[name].dtype.kind not in "iufbM"]
    return X.assign(**{name: X[name].astype(np.int64) for name in times}).astype(
        dict.fromkeys(texts, "category")
    )


def histograms(X: Any, y: Any) -> Any:
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OrdinalEncoder

    X, y = whole(X, y)
    if isinstance(X, np.ndarray):
        return HistGradientBoostingClassifier(random_state=0).fit(X, y)
    # it takes no more than 255 categories
    codes = OrdinalEncoder(
        handle_unknown="use_encoded_value", unknown_value=np.nan, max_categories=250
    )
    split = make_column_transformer(
        (codes, make_column_selector(dtype_exclude="number")), remainder="passthrough"
    )
    X = words(X)
    count = X.select_dtypes(exclude="number").shape[1]
    model = HistGradientBoostingClassifier(categorical_features=range(count), random_state=0)
    return make_pipeline(split, model).fit(X, y)


FITS = {
    "AutoSVC": auto,
    "Nystroem+LinearSVC": nystroem,
    "SGDClassifier": gradient_descent,
    "LightGBM": boosted,
    "AutoClassifier": auto_classifier,
    "HistGradientBoosting": histograms,
}


def measure(method: str, *of: Any) -> dict[str, Any]:
    """Fit, test, and look at the clock and at the memory; in a fresh process."""
    X, y, X_test, y_test = given(*of)
    before, cpu = time.perf_counter(), time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = FITS[method](X, y)
    seconds, cpu = time.perf_counter() - before, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    if method in ("LightGBM", "HistGradientBoosting"):
        X_test = words(X_test)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        error = float(np.mean(model.predict(X_test) != y_test))
        loss = None
        if hasattr(model, "predict_proba"):
            at = np.searchsorted(model.classes_, y_test)
            p = model.predict_proba(X_test)[np.arange(len(y_test)), at]
            loss = float(-np.mean(np.log(np.maximum(p, 1e-15))))
    found = {"error": error, "loss": loss, "seconds": seconds, "cpu": cpu, "peak": peak}
    if method.startswith("Auto"):
        found["words"] = model.explain()
        spent: dict[str, float] = {}
        for record in model.trace_:
            spent[record.run] = spent.get(record.run, 0.0) + record.evaluation.seconds
        found["spent"] = {name: round(value, 1) for name, value in spent.items()}
    return found


COLUMNS = ("data", "method", "rows", "inputs", "threads", "error", "loss", "seconds", "cpu", "peak")


def report(
    what: str, method: str, source: str, rows: int, inputs: int, folder: str, threads: int,
    out: Path | None,
) -> None:  # fmt: skip
    """One line of the table, from a process of its own."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    environment = os.environ | dict.fromkeys(names, str(threads))
    task = json.dumps([method, source, rows, inputs, folder])
    done = subprocess.run(
        [sys.executable, __file__, "one", "--task", task], env=environment,
        stdout=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    r = json.loads(done.stdout.splitlines()[-1])
    loss = "" if r["loss"] is None else f"{r['loss']:.3f}"
    print(
        f"| {what} | {method} | {100 * r['error']:.2f} | {loss} | {r['seconds']:.1f} | "
        f"{r['cpu']:.0f} | {r['peak']:.2f} |",
        flush=True,
    )
    if out is not None:
        named = what if source == "table" else source
        whole = r | {"data": named, "method": method, "rows": rows, "inputs": inputs}
        new = not out.exists()
        with out.open("a", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, extrasaction="ignore")
            if new:
                writer.writeheader()
            writer.writerow(whole | {"threads": threads})
    if "words" in r:
        print(f"<!-- {json.dumps(r['spent'])} {r['words']} -->", flush=True)


def plot(out: Path, picture: Path) -> None:
    """Time and memory against rows, of AutoSVC on files."""
    import matplotlib

    matplotlib.use("agg")
    import pandas as pd
    from matplotlib import pyplot as plt

    table = pd.read_csv(out).query("method == 'AutoSVC' and data in ('parquet', 'chunks')")
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.0, 3.2), layout="constrained")
    for inputs, part in table.groupby("inputs"):
        part = part.sort_values("rows")
        million = part["rows"] / 1e6
        left.plot(million, part["seconds"], "o-", label=f"{inputs} inputs")
        right.plot(million, part["peak"], "o-", label=f"{inputs} inputs")
        if len(part) > 1:
            whole = 8e6 * million * (inputs + 1) / 2**30
            right.plot(million, whole, ":", color="0.6", label=f"the rows, {inputs} inputs")
    left.set(xlabel="million rows", ylabel="seconds", ylim=(0, None))
    right.set(xlabel="million rows", ylabel="peak memory, GiB", ylim=(0, None))
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_xlim(0, None)
        axes.legend(frameon=False)
    figure.savefig(picture, dpi=110)


def on_dask(folder: str, inputs: int) -> None:
    """One worker, then two: the passes of a fit, and whether both give the same."""
    import dask.dataframe as dd
    from distributed import Client, LocalCluster

    from svmselect import AutoSVC

    X = np.random.default_rng(1).normal(size=(20_000, inputs))
    values = []
    for workers in (1, 2):
        with (
            LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as made,
            Client(made),
        ):
            frame = dd.read_parquet(folder)
            rows, y = frame.drop(columns="target"), frame["target"]
            before = time.perf_counter()
            model = AutoSVC(random_state=0).fit(rows, y)
            seconds = time.perf_counter() - before
        passes = [r for r in model.trace_ if r.run.endswith("all rows")]
        over_all = sum(
            r.evaluation.seconds for r in passes if r.evaluation.details["rows"] > 200_000
        )
        values.append(model.decision_function(X))
        print(f"{workers} workers: {seconds:.0f} s, passes over all rows {over_all:.0f} s")
    print(f"largest difference of decision values {np.abs(values[0] - values[1]).max():.1e}")


def main() -> None:
    """Run what is asked for, one process each, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=[*DEFAULT_ROWS, "tables", "plot", "one"])
    parser.add_argument("--rows", type=int, nargs="*", default=[])
    parser.add_argument("--inputs", type=int, default=50)
    parser.add_argument("--folder", default="rows")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--methods", nargs="*", choices=FITS)
    parser.add_argument("--sets", nargs="*")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--task", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.what == "one":
        print(json.dumps(measure(*json.loads(asked.task))))
        return
    if asked.what == "plot":
        plot(asked.out, asked.plot)
        return
    folder = Path(asked.folder)
    if asked.what != "dask":
        print("| data | method | error % | log loss | seconds | CPU s | peak GiB |")
        print("|---|---|---|---|---|---|---|")
    if asked.what == "tables":
        for path in sorted(folder.glob("*.parquet")):
            if asked.sets is None or path.stem in asked.sets:
                for method in asked.methods or OF_TABLES:
                    report(path.stem, method, "table", 0, 0, str(path), asked.threads, asked.out)
        return
    for rows in asked.rows or [DEFAULT_ROWS[asked.what]]:
        here = folder / f"{rows}x{asked.inputs}"
        if asked.what != "memory":
            write = write_chunks if asked.what == "chunks" else write_parquet
            write(here, rows, asked.inputs)
        try:
            if asked.what == "dask":
                on_dask(str(here), asked.inputs)
            else:
                for method in asked.methods or METHODS:
                    title = f"{rows:,} x {asked.inputs}, {asked.what}"
                    of = rows, asked.inputs, str(here), asked.threads, asked.out
                    report(title, method, asked.what, *of)
        finally:
            shutil.rmtree(here, ignore_errors=True)


if __name__ == "__main__":
    main()
