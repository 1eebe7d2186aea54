"""Searches and priors on real data: time and value of each search, what the priors buy, GI's toy.

    python benchmarks/search.py [--data FOLDER] [--parts searches prior toy] [--splits 3] [--jobs 1]

One thread. Data: $SVMSELECT_DATA or ../shared/data; without it only the toy is run.
"""

import argparse
import os
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from svmselect import select
from svmselect.datasets.toys import BAYES_ERROR, half_relevant
from svmselect.kernels import RBF
from svmselect.priors import Hierarchical
from svmselect.search import get_search
from svmselect.selection.result import Selection

ROOT = Path(__file__).parents[1]
Split = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]

# Shark's likelihood with ARD, seconds per selection as its authors' library was measured elsewhere:
# mean over ten data sets, and the slowest (60 inputs).
SHARK = (1.5, 11.0)


def splits(folder: Path, name: str, count: int, most: int = 400) -> Iterator[Split]:
    """Random splits, standardised by the training part."""
    file = np.load(folder / f"{name}.npz")
    X, y = file["X"].astype(float), file["y"]
    for seed in range(count):
        order = np.random.default_rng(seed).permutation(len(y))
        train, test = np.split(order, [min(most, int(0.66 * len(y)))])
        mean, scale = X[train].mean(axis=0), X[train].std(axis=0)
        scale[scale == 0] = 1.0
        yield (X[train] - mean) / scale, y[train], (X[test] - mean) / scale, y[test]


def errors(found: Selection, X: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Test error in per cent by the sign of f, and by the sigmoid that the likelihood fitted."""
    f = found.decision_function(X)
    details = found.record.evaluation.details
    p = details.get("sigmoid_slope", -1.0) * f + details.get("sigmoid_offset", 0.0)
    return 100 * float(np.mean(np.sign(f) != y)), 100 * float(np.mean(np.where(p < 0, 1, -1) != y))


def timed(*arguments: Any, **options: Any) -> tuple[Selection, float]:
    """A selection and its processor seconds, warnings about edges aside."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        began = time.process_time()
        found = select(*arguments, **options)
        return found, time.process_time() - began


def ard(X: np.ndarray) -> RBF:
    return RBF([1.0] * X.shape[1])


def searches(folder: Path) -> None:
    """Every search on the cross-validated likelihood, ARD where it can."""
    print("search           data        value  error %  evaluations  seconds")
    for name in ("raetsch_heart", "raetsch_german", "raetsch_splice"):
        for X, y, X_test, y_test in splits(folder, name, 1, 200):
            for search, kernel in [
                ("irprop", ard(X)),
                ("lbfgs", ard(X)),
                ("gradient-ascent", ard(X)),
                ("random-walk", ard(X)),
                ("cma-es", ard(X)),
                ("grid", "rbf"),
                ("coordinate", "rbf"),
                (get_search("grid", size=4, refine=2), "rbf"),
            ]:
                found, seconds = timed(
                    X, y, "likelihood", search, kernel, start="data", random_state=0, budget=500
                )
                label = search if isinstance(search, str) else "grid 4x4, refined"
                print(
                    f"{label:17s}{name.removeprefix('raetsch_'):9s}{found.value:9.4f}"
                    f"{errors(found, X_test, y_test)[1]:8.1f}{len(found.trace):12d}{seconds:10.2f}"
                )


BELIEFS: dict[str, Any] = {
    "isotropic": None,
    "flat": None,
    "integrated": "integrated",
    "normal": Hierarchical(tails=np.inf),
    "student": Hierarchical(tails=3.0),
}


def prior_split(split: Split) -> dict[str, tuple[float, ...]]:
    """Error by the sigmoid, seconds and tau for each belief, on one split."""
    X, y, X_test, y_test = split
    row = {}
    for label, belief in BELIEFS.items():
        kernel = "rbf" if label == "isotropic" else ard(X)
        found, seconds = timed(
            X, y, "likelihood", "lbfgs", kernel, prior=belief, start="data", random_state=0
        )
        tau = float(found.details.get("tau", np.nan))
        row[label] = (errors(found, X_test, y_test)[1], seconds, tau)
    return row


def prior(folder: Path, count: int, names: list[str], jobs: int) -> None:
    """Isotropic, ARD without a prior, ARD with one: test error by the sigmoid."""
    print("Test error %, mean of", count, "splits (seconds; median tau)")
    print("| data |" + "|".join(f" {label} " for label in BELIEFS) + "|")
    for name in names:
        rows = Parallel(jobs)(delayed(prior_split)(s) for s in splits(folder, name, count))
        cells = []
        for label in BELIEFS:
            error, seconds, tau = np.array([row[label] for row in rows]).T
            spread = "" if np.isnan(tau).all() else f"; {np.median(tau):g}"
            cells.append(f" {error.mean():5.2f} ({seconds.mean():.1f}{spread}) ")
        print(f"| {name.removeprefix('raetsch_')} |" + "|".join(cells) + "|", flush=True)


def toy_draw(draw: int) -> dict[str, tuple[float, ...]]:
    """Errors by sign and by sigmoid, how far the scales part, and seconds, on one draw."""
    X, y = half_relevant(500, draw)
    X_test, y_test = half_relevant(9500, 10_000 + draw)
    start = [0.0, *[0.5 * np.log(10.0)] * 10]  # GI: C = 1, gamma = 1 / (2 d)
    row = {}
    for label, search, belief in [
        ("irprop", "irprop", None),
        ("lbfgs", "lbfgs", None),
        ("irprop, normal", "irprop", BELIEFS["normal"]),
        ("irprop, student", "irprop", BELIEFS["student"]),
    ]:
        found, seconds = timed(
            X, y, "likelihood", search, ard(X), prior=belief, start=start, random_state=draw
        )
        scales = np.log(found.kernel.length_scale)  # type: ignore[attr-defined]
        gap = float(np.median(scales[5:]) - np.median(scales[:5]))
        row[label] = (*errors(found, X_test, y_test), gap, seconds)
    return row


def toy(draws: int, jobs: int) -> None:
    """Glasmachers & Igel's toy: published median error 0.143 for the likelihood, 0.150 for CV."""
    rows = Parallel(jobs)(delayed(toy_draw)(draw) for draw in range(draws))
    print(f"toy, {draws} draws, 500 rows; Bayes error {100 * BAYES_ERROR:.2f} %")
    print("search                quartiles by sign    by sigmoid           scales apart  seconds")
    for label in rows[0]:
        sign, sigmoid, gap, seconds = np.array([row[label] for row in rows]).T
        by_sign, by_sigmoid = (
            " ".join(f"{q:.2f}" for q in np.percentile(e, [25, 50, 75])) for e in (sign, sigmoid)
        )
        print(
            f"{label:22s}{by_sign:21s}{by_sigmoid:21s}e^{np.median(gap):<12.2f}{seconds.mean():.2f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=os.environ.get("SVMSELECT_DATA"))
    parser.add_argument("--parts", nargs="*", default=["searches", "prior", "toy"])
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--names", nargs="*", default=["splice", "twonorm", "german"])
    options = parser.parse_args()
    folder = Path(options.data or ROOT.parent / "shared" / "data")
    if folder.is_dir():
        if "searches" in options.parts:
            searches(folder)
            print(f"Shark, likelihood + ARD: {SHARK[0]} s on average, up to {SHARK[1]} s")
        if "prior" in options.parts:
            names = [f"raetsch_{name}" for name in options.names]
            prior(folder, options.splits, names, options.jobs)
    if "toy" in options.parts:
        toy(options.draws, options.jobs)


if __name__ == "__main__":
    main()
