"""Held-out rows: classes confused, curves, doubtful rows, and what more of them would bring."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import (
    average_precision_score,
    confusion_matrix,
    precision_recall_curve,
    precision_recall_fscore_support,
    roc_auc_score,
    roc_curve,
)
from sklearn.svm import SVC

from svmselect import AutoSVC
from svmselect.estimators.chosen import OutOfFold
from svmselect.plots.data.curves import POINTS, curve_data
from svmselect.plots.data.decisions import decided, decision_data, doubts
from svmselect.plots.data.learning import PARTS, learning_data
from svmselect.plots.data.refit import Refit
from svmselect.probability.intervals import wilson

NAMES = np.array(["a", "b", "c"])


def said(n: int = 300, k: int = 3) -> tuple[Any, Any, Any]:
    """Probabilities with ties, the classes that rows are of, and weights."""
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(k), n).round(2)
    p /= p.sum(axis=1, keepdims=True)
    codes = np.array([rng.choice(k, p=row) for row in p])
    return p, codes, rng.integers(1, 4, n).astype(float)


def test_classes_confused_are_scikit_learns() -> None:
    p, codes, w = said()
    predicted = p.argmax(axis=1)
    data = decision_data(predicted, codes, w, NAMES, "rows")
    np.testing.assert_allclose(data.table, confusion_matrix(codes, predicted, sample_weight=w))
    precision, recall, _, _ = precision_recall_fscore_support(codes, predicted, sample_weight=w)
    np.testing.assert_allclose(data.right, precision)
    np.testing.assert_allclose(data.error, 1 - recall)
    np.testing.assert_allclose([data.low, data.high], wilson(data.error, data.rows))
    worst = data.confusions(2)
    assert [row[2] for row in worst] == sorted(
        (data.table - np.diag(data.table.diagonal())).ravel(), reverse=True
    )[:2]
    one, other, count, share = worst[0]
    i, j = NAMES.tolist().index(one), NAMES.tolist().index(other)
    assert (count, share) == (data.table[i, j], data.table[i, j] / data.rows[i])


def test_a_class_without_rows_or_never_called() -> None:
    data = decision_data(np.array([0, 0, 1]), np.array([0, 1, 1]), np.ones(3), NAMES, "rows")
    assert np.isnan(data.error[2])
    assert np.isnan(data.right[2])
    assert data.confusions(5) == [("b", "a", 1.0, 0.5)]


@pytest.mark.parametrize("k", [2, 3])
def test_curves_are_scikit_learns(k: int) -> None:
    p, codes, w = said(k=k)
    predicted = p.argmax(axis=1)
    curves = curve_data(p, predicted, codes, w, NAMES[:k])
    wanted = [1] if k == 2 else [0, 1, 2]
    assert [curve.label for curve in curves] == [NAMES[c] for c in wanted]
    for curve, c in zip(curves, wanted, strict=True):
        own = codes == c
        assert curve.auc == pytest.approx(roc_auc_score(own, p[:, c], sample_weight=w))
        average = average_precision_score(own, p[:, c], sample_weight=w)
        assert curve.average == pytest.approx(average)
        false, found, _ = roc_curve(own, p[:, c], sample_weight=w, drop_intermediate=False)
        line = np.interp(false, np.append(0.0, curve.false), np.append(0.0, curve.found))
        assert np.all(found <= line + 1e-9)  # where it rises, the upper end counts
        right, recall, thresholds = precision_recall_curve(own, p[:, c], sample_weight=w)
        at = np.searchsorted(thresholds, curve.threshold)
        np.testing.assert_allclose(curve.found, recall[at])
        np.testing.assert_allclose(curve.right, right[at])
        called = predicted == c
        assert curve.at == pytest.approx(
            (
                w[called & ~own].sum() / w[~own].sum(),
                w[called & own].sum() / w[own].sum(),
                w[called & own].sum() / w[called].sum(),
            )
        )


def test_long_curves_are_thinned() -> None:
    rng = np.random.default_rng(0)
    p1 = rng.random(20_000)
    own = rng.random(20_000) < p1
    both = np.column_stack([1 - p1, p1])
    (curve,) = curve_data(both, own * 1, own * 1, np.ones(20_000), np.array([0, 1]))
    assert len(curve.found) <= POINTS
    assert (curve.false[-1], curve.found[-1]) == (1.0, 1.0)
    area = np.sum(np.diff(curve.false) * (curve.found[1:] + curve.found[:-1]) / 2)
    assert area == pytest.approx(curve.auc, abs=2e-3)


def test_doubtful_rows() -> None:
    p = np.array([[0.9, 0.1], [0.45, 0.55], [0.2, 0.8], [0.52, 0.48], [0.7, 0.3]])
    codes, predicted = np.array([0, 1, 0, 0, 1]), p.argmax(axis=1)
    unsure, wrong = doubts(p, predicted, codes, NAMES[:2], [10, 11, 12, 13, 14], most=2)
    assert [(d.row, d.label, d.called, d.probability) for d in unsure] == [
        (13, "a", "a", 0.52), (11, "b", "b", 0.55),
    ]  # fmt: skip
    assert [(d.row, d.label, d.called) for d in wrong] == [(12, "a", "b"), (14, "b", "a")]
    assert doubts(p, codes, codes, NAMES[:2], range(5))[1] == ()


@pytest.mark.parametrize("threshold", ["argmax", "balanced_accuracy"])
def test_rows_are_called_what_the_model_calls_them(fits: Any, threshold: str) -> None:
    for name in ("two", "three"):
        _, X, y = fits[name]
        model = AutoSVC(random_state=0, threshold=threshold).fit(X, y)
        called = model.classes_[decided(model.predict_proba(X), model.threshold_)]
        np.testing.assert_array_equal(called, model.predict(X))


@pytest.mark.parametrize("name", ["two", "three", "separate", "logistic", "gacv"])
def test_all_rows_of_a_fold_bring_what_the_folds_say(fits: Any, name: str) -> None:
    model, X, y = fits[name]
    refit = Refit.of(model, X, y)
    found = learning_data(refit.problem, refit.pairs, refit.setting(), model.selection_.loss)
    assert found is not None
    assert found.rows[-1] == pytest.approx(len(X) * 0.8)
    held = refit.held_out()
    p = held.probabilities(held.sigmoids(refit.problem), len(model.classes_))
    codes = refit.problem.codes[held.rows]
    assert found.error[-1] == pytest.approx(np.mean(p.argmax(axis=1) != codes))
    own = p[np.arange(len(p)), codes]
    assert found.log_loss[-1] == pytest.approx(-np.log(own).mean())
    assert found.gain == pytest.approx(found.log_loss[-2] - found.log_loss[-1])
    np.testing.assert_allclose(found.rows / found.rows[-1], PARTS[-len(found.rows) :], rtol=0.1)


def test_parts_of_the_rows_by_brute_force(fits: Any) -> None:
    """The same parts, with machines by scikit-learn."""
    model, X, y = fits["two"]
    refit = Refit.of(model, X, y)
    problem, (pair,) = refit.problem, refit.pairs
    found = learning_data(problem, (pair,), refit.setting(), "hinge", seed=3)
    assert found is not None
    ranks = np.random.default_rng(3).permutation(len(problem))
    C, kernel = refit.setting().of(0)
    rows, values = [], []
    for test in problem.splits.test.T:
        kept = []
        for code in (0, 1):
            members = np.flatnonzero(~test & (problem.codes == code))
            order = members[np.argsort(ranks[members])]
            kept += order[: -(-len(order) // 2)].tolist()
        part = problem.X[kept]
        share = len(kept) / len(problem)
        machine = SVC(C=C / share, kernel="precomputed", tol=1e-8)
        machine.fit(kernel(part), problem.codes[kept])
        rows += np.flatnonzero(test).tolist()
        values += machine.decision_function(kernel(problem.X[test], part)).tolist()
    held = OutOfFold(np.array(rows), np.array(values)[:, None])
    p = held.probabilities(held.sigmoids(problem), 2)
    codes = problem.codes[held.rows]
    assert found.error[-2] == pytest.approx(np.mean(p.argmax(axis=1) != codes))
    own = p[np.arange(len(p)), codes]
    assert found.log_loss[-2] == pytest.approx(-np.log(own).mean(), rel=1e-5)


def test_too_few_rows_of_a_class_tell_nothing(fits: Any) -> None:
    _, X, y = fits["two"]
    kept = np.append(np.flatnonzero(y == "no")[:20], np.flatnonzero(y == "yes")[:6])
    small = AutoSVC(random_state=0).fit(X[kept], y[kept])
    refit = Refit.of(small, X[kept], y[kept])
    assert learning_data(refit.problem, refit.pairs, refit.setting(), "hinge") is None
    assert refit.numbers(np.arange(3)).tolist() == refit.problem.first[:3].tolist()


def test_rows_of_a_sample_keep_their_numbers(fits: Any) -> None:
    model, X, y = fits["two"]
    refit = Refit.of(model, X, y, most=30)
    numbers = refit.numbers(np.arange(len(refit.problem)))
    np.testing.assert_allclose(refit.problem.scaling(X[numbers]), refit.problem.X)
    assert replace(refit, kept=None).sampled is False


def test_a_sample_of_a_frame_is_scaled_as_the_fit_was() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"amount": rng.lognormal(sigma=2.0, size=80), "kind": list("abcd") * 20})
    y = np.log(X["amount"]) + (X["kind"] == "a") > 0.3
    model = AutoSVC(random_state=0, ard="no").fit(X, y)
    assert model.bend_ is not None
    problem = Refit.of(model, X, y, most=70).problem  # of more rows than are looked at
    np.testing.assert_array_equal(problem.scaling.bend.bent, model._scaling.bend.bent)
    np.testing.assert_array_equal(problem.scaling.scale[1:], model.scale_[1:])
