"""Columns that share a unit keep it where the data say so."""

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris
from sklearn.model_selection import train_test_split

from svmselect import AutoClassifier, AutoSVC
from svmselect.estimators.scaling import Scaling
from svmselect.estimators.strategies import default
from svmselect.estimators.units import share_a_unit


def faint(n: int = 200, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Two columns that matter, and thirty of the same range that are nearly always at rest."""
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((n, 32)) < 0.03, rng.uniform(-2, 2, (n, 32)), 0.0)
    X[:, :2] = rng.uniform(-2, 2, (n, 2))
    return X, (X[:, 0] * X[:, 1] > 0).astype(int)


def test_columns_of_one_unit_are_told_by_ranges_that_agree_and_spreads_that_do_not() -> None:
    X, _ = faint()
    assert share_a_unit(X, None)
    assert not share_a_unit(X * np.where(np.arange(32) < 3, 1e3, 1.0), None)
    assert not share_a_unit(X / X.std(axis=0), None)
    assert not share_a_unit(X[:, :1], None)
    assert not share_a_unit(np.ones((5, 3)), None)
    assert share_a_unit(load_digits().data, None)
    assert share_a_unit(np.column_stack([X, 1e9 * X[:, 0]]), np.array([np.nan] * 32 + [2.0]))


def test_one_factor_for_all() -> None:
    X, _ = faint()
    X = np.column_stack([X + 7.0, np.full(len(X), 3.0)])
    Z = Scaling.of(X, np.ones(len(X)), True, common=True)(X)
    assert np.allclose(Z.mean(axis=0), 0.0)
    assert np.mean(Z[:, :-1].std(axis=0) ** 2) == pytest.approx(1.0)
    ratio = Z[:, :-1].std(axis=0) / X[:, :-1].std(axis=0)
    assert np.ptp(ratio) < 1e-12
    assert not Z[:, -1].any()


# AutoClassifier finds what length scales of their own can do about it
@pytest.mark.parametrize(("make", "gain"), [(AutoSVC, 0.02), (AutoClassifier, 0.0)])
def test_columns_at_rest_are_not_blown_up(make: type, gain: float) -> None:
    X, y = faint()
    test, truth = faint(2000, 1)
    model = make(random_state=0).fit(X, y)
    plain = make(random_state=0, standardize=True).fit(X, y)
    assert model.selection_.one_unit
    assert not plain.selection_.one_unit
    assert model.score(test, truth) > plain.score(test, truth) + gain
    assert "share a unit" in model.explain()
    assert np.ptp(model.scale_) == 0.0
    assert np.allclose(make(random_state=0).fit(100 * X - 5, y).predict_proba(100 * test - 5),
                       model.predict_proba(test), atol=1e-6)  # fmt: skip


def test_a_unit_that_promises_nothing_is_not_kept() -> None:
    X, y = load_iris(return_X_y=True)
    X = X / X.std(axis=0) * [1.0, 2.0, 3.0, 1.0]
    assert share_a_unit(X, None)
    model = AutoSVC(random_state=0).fit(X, y)
    assert not model.selection_.one_unit
    assert np.allclose(model.scale_, X.std(axis=0))


def test_the_exported_pipeline_and_a_second_fit_agree() -> None:
    X, y = faint()
    model = AutoSVC(random_state=0).fit(X, y)
    assert np.allclose(model.to_sklearn().decision_function(X), model.decision_function(X))
    again = AutoSVC(random_state=0).fit(X, y)
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))


def test_digits_beat_their_standardised_selves() -> None:
    X, y = load_digits(return_X_y=True)
    A, B, u, v = train_test_split(X, y, stratify=y, random_state=0, train_size=400)
    model = AutoSVC(random_state=0).fit(A, u)
    assert model.selection_.one_unit
    given = model.predict_proba(B)[np.arange(len(v)), v]
    assert -np.log(given).mean() < 0.15
    assert model.score(B, v) > 0.965


def test_what_the_look_has_walked_is_not_walked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = faint(120)
    walks: list[int] = []
    coarse = default._Plan.coarse

    def counted(plan: default._Plan) -> list[default.Place]:
        walks.append(len(plan.steps.task.data))
        return coarse(plan)

    monkeypatch.setattr(default._Plan, "coarse", counted)
    quick = AutoSVC(random_state=0).fit(X, y)
    assert len(walks) == 2
    monkeypatch.setattr(default.Coarse, "serves", lambda *_: False)
    slow = AutoSVC(random_state=0).fit(X, y)
    assert len(walks) == 5
    assert quick.selection_.one_unit
    # the same machine, and the same record of what was tried
    assert np.array_equal(quick.decision_function(X), slow.decision_function(X))
    assert [one.run for one in quick.selection_.trace] == [one.run for one in slow.selection_.trace]
    both = zip(quick.selection_.trace, slow.selection_.trace, strict=True)
    assert all(one.evaluation.value == other.evaluation.value for one, other in both)
