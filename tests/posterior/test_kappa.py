"""ln kappa against its definition, a maximum found by search."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from svmselect.machine.losses import get_loss
from svmselect.posterior.kappa import log_kappa

COSTS = [1e-8, 0.1, 0.99, 1.0, 1.0 + 1e-9, 1.0001, 1.02, 1.3, 2.0, 5.0, 15.0, 40.0, 1e3, 1e8]


def brute_force(loss: str, C: float) -> float:
    """-log max_z [e^(-C l(z)) + e^(-C l(-z))], on a grid and then from its best point."""
    rule = get_loss(loss)

    def size(z: float) -> float:
        at = np.array([z])
        return float(np.logaddexp(-C * rule.value(at), -C * rule.value(-at))[0])

    grid = np.linspace(0.0, 1.5 if loss != "logistic" else 60.0, 301)
    best = grid[int(np.argmax([size(z) for z in grid]))]
    width = grid[1]
    found = minimize_scalar(
        lambda z: -size(z), bounds=(best - width, best + width), options={"xatol": 1e-12}
    )
    return -max(size(best), -float(found.fun))


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
@pytest.mark.parametrize("C", COSTS)
def test_value(loss: str, C: float) -> None:
    np.testing.assert_allclose(log_kappa(loss, C)[0], brute_force(loss, C), rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
@pytest.mark.parametrize("C", [0.03, 0.5, 0.99, 1.01, 1.2, 3.0, 8.0, 19.0, 21.0])
def test_derivative(loss: str, C: float) -> None:
    h = 1e-4 * C
    values = [log_kappa(loss, C + k * h)[0] for k in (-2, -1, 1, 2)]
    slope = (values[0] - 8 * values[1] + 8 * values[2] - values[3]) / (12 * h)
    np.testing.assert_allclose(log_kappa(loss, C)[1], slope, rtol=1e-6, atol=1e-12)


def test_the_squared_hinge_passes_one_smoothly() -> None:
    below, above = log_kappa("squared_hinge", 1.0), log_kappa("squared_hinge", 1.0 + 1e-12)
    np.testing.assert_allclose(above, below, atol=1e-11)
    near, far = log_kappa("squared_hinge", 1.0 + 0.99e-5), log_kappa("squared_hinge", 1.0 + 1.01e-5)
    np.testing.assert_allclose(far[0] - near[0], 2e-7 * near[1], rtol=1e-6)


def test_large_costs_leave_nothing() -> None:
    for loss in ("hinge", "squared_hinge", "logistic"):
        assert log_kappa(loss, 1e8) == (0.0, 0.0)


def test_bad_arguments() -> None:
    with pytest.raises(ValueError, match="C must be positive"):
        log_kappa("hinge", 0.0)
    with pytest.raises(ValueError, match="'huber'"):
        log_kappa("huber", 1.0)
