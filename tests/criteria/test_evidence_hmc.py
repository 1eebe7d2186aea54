"""The evidence by sampling: values and gradients within their standard errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from posterior.panels import exact, slope
from svmselect import score
from svmselect.criteria.evidence_hmc import EvidenceHMC
from svmselect.data import Dataset
from svmselect.kernels import RBF, Constant
from svmselect.posterior import expectation_propagation
from svmselect.posterior.kappa import log_kappa
from svmselect.selection.objective import Objective
from svmselect.types import Score

KERNEL = Constant(2.0) * RBF([1.2, 1.6]) + Constant(0.3)


def cloud(n: int = 80, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    return rng.normal(size=(n, 2)) + 0.6 * y[:, None], y


def evidence(X: Any, y: Any, C: float = 1.5, **options: Any) -> Score:
    options = {"kernel": KERNEL, "gradient": True} | options
    return score(X, y, "evidence-hmc", C, fit_intercept=False, **options)


@pytest.mark.parametrize(
    ("loss", "normalised"),
    [("hinge", False), ("squared_hinge", False), ("logistic", False), ("hinge", True)],
)
def test_two_points_against_quadrature(loss: str, normalised: bool) -> None:
    X, y = np.array([[0.0, 0.0], [0.8, -0.3]]), np.array([1.0, -1.0])
    C = 1.5

    def per_point(point: np.ndarray) -> float:
        gram = KERNEL.at(point[1:])(X)
        return exact(gram, y, float(np.exp(point[0])), loss, normalised).log_evidence / 2.0

    here = np.array([np.log(C), *KERNEL.theta])
    found = evidence(X, y, C, loss=loss, normalised=normalised)
    assert found.status.ok
    error = found.details["gradient_stderr"]
    assert found.stderr is not None
    assert found.stderr < 0.004
    assert error.max() < 0.004
    assert abs(found.value - per_point(here)) < 4 * found.stderr
    assert (np.abs(found.gradient - slope(per_point, here)) < 4.5 * error + 1e-7).all()


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_eighty_points_beside_expectation_propagation(loss: str) -> None:
    X, y = cloud()
    found = evidence(X, y, loss=loss)
    assert found.status.ok
    ep = expectation_propagation(KERNEL(X), y, 1.5, loss)
    sensitivity = ep.sensitivity
    slopes = KERNEL.pullback(X, sensitivity.gram)
    expected = np.concatenate([[sensitivity.log_C], slopes]) / 80.0
    error = found.details["gradient_stderr"]
    assert error.max() < 0.004
    # expectation propagation itself errs by some thousandths
    assert (np.abs(found.gradient - expected) < 4.5 * error + 0.003).all()
    assert found.details["ep"] == pytest.approx(ep.log_evidence / 80.0, abs=1e-6)
    assert abs(found.value - found.details["ep"]) < 4 * (found.stderr or 0.0) + 0.002
    assert found.details["rhat"] < 1.06
    assert found.details["divergences"] == 0


def test_the_schemes_agree() -> None:
    X, y = cloud(40)
    # the paper's chains turn round one momentum a draw: forty times as slow to leave their start
    ours, paper = evidence(X, y), evidence(X, y, scheme="paper", draws=48_000, chains=16)
    weighted = evidence(X, y, scheme="importance")
    assert paper.details["draws"] == 24_000
    assert weighted.details["gradient_stderr"].max() < 0.004
    for other in (paper, weighted):
        error = np.hypot(ours.details["gradient_stderr"], other.details["gradient_stderr"])
        assert (np.abs(ours.gradient - other.gradient) < 4.5 * error).all()
        assert ours.value == other.value  # the value is not the scheme's business
        assert other.status.ok


def test_uneven_weights_are_not_trusted() -> None:
    X, y = cloud(60)
    kernel = Constant(180.0) * RBF(1.0) + Constant(0.1)
    found = evidence(X, y, C=20.0, kernel=kernel, scheme="importance", draws=4000)
    assert not found.status.ok
    assert found.details["ess"] < 400


def test_errors_are_the_spread_of_repetitions() -> None:
    X, y = cloud(30)
    found = [evidence(X, y, draws=1600, chains=16, random_state=seed) for seed in range(16)]
    spread = np.std([f.gradient for f in found], axis=0, ddof=1)
    claimed = np.sqrt(np.mean([f.details["gradient_stderr"] ** 2 for f in found], axis=0))
    np.testing.assert_allclose(claimed, spread, rtol=0.6)


def test_a_seed_decides_and_the_value_does_not_know_of_the_gradient() -> None:
    X, y = cloud(30)
    one, two = evidence(X, y), evidence(X, y)
    np.testing.assert_array_equal(one.gradient, two.gradient)
    assert one.value == two.value == evidence(X, y, gradient=False).value
    assert evidence(X, y, random_state=5).value != one.value


@pytest.mark.parametrize("chains", [1, 3, 40])
def test_any_number_of_chains(chains: int) -> None:
    X, y = cloud(30)
    usual = evidence(X, y)
    found = evidence(X, y, chains=chains, draws=2000)
    error = np.hypot(usual.details["gradient_stderr"], found.details["gradient_stderr"])
    assert found.details["chains"] == chains
    assert found.details["draws"] >= 2000
    assert (np.abs(found.gradient - usual.gradient) < 5.0 * error).all()


def test_weights_are_copies() -> None:
    X, y = cloud(30)
    weights = np.ones(30)
    weights[[0, 4, 7]] = 0.0, 2.0, 3.0
    index = np.repeat(np.arange(30), weights.astype(int))
    here, there = evidence(X, y, weights=weights), evidence(X[index], y[index])
    assert abs(here.value - there.value) < 5.0 * np.hypot(here.stderr or 0, there.stderr or 0)
    error = np.hypot(here.details["gradient_stderr"], there.details["gradient_stderr"])
    assert (np.abs(here.gradient - there.gradient) < 5.0 * error).all()


def test_full_rank_is_no_approximation_and_low_rank_a_fair_one() -> None:
    X, y = cloud(40)
    whole = evidence(X, y)
    for rank, extra in ((40, 1e-9), (25, 2e-3)):
        low = evidence(X, y, rank=rank)
        assert abs(low.value - whole.value) < 5.0 * np.hypot(low.stderr, whole.stderr) + extra
        error = np.hypot(low.details["gradient_stderr"], whole.details["gradient_stderr"])
        assert (np.abs(low.gradient - whole.gradient) < 5.0 * error + extra).all()


@pytest.mark.torch
def test_on_torch() -> None:
    X, y = cloud(30)
    here, there = evidence(X, y), evidence(X, y, device="torch-cpu")
    assert abs(here.value - there.value) < 5.0 * np.hypot(here.stderr or 0, there.stderr or 0)
    error = np.hypot(here.details["gradient_stderr"], there.details["gradient_stderr"])
    assert (np.abs(here.gradient - there.gradient) < 5.0 * error).all()


def test_no_kappa_where_normalised() -> None:
    X, y = cloud(30)
    plain = evidence(X, y, gradient=False, normalised=True, C=3.0)
    ep = expectation_propagation(KERNEL(X), y, 3.0, normalised=True)
    assert abs(plain.value - ep.log_evidence / 30.0) < 0.02 + 5.0 * (plain.stderr or 0.0)
    kappa = log_kappa("hinge", 0.2)[0]
    flat = evidence(X, y, gradient=False, C=0.2, kernel=Constant(1e-9) * RBF(1.0))
    assert flat.value == pytest.approx(kappa - 0.2, abs=1e-3)  # theta = 0: every loss is one


def test_an_intercept_is_refused_with_the_way_out() -> None:
    X, y = cloud(10)
    with pytest.raises(ValueError, match=r"Constant\(0.1\)"):
        score(X, y, "evidence-hmc", kernel=KERNEL)


@pytest.mark.parametrize(
    "options",
    [
        {"draws": 0},
        {"chains": 0},
        {"rank": 0},
        {"scheme": "gibbs"},
        {"device": "tpu"},
        {"tolerance": 0.0},
        {"scheme": "paper", "rank": 5},
    ],
)
def test_senseless_options_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(options))):
        EvidenceHMC(**options)


def test_chains_that_do_not_mix_say_so() -> None:
    X, y = cloud(20)
    kernel = Constant(1e4) * RBF(1.5) + Constant(0.1)
    found = evidence(X, y, C=1e4, kernel=kernel, draws=640, chains=16)
    assert np.isfinite(found.value)
    assert not found.status.ok
    assert found.status.advice


def test_a_warm_start_changes_nothing() -> None:
    X, y = cloud(30)
    objective = Objective(Dataset.of(X, y), KERNEL, EvidenceHMC(), "hinge", False)
    _, trained = objective.score(1.2, KERNEL)
    cold, warm = objective.score(1.5, KERNEL)[0], objective.score(1.5, KERNEL, start=trained)[0]
    assert warm.value == pytest.approx(cold.value, abs=1e-6)
