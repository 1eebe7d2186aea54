"""The papers' toys against the properties their texts give."""

import math

import numpy as np
import pytest

from svmselect.datasets import toys


def test_half_relevant_best_error():
    X, y = toys.half_relevant(200_000, 0)
    error = np.mean(np.sign(X[:, :5].sum(axis=1)) != y)
    best = 0.5 * math.erfc(math.sqrt(5) / 2 / math.sqrt(2))
    assert error == pytest.approx(best, abs=0.003)
    assert abs(best - toys.BAYES_ERROR) < 1e-5


def test_circles_chances():
    X, y = toys.circles(200_000, 0)
    radius = np.hypot(*(X - 0.5).T)
    for inside, chance in (
        (radius < 0.2, 0.05),
        ((radius > 0.2) & (radius < 0.35), 0.5),
        (radius > 0.35, 0.95),
    ):
        assert np.mean(y[inside] > 0) == pytest.approx(chance, abs=0.02)


def test_sines_chances_from_the_top():
    X, y = toys.sines(200_000, 0)
    height = X[:, 1] - 0.5 - 0.2 * np.sin(2 * np.pi * X[:, 0])
    for inside, chance in ((height > 0.1, 0.95), (abs(height) < 0.1, 0.5), (height < -0.1, 0.05)):
        assert np.mean(y[inside] > 0) == pytest.approx(chance, abs=0.02)


@pytest.mark.parametrize("name", ["circles", "sines"])
def test_the_paper_s_experiment_draws_the_same(name):
    from svmselect.experiments.wahba_lin_zhang import draw_data

    X, y, _ = draw_data(name, 50, 7)
    drawn = getattr(toys, name)(50, 7)
    assert np.array_equal(X, drawn[0])
    assert np.array_equal(y, drawn[1])


def test_five_gaussians_best_error_is_near_the_paper_s():
    """Kwok's machines make 11 to 12 % errors; no machine makes fewer than the best rule."""
    X, y = toys.five_gaussians(100_000, 0)

    def density(centres):
        return sum(np.exp(-((X - [c, c * c / 8]) ** 2).sum(axis=1) / 1.125) for c in centres)

    best = np.where(density([-2, 2]) / 2 > density([-4, 0, 4]) / 3, 1, -1)
    assert np.mean(best != y) == pytest.approx(0.108, abs=0.01)
