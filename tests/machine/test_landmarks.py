"""Landmarks: which rows, in which order."""

import numpy as np
import pytest

from svmselect.kernels import RBF
from svmselect.machine.landmarks import RULES, leverage_scores, order_landmarks

rng = np.random.default_rng(0)
# nine tenths of the rows in one heap, the rest far around it
X = np.vstack([0.05 * rng.normal(size=(270, 2)), 5.0 * rng.normal(size=(30, 2))])
KERNEL = RBF(1.0)


@pytest.mark.parametrize("rule", RULES)
def test_an_order_without_repetition_of_which_any_beginning_serves(rule):
    draw = [order_landmarks(rule, KERNEL, X, m, np.random.default_rng(1)) for m in (20, 40, 999)]
    assert [len(one) for one in draw] == [20, 40, 300]
    assert all(len(set(one.tolist())) == len(one) for one in draw)
    if rule != "leverage":
        np.testing.assert_array_equal(draw[0], draw[1][:20])


def left_over(chosen):
    """The trace of what the landmarks leave of the Gram matrix."""
    K, Q = KERNEL(X), KERNEL(X, X[chosen])
    return np.trace(K - Q @ np.linalg.pinv(Q[chosen], rcond=1e-12, hermitian=True) @ Q.T)


def test_far_apart_and_by_leverage_leave_less_than_even_draws():
    rest = {
        rule: np.mean(
            [
                left_over(order_landmarks(rule, KERNEL, X, 25, np.random.default_rng(seed)))
                for seed in range(10)
            ]
        )
        for rule in RULES
    }
    assert rest["kmeans++"] < 0.5 * rest["uniform"]
    assert rest["leverage"] < 0.8 * rest["uniform"]


def test_leverage_scores_are_those_of_the_whole_matrix():
    K = KERNEL(X)
    found = leverage_scores(KERNEL, X, np.arange(len(X)), 12.0)
    values = np.linalg.eigvalsh(K).clip(0.0)
    low, high = 1e-12, 1e6
    for _ in range(200):
        middle = np.sqrt(low * high)
        low, high = (middle, high) if np.sum(values / (values + middle)) > 12.0 else (low, middle)
    exact = np.diag(K @ np.linalg.inv(K + low * np.eye(len(K))))
    np.testing.assert_allclose(found, exact, rtol=1e-3, atol=1e-6)


def test_copies_are_taken_only_where_nothing_else_is_left():
    twice = np.vstack([X[:10], X[:10]])
    chosen = order_landmarks("kmeans++", KERNEL, twice, 15, np.random.default_rng(0))
    assert len({tuple(row) for row in twice[chosen[:10]]}) == 10
    assert len(set(chosen.tolist())) == 15


def test_a_rule_that_is_none():
    with pytest.raises(ValueError, match="'best' are none of"):
        order_landmarks("best", KERNEL, X, 3, rng)


def test_chances_are_those_of_one_draw_after_another():
    rows = np.array([[0.0], [0.3], [1.0], [1.1], [4.0]])
    K = KERNEL(rows)
    away = np.clip(2.0 - 2.0 * K, 0.0, 1.0)  # from the rows drawn, or from zero
    pairs = away / away.sum(axis=1, keepdims=True) / 5.0  # of the first and the second
    left = np.minimum(away[:, None, :], away[None, :, :])
    left /= left.sum(axis=2, keepdims=True)
    third = np.einsum("ij,ijk->k", pairs, left)
    drawn = [
        order_landmarks("kmeans++", KERNEL, rows, 3, np.random.default_rng(seed))
        for seed in range(6000)
    ]
    first, second, last = np.array(drawn).T
    found = np.zeros((5, 5))
    np.add.at(found, (first, second), 1.0 / len(drawn))
    np.testing.assert_allclose(found, pairs, atol=0.015)
    np.testing.assert_allclose(np.bincount(last, minlength=5) / len(drawn), third, atol=0.02)
