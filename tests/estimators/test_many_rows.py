"""More rows than a choice looks at: subsets, machines trained beside the choice, memory."""

import numpy as np
import pytest
from sklearn.datasets import make_classification

from svmselect import AutoSVC, clock
from svmselect.estimators import base, by_default, by_scoring, chosen
from svmselect.estimators.strategies import many_rows as large
from svmselect.machine import solve

X, y = make_classification(260, 3, n_informative=2, n_redundant=0, random_state=0)
x3, y3 = make_classification(300, 3, n_redundant=0, n_informative=3, n_classes=3, random_state=0)


@pytest.fixture(autouse=True)
def few_are_many(monkeypatch):
    monkeypatch.setattr(by_default, "MANY", 100)
    monkeypatch.setattr(base, "MANY", 100)
    monkeypatch.setitem(large.choose_large.__kwdefaults__, "limit", 80)
    monkeypatch.setitem(large.choose_large.__kwdefaults__, "subsets", 2)


def test_the_machine_of_all_rows_is_exact_while_it_can_be():
    model = AutoSVC(random_state=0, ard="no").fit(X, y)
    assert "subsets of 80 of 260 rows" in model.explain()
    scaled = (X - model.mean_) / model.scale_
    wanted = solve(model.kernel_(scaled), np.where(y == 1, 1.0, -1.0), model.C_)
    shift = model.decision_function(X) - wanted.decision
    np.testing.assert_allclose(shift, shift[0], atol=1e-7)
    p = model.predict_proba(X)
    np.testing.assert_array_equal(p.argmax(axis=1), model.predict(X))


@pytest.mark.parametrize("multi_class", ["ovo", "ovo-separate"])
def test_landmarks_are_the_support_vectors_beyond(monkeypatch, multi_class):
    monkeypatch.setitem(large.choose_large.__kwdefaults__, "exact", 50)
    monkeypatch.setitem(large.choose_large.__kwdefaults__, "landmarks", 40)
    model = AutoSVC(multi_class=multi_class, random_state=0, ard="no").fit(x3, y3)
    assert "landmarks (Nystrom)" in model.explain()
    assert len(model.support_) <= 120
    np.testing.assert_array_equal(model.support_vectors_, x3[model.support_])
    np.testing.assert_array_equal(np.repeat(np.arange(3), model.n_support_), y3[model.support_])
    assert model.score(x3, y3) > 0.7
    if multi_class == "ovo":
        model.set_params(decision_function_shape="ovo")
        plain = model.to_sklearn()
        np.testing.assert_allclose(
            plain.decision_function(x3), model.decision_function(x3), rtol=1e-6, atol=1e-6
        )


def test_scoring_of_many_rows(monkeypatch):
    model = AutoSVC(scoring="roc_auc", random_state=0, ard="no").fit(X, y)
    assert "roc_auc decided among" in model.explain()
    monkeypatch.setattr(by_scoring, "EXACT", 200)
    with pytest.raises(ValueError, match="260 rows are too many"):
        AutoSVC(scoring="roc_auc", random_state=0, ard="no").fit(X, y)


@pytest.mark.parametrize("multi_class", ["ovo", "ovo-separate"])
def test_a_fold_says_how_sure_several_classes_are(multi_class):
    rng = np.random.default_rng(0)
    y = np.arange(600) % 4
    around = np.column_stack([np.cos(np.pi * y / 2.0), np.sin(np.pi * y / 2.0)])
    X = rng.normal(size=(600, 2)) + 6.0 * around
    options = {"multi_class": multi_class, "ard": "no", "random_state": 0}
    model = AutoSVC(**options).fit(X[:300], y[:300])
    assert model.recalibration_.shape == (4, 5)
    assert model.selection_.error.of == "classes"
    held = np.isfinite(model.held_out_proba_).all(axis=1)
    assert np.bincount(y[:300][held]).tolist() == [15] * 4  # a fold of five
    p = model.predict_proba(X[300:])
    assert -np.log(p[np.arange(300), y[300:]]).mean() < 0.02
    sets = model.predict_set(X[300:], alpha=0.1)
    assert sets[np.arange(300), y[300:]].mean() > 0.85


def test_more_rows_are_sampled_for_that_fold_and_small_classes_are_whole(monkeypatch):
    monkeypatch.setattr(chosen, "_MOST", 120)
    monkeypatch.setattr(chosen, "_ENOUGH", 20)
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1, 2], [140, 140, 20])
    X = rng.normal(size=(300, 2)) + np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0]])[y]
    model = AutoSVC(ard="no", random_state=0).fit(X, y)
    held = np.isfinite(model.held_out_proba_).all(axis=1)
    counts = np.bincount(y[held])
    assert counts[2] == 4  # a fifth of all
    assert 20 <= counts.sum() <= 30
    assert model.predict_proba(X)[np.arange(300), y].min() > 0.01


def test_there_is_no_fold_when_time_is_over(monkeypatch):
    def late(*_):
        raise clock.OutOfTimeError

    monkeypatch.setattr(chosen, "_of_one_fold", late)
    model = AutoSVC(random_state=0, ard="no").fit(x3, y3)
    assert model.recalibration_ is None
    assert np.isfinite(model.predict_proba(x3)).all()
