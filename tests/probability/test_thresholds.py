"""Thresholds: against every cut, against scikit-learn's tuner, against the least expected cost."""

from itertools import product

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import balanced_accuracy_score, f1_score, matthews_corrcoef
from sklearn.model_selection import TunedThresholdClassifierCV

from svmselect.probability import cost_utilities, decide, threshold_utilities, tune_utilities


def drawn(n, k, seed, flat=1.0):
    """Probabilities, and classes that come as often as they say."""
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.full(k, flat), n)
    p[:, 0] += 0.5
    p /= p.sum(axis=1, keepdims=True)
    codes = (rng.random(n)[:, None] > p.cumsum(axis=1)).sum(axis=1)
    return p, codes


def by_rows(metric):
    """A metric of labels as one of tables."""

    def judge(table):
        k = len(table)
        truth, told = np.divmod(np.arange(k * k), k)
        return metric(truth, told, sample_weight=table.ravel())

    return judge


balanced = by_rows(balanced_accuracy_score)
f1 = by_rows(f1_score)
matthews = by_rows(matthews_corrcoef)


@pytest.mark.parametrize("judge", [balanced, f1, matthews], ids=["balanced", "f1", "matthews"])
@pytest.mark.parametrize("n", [40, 150, 900])
def test_no_cut_of_two_classes_is_better(judge, n):
    p, codes = drawn(n, 2, n)
    weights = np.random.default_rng(0).integers(1, 4, n).astype(float)
    utilities, value = tune_utilities(p, codes, weights, judge)

    def worth(told):
        return judge(np.bincount(codes * 2 + told, weights, 4).reshape(2, 2))

    assert worth(decide(p, utilities)) == value
    levels = np.unique(p[:, 1])
    best = max(worth((p[:, 1] > cut).astype(int)) for cut in levels)
    assert value == pytest.approx(best) if n < 200 else value > best - 0.01


class Known(ClassifierMixin, BaseEstimator):
    """Has the probabilities of rows that are numbers of rows."""

    def __init__(self, p=None):
        self.p = p

    @property
    def classes_(self):
        return np.array([0, 1])

    def __sklearn_is_fitted__(self):
        return True

    def fit(self, X, y):
        return self

    def predict_proba(self, X):
        return self.p[np.asarray(X)[:, 0].astype(int)]


@pytest.mark.parametrize(
    ("name", "judge"),
    [("balanced_accuracy", balanced), ("f1", f1), ("matthews_corrcoef", matthews)],
)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_scikit_learn_tunes_to_the_same(name, judge, seed):
    p, codes = drawn(120, 2, seed)
    utilities, value = tune_utilities(p, codes, np.ones(120), judge)
    rows, levels = np.arange(120)[:, None], np.sort(p[:, 1])
    cuts = 0.5 * (levels[1:] + levels[:-1])
    tuner = TunedThresholdClassifierCV(
        Known(p), scoring=name, cv="prefit", refit=False, thresholds=cuts
    ).fit(rows, codes)
    assert tuner.best_score_ == pytest.approx(value)
    # where several are as good it takes another of them
    told = decide(p, utilities)
    if np.isclose(tuner.best_threshold_, utilities[0, 0], rtol=1e-9):
        np.testing.assert_array_equal(tuner.predict(rows), told)
    assert (tuner.predict(rows) == told).mean() > 0.85


def test_the_utilities_of_a_threshold():
    p = np.column_stack([1.0 - np.linspace(0.005, 0.995, 100), np.linspace(0.005, 0.995, 100)])
    for threshold in (0.1, 0.33, 0.5, 0.9):
        told = decide(p, threshold_utilities(threshold))
        np.testing.assert_array_equal(told, p[:, 1] > threshold)


@pytest.mark.parametrize("k", [3, 4])
def test_factors_of_several_classes(k):
    p, codes = drawn(300, k, 5)
    utilities, value = tune_utilities(p, codes, np.ones(300), balanced)
    told = decide(p, utilities)
    assert value == pytest.approx(balanced_accuracy_score(codes, told))
    np.testing.assert_allclose(utilities.sum(), 1.0)
    assert not utilities[~np.eye(k, dtype=bool)].any()
    # no factors of a grid are much better, and the largest probability is much worse
    grid = product(np.geomspace(0.1, 10.0, 9), repeat=k - 1)
    others = [balanced_accuracy_score(codes, (p * [1.0, *f]).argmax(axis=1)) for f in grid]
    assert value > max(others) - 0.005
    assert value > balanced_accuracy_score(codes, p.argmax(axis=1)) + 0.05


def test_what_is_best_already_stays():
    p = np.array([[0.9, 0.1], [0.6, 0.4], [0.3, 0.7], [0.2, 0.8]])
    utilities, value = tune_utilities(p, np.array([0, 0, 1, 1]), np.ones(4), balanced)
    assert value == 1.0
    np.testing.assert_array_equal(utilities, np.eye(2) / 2)


def test_the_least_expected_cost():
    p, codes = drawn(2000, 3, 7)
    costs = np.array([[0.0, 1.0, 5.0], [2.0, 0.0, 1.0], [9.0, 3.0, 0.0]])
    told = decide(p, cost_utilities(costs, 3))
    expected = np.array(
        [[sum(row[i] * costs[i, j] for i in range(3)) for j in range(3)] for row in p]
    )
    np.testing.assert_array_equal(told, expected.argmin(axis=1))
    assert costs[codes, told].mean() < costs[codes, p.argmax(axis=1)].mean()
    two = cost_utilities([[0.0, 1.0], [4.0, 0.0]], 2)
    q = np.column_stack([[0.81, 0.79], [0.19, 0.21]])
    np.testing.assert_array_equal(decide(q, two), [0, 1])  # 1 / (1 + 4)


@pytest.mark.parametrize(
    ("costs", "said"),
    [
        ([[0, 1, 2], [1, 0, 2]], r"shape \(2, 3\); 2 classes need one of \(2, 2\)"),
        ([["a", 1], [1, 0]], "must be numbers"),
        ([[0, np.inf], [1, 0]], "predicting class 1 for class 0 is inf"),
        ([[1, 0], [0, 1]], "predicting class 1 for class 0 costs 0, less than the right answer"),
        ([[0, 0], [0, 0]], "nothing to decide"),
    ],
)
def test_costs_that_mean_nothing(costs, said):
    with pytest.raises(ValueError, match=said):
        cost_utilities(costs, 2)
