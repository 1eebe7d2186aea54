"""Wahba, Lin & Zhang: a smoke run, and what its numbers mean."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from svmselect.experiments import Task, reproduce
from svmselect.experiments.wahba_lin_zhang import (
    bayes_error,
    draw_data,
    machine_at,
    misclassified,
    penalty,
    probability,
    run,
)

SETTINGS = {"n": 60, "log_sigma": -1.0, "log_lambda": -2.5, "step": 0.25}


def test_smoke(tmp_path: Path) -> None:
    result = reproduce("wahba-lin-zhang", output=tmp_path)
    assert not result.failures
    assert set(result.rows) == {"table 1", *(f"figure {n}" for n in (3, 4, 5, 7, 8, 9))}
    for number in (3, 4, 5, 7, 8, 9):
        assert (tmp_path / f"figure-{number}.png").exists()
    assert (tmp_path / "wahba-lin-zhang.csv").exists()


def test_lambda_is_theirs() -> None:
    """Their objective, mean hinge + lambda |h|^2, is at its least where our machine is."""
    X, y, _ = draw_data("circles", 60, 3)
    machine, kernel = machine_at(X, y, -2.0, -0.5)
    K = kernel(X)

    def objective(beta: np.ndarray, b: float) -> float:
        f = K @ beta + b
        return float(np.mean(np.maximum(1 - y * f, 0.0)) + 10**-2.0 * beta @ K @ beta)

    least = objective(machine.beta, machine.intercept)
    rng = np.random.default_rng(0)
    for _ in range(200):
        step = 1e-3 * rng.standard_normal(61)
        assert objective(machine.beta + step[:60], machine.intercept + step[60]) >= least
    assert penalty(-2.0, 60) == pytest.approx(1 / (2 * 60 * 0.01))


@pytest.mark.parametrize("example", ["circles", "sines"])
def test_labels_follow_the_probabilities(example: str) -> None:
    X, y, p = draw_data(example, 20_000, 0)
    for level in (0.05, 0.5, 0.95):
        region = p == level
        assert region.mean() > 0.1
        assert np.mean(y[region] > 0) == pytest.approx(level, abs=0.03)
    assert np.array_equal(p, probability(example, X))
    assert bayes_error(example) == pytest.approx(100 * np.mean(np.minimum(p, 1 - p)), abs=0.7)


def test_minimisers_and_errors_of_one_draw() -> None:
    values = run(Task(("circles", "draw"), 1, 7, SETTINGS), None)
    places = np.arange(-5.0, 0.1, 0.25)
    assert values["gacv_at_lambda"] == places[np.argmin(values["gacv_lambda"])]
    assert values["apart_lambda"] == abs(values["gacv_at_lambda"] - values["gckl_at_lambda"])
    assert values["loss_lambda"] >= 0
    assert values["error"] >= bayes_error("circles") - 0.5
    X, y, _ = draw_data("circles", 60, 7)
    again = misclassified("circles", X, y, values["log_lambda"], values["log_sigma"])
    assert values["error"] == again
    assert "curve" not in values
