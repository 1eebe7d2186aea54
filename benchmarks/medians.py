"""Medians of all rows against medians of the rows that a fold trains on.

    python benchmarks/medians.py [TABLES]

Gaps are filled in with medians of all rows of the fit, held-out ones included. Here the machines of
every fold are trained again on rows filled in with the medians of its training rows alone, at the
chosen C and kernel; what that changes in the log loss of held-out rows, beside that of new rows.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from svmselect import AutoSVC
from svmselect.machine import solve

INPUTS, NEW = 8, 4000
# rows, share of gaps, inputs that lean to one side
TABLES = ((60, 0.2, False), (60, 0.2, True), (200, 0.05, False), (200, 0.2, False),
          (200, 0.2, True), (200, 0.4, True))  # fmt: skip


def simulated(rng: np.random.Generator, n: int, share: float, leaning: bool) -> tuple[Any, Any]:
    """Rows with gaps at random, and their classes."""
    Z = rng.normal(size=(n, INPUTS))
    f = 1.5 * Z[:, 0] * np.where(Z[:, 1] > 0, 1, -1) + Z[:, 2] + 0.7 * Z[:, 3]
    y = (rng.random(n) < 1.0 / (1.0 + np.exp(-f))).astype(int)
    X = np.exp(Z) if leaning else Z.copy()
    X[rng.random(X.shape) < share] = np.nan
    return X, y


def losses(p: Any, y: Any) -> Any:
    """Log loss of each row."""
    return -np.log(np.clip(np.where(y == 1, p, 1.0 - p), 1e-12, 1.0))


def held_out(model: Any, X: Any, fold_by_fold: bool) -> float:
    """Mean log loss of held-out rows, by machines that did not see them."""
    problem, sigmoid = model.selection_.problem, model.selection_.calibration[0]
    rows, codes = X[problem.first], problem.codes
    signs, found = np.where(codes == 1, 1.0, -1.0), np.zeros(len(codes))
    for test in problem.splits.test.T:
        middle = np.nanmedian(rows[~test] if fold_by_fold else X, axis=0)
        filled = (np.where(np.isnan(rows), middle, rows) - model.mean_) / model.scale_
        K, train = model.kernel_(filled), np.flatnonzero(~test)
        C = float(model.C_) * len(codes) / len(train)
        machine = solve(K[np.ix_(train, train)], signs[train], C)
        f = K[np.ix_(test, train)] @ machine.beta + machine.intercept
        p = 1.0 / (1.0 + np.exp(sigmoid.slope * (f + sigmoid.shift)))
        found[test] = losses(p, codes[test])
    return float(found.mean())


def compared(seed: int, n: int, share: float, leaning: bool) -> tuple[float, float, float]:
    """Held-out log loss with all medians, with those of the folds, and that of new rows."""
    rng = np.random.default_rng(seed)
    X, y = simulated(rng, n, share, leaning)
    new, told = simulated(rng, NEW, share, leaning)
    model = AutoSVC(random_state=0, ard="no", standardize=True, missing="impute").fit(X, y)
    truth = float(losses(model.predict_proba(new)[:, 1], told).mean())
    return held_out(model, X, False), held_out(model, X, True), truth


def main() -> None:
    """Print a line for each kind of table."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    print("rows gaps leaning | held out: all, by fold | new rows | all - by fold")
    for n, share, leaning in TABLES:
        found = np.array([compared(seed, n, share, leaning) for seed in range(count)])
        apart = found[:, 0] - found[:, 1]
        error = apart.std(ddof=1) / np.sqrt(count)
        means = "{:.4f} {:.4f} | {:.4f}".format(*found.mean(axis=0))
        print(f"{n:4d} {share:.2f} {leaning!s:5} | {means} | {apart.mean():+.5f} +- {error:.5f}")


if __name__ == "__main__":
    main()
