"""Sharpened class probabilities, against a brute-force search."""

import numpy as np
import pytest
from scipy.special import log_softmax, softmax

from svmselect.probability.temperature import fit_sharpness, sharpened


def said(n: int, k: int, seed: int, sharpness: float) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities that are right once they are raised to this power, and classes drawn so."""
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.full(k, 0.7), size=n)
    p = np.maximum(p, 1e-9)
    p /= p.sum(axis=1, keepdims=True)
    q = sharpened(p, sharpness)
    return p, np.array([rng.choice(k, p=row) for row in q])


@pytest.mark.parametrize("sharpness", [0.4, 1.0, 3.0])
def test_finds_the_power_that_made_the_classes(sharpness: float) -> None:
    p, codes = said(4000, 4, 0, sharpness)
    assert fit_sharpness(p, codes, np.ones(len(codes))) == pytest.approx(sharpness, rel=0.1)


@pytest.mark.parametrize("seed", range(4))
def test_is_the_best_of_a_fine_grid(seed: int) -> None:
    p, codes = said(40, 3, seed, 2.0)
    weights = np.random.default_rng(seed).integers(1, 4, len(codes)).astype(float)

    def loss(s: float) -> float:
        own = sharpened(p, s)[np.arange(len(codes)), codes]
        return 0.5 * np.log(s) ** 2 - weights @ np.log(own)

    found = fit_sharpness(p, codes, weights)
    assert loss(found) <= min(loss(s) for s in np.exp(np.linspace(-3, 4, 2001))) + 1e-8


def test_weights_count_copies() -> None:
    p, codes = said(60, 3, 1, 2.0)
    weights = np.random.default_rng(1).integers(0, 4, len(codes))
    copied = fit_sharpness(p.repeat(weights, 0), codes.repeat(weights), np.ones(weights.sum()))
    assert fit_sharpness(p, codes, weights.astype(float)) == pytest.approx(copied, rel=1e-5)


def test_finite_where_no_row_is_wrong() -> None:
    p = np.full((50, 3), 0.3) + 0.1 * np.eye(3)[np.arange(50) % 3]
    found = fit_sharpness(p, np.arange(50) % 3, np.ones(50))
    assert 1.0 < found < np.exp(4.0) + 1e-9
    assert np.isfinite(np.log(sharpened(p, found))).all()


def test_sharpened_rows_sum_to_one_and_keep_their_order() -> None:
    p, _ = said(100, 5, 2, 1.0)
    q = sharpened(p, 2.5)
    np.testing.assert_allclose(q.sum(axis=1), 1.0, rtol=1e-14)
    assert np.array_equal(np.argsort(p, axis=1), np.argsort(q, axis=1))
    assert sharpened(p, 1.0) is p
    extreme = np.array([[1.0, 0.0, 0.0], [1.0 - 1e-300, 1e-300, 0.0]])
    assert np.isfinite(sharpened(extreme, 5.0)).all()


SHAPES = {
    "clean": lambda E, rng: 20.0 * E,
    "timid": lambda E, rng: 0.1 * E + 0.05 * rng.normal(size=E.shape),
    "the wrong way": lambda E, rng: -3.0 * E,
    "noise": lambda E, rng: 2.0 * rng.normal(size=E.shape),
    "all alike": lambda E, rng: 0.0 * E,
    "sure and often wrong": lambda E, rng: 50.0 * rng.normal(size=E.shape) + 30.0 * E,
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("n", [2, 10, 1000, 5000])
def test_no_other_power_is_better(shape: str, n: int) -> None:
    rng = np.random.default_rng(n)
    for k, spread in ((3, 0.0), (10, 3.0)):
        codes, weights = rng.integers(0, k, n), 10.0 ** rng.uniform(-spread, spread, n)
        p = softmax(SHAPES[shape](np.eye(k)[codes], rng), axis=1)
        logs = np.log(np.maximum(p, 1e-300))

        def loss(u: float, logs=logs, codes=codes, weights=weights) -> float:
            own = log_softmax(np.exp(u) * logs, axis=1)[np.arange(len(codes)), codes]
            return (0.5 * u**2 - float(weights @ own)) / float(weights.sum())

        found = loss(np.log(fit_sharpness(p, codes, weights)))
        assert found <= min(loss(u) for u in np.linspace(-3.0, 4.0, 36)) + 1e-9
        assert found <= loss(0.0)  # never worse than to leave them as they are
