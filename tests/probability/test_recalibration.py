"""Recalibrated class probabilities, against brute force and on probabilities that are right."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from svmselect.probability.recalibration import RIDGE, Recalibration, fit_recalibration
from svmselect.probability.temperature import fit_sharpness, sharpened


def drawn(n: int, k: int, seed: int, table: np.ndarray | None = None):
    """Probabilities, and classes that come as a recalibration of them says."""
    rng = np.random.default_rng(seed)
    p = np.maximum(rng.dirichlet(np.full(k, 0.7), size=n), 1e-9)
    p /= p.sum(axis=1, keepdims=True)
    q = p if table is None else Recalibration(table)(p)
    codes = np.array([rng.choice(k, p=row) for row in q])
    return p, codes, rng.uniform(0.3, 2.0, n), rng.integers(0, 5, n)


def likelihood(q: np.ndarray, codes: np.ndarray) -> float:
    return float(np.log(np.maximum(q[np.arange(len(codes)), codes], 1e-300)).mean())


@pytest.mark.parametrize("k", [3, 4])
def test_is_the_maximum_by_brute_force(k: int) -> None:
    p, codes, weights, groups = drawn(60, k, k)
    made, _ = fit_recalibration(p, codes, weights, groups)
    power = fit_sharpness(p, codes, weights)
    logs = np.log(p) - np.log(p).mean(axis=1, keepdims=True)

    def loss(x: np.ndarray) -> float:
        matrix, offsets = x[: k * k].reshape(k, k), x[k * k :]
        own = log_softmax(logs @ matrix.T + offsets, axis=1)[np.arange(len(p)), codes]
        away = np.sum((matrix - power * np.eye(k)) ** 2) + offsets @ offsets
        return 0.5 * RIDGE * float(away) - float(weights @ own)

    start = np.concatenate([(power * np.eye(k)).ravel(), np.zeros(k)])
    best = minimize(loss, start, method="BFGS", options={"gtol": 1e-7}).x
    told = softmax(logs @ best[: k * k].reshape(k, k).T + best[k * k :], axis=1)
    np.testing.assert_allclose(made(p), told, atol=2e-4)


def test_finds_what_bent_the_probabilities() -> None:
    table = np.array([[1.2, -0.6, -0.6, 0.3], [0.2, 0.7, -0.9, -0.5], [-1.2, -0.3, 1.5, 0.2]])
    p, codes, weights, groups = drawn(6000, 3, 0, table)
    made, told = fit_recalibration(p, codes, np.ones(6000), groups)
    assert np.abs(made(p) - Recalibration(table)(p)).mean() < 0.01
    fresh, classes, _, _ = drawn(6000, 3, 1, table)
    sharper = sharpened(fresh, fit_sharpness(p, codes, weights))
    assert likelihood(made(fresh), classes) > likelihood(sharper, classes) + 0.02
    # of so many rows what is said of themselves needs hardly to be taken back
    assert likelihood(told, codes) == pytest.approx(likelihood(made(p), codes), abs=0.005)


@pytest.mark.parametrize("k", [3, 8])
def test_rows_of_its_own_are_not_flattered(k: int) -> None:
    """Where there is nothing to mend, what is gained on the rows themselves is taken back."""
    seen, said = [], []
    for seed in range(20):
        p, codes, _, groups = drawn(120, k, seed)
        made, told = fit_recalibration(p, codes, np.ones(120), groups)
        seen.append(likelihood(made(p), codes) - likelihood(p, codes))
        said.append(likelihood(told, codes) - likelihood(p, codes))
    assert np.mean(seen) > 0.01
    assert abs(np.mean(said)) < 0.5 * np.mean(seen)


def test_a_power_is_a_recalibration() -> None:
    p, _, _, _ = drawn(50, 5, 2)
    made = Recalibration.of_sharpness(2.5, 5)
    np.testing.assert_allclose(made(p), sharpened(p, 2.5), rtol=1e-12)
    assert made.sharpness(1, 3) == pytest.approx(2.5)


def test_common_factors_say_nothing() -> None:
    p, codes, weights, groups = drawn(80, 4, 3)
    made, _ = fit_recalibration(p, codes, weights, groups)
    np.testing.assert_allclose(made.matrix.sum(axis=1), 0.0, atol=1e-9)
    np.testing.assert_allclose(made(0.1 * p), made(p), rtol=1e-9)


def test_classes_that_join_later_are_sharpened_like_the_rest() -> None:
    p, codes, weights, groups = drawn(80, 3, 4)
    made, _ = fit_recalibration(p, codes, weights, groups)
    place = np.array([0, 2, 3])
    wider = made.widened(place, 5)
    q = np.full((len(p), 5), 1e-12)
    q[:, place] = p
    told = wider(q / q.sum(axis=1, keepdims=True))
    np.testing.assert_allclose(told[:, place], made(p), atol=1e-6)
    power = Recalibration.of_sharpness(1.7, 3).widened(place, 5)
    any_p = np.random.default_rng(0).dirichlet(np.ones(5), size=20)
    np.testing.assert_allclose(power(any_p), sharpened(any_p, 1.7), rtol=1e-10)


@pytest.mark.parametrize("n", [4, 30])
def test_impossible_and_certain_probabilities(n: int) -> None:
    codes = np.arange(n) % 3
    for p in (np.eye(3)[codes], np.eye(3)[(codes + 1) % 3], np.full((n, 3), 1 / 3)):
        made, told = fit_recalibration(p, codes, np.ones(n), np.arange(n) % 2)
        for q in (made(p), told):
            assert np.isfinite(q).all()
            np.testing.assert_allclose(q.sum(axis=1), 1.0)


def test_one_fold_is_enough() -> None:
    p, codes, weights, _ = drawn(40, 3, 5)
    made, told = fit_recalibration(p, codes, weights, np.zeros(40, dtype=int))
    np.testing.assert_allclose(told, made(p), rtol=1e-9)
