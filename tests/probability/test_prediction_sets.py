"""Prediction sets: ranks by hand, coverage where the rank is uniform, weights as copies."""

import numpy as np
import pytest

from svmselect.probability import check_alpha, least_probability, prediction_sets


@pytest.mark.parametrize(
    ("alpha", "k"), [(0.05, 0), (0.1, 1), (0.19, 1), (0.2, 2), (0.55, 5), (0.9, 9)]
)
def test_the_rank_of_the_least_probability(alpha, k):
    given = np.random.default_rng(0).permutation(np.linspace(0.1, 0.9, 9))
    wanted = 0.0 if k == 0 else np.sort(given)[k - 1]
    assert least_probability(given, np.ones(9), alpha) == wanted


@pytest.mark.parametrize("below_one", [1e-9, 1e-12, 1e-13, 2**-53])
@pytest.mark.parametrize("weights", [np.ones(9), np.linspace(0.1, 2.0, 9)])
def test_an_error_rate_next_to_one_asks_for_the_most_probable(below_one, weights):
    given = np.random.default_rng(0).permutation(np.linspace(0.1, 0.9, 9))
    assert least_probability(given, weights, 1.0 - below_one) == pytest.approx(0.9)


def test_a_weight_is_copies():
    rng = np.random.default_rng(1)
    given, copies = rng.random(30), rng.integers(1, 5, 30)
    for alpha in (0.03, 0.1, 0.37, 0.8):
        found = least_probability(given, copies.astype(float), alpha)
        repeated = given.repeat(copies)
        assert found == least_probability(repeated, np.ones(len(repeated)), alpha)


@pytest.mark.parametrize("alpha", [0.05, 0.1, 0.3])
@pytest.mark.parametrize("n", [15, 99])
def test_the_true_class_is_missed_as_often_as_allowed(alpha, n):
    """Of n + 1 exchangeable numbers, the last is below the least with probability k / (n + 1)."""
    rng = np.random.default_rng(2)
    missed = 0
    for _ in range(4000):
        numbers = rng.random(n + 1)
        missed += numbers[-1] < least_probability(numbers[:-1], np.ones(n), alpha)
    wanted = np.floor(alpha * (n + 1)) / (n + 1)
    assert wanted <= alpha
    assert missed / 4000 == pytest.approx(wanted, abs=4.0 * np.sqrt(wanted / 4000) + 1e-12)


def test_sets_are_never_empty_and_grow():
    p = np.random.default_rng(3).dirichlet(np.ones(4), 200)
    before = np.zeros((200, 4), dtype=bool)
    for least in (1.0, 0.9, 0.5, 0.3, 0.1, 0.0):
        found = prediction_sets(p, least)
        assert found.dtype == np.bool_
        assert found[np.arange(200), p.argmax(axis=1)].all()
        assert (found >= before).all()
        np.testing.assert_array_equal(found | (p >= least), found)
        assert found.sum(axis=1).max() == max(1, (p >= least).sum(axis=1).max())
        before = found
    assert before.all()


@pytest.mark.parametrize("alpha", [0.0, 1.0, -0.1, "0.1", True, None, np.nan])
def test_rates_that_are_none(alpha):
    with pytest.raises(ValueError, match="between 0 and 1"):
        check_alpha(alpha)
