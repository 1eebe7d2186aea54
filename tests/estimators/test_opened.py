"""Fits to files and predictions of what need not be in memory."""

import numpy as np
import pandas as pd
import pytest

from svmselect import AutoSVC
from svmselect.estimators import by_rows
from svmselect.estimators.strategies import grown
from svmselect.tables import source

rng = np.random.default_rng(0)
N = 2000
frame = pd.DataFrame(rng.normal(size=(N, 2)), columns=["a", "b"])
frame["kind"] = rng.choice(["u", "v", "w"], N)
rule = np.sin(2 * frame["a"]) + frame["b"] + (frame["kind"] == "u") + 0.3 * rng.normal(size=N)
frame["y"] = np.where(rule > 0, 3, 7)
inputs = frame.drop(columns="y")


def few(**given):
    return grown.Budget(landmarks=60, first=30, **given)


def close(found, expected):
    """Equal but for rounding, which depends on how rows are cut."""
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rows")
    for i in range(3):
        part = frame[700 * i : 700 * (i + 1)]
        part.to_parquet(folder / f"part{i}.parquet", index=False, row_group_size=200)
    return folder


@pytest.fixture(autouse=True)
def several_are_few(monkeypatch):
    monkeypatch.setattr(by_rows, "SEVERAL", 1000)
    monkeypatch.setattr(by_rows, "CHOSEN_ON", 400)
    monkeypatch.setattr(by_rows, "Budget", few)
    monkeypatch.setattr(source, "PIECE", 300)


@pytest.fixture(scope="module")
def fitted(folder):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(by_rows, "CHOSEN_ON", 400)
        patch.setattr(by_rows, "Budget", few)
        return AutoSVC(random_state=0, ard="no").fit(str(folder), "y")


def test_files_are_a_frame_in_pieces(fitted, folder):
    whole = AutoSVC(random_state=0, ard="no").fit(inputs, frame["y"])
    assert fitted.classes_.tolist() == [3, 7]
    assert fitted.feature_names_in_.tolist() == ["a", "b", "kind"]
    assert fitted.selection_.rows == N
    assert "all 2,000 rows" in fitted.explain()
    np.testing.assert_allclose(
        fitted.decision_function(inputs), whole.decision_function(inputs), rtol=1e-6, atol=1e-8
    )
    again = AutoSVC(random_state=0, ard="no").fit(sorted(folder.iterdir()), "y")
    close(again.predict_proba(inputs), fitted.predict_proba(inputs))


def test_columns_that_are_no_inputs_are_left_out(folder, tmp_path):
    frame.assign(row_id=np.arange(N), same=1.0).to_parquet(tmp_path / "one.parquet")
    model = AutoSVC(random_state=0, ard="no").fit(tmp_path / "one.parquet", "y")
    assert model.feature_names_in_.tolist() == ["a", "b", "kind"]
    assert "'row_id' is left out" in model.explain()


def test_predictions_of_what_need_not_be_in_memory(fitted, folder, tmp_path):
    p, labels = fitted.predict_proba(inputs), fitted.predict(inputs)
    close(fitted.predict_proba(folder), p)
    np.testing.assert_array_equal(fitted.predict(f"{folder}/part*.parquet"), labels)
    pieces = (inputs[at : at + 300] for at in range(0, N, 300))
    close(fitted.predict_proba(pieces), p)
    sets = fitted.predict_set(folder, alpha=0.2)
    np.testing.assert_array_equal(sets, fitted.predict_set(inputs, alpha=0.2))
    assert fitted.score(folder, frame["y"]) == fitted.score(inputs, frame["y"])
    X = inputs[["a", "b"]].to_numpy()
    plain = AutoSVC(random_state=0, ard="no").fit(X, frame["y"])
    mapped = np.memmap(tmp_path / "x", np.float64, "w+", shape=X.shape)
    mapped[:] = X
    close(plain.decision_function(mapped), plain.decision_function(X))
    chunks = ((X[at : at + 300], None) for at in range(0, N, 300))
    close(plain.decision_function(chunks), plain.decision_function(X))


def test_what_is_refused(fitted, folder):
    X = inputs[["a", "b"]].to_numpy()
    for given, said in (
        ((folder, frame["y"]), "name of the column"),
        ((folder, None), "name of the column"),
        ((folder, "z"), "no column 'z'"),
        ((folder, "y", np.ones(N)), "sample_weight is for arrays"),
        (("no/such/*.parquet", "y"), "no file is like"),
    ):
        with pytest.raises(ValueError, match=said):
            AutoSVC().fit(*given)
    with pytest.raises(ValueError, match="there are no rows"):
        fitted.predict(iter([]))
    with pytest.raises(ValueError, match="fitted to arrays"):
        AutoSVC(random_state=0, ard="no").fit(X[:300], frame["y"][:300]).predict(folder)


def test_only_the_target_is_no_table(tmp_path):
    frame.assign(same=1.0)[["same", "y"]].to_parquet(tmp_path / "one.parquet")
    with pytest.raises(ValueError, match="no input left"):
        AutoSVC().fit(tmp_path / "one.parquet", "y")


def test_stopped_in_the_first_pass(folder, monkeypatch):
    from svmselect.progress import Passes

    monkeypatch.setattr(Passes, "first", lambda passes, done: True)
    with pytest.raises(KeyboardInterrupt):
        AutoSVC().fit(folder, "y")
