"""Gold & Sollich's section 5.2: are the ends of random walks local optima, and how do they vote?"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from svmselect.experiments import gold_sollich_trials
from svmselect.experiments.gold_sollich_trials import WALKS, TrainTest, walked
from svmselect.experiments.reproduction.paper import Task, seed_of
from svmselect.experiments.reproduction.quiet import quiet
from svmselect.selection import score
from svmselect.types import Array

BETWEEN = 9
"""Points looked at on the line from one end to another."""


def optima_tasks(reduced: bool, sets: tuple[str, ...], bounds: Any) -> list[Task]:
    """A few walks of each criterion on each set, with lines between their ends."""
    settings = {
        "bounds": bounds,
        "sweeps": 10 if reduced else 30,
        "walks": 2 if reduced else 4,
        "between": BETWEEN,
    }
    made = []
    for name in sets[:2] if reduced else sets:
        for method in WALKS:
            seed = seed_of("gold-sollich", name, method, "optima")
            split = {"split": seed_of("gold-sollich", "crabs", 0)} if name == "crabs" else {}
            made.append(Task((name, f"{method}-optima"), 0, seed, {**settings, **split}))
    return made


def run(task: Task, data_dir: Path | None) -> dict[str, Any]:
    """One trial of any kind."""
    name, method = task.name
    if not method.endswith("-optima"):
        return gold_sollich_trials.run(task, data_dir)
    data = TrainTest(name, data_dir, task.settings.get("split", 0))
    with quiet():
        return optima(data, method.removesuffix("-optima"), task.seed, task.settings)


def optima(data: TrainTest, method: str, seed: int, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The ends of several walks: what lies between each two of them, and the vote of them all.

    A line is *parted* where the criterion on it gets worse than at both of its ends, which is the
    paper's test; ``depths`` are by how much, in units of the criterion.
    """
    criterion, loss = WALKS[method]
    found = [walked(data, method, seed + k, settings) for k in range(settings["walks"])]
    ends = [np.r_[np.log(f.C), f.kernel.theta] for f in found]
    sign = -1.0 if criterion in ("gacv", "span") else 1.0
    form = data.kernel

    def height(point: Array) -> float:
        kernel, C = form.at(point[1:]), float(np.exp(point[0]))
        return sign * score(data.X, data.y, criterion, C, kernel, loss, False).value

    heights = [height(end) for end in ends]
    shares = np.linspace(0.0, 1.0, settings["between"] + 2)[1:-1]
    depths = []
    for i in range(len(ends)):
        for j in range(i):
            line = [height((1.0 - t) * ends[i] + t * ends[j]) for t in shares]
            depths.append(float(min(heights[i], heights[j]) - min(line)))
    votes = np.sign(np.sum([f.predict(data.test_X) for f in found], axis=0))
    # a tie is the call of the walk that ended highest
    first = found[int(np.argmax(heights))].predict(data.test_X)
    errors = [data.error(f.predict(data.test_X)) for f in found]
    return {
        "parted": float(np.mean(np.array(depths) > 0.0)),
        "depths": depths,
        "heights": heights,
        "errors": errors,
        "mean_error": float(np.mean(errors)),
        "vote_error": data.error(np.where(votes == 0, first, votes)),
    }
