"""Estimators on data frames with words, dates and gaps, and on arrays with gaps."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone

from svmselect import AutoKLR, AutoSVC, load, report, save
from svmselect.estimators.given import categories
from svmselect.plots.data import scales

N = 120


def frame(seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "size": rng.normal(size=N),
            "town": rng.choice(list("uvwx"), N),
            "gaps": np.where(rng.random(N) < 0.2, np.nan, rng.normal(size=N)),
            "day": pd.date_range("2020-01-01", periods=N),
            "nothing": ["same"] * N,
        }
    )


def labels(X, seed=0):
    noise = 0.3 * np.random.default_rng(seed).normal(size=len(X))
    pull = X["town"].map({"u": 2.0, "v": -2.0, "w": 0.0, "x": 0.0})
    return np.where(X["size"] + pull + noise > 0, "yes", "no")


X = frame()
y = labels(X)


@pytest.fixture(scope="module")
def model():
    return AutoSVC(random_state=0, ard="yes").fit(X, y)


def test_frames_as_they_are(model):
    new = frame(1)
    assert model.score(new, labels(new, 1)) > 0.85
    assert model.n_features_in_ == 5
    assert model.feature_names_in_.tolist() == list(X)
    # size, town, gaps, and of the day the time and the weekday
    assert len(model.length_scale_) == 5
    assert model.feature_importances_.shape == (5,)
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    assert model.feature_importances_[4] == 0.0
    assert "size" in model.explain()
    assert "town" in model.explain()


def test_the_model_file_has_the_encoder(model, tmp_path):
    save(model, tmp_path / "m.skops")
    again = load(tmp_path / "m.skops")
    assert again.encoder_ == model.encoder_
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_the_exported_pipeline_takes_the_frame(model):
    exported = model.to_sklearn()
    np.testing.assert_allclose(exported.decision_function(X), model.decision_function(X))
    assert list(exported[0].get_feature_names_out()) == list(model.encoder_.columns)
    assert exported.feature_names_in_.tolist() == list(X)


def test_polars_frames(model):
    theirs = pl.from_pandas(X)
    np.testing.assert_allclose(model.predict_proba(theirs), model.predict_proba(X))
    fitted = clone(model).fit(theirs, pl.Series(y))
    np.testing.assert_allclose(fitted.predict_proba(X), model.predict_proba(X))


def test_tables_of_arrow_and_of_pandas_other_types(model):
    pyarrow = pytest.importorskip("pyarrow")
    arrow = pyarrow.Table.from_pandas(X, preserve_index=False)
    others = (arrow, X.convert_dtypes(), X.convert_dtypes(dtype_backend="pyarrow"))
    for rows in others:
        np.testing.assert_array_equal(model.predict_proba(rows), model.predict_proba(X))
    fitted = AutoSVC(random_state=0, ard="no", max_time=1.0).fit(arrow, y)
    assert fitted.feature_names_in_.tolist() == list(X)
    assert [one.words for one in fitted.encoder_.inputs] == [
        one.words for one in model.encoder_.inputs
    ]


def test_columns_are_compared_by_name(model):
    with pytest.raises(ValueError, match="Feature names unseen at fit time"):
        model.predict(X.rename(columns={"town": "city"}))
    with pytest.raises(ValueError, match="same order"):
        model.predict(X[X.columns[::-1]])
    with pytest.raises(ValueError, match="two columns 'town'"):
        model.predict(pd.concat([X, X[["town"]]], axis=1))
    with pytest.raises(ValueError, match="0 rows"):
        model.predict(X[:0])
    with pytest.raises(ValueError, match="whose column 'town' is no number"):
        model.predict(X.to_numpy())
    with pytest.raises(ValueError, match="column 'town' of X has no value that the model knows"):
        model.predict(X.assign(town="elsewhere"))


def test_several_classes_and_the_logistic_loss():
    three = np.where(X["size"] > 1, "high", y)
    fitted = AutoKLR(random_state=0, ard="no").fit(X, three)
    assert fitted.predict_proba(X).shape == (N, 3)
    exported = fitted.to_sklearn()
    np.testing.assert_allclose(
        exported.decision_function(X),
        fitted.set_params(decision_function_shape="ovo").decision_function(X),
    )


def test_frames_of_numbers_are_arrays():
    numbers = X[["size", "gaps"]].fillna(0.0)
    one = AutoSVC(random_state=0).fit(numbers, y)
    other = AutoSVC(random_state=0).fit(numbers.to_numpy(), y)
    np.testing.assert_array_equal(
        one.predict_proba(numbers), other.predict_proba(numbers.to_numpy())
    )
    assert [step for step, _ in one.to_sklearn().steps] == ["scale", "svc"]


def test_arrays_with_gaps(tmp_path):
    rows = X[["size", "gaps"]].to_numpy()
    fitted = AutoSVC(random_state=0).fit(rows, y)
    assert fitted.feature_importances_.shape == (2,)
    np.testing.assert_allclose(
        fitted.to_sklearn().decision_function(rows), fitted.decision_function(rows)
    )
    save(fitted, tmp_path / "m.skops")
    np.testing.assert_array_equal(load(tmp_path / "m.skops").predict(rows), fitted.predict(rows))
    assert np.isfinite(fitted.predict_proba([[np.nan, np.nan]])).all()
    with pytest.raises(ValueError, match="NaN"):
        AutoSVC(missing="error").fit(rows, y)
    with pytest.raises(ValueError, match="missing='drop' is not one of 'auto', 'error', 'impute'"):
        AutoSVC(missing="drop").fit(rows, y)


def test_that_a_value_is_missing_may_be_the_answer():
    rng = np.random.default_rng(0)
    number = np.where(y == "yes", np.nan, 1.0)  # one value and gaps
    rows = pd.DataFrame({"noise": rng.normal(size=N), "told": number})
    told = AutoSVC(random_state=0).fit(rows, y)
    assert told.score(rows, y) == 1.0
    assert told.selection_.error.error < 0.02
    filled = AutoSVC(random_state=0, missing="impute").fit(rows, y)
    assert filled.selection_.error.error > 0.2


def test_rows_of_weight_zero_teach_nothing():
    rng = np.random.default_rng(0)
    strange = X.assign(town="far", size=1e3, gaps=np.nan, nothing="other")
    both = pd.concat([X, strange], ignore_index=True)
    towns = [f"t{i}" for i in rng.integers(0, 60, N)]  # told by the target, of other rows only
    one, two = X.assign(of=towns), both.assign(of=[*towns, *towns])
    labelled = np.where(np.isin(towns, towns[:40]), "yes", "no")
    wrong = np.where(labelled == "yes", "no", "yes")
    weights = np.repeat([1.0, 0.0], N)
    alone = AutoSVC(random_state=0, ard="no").fit(one, labelled)
    beside = AutoSVC(random_state=0, ard="no").fit(two, [*labelled, *wrong], sample_weight=weights)
    assert alone.encoder_.supervised
    assert [i.words for i in beside.encoder_.inputs] == [i.words for i in alone.encoder_.inputs]
    np.testing.assert_array_equal(beside.predict_proba(one), alone.predict_proba(one))
    rows = np.array([[1.0, np.nan], [2.0, 4.0], [3.0, 5.0], [9.0, 7.0]] * 10)
    of = np.array([0, 1, 1, 0] * 10)
    weights = np.array([1.0, 1.0, 1.0, 0.0] * 10)
    beside = AutoSVC(random_state=0).fit(rows, of, sample_weight=weights)
    alone = AutoSVC(random_state=0).fit(rows[weights > 0], of[weights > 0])
    np.testing.assert_array_equal(beside.encoder_.middle, alone.encoder_.middle)
    np.testing.assert_array_equal(beside.predict_proba(rows), alone.predict_proba(rows))


def test_words_in_an_array_are_asked_for_in_a_frame():
    for words in (np.array([["a", 1.0]] * 9, dtype=object), np.array([["a", "b"]] * 9)):
        with pytest.raises(ValueError, match="give words in a data frame"):
            AutoSVC().fit(words, [0, 1, 1] * 3)


def test_labels_of_several_kinds_are_refused_as_of_arrays():
    for one in (1, None):
        labels = np.array([one, "a"] * (N // 2), dtype=object)
        for rows in (X, X[["size"]].to_numpy()):
            with pytest.raises(ValueError, match="Unknown label type"):
                AutoSVC().fit(rows, labels)
    for kind in ("boolean", "Int64"):
        labels = pd.Series([True, None] * (N // 2), dtype=kind)
        for rows in (X, X[["size"]].to_numpy()):
            with pytest.raises(ValueError, match=r"Input (y )?contains NaN"):
                AutoSVC().fit(rows, labels)


def test_a_frame_without_anything_to_use():
    with pytest.raises(ValueError, match=r"no column of X can be used \('a': left out: it has one"):
        AutoSVC().fit(pd.DataFrame({"a": ["x"] * N}), y)
    with pytest.raises(ValueError, match="without columns"):
        AutoSVC().fit(pd.DataFrame(index=range(N)), y)


def test_what_is_drawn_and_written_of_a_frame(model):
    found = scales.of_estimator(model, X=X)
    assert found.names == tuple(X)
    assert np.isfinite(found.length_scale).tolist() == [True, True, True, True, False]
    assert found.influence[4] == 0.0
    assert found.influence[1] > 0.05
    page = report.of_fit(model, X, y)
    assert "town" in report.render(page)


def test_the_search_is_told_which_variables_are_categories():
    # size, town, gaps and what tells of them, the day in three variables
    few = AutoSVC(random_state=0).fit(X, y)
    assert categories(few.encoder_) == (1,)
    assert any("categories" in record.run for record in few.selection_.trace)
    for rows in (X[["town"]], X[["size", "gaps"]], X[["size", "gaps"]].to_numpy()):
        alike = AutoSVC(random_state=0, max_time=1.0).fit(rows, y)
        assert categories(alike.encoder_) == ()
        assert not any("categories" in record.run for record in alike.selection_.trace)


def test_a_criterion_that_is_named_knows_of_variables():
    fitted = AutoSVC(search="irprop", ard="yes", random_state=0, cv=2, max_time=2.0)
    fitted.fit(X, y)
    assert len(fitted.length_scale_) == 5
    scored = AutoSVC(scoring="roc_auc", random_state=0, ard="no").fit(X, y)
    assert scored.selection_.criterion == "roc_auc"
    np.testing.assert_allclose(
        scored.to_sklearn().decision_function(X), scored.decision_function(X)
    )
