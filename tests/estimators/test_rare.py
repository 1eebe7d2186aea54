"""Classes of one or two rows, and targets that are numbers."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.model_selection import cross_val_score

from svmselect import AutoKLR, AutoSVC, load, report, save
from svmselect.estimators.rare import looks_like_numbers, set_apart

X, codes = make_blobs([30, 30, 30], centers=[[0, 0], [6, 0], [0, 6]], random_state=0)
ONE, TWO = np.array([[12.0, 12.0]]), np.array([[-9.0, -9.0], [-9.5, -8.5]])
rows = np.vstack([X, ONE, TWO])
names = np.array([*np.array(["b", "d", "e"])[codes], "c", "a", "a"])


@pytest.fixture(scope="module")
def model():
    return AutoSVC(random_state=0).fit(rows, names)


def test_a_class_of_one_row_is_predicted_where_it_is_near(model):
    assert model.classes_.tolist() == ["a", "b", "c", "d", "e"]
    np.testing.assert_array_equal(model.predict(rows), names)
    assert model.predict_proba(X)[:, 2].mean() < 0.05
    assert any("'c': too few rows" in note for note in model.selection_.notes)
    assert model.selection_.members == (2.0, 30.0, 1.0, 30.0, 30.0)


def test_what_was_held_out_knows_nothing_of_it(model):
    p = model.held_out_proba_
    assert p.shape == (93, 5)
    assert np.isnan(p[90]).all()
    np.testing.assert_array_equal(np.delete(p, 90, axis=0)[:, 2], 0.0)
    np.testing.assert_allclose(np.delete(p, 90, axis=0).sum(axis=1), 1.0)


def test_the_choice_is_that_without_it(model):
    without = AutoSVC(random_state=0).fit(np.delete(rows, 90, axis=0), np.delete(names, 90))
    assert model.C_ == without.C_
    assert model.kernel_ == without.kernel_
    pairs = [0, 2, 3, 5, 6, 9]  # of five classes, those without "c"
    np.testing.assert_allclose(model.sigmoid_slope_[pairs], without.sigmoid_slope_)
    model = AutoSVC(random_state=0, decision_function_shape="ovo").fit(rows, names)
    without.set_params(decision_function_shape="ovo")
    np.testing.assert_allclose(
        model.decision_function(X)[:, pairs], without.decision_function(X), atol=1e-9
    )


def test_files_pipelines_and_reports(model, tmp_path):
    save(model, tmp_path / "m.skops")
    again = load(tmp_path / "m.skops")
    np.testing.assert_array_equal(again.predict_proba(rows), model.predict_proba(rows))
    exported = model.to_sklearn()
    np.testing.assert_array_equal(exported.predict(ONE), ["c"])
    assert "too few rows" in model.explain()
    assert "too few rows" in report.render(report.of_fit(model, rows, names))


def test_drop_and_merge():
    dropped = AutoKLR(random_state=0, ard="no", rare="drop").fit(rows, names)
    assert dropped.classes_.tolist() == ["b", "d", "e"]
    merged = AutoKLR(random_state=0, ard="no", rare="merge").fit(rows, names)
    assert merged.classes_.tolist() == ["a", "b", "d", "e"]
    assert any("one, 'a'" in note for note in merged.selection_.notes)
    with pytest.raises(ValueError, match="rare='burn' is not one of 'keep', 'drop', 'merge'"):
        AutoSVC(rare="burn").fit(rows, names)


def test_where_machines_cannot_be_added_they_are_left_out():
    for options in ({"multi_class": "ovo-separate"}, {"threshold": "balanced_accuracy"}):
        fitted = AutoSVC(random_state=0, ard="no", **options).fit(rows, names)
        assert fitted.classes_.tolist() == ["a", "b", "d", "e"]
        assert any("never predicted" in note for note in fitted.selection_.notes)


PAIR, TWO_NAMES = np.vstack([X[:30], ONE]), np.array(["usual"] * 30 + ["odd"])


@pytest.fixture(scope="module")
def lone():
    return AutoSVC(random_state=0).fit(PAIR, TWO_NAMES)


def test_one_row_of_two_classes_is_predicted_where_it_is_near(lone):
    np.testing.assert_array_equal(lone.predict(PAIR), TWO_NAMES)
    p = lone.predict_proba(PAIR)[:, 0]
    assert p[-1] == pytest.approx(2 / 3)  # Platt's target of one row
    assert np.median(p[:-1]) == pytest.approx(1 / 32, rel=1e-4)
    assert any("'odd' has one row" in note and note.warns for note in lone.selection_.notes)


def test_one_row_of_two_classes_leaves_C_and_the_width_where_they_usually_are(lone):
    assert 0.5 < lone.C_ < 2.0
    scaled = (PAIR - lone.mean_) / lone.scale_
    apart = np.linalg.norm(scaled[:, None] - scaled, axis=2)
    assert lone.length_scale_ == pytest.approx(np.median(apart[apart > 0]), rel=0.5)


def test_one_row_of_two_classes_is_held_out_nowhere(lone):
    assert np.isnan(lone.held_out_proba_[-1]).all()
    others = lone.held_out_proba_[:-1]
    np.testing.assert_allclose(others.sum(axis=1), 1.0)
    assert lone.selection_.error.error == pytest.approx(np.mean(others[:, 0] > 0.5))


def test_one_row_of_two_classes_in_files_words_and_sets(lone, tmp_path):
    save(lone, tmp_path / "m.skops")
    again = load(tmp_path / "m.skops")
    np.testing.assert_array_equal(again.predict_proba(PAIR), lone.predict_proba(PAIR))
    np.testing.assert_array_equal(lone.to_sklearn().predict(PAIR), TWO_NAMES)
    assert "has one row, which all folds" in report.render(report.of_fit(lone, PAIR, TWO_NAMES))
    assert lone.predict_set(PAIR).any(axis=1).all()


@pytest.mark.parametrize(
    "options",
    [
        {"criterion": "kwok"},
        {"probability": "posterior"},
        {"probability": "moderated"},
        {"scoring": "neg_log_loss"},
        {"threshold": "balanced_accuracy"},
        {"threshold": [[0, 5], [1, 0]]},
        {"rare": "drop"},
        {"rare": "merge"},
    ],
    ids=str,
)
def test_one_row_of_two_classes_with_options(options):
    fitted = AutoSVC(random_state=0, ard="no", **options).fit(PAIR, TWO_NAMES)
    p = fitted.predict_proba(PAIR)[:, 0]
    assert p.argmax() == len(p) - 1
    assert fitted.classes_.tolist() == ["odd", "usual"]


def test_one_row_beside_very_many_of_another_class():
    rng = np.random.default_rng(0)
    many = np.vstack([rng.normal(size=(25_000, 2)), [[9.0, 9.0]]])
    fitted = AutoSVC(random_state=0, ard="no").fit(many, np.arange(len(many)) == 25_000)
    assert fitted.predict(many[-2:]).tolist() == [False, True]
    assert any("2,000 of the 25,000 rows of False" in note for note in fitted.selection_.notes)


def test_two_classes_of_one_row_beside_one_of_many():
    y = np.array(["usual"] * 30 + ["far", "near"])
    both = np.vstack([X[:30], ONE, -ONE])
    fitted = AutoSVC(random_state=0, ard="no").fit(both, y)
    np.testing.assert_array_equal(fitted.predict(both), y)
    dropped = AutoSVC(random_state=0, ard="no", rare="drop").fit(both, y)
    assert dropped.classes_.tolist() == ["far", "usual"]


@pytest.mark.filterwarnings("ignore:The least populated class")
def test_cross_validation_goes_through():
    scores = cross_val_score(AutoSVC(random_state=0, ard="no"), rows[:-1], names[:-1], cv=3)
    assert np.isfinite(scores).all()
    assert scores.mean() > 0.9


def test_weights_groups_and_class_weights():
    groups = np.arange(93)
    groups[91:] = 91  # both rows of "a" in one group
    made = set_apart(names, None, groups, "keep", True)
    np.testing.assert_array_equal(made.rows, [90, 91, 92])
    fitted = AutoSVC(random_state=0, ard="no", class_weight={"c": 2.0, "b": 3.0})
    fitted.fit(rows, names, groups=groups)
    np.testing.assert_array_equal(fitted.predict(rows), names)
    weights = np.ones(93)
    weights[:29] = 0.0
    made = set_apart(names, weights, None, "keep", True)
    assert (made.weights == 0).sum() == 30
    plain = set_apart(names[:90], None, None, "keep", True)
    assert plain.weights is None
    assert not len(plain.rows)


def test_numbers_are_no_classes():
    for y in (np.arange(300), np.arange(300) / 7.0, np.repeat(np.arange(100), 4)):
        with pytest.raises(
            ValueError, match=f"y has {len(set(y))} different numbers in .*regression"
        ):
            looks_like_numbers(y)
    looks_like_numbers(np.repeat(np.arange(100), 16))
    looks_like_numbers(np.arange(300).astype(str))
    with pytest.raises(ValueError, match="looks like a target of regression"):
        AutoSVC().fit(rows, np.arange(93) // 3)
