"""Linear machines on explicit features, against the exact machines on their Gram matrix."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import LinAlgError

from svmselect.machine import primal, solve
from svmselect.machine.losses import get_loss
from svmselect.machine.losses.hinge import RoundedHinge
from svmselect.machine.primal import CORNERS, fit_linear
from svmselect.types import Array


def problem(n: int = 80, m: int = 12, seed: int = 0) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    Phi = rng.normal(size=(n, m)) / np.sqrt(m)
    return Phi, np.where(Phi[:, 0] + 0.5 * rng.normal(size=n) > 0.1, 1.0, -1.0)


def objective(theta: Array, f: Array, y: Array, cost: Array, loss: str) -> float:
    return float(0.5 * theta @ theta + cost @ get_loss(loss).value(y * f))


def test_rounded_hinge() -> None:
    rule, z, h = RoundedHinge(0.3), np.linspace(-1.0, 3.0, 37), 1e-6
    rise = (rule.value(z + h) - rule.value(z - h)) / (2.0 * h)
    assert np.allclose(rule.slope(z), -rise, atol=1e-6)
    bend = (rule.slope(z - h) - rule.slope(z + h)) / (2.0 * h)
    assert np.allclose(rule.curvature(z), bend, atol=1e-6)
    excess = rule.value(z) - get_loss("hinge").value(z)
    assert excess.min() >= -1e-15
    assert rule.value(np.ones(1))[0] == pytest.approx(0.3 / 4.0)
    assert excess.max() <= 0.3 / 4.0 + 1e-15


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic"])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_smooth_losses_are_exact(loss: str, C: float) -> None:
    Phi, y = problem()
    found = fit_linear(Phi, y, np.full(len(y), C), loss)
    exact = solve(Phi @ Phi.T, y, C, loss)
    assert found.status.ok
    assert np.allclose(found.decision, exact.decision, atol=1e-6)
    assert np.allclose(found.decision, Phi @ found.theta + found.intercept)


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_hinge_up_to_its_corner(C: float) -> None:
    Phi, y = problem()
    cost = np.full(len(y), C)
    exact = solve(Phi @ Phi.T, y, C).objective
    for corners in (CORNERS, (0.5, 0.1, 0.02, 4e-3, 8e-4, 1e-4)):
        found = fit_linear(Phi, y, cost, "hinge", corners=corners)
        value = objective(found.theta, found.decision, y, cost, "hinge")
        assert found.status.ok
        # J <= J_delta <= J + delta/4 sum(cost), at either optimum
        assert (
            exact * (1.0 - 1e-9) <= value <= exact * (1.0 + 2e-7) + corners[-1] / 4.0 * cost.sum()
        )


def test_all_rows_beyond_the_corner() -> None:
    # a cost so small that theta hardly moves: the intercept goes to the larger class
    Phi, y = problem()
    y = np.where(np.arange(len(y)) < 60, 1.0, -1.0)
    found = fit_linear(Phi, y, np.full(len(y), 1e-7), "hinge")
    assert found.intercept == pytest.approx(1.0, abs=CORNERS[-1])
    assert np.abs(found.theta).max() < 1e-4


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
def test_cost_counts_copies(loss: str) -> None:
    Phi, y = problem()
    cost = np.random.default_rng(1).integers(0, 4, len(y)).astype(float)
    copies = np.repeat(np.arange(len(y)), cost.astype(int))
    weighted = fit_linear(Phi, y, cost, loss)
    repeated = fit_linear(Phi[copies], y[copies], np.ones(len(copies)), loss)
    assert np.allclose(weighted.decision, Phi @ repeated.theta + repeated.intercept, atol=2e-4)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
def test_one_answer_however_it_is_reached(loss: str, monkeypatch: pytest.MonkeyPatch) -> None:
    Phi, y = problem(1000, 5)
    cost = np.full(len(y), 2.0)
    plain = fit_linear(Phi, y, cost, loss)
    warm = fit_linear(Phi, y, cost, loss, start=fit_linear(Phi, y, 0.1 * cost, loss))
    single = fit_linear(Phi.astype(np.float32), y, cost, loss)
    assert np.allclose(warm.decision, plain.decision, atol=1e-3)
    assert np.allclose(single.decision, plain.decision, atol=1e-3)
    assert warm.objective == pytest.approx(plain.objective, rel=1e-6)
    assert single.objective == pytest.approx(plain.objective, rel=1e-6)
    monkeypatch.setattr(primal, "_BLOCK", 64)
    blocks = fit_linear(Phi, y, cost, loss)
    assert np.allclose(blocks.decision, plain.decision, atol=1e-6)


def test_single_precision_with_a_large_penalty() -> None:
    # rounding in single precision exceeds the ridge of one: factored all the same
    Phi, y = problem(2000, 6)
    Phi = np.hstack([Phi, Phi + 1e-6])
    found = fit_linear(Phi.astype(np.float32), y, np.full(len(y), 1e6), "squared_hinge")
    plain = fit_linear(Phi, y, np.full(len(y), 1e6), "squared_hinge")
    assert np.isfinite(found.decision).all()
    assert found.objective == pytest.approx(plain.objective, rel=1e-3)


def test_says_when_steps_run_out(monkeypatch: pytest.MonkeyPatch) -> None:
    Phi, y = problem()
    monkeypatch.setattr(primal, "_MAX_STEPS", 1)
    found = fit_linear(Phi, y, np.full(len(y), 10.0), "logistic")
    assert found.status.name == "max-iterations"
    assert "smaller C" in found.status.advice
    assert np.isfinite(found.decision).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
def test_features_that_are_no_numbers_end_in_a_status(bad: float, loss: str) -> None:
    Phi, y = problem()
    Phi[3, 4] = bad
    with np.errstate(invalid="ignore"):
        found = fit_linear(Phi, y, np.ones(len(y)), loss)
    assert found.status.name == "failed"
    assert "standardise" in found.status.advice


@pytest.mark.parametrize("entry", [np.nan, np.inf])
def test_factor_of_what_is_no_matrix_of_numbers(entry: float) -> None:
    H = np.eye(3)
    H[1, 1] = entry
    with pytest.raises(LinAlgError, match="no numbers"):
        primal.cholesky(H)


def test_factor_needs_rounding_to_be_the_only_trouble() -> None:
    H = np.diag([1.0, 1.0, -1e-6])  # as single precision leaves it
    assert primal.cholesky(H)[1]
    with pytest.raises(LinAlgError, match="positive definite"):
        primal.cholesky(np.diag([1.0, -1e3]))
