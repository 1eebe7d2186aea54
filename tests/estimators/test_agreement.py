"""predict, predict_proba and decision_function are one answer; the machine is what it claims."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.base import clone
from sklearn.datasets import make_classification, make_moons
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.svm import SVC

from svmselect import AutoKLR, AutoSVC
from svmselect.estimators.chosen import Setting, hold_out
from svmselect.estimators.machines import class_probabilities
from svmselect.estimators.problem import Problem
from svmselect.kernels import RBF
from svmselect.machine import solve
from svmselect.probability.recalibration import fit_recalibration

X2, y2 = make_moons(80, noise=0.25, random_state=0)
X2 = X2 * [3.0, 0.1] + [100.0, -7.0]
X3, y3 = make_classification(
    90, 4, n_informative=3, n_redundant=0, n_classes=3, class_sep=0.7, random_state=1
)
LABELS = np.array(["ant", "bee", "cat"])


@pytest.fixture(scope="module", params=[AutoSVC, AutoKLR])
def two(request):
    return request.param(random_state=0).fit(X2, LABELS[y2])


@pytest.fixture(scope="module", params=["ovo", "ovo-separate"])
def three(request):
    return AutoSVC(multi_class=request.param, random_state=0).fit(X3, LABELS[y3])


def test_pairs_share_by_default():
    plain, named = (AutoSVC(random_state=0, **o).fit(X3, y3) for o in ({}, {"multi_class": "ovo"}))
    assert plain.multi_class == "auto"
    assert plain.C_ == named.C_
    np.testing.assert_array_equal(plain.predict_proba(X3), named.predict_proba(X3))


def points(X):
    rng = np.random.default_rng(0)
    low, high = X.min(axis=0), X.max(axis=0)
    return rng.uniform(low - (high - low), high + (high - low), size=(500, X.shape[1]))


def test_two_classes_agree(two):
    Z = points(X2)
    f, p, label = two.decision_function(Z), two.predict_proba(Z), two.predict(Z)
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-15)
    np.testing.assert_array_equal(f > 0, label == "bee")
    np.testing.assert_array_equal(p.argmax(axis=1) == 1, label == "bee")
    np.testing.assert_array_equal(f > 0, p[:, 1] > 0.5)
    assert set(label) == {"ant", "bee"}
    np.testing.assert_allclose(two.predict_log_proba(Z), np.log(p), rtol=1e-10)
    # one sigmoid through the origin
    np.testing.assert_allclose(p[:, 1], expit(-two.sigmoid_slope_[0] * f), rtol=1e-12)


def test_three_classes_agree(three):
    Z = points(X3)
    f, p, label = three.decision_function(Z), three.predict_proba(Z), three.predict(Z)
    assert f.shape == p.shape == (500, 3)
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-14)
    np.testing.assert_array_equal(LABELS[f.argmax(axis=1)], label)
    np.testing.assert_array_equal(LABELS[p.argmax(axis=1)], label)
    np.testing.assert_allclose(three.predict_log_proba(Z), np.log(p), rtol=1e-12)
    assert len(set(label)) == 3


def test_values_of_the_pairs(three):
    pairs = three.set_params(decision_function_shape="ovo").decision_function(X3)
    three.set_params(decision_function_shape="ovr")
    assert pairs.shape == (90, 3)
    # of (ant, bee), (ant, cat), (bee, cat) above zero means the earlier
    for column, (i, j) in zip(pairs.T, [(0, 1), (0, 2), (1, 2)], strict=True):
        member = (y3 == i) | (y3 == j)
        assert np.mean((column > 0)[member] == (y3 == i)[member]) > 0.75


def test_the_machine_is_the_exact_one_for_its_hyperparameters(two):
    scaled = (X2 - two.mean_) / two.scale_
    np.testing.assert_allclose(scaled.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(scaled.std(axis=0), 1)
    loss = "hinge" if isinstance(two, AutoSVC) else "logistic"
    wanted = solve(two.kernel_(scaled), np.where(y2 == 1, 1.0, -1.0), two.C_, loss=loss)
    shift = two.decision_function(X2) - wanted.decision
    np.testing.assert_allclose(shift, shift[0], atol=1e-8)
    beta = np.zeros(80)
    beta[two.support_] = two.dual_coef_[0]
    np.testing.assert_allclose(beta, wanted.beta, atol=1e-8)
    assert two.intercept_[0] - wanted.intercept == pytest.approx(shift[0], abs=1e-8)


def test_fitted_attributes_fit_together(two):
    m = int(two.n_support_.sum())
    assert two.support_.shape == (m,)
    np.testing.assert_array_equal(two.support_vectors_, X2[two.support_])
    assert two.dual_coef_.shape == (1, m)
    np.testing.assert_array_equal(np.repeat([0, 1], two.n_support_), y2[two.support_])
    scaled = (two.support_vectors_ - two.mean_) / two.scale_
    K = two.kernel_((X2 - two.mean_) / two.scale_, scaled)
    by_hand = K @ two.dual_coef_[0] + two.intercept_[0]
    np.testing.assert_allclose(by_hand, two.decision_function(X2), atol=1e-10)


def test_fitted_attributes_of_three_classes(three):
    m = int(three.n_support_.sum())
    assert three.dual_coef_.shape == (2, m)
    assert three.intercept_.shape == (3,)
    np.testing.assert_array_equal(three.support_vectors_, X3[three.support_])
    np.testing.assert_array_equal(np.repeat(np.arange(3), three.n_support_), y3[three.support_])


def test_the_error_in_words_is_that_of_the_folds(three):
    fold = KFold(5, shuffle=True, random_state=0)
    ready = list(fold.split(X3, y3))
    model = clone(three).set_params(cv=ready).fit(X3, y3)
    apart = isinstance(model.kernel_, tuple)
    coupled, groups = np.empty((len(y3), 3)), np.empty(len(y3), dtype=int)
    scaled = (X3 - model.mean_) / model.scale_
    for number, (train, test) in enumerate(ready):
        f = np.empty((len(test), 3))
        for p, (i, j) in enumerate([(0, 1), (0, 2), (1, 2)]):
            both = np.isin(y3, (i, j))
            rows = train[both[train]]
            k, C = (model.kernel_[p], model.C_[p]) if apart else (model.kernel_, model.C_)
            share = len(rows) / both.sum()
            s = solve(k(scaled[rows]), np.where(y3[rows] == j, 1.0, -1.0), C / share)
            whole = solve(k(scaled[both]), np.where(y3[both] == j, 1.0, -1.0), C)
            shift = -model.intercept_[p] - whole.intercept
            f[:, p] = k(scaled[test], scaled[rows]) @ s.beta + s.intercept + shift
        coupled[test], groups[test] = class_probabilities(f, model.sigmoid_slope_, 3), number
    made, told = fit_recalibration(coupled, y3, np.ones(len(y3)), groups)
    np.testing.assert_allclose(made.table, model.recalibration_, atol=1e-3)
    np.testing.assert_allclose(told, model.held_out_proba_, atol=1e-3)
    wrong = np.mean(told.argmax(axis=1) != y3)
    assert f"{wrong:.1%} of the held-out rows were wrong" in model.explain()


def test_hyperparameters_of_each_pair():
    apart = AutoSVC(multi_class="ovo-separate", random_state=0).fit(X3, y3)
    assert len(apart.kernel_) == len(apart.C_) == 3
    assert len({kernel.theta[0] for kernel in apart.kernel_}) == 3
    together = AutoSVC(random_state=0).fit(X3, y3)
    assert isinstance(together.kernel_, RBF)
    assert isinstance(together.C_, float)


def test_held_out_values_against_libsvm():
    problem = Problem.of(X3, y3, None, None, 4, None, True, 0)
    pairs = problem.pairs()
    held = hold_out(problem, pairs, Setting((0.9,), (RBF(1.5),)), "hinge")
    fold = problem.splits.test.argmax(axis=1)
    for row, found in zip(held.rows, held.decisions, strict=True):
        for pair, value in zip(pairs, found, strict=True):
            if row % 9:  # one row in nine is enough
                continue
            seen = pair.rows[fold[pair.rows] != fold[row]]
            share = len(seen) / len(pair.rows)
            svc = SVC(C=0.9 / share, gamma=0.5 / 1.5**2, tol=1e-9)
            y = np.where(np.isin(seen, pair.rows[pair.y > 0]), 1.0, -1.0)
            svc.fit(problem.X[seen], y)
            if 0 < np.abs(svc.dual_coef_).min() < svc.C * (1 - 1e-6):  # the offset is determined
                assert value == pytest.approx(svc.decision_function(problem.X[[row]])[0], abs=1e-6)


def test_probabilities_are_calibrated_on_unseen_rows():
    X, y = make_classification(
        600, 3, n_informative=2, n_redundant=0, flip_y=0.3, class_sep=1.0, random_state=3
    )
    p = cross_val_predict(AutoSVC(random_state=0, ard="no"), X, y, cv=3, method="predict_proba")[
        :, 1
    ]
    for low, high in ((0.0, 0.35), (0.35, 0.65), (0.65, 1.0)):
        part = (p >= low) & (p < high)
        if part.sum() > 40:
            assert abs(p[part].mean() - y[part].mean()) < 0.1


def test_copies_of_rows_and_weights_fit_alike():
    counts = np.random.default_rng(0).integers(0, 3, size=len(X3))
    fold = np.arange(len(X3)) % 3
    rows = np.repeat(np.arange(len(X3)), counts)
    ready = [(np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in range(3)]
    again = [(np.flatnonzero(fold[rows] != f), np.flatnonzero(fold[rows] == f)) for f in range(3)]
    weighted = AutoSVC(cv=ready, random_state=0).fit(X3, y3, sample_weight=counts)
    repeated = AutoSVC(cv=again, random_state=0).fit(X3[rows], y3[rows])
    assert weighted.C_ == repeated.C_
    assert weighted.kernel_ == repeated.kernel_
    np.testing.assert_allclose(
        weighted.predict_proba(X3), repeated.predict_proba(X3), rtol=1e-10, atol=1e-14
    )


def test_a_model_of_nothing_predicts_the_share():
    rng = np.random.default_rng(0)
    y = rng.permutation(np.repeat([0, 1], [70, 30]))
    model = AutoSVC(random_state=0).fit(rng.normal(size=(100, 3)), y)
    p = model.predict_proba(rng.normal(size=(400, 3)))[:, 1]
    assert abs(p.mean() - 0.3) < 0.08
    assert np.mean(p > 0.5) < 0.25


@pytest.mark.parametrize("cls", [AutoSVC, AutoKLR])
def test_weights_of_classes_are_in_the_probabilities_of_several(cls):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 60)
    X = rng.normal(size=(180, 2)) + np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])[y]
    options = {"ard": "no", "random_state": 0}
    plain = cls(**options).fit(X, y).predict_proba(X)
    heavy = cls(class_weight={1: 5.0}, **options).fit(X, y).predict_proba(X)
    assert plain.mean(axis=0) == pytest.approx(np.full(3, 1 / 3), abs=0.05)
    # as often as their weights say: 5 of 7
    assert heavy.mean(axis=0) == pytest.approx([1 / 7, 5 / 7, 1 / 7], abs=0.07)
