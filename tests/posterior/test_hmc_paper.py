"""Gold & Sollich's scheme against quadrature and against ours."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from posterior.panels import exact
from svmselect.kernels import RBF, Constant
from svmselect.machine import solve
from svmselect.posterior.diagnostics import mean_ess
from svmselect.posterior.hmc_paper import TIME, PaperRun, paper_hmc

K = np.array([[3.0, 1.2], [1.2, 2.0]])
Y = np.array([1.0, -1.0])
CASES = [("hinge", False), ("squared_hinge", False), ("hinge", True)]


def sample(gram: Any, y: Any, C: float, loss: str, **options: Any) -> PaperRun:
    alpha = solve(gram, y, C, loss, fit_intercept=False).alpha
    weights = options.pop("weights", np.ones(len(y)))
    return paper_hmc(gram, y, C, loss, weights, alpha, **options)


@pytest.mark.parametrize(("loss", "normalised"), CASES)
def test_two_latent_values(loss: str, normalised: bool) -> None:
    truth = exact(K, Y, 1.5, loss, normalised)
    found = sample(K, Y, 1.5, loss, normalised=normalised, draws=64_000, chains=64)
    h = np.linalg.solve(K, truth.theta)
    expected = 0.5 * ((h * truth.share) @ h.T - np.linalg.inv(K))  # GS eq. 19
    parts = [found.sensitivity(k) for k in range(found.groups)]
    grams = np.array([p.gram for p in parts])
    error = grams.std(axis=0, ddof=1) / 4.0
    assert (np.abs(grams.mean(axis=0) - expected) < 4.5 * error).all()
    assert error.max() < 0.02
    np.testing.assert_allclose(grams.mean(axis=0), found.sensitivity(None).gram)
    latents = found.trace.latents
    for i in range(2):
        error = latents[i].std() / np.sqrt(mean_ess(latents[i]))
        assert abs(latents[i].mean() - Y[i] * truth.mean(truth.theta[i])) < 4.5 * error
    assert found.imbalance < 5.0
    assert found.trace.accept > 0.85


def test_first_half_is_dropped_and_the_rest_kept() -> None:
    found = sample(K, Y, 1.5, "hinge", draws=4000)
    assert found.trace.potential.shape == (2000, 1)
    assert found.groups == 16
    assert sample(K, Y, 1.5, "hinge", draws=4000, chains=20).trace.potential.shape == (100, 20)


def test_trajectories_shorten_with_C_where_asked() -> None:
    lengths = [sample(K, Y, C, "hinge", draws=400, scale_time=True).time for C in (0.5, 4.0)]
    assert lengths == pytest.approx([TIME, TIME / 4.0])
    assert sample(K, Y, 4.0, "hinge", draws=400).time == TIME


def test_short_trajectories_sample_the_same_posterior() -> None:
    truth = exact(K, Y, 4.0, "hinge")
    found = sample(K, Y, 4.0, "hinge", draws=64_000, chains=64, scale_time=True)
    losses = found.trace.potential
    expected = truth.mean(4.0 * np.maximum(1.0 - Y[:, None] * truth.theta, 0.0).sum(axis=0))
    assert abs(losses.mean() - expected) < 4.5 * losses.std() / np.sqrt(mean_ess(losses))


def test_a_seed_decides_the_draws() -> None:
    one, two, other = (
        sample(K, Y, 1.5, "hinge", draws=800, random_state=seed).trace.potential
        for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(one, two)
    assert not np.array_equal(one, other)


def test_rows_of_weight_zero_take_no_part() -> None:
    X = np.random.default_rng(0).normal(size=(5, 2))
    gram, y = (RBF(1.0) + Constant(0.1))(X), np.array([1.0, -1, 1, -1, 1])
    weights = np.array([1.0, 1, 0, 2, 1])
    found = sample(gram, y, 1.0, "hinge", weights=weights, draws=400).sensitivity(None)
    assert found.gram.shape == (5, 5)
    assert not found.gram[2].any()
    assert found.gram[0].any()
