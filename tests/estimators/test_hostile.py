"""Inputs that break classifiers."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest

from svmselect import AutoKLR, AutoSVC

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
y = (X[:, 0] + 0.3 * RNG.normal(size=40) > 0).astype(int)


def sound(model, rows):
    """Finite everywhere, probabilities that add up, one answer."""
    f, p = model.decision_function(rows), model.predict_proba(rows)
    assert np.isfinite(f).all()
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(rows))
    assert np.isfinite(model.best_score_)
    assert model.explain()
    return model


def fitted(rows, labels, **options):
    return sound(AutoSVC(random_state=0, **options).fit(rows, labels), rows)


def test_constant_columns_change_nothing():
    wide = np.column_stack([X, np.full(40, 7.0), np.zeros(40)])
    model = fitted(wide, y, ard="no")
    np.testing.assert_allclose(model.predict_proba(wide), fitted(X, y, ard="no").predict_proba(X))
    # another value there than ever seen is far away from everything, and no error
    wide[:, 3] = 8.0
    sound(model, wide)


def test_nothing_but_constant_columns():
    model = fitted(np.ones((40, 2)), y)
    np.testing.assert_allclose(model.predict_proba(np.ones((3, 2)))[:, 1], y.mean(), atol=0.05)


def test_duplicated_rows():
    model = fitted(np.vstack([X] * 3), np.tile(y, 3))
    assert model.score(X, y) > 0.8
    assert (model.support_ < 120).all()


def test_one_row_with_both_labels():
    rows = np.vstack([X, X[:5]])
    model = fitted(rows, np.concatenate([y, 1 - y[:5]]))
    assert model.score(X, y) > 0.7


def test_more_inputs_than_rows():
    rows = RNG.normal(size=(30, 1000))
    rows[:, 0] += 5.0 * (np.arange(30) % 2)
    sound(AutoSVC(random_state=0, ard="no").fit(rows, np.arange(30) % 2), rows)
    sound(AutoSVC(random_state=0).fit(rows[:, :40], np.arange(30) % 2), rows[:, :40])


@pytest.mark.parametrize("cls", [AutoSVC, AutoKLR])
def test_two_points_a_class(cls):
    rows = np.array([[0.0], [0.1], [1.0], [1.1]])
    model = sound(cls(random_state=0).fit(rows, [0, 0, 1, 1]), rows)
    assert "folds in place of 5" in model.explain()
    sound(cls(random_state=0).fit(rows[[0, 0, 2, 2]], [0, 0, 1, 1]), rows)


def test_a_row_a_class():
    with pytest.raises(ValueError, match=r"class 'a' has one member only.*merge it with another"):
        AutoSVC().fit(X[:2], ["a", "b"])


def test_a_class_with_one_member_that_has_weight():
    labels, weights = np.where(np.arange(len(y)) < 2, "rare", "usual"), np.ones(len(y))
    weights[0] = 0.0
    model = AutoSVC(random_state=0, ard="no").fit(X, labels, sample_weight=weights)
    assert model.selection_.members[0] == 1.0
    assert any("class 'rare' has one row" in note for note in model.selection_.notes)
    weights[2:] = 0.0
    weights[5] = 1.0
    with pytest.raises(ValueError, match="class 'rare' has 2 rows, but one only that has weight"):
        AutoSVC().fit(X, labels, sample_weight=weights)


def test_few_members_beside_many():
    labels = y.copy()
    labels[:3] = 2
    model = fitted(X, labels)
    assert "class 2 has 3 members" in model.explain()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_missing_and_infinite_values(bad):
    rows = X.copy()
    rows[3, 1] = bad
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        AutoSVC(missing="error").fit(rows, y)
    model = AutoSVC(random_state=0, missing="error").fit(X, y)
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        model.predict(rows)


def test_texts_in_arrays():
    rows = pd.DataFrame({"a": X[:, 0], "b": ["x", "y"] * 20}).to_numpy()
    with pytest.raises(ValueError, match="could not convert string to float"):
        AutoSVC().fit(rows, y)


def test_scales_far_apart():
    rows = X * [1e12, 1e-12, 1.0]
    model = fitted(rows, y)
    np.testing.assert_allclose(model.predict_proba(rows), fitted(X, y).predict_proba(X), atol=1e-6)
    far = rows + np.array([1e14, 0.0, 0.0])
    np.testing.assert_allclose(fitted(far, y).score(far, y), model.score(rows, y), atol=0.1)


def test_many_inputs_take_no_memory_by_their_square():
    wide = np.random.default_rng(0).normal(size=(40, 3000))
    tracemalloc.start()
    try:
        model = AutoSVC(random_state=0).fit(wide, y)
        assert (
            tracemalloc.get_traced_memory()[1] < 2**26
        )  # 5000 x 5000 numbers are three times that
    finally:
        tracemalloc.stop()
    assert "separate ones are tried up to 1000 inputs" in model.explain()


@pytest.mark.parametrize("standardize", ["auto", True])
def test_a_range_that_no_number_holds(standardize):
    rows = np.column_stack([X, np.append([1e308, -1e308], y[2:])])
    with pytest.raises(ValueError, match=r"column 3 of the inputs ranges .* too far to be scaled"):
        AutoSVC(standardize=standardize).fit(rows, y)


def test_rows_far_from_any_seen():
    model = fitted(X, y)
    far = np.array([[1e300, 0.0, 0.0], [-1e308, 1e308, 1e308], [1e20, 1e20, 1e20]])
    sound(model, far)
    # all far points are one: nothing but the intercept is left of the machine
    np.testing.assert_allclose(model.decision_function(far), model.intercept_[0])


def test_an_outlier_of_another_world():
    rows = X.copy()
    rows[0] = 1e9
    fitted(rows, y)


def test_separable_classes():
    rows = np.vstack([X[:20] - 50, X[20:] + 50])
    labels = np.repeat(["l", "r"], 20)
    model = fitted(rows, labels)
    assert model.score(rows, labels) == 1.0
    p = model.predict_proba(rows).max(axis=1)
    assert (p > 0.8).all()


def test_integer_and_boolean_inputs_and_labels():
    rows = (X > 0).astype(int)
    model = fitted(rows, y.astype(bool))
    assert model.classes_.dtype == np.bool_
    fitted(rows.astype(bool), y)
    fitted(rows.astype(np.float32), np.where(y, -1.5, 2.0).astype(int))


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.full(40, -1.0), "[Nn]egative"),
        (np.full(39, 1.0), "shape|inconsistent"),
        (np.where(np.arange(40) == 3, np.nan, 1.0), "NaN"),
    ],
)
def test_weights_that_mean_nothing(weights, message):
    with pytest.raises(ValueError, match=message):
        AutoSVC().fit(X, y, sample_weight=weights)


def test_weights_of_any_size():
    for factor in (1e-3, 1e3):
        sound(AutoSVC(random_state=0).fit(X, y, sample_weight=np.full(40, factor)), X)
    uneven = np.where(np.arange(40) < 20, 1e-3, 1e3)
    sound(AutoSVC(random_state=0).fit(X, y, sample_weight=uneven), X)


def test_groups_of_the_wrong_length():
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        AutoSVC().fit(X, y, groups=np.arange(39))


def test_regression_targets_are_refused():
    with pytest.raises(ValueError, match="Unknown label type"):
        AutoSVC().fit(X, X[:, 0])
