"""Gold & Sollich's data sets, bounds and steps: what all their experiments share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from svmselect.experiments.reproduction.paper import Task, seed_of

SIZES = {"crabs": (5, 80, 120), "pima": (7, 200, 332), "wdbc": (30, 300, 269),
         "twonorm": (20, 300, 7100), "ringnorm": (20, 300, 7100)}  # fmt: skip
"""Table 2: inputs, training and test rows."""


BOUNDS = {
    "C": [0.01, 100.0],
    "constant.value": [0.01, 1000.0],
    "rbf.length_scale": [0.05, 100.0],
    "constant_2.value": [1e-4, 10.0],
}
"""The paper has bounds but does not print them; these are ours."""

ASCENT = {"step": 0.02, "longest": 0.2, "fraction": 0.05}
"""Section 4.3 prints no numbers. Small steps and an early stop end at k0 of some hundreds on
Twonorm, as the paper's do (180); larger steps run to the edge of the box, 10,000."""


def task_of(name: str, method: str, trial: int, seed: int, settings: Mapping[str, Any]) -> Task:
    """A trial; of Crabs, each has its own sample of training rows, shared by all methods."""
    split = {"split": seed_of("gold-sollich", "crabs", trial)} if name == "crabs" else {}
    return Task((name, method), trial, seed, {**settings, **split})


def by_ep(reduced: bool) -> dict[str, Any]:
    """An ascent with gradients by expectation propagation."""
    budget = 25 if reduced else 120
    return {"criterion": "evidence-ep", "options": {}, "search": ASCENT, "budget": budget}


def by_hmc(reduced: bool) -> dict[str, Any]:
    """An ascent with gradients by whitened chains."""
    options = {"scheme": "split", "draws": 256 if reduced else 512}
    budget = 10 if reduced else 80
    return {"criterion": "evidence-hmc", "options": options, "search": ASCENT, "budget": budget}
