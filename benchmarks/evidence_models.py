"""The evidence of Sollich's model and of the normalised one: what each chooses, how each predicts.

    python benchmarks/evidence_models.py [FOLDER] [--splits 10] [--sets bupa pima raetsch_german]

On each split C, the amplitude and the width of a Gaussian kernel with an offset are chosen by
`evidence-ep` and `lbfgs`, from three starts, for the unnormalised and the normalised model. Then
predictions: the SVM itself (the mode), the posterior mean, and the log loss of the posterior
predictive. "trivial" counts the splits where the machine chosen predicts one class.
FOLDER holds .npz files with X and y (-1, +1); without it nothing is run.
"""

from __future__ import annotations

import argparse
import os
import warnings
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from svmselect import select
from svmselect.kernels import RBF, Constant
from svmselect.machine import solve
from svmselect.posterior import expectation_propagation
from svmselect.posterior.predictive import latent_at, predict_probability


def split(folder: Path, name: str, seed: int, rows: int) -> tuple[np.ndarray, ...]:
    """At most ``rows`` and two thirds for training, standardised."""
    with np.load(folder / f"{name}.npz") as file:
        X, y = file["X"].astype(float), file["y"].astype(float)
    order = np.random.default_rng(1000 + seed).permutation(len(y))
    n = min(rows, 2 * len(y) // 3)
    train, test = order[:n], order[n : n + 4000]
    mean, scale = X[train].mean(axis=0), X[train].std(axis=0)
    X = (X - mean) / np.where(scale > 0, scale, 1.0)
    return X[train], y[train], X[test], y[test]


def study(
    X: np.ndarray, y: np.ndarray, X_test: np.ndarray, y_test: np.ndarray
) -> list[list[float]]:
    """For both models: evidence, C, amplitude, width, three errors, log loss, one class or not."""
    rows = []
    for normalised in (False, True):
        kernel = Constant(1.0) * RBF(np.sqrt(X.shape[1])) + Constant(0.1)
        found = select(
            X, y, "evidence-ep", "lbfgs", kernel, fit_intercept=False, n_starts=3, random_state=0,
            options={"normalised": normalised},
        )  # fmt: skip
        K, cross = found.kernel(X), found.kernel(X_test, X)
        mode = cross @ solve(K, y, found.C, fit_intercept=False).beta
        ep = expectation_propagation(K, y, found.C, normalised=normalised)
        mean, _ = latent_at(ep, cross, found.kernel.diag(X_test))
        p = predict_probability(ep, cross, found.kernel.diag(X_test))
        chosen = np.where(y_test > 0, p, 1.0 - p)
        rows.append(
            [
                found.value, found.C, *np.exp(found.kernel.theta[:2]),
                *(100 * np.mean(np.sign(f) != y_test) for f in (mode, mean)),
                -np.log(np.maximum(chosen, 1e-300)).mean(),
                float(len(np.unique(np.sign(mode))) == 1),
            ]
        )  # fmt: skip
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?", default=os.environ.get("SVMSELECT_DATA"))
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--rows", type=int, default=400)
    parser.add_argument("--sets", nargs="*", default=["bupa", "pima", "raetsch_german"])
    options = parser.parse_args()
    if options.folder is None:
        print("benchmarks/evidence_models.py: give a folder of data sets, or set SVMSELECT_DATA")
        return
    print(
        "| data | model | evidence | C | amplitude | width | mode % | mean % | log loss | trivial |"
    )
    print("|---" * 10 + "|")
    for name in options.sets:
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tables = np.array(
                [
                    study(*split(options.folder, name, s, options.rows))
                    for s in range(options.splits)
                ]
            )
        for model, table in zip(("unnormalised", "normalised"), tables.swapaxes(0, 1), strict=True):
            middle = np.median(table[:, :4], axis=0)
            means = table[:, 4:7].mean(axis=0)
            print(
                f"| {name.removeprefix('raetsch_')} | {model} | {middle[0]:.4f} | {middle[1]:.3g} "
                f"| {middle[2]:.3g} | {middle[3]:.3g} | {means[0]:.2f} | {means[1]:.2f} "
                f"| {means[2]:.4f} | {int(table[:, 7].sum())} of {len(table)} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
