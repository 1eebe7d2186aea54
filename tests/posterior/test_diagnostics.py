"""Diagnostics against chains and weights of known quality."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtri
from scipy.stats import rankdata

from svmselect.posterior.diagnostics import (
    bulk_ess,
    mean_ess,
    pareto_k,
    rank_normal,
    rhat,
    weight_ess,
)


def autoregressive(rho: float, draws: int, chains: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    x = np.empty((draws, chains))
    x[0] = rng.normal(size=chains)
    for t in range(1, draws):
        x[t] = rho * x[t - 1] + np.sqrt(1 - rho**2) * rng.normal(size=chains)
    return x


@pytest.mark.parametrize("rho", [-0.4, 0.0, 0.5, 0.9])
@pytest.mark.parametrize("chains", [1, 8])
def test_effective_size_of_an_autoregressive_chain(rho: float, chains: int) -> None:
    x = autoregressive(rho, 32_000 // chains, chains)
    expected = x.size * (1 - rho) / (1 + rho)
    assert mean_ess(x) == pytest.approx(expected, rel=0.1)
    assert bulk_ess(x) == pytest.approx(expected, rel=0.1)


def test_the_error_of_the_mean_is_what_the_size_says() -> None:
    means = [autoregressive(0.7, 400, 4, seed).mean() for seed in range(300)]
    sizes = [mean_ess(autoregressive(0.7, 400, 4, seed)) for seed in range(20)]
    assert 1.0 / np.var(means) == pytest.approx(np.mean(sizes), rel=0.25)


def test_rhat_is_one_for_chains_that_agree() -> None:
    assert rhat(autoregressive(0.3, 1000, 8)) == pytest.approx(1.0, abs=0.01)


def test_rhat_sees_a_shifted_chain_a_wide_chain_and_a_drift() -> None:
    x = autoregressive(0.3, 1000, 4)
    shifted, wide = x.copy(), x.copy()
    shifted[:, 0] += 2.0
    wide[:, 0] *= 4.0
    drift = x[:, :1] + np.linspace(0.0, 4.0, 1000)[:, None]
    assert min(rhat(shifted), rhat(wide), rhat(drift)) > 1.1


def test_ranks_only() -> None:
    x = autoregressive(0.5, 500, 4)
    assert bulk_ess(np.exp(9.0 * x)) == pytest.approx(bulk_ess(x), rel=1e-12)
    assert mean_ess(np.exp(9.0 * x)) != pytest.approx(mean_ess(x), rel=0.1)


def test_ranks_with_ties() -> None:
    x = np.round(autoregressive(0.2, 50, 3), 1)
    expected = ndtri((rankdata(x).reshape(x.shape) - 0.375) / (x.size + 0.25))
    np.testing.assert_allclose(rank_normal(x), expected, rtol=1e-12)


def test_nothing_to_say_of_constants_and_stubs() -> None:
    for f in (rhat, bulk_ess, mean_ess):
        assert np.isnan(f(np.ones((100, 4))))
        assert np.isnan(f(np.random.default_rng(0).normal(size=(3, 4))))
    with pytest.raises(ValueError, match=r"\(draws, chains\)"):
        rhat(np.zeros((2, 2, 2)))


def test_weight_ess() -> None:
    assert weight_ess(np.full(50, -1e4)) == pytest.approx(50.0)
    assert weight_ess([0.0, -800.0, -900.0]) == pytest.approx(1.0)
    logs = np.log([1.0, 2.0, 3.0])
    assert weight_ess(logs) == pytest.approx(36.0 / 14.0)


@pytest.mark.parametrize("k", [0.2, 0.5, 1.0])
def test_tail_index_of_pareto_weights(k: float) -> None:
    logs = k * np.random.default_rng(1).exponential(size=20_000)  # w = u^-k
    assert pareto_k(logs) == pytest.approx(k, abs=0.12)
    assert pareto_k(logs - 1e3) == pytest.approx(pareto_k(logs), rel=1e-9)


def test_tail_index_of_few_or_equal_weights() -> None:
    assert np.isnan(pareto_k(np.arange(24.0)))
    assert pareto_k(np.zeros(1000)) == -np.inf
