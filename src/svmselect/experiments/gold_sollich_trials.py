"""One trial of each of Gold & Sollich's methods, and of ours on the same data."""

from __future__ import annotations

import time
from collections.abc import Mapping
from copy import copy
from pathlib import Path
from typing import Any

import numpy as np

from svmselect.datasets import load, standardised
from svmselect.experiments.reproduction.paper import Task
from svmselect.experiments.reproduction.quiet import quiet
from svmselect.kernels import RBF, Constant, Kernel
from svmselect.machine import solve
from svmselect.search.gradient_ascent import GradientAscent
from svmselect.search.random_walk import RandomWalk
from svmselect.selection import score, select
from svmselect.selection.ensemble import of_optima
from svmselect.selection.result import Selection
from svmselect.types import Array, IntArray

WALKS = {
    "laplace-hinge": ("laplace", "hinge"),
    "laplace-squared-hinge": ("laplace", "squared_hinge"),
    "gacv": ("gacv", "hinge"),
    "span": ("span", "squared_hinge"),
}
"""The four simple criteria: the criterion and the loss of each."""

GAUSSIAN_PROCESSES = {"gp-laplace": "logistic-laplace", "gp-ep": "evidence-ep"}
"""Table 5's GP Lap; and expectation propagation, which stands in for mean field (GP MF)."""

SHOWN = 150  # points of a trace that are kept


class TrainTest:
    """A data set of section 5.1: standardised over all rows, the first rows for training.

    The paper's 80 crabs are a sample that is even in the colour, which is no input, and otherwise
    unknown: ``split`` is the seed of ours.
    """

    def __init__(self, name: str, data_dir: Path | None, split: int = 0) -> None:
        if name == "crabs":
            data = load("crabs", data_dir=data_dir)
            X, colour = standardised(data.X[:, :5]), data.X[:, 5]
            train = _evenly(colour, 80, np.random.default_rng(split))
            test = np.setdiff1d(np.arange(data.n), train)
        else:
            data = load(f"gs-{name}", data_dir=data_dir)
            assert data.train is not None
            assert data.test is not None
            X, train, test = data.X, data.train[0], data.test[0]
        self.X, self.y = X[train], data.y[train]
        self.test_X, self.test_y = X[test], data.y[test]

    def parted(self, share: float, seed: int) -> tuple[TrainTest, TrainTest]:
        """The same with fewer training rows, and those tested on the rows that were taken away."""
        order = np.random.default_rng(seed).permutation(len(self.y))
        count = round(share * len(self.y))
        rest, held = copy(self), copy(self)
        rest.X, rest.y = self.X[order[count:]], self.y[order[count:]]
        held.X, held.y = rest.X, rest.y
        held.test_X, held.test_y = self.X[order[:count]], self.y[order[:count]]
        return rest, held

    @property
    def kernel(self) -> Kernel:
        """Eq. 8 at the start of the random walks: k0 = 1, l = 1, k_off = 0.1."""
        return Constant(1.0) * RBF([1.0] * self.X.shape[1]) + Constant(0.1)

    def error(self, labels: Array) -> float:
        """Test error in percent."""
        return 100.0 * float(np.mean(labels != self.test_y))

    def error_at(self, kernel: Kernel, C: float, loss: str = "hinge") -> float:
        """Test error of the machine without an intercept at one setting, in percent."""
        machine = solve(kernel(self.X), self.y, C, loss=loss, fit_intercept=False)
        sv = machine.support
        f = kernel(self.test_X, self.X[sv]) @ machine.beta[sv]
        return self.error(np.where(f > 0, 1.0, -1.0))


def _evenly(groups: Array, size: int, rng: np.random.Generator) -> IntArray:
    """Draw as many rows of each group."""
    kinds = np.unique(groups)
    parts = [rng.choice(np.flatnonzero(groups == g), size // len(kinds), False) for g in kinds]
    return np.sort(np.concatenate(parts))


def run(task: Task, data_dir: Path | None) -> dict[str, Any]:
    """One trial; ``task.name`` is (data set, method)."""
    name, method = task.name
    s = task.settings
    data = TrainTest(name, data_dir, s.get("split", 0))
    if method == "sizes":
        return {
            "inputs": data.X.shape[1],
            "train": len(data.y),
            "test": len(data.test_y),
        }
    with quiet():
        if s.get("walk", method) in WALKS:
            return walk(data, s.get("walk", method), task.seed, s)
        if method == "walk-trace":
            return walk(data, "laplace-hinge", task.seed, s, trace=True)
        if method == "ascent-trace":
            return ascent(data, task.seed, s, trace=True)
        if method.startswith("evidence-gradient"):
            return ascent(data, task.seed, s)
        if method == "svm-cv":
            return cross_validated(data, task.seed, s)
        if method in GAUSSIAN_PROCESSES:
            return gaussian_process(data, method, task.seed, s)
        return ours(data, method, task.seed, s)


def walk(
    data: TrainTest, method: str, seed: int, settings: Mapping[str, Any], trace: bool = False
) -> dict[str, Any]:
    """A greedy random walk on a simple criterion, its end and what it cost."""
    loss = WALKS[method][1]
    begun = time.process_time()
    found = walked(data, method, seed, settings)
    seconds = time.process_time() - begun
    evaluations = len(found.trace.records)
    begun = time.process_time()
    solve(found.kernel(data.X), data.y, found.C, loss=loss, fit_intercept=False)
    training = time.process_time() - begun
    values = {
        "error": data.error(found.predict(data.test_X)),
        "value": found.value,
        "evaluations": evaluations,
        "seconds_per_step": seconds / evaluations,
        "seconds_of_training": training,
        **scales(found),
    }
    return values | (_improvements(data, found) if trace else {})


def walked(data: TrainTest, method: str, seed: int, settings: Mapping[str, Any]) -> Selection:
    """Where a greedy random walk on a simple criterion ends; GACV and span at C = 1 (section 4)."""
    criterion, loss = WALKS[method]
    bounds = {key: tuple(value) for key, value in settings["bounds"].items()}
    if criterion in ("gacv", "span"):
        bounds["C"] = (1.0, 1.0)
    search = RandomWalk(sweeps=settings["sweeps"], step=settings.get("step", 0.5))
    return select(
        data.X, data.y, criterion, search, data.kernel, loss, False, bounds=bounds,
        random_state=seed,
    )  # fmt: skip


def ascent(
    data: TrainTest, seed: int, settings: Mapping[str, Any], trace: bool = False
) -> dict[str, Any]:
    """Gradient ascent on the evidence; the error at its end and the least on its way (5.3.2).

    With ``validation``, a share of the training rows is held out, and ``stopped_error`` is the test
    error where the error on them is least.
    """
    held = None
    if settings.get("validation"):
        data, held = data.parted(settings["validation"], seed)
    d = data.X.shape[1]
    rng = np.random.default_rng(seed)
    # section 4.3; for the figures all length scales begin alike
    lengths = np.full(d, rng.uniform(-1, 2)) if trace else rng.uniform(-1, 2, d)
    start = np.r_[np.log(rng.uniform(0.4, 0.8)), rng.uniform(-1, 1), lengths, rng.uniform(-2, -1)]
    search = GradientAscent(**settings["search"])
    begun = time.process_time()
    found = select(
        data.X, data.y, settings["criterion"], search, data.kernel, "hinge", False,
        start=start, budget=settings["budget"], random_state=seed, options=settings["options"],
    )  # fmt: skip
    seconds = time.process_time() - begun
    records = found.trace.records
    form = data.kernel
    errors = [data.error_at(form.at(r.point[1:]), float(np.exp(r.point[0]))) for r in records]
    values: dict[str, Any] = {
        "error": data.error(found.predict(data.test_X)),
        "best_error": min(errors),
        "value": found.value,
        "steps": len(records),
        "seconds_per_step": seconds / len(records),
        **scales(found),
    }
    if held is not None:
        watched = [held.error_at(form.at(r.point[1:]), float(np.exp(r.point[0]))) for r in records]
        values["stopped_error"] = errors[int(np.argmin(watched))]
    if trace:
        slopes = [r.evaluation.gradient for r in records]
        values["errors"] = errors
        values["points"] = [[round(float(v), 4) for v in r.point] for r in records]
        values["gradients"] = [
            [] if g is None else [round(-float(v), 6) for v in g] for g in slopes
        ]
    return values


def ours(data: TrainTest, method: str, seed: int, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Evidence by EP and quasi-Newton: from a random start, with the level-3 prior, or several."""
    several = settings["starts"] if method == "ours-ensemble" else 1
    begun = time.process_time()
    found = select(
        data.X, data.y, "evidence-ep", "lbfgs", data.kernel, "hinge", False,
        prior="hierarchical" if method == "ours-level-3" else None, start="gold-sollich",
        budget=settings["budget"], n_starts=several, random_state=seed,
    )  # fmt: skip
    labels = found.predict(data.test_X)
    members = 1
    if method == "ours-ensemble":
        ensemble = of_optima(found)
        labels, members = ensemble.predict(data.test_X, by="vote"), len(ensemble.members)
    return {
        "error": data.error(labels),
        "value": found.value,
        "members": members,
        "seconds": time.process_time() - begun,
        **scales(found),
    }


def cross_validated(data: TrainTest, seed: int, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Table 5's SVM CV: one length scale and k0 by ten-fold cross-validation, a free offset.

    The machine depends on C k0 only, so C is searched at k0 = 1.
    """
    found = select(
        data.X, data.y, "cv-error", "grid", RBF(1.0), "hinge", True, start="data",
        budget=settings["budget"], random_state=seed, options={"cv": 10},
    )  # fmt: skip
    return {"error": data.error(found.predict(data.test_X)), "C": found.C}


def gaussian_process(
    data: TrainTest, method: str, seed: int, settings: Mapping[str, Any]
) -> dict[str, Any]:
    """A logistic Gaussian process, hyperparameters by an approximation to its evidence (Table 5).

    The labels are those of the mode, which are the signs of Laplace's and nearly those of
    expectation propagation's posterior mean.
    """
    found = select(
        data.X, data.y, GAUSSIAN_PROCESSES[method], "lbfgs", data.kernel, "logistic", False,
        start="data", budget=settings["budget"], random_state=seed,
    )  # fmt: skip
    return {"error": data.error(found.predict(data.test_X)), "value": found.value}


def scales(found: Selection) -> dict[str, Any]:
    """C, k0, k_off and the length scales."""
    k0, *lengths, offset = np.exp(found.kernel.theta)
    return {
        "C": found.C,
        "k0": float(k0),
        "k_off": float(offset),
        "lengths": [float(f"{length:.4g}") for length in lengths],
    }


def _improvements(data: TrainTest, found: Selection) -> dict[str, Any]:
    """The points a walk moved to, with GACV and test error beside the criterion (Figure 1)."""
    kept, lowest = [], np.inf
    for number, record in enumerate(found.trace.records):
        if record.loss < lowest:
            lowest = record.loss
            kept.append((number, record))
    kept = [kept[i] for i in np.unique(np.linspace(0, len(kept) - 1, SHOWN).astype(int))]
    form = data.kernel
    errors, gacv = [], []
    for _, record in kept:
        kernel, C = form.at(record.point[1:]), float(np.exp(record.point[0]))
        errors.append(data.error_at(kernel, C))
        estimate = score(data.X, data.y, "gacv", C, kernel, "hinge", False)
        gacv.append(round(estimate.value, 5))
    return {
        "steps": [number for number, _ in kept],
        "evidence": [round(-record.loss, 6) for _, record in kept],
        "points": [[round(float(v), 4) for v in record.point] for _, record in kept],
        "gacv": gacv,
        "errors": errors,
    }
