"""Whether the expected error tells the truth: the share of 95 % intervals that hold the true error.

Simulated tables of two classes, with numbers alone and with a category of 25 levels that is pure
noise; the true error is that of 20,000 new rows.

    python benchmarks/honest.py --repeats 50
"""

from __future__ import annotations

import argparse
import os
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")

import joblib
import numpy as np
import pandas as pd

from svmselect import AutoClassifier, AutoKLR, AutoSVC
from svmselect.probability.intervals import interval

NEW = 20_000
METHODS = {"AutoSVC": AutoSVC, "AutoKLR": AutoKLR, "AutoClassifier": AutoClassifier}


def numbers(rows: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """Six numbers, of which three count, one of them by its square."""
    X = rng.normal(size=(rows, 6))
    f = 1.5 * X[:, 0] + X[:, 1] ** 2 - 1.0 + np.sin(2.0 * X[:, 2])
    y = rng.random(rows) < 1.0 / (1.0 + np.exp(-2.5 * f))
    return pd.DataFrame(X, columns=list("abcdef")), y.astype(int)


def clean(rows: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """Four numbers and classes that a plane nearly parts: few errors."""
    X = rng.normal(size=(rows, 4))
    y = X[:, 0] + X[:, 1] + 0.25 * rng.normal(size=rows) > 0
    return pd.DataFrame(X, columns=list("abcd")), y.astype(int)


def with_category(rows: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """The numbers beside a category of 25 levels that says nothing."""
    X, y = numbers(rows, rng)
    return X.assign(place=[f"p{k}" for k in rng.integers(25, size=rows)]), y


def clean_with_category(rows: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    """Few errors, and a category of 25 levels that says nothing."""
    X, y = clean(rows, rng)
    return X.assign(place=[f"p{k}" for k in rng.integers(25, size=rows)]), y


KINDS = (numbers, clean, with_category, clean_with_category)


def trial(name: str, kind: int, rows: int, seed: int) -> tuple[float, float, float, float, float]:
    """True error, expected error, counted error, and the ends of the interval."""
    rng = np.random.default_rng([seed, kind, rows])
    X, y = KINDS[kind](rows, rng)
    model = METHODS[name](random_state=seed).fit(X, y)
    estimate = model.selection_.error
    new, truth = KINDS[kind](NEW, rng)
    seen = estimate.error if estimate.seen is None else estimate.seen
    return 1.0 - model.score(new, truth), estimate.error, seen, *interval(estimate)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=50)
    parser.add_argument("--rows", type=int, nargs="*", default=[100, 300, 1000])
    parser.add_argument("--methods", nargs="*", default=["AutoSVC"], choices=list(METHODS))
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    print("error in %: true, counted on held-out rows, expected; intervals that hold the true one")
    for name in options.methods:
        held = []
        for rows in options.rows:
            for kind, made in enumerate(KINDS):
                began = time.perf_counter()
                found = joblib.Parallel(options.jobs)(
                    joblib.delayed(trial)(name, kind, rows, s) for s in range(options.repeats)
                )
                true, told, seen, low, high = np.array(found).T
                inside = (low <= true) & (true <= high)
                held.extend(inside)
                print(
                    f"{name:<15} {rows:>5} rows  {made.__name__:<20} {100 * true.mean():6.2f} "
                    f"{100 * seen.mean():6.2f} {100 * told.mean():6.2f}   {inside.mean():5.0%} "
                    f"width {100 * (high - low).mean():5.2f}  above {np.mean(true > high):.0%} "
                    f"({time.perf_counter() - began:.0f} s)",
                    flush=True,
                )
        print(f"{name:<15} all: {np.mean(held):.1%} of {len(held)}")


if __name__ == "__main__":
    main()
