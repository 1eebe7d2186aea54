"""Thresholds, sets of classes and ONNX on the command line."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cli.running import Here, clients, refused
from svmselect import AutoSVC, load, save

QUICK = ("-t", "churn", "--no-report", "--max-time", "0.5")
COSTS = "[[0, 1], [20, 0]]"


def fit(here: Here, *arguments: object) -> dict:
    ended = here("fit", "clients.csv", *QUICK, "--json", *arguments)
    assert ended.code == 0, ended.err
    return json.loads(ended.out)


def predicted(here: Here, folder: str, *arguments: object) -> pd.DataFrame:
    ended = here("predict", f"{folder}/model.skops", "clients.csv", "-o", "p.csv", *arguments)
    assert ended.code == 0, ended.err
    return pd.read_csv("p.csv", dtype={"set": str})


@pytest.mark.parametrize("threshold", ["balanced_accuracy", COSTS])
def test_predictions_follow_the_threshold(here: Here, table: Path, threshold: str) -> None:
    found = fit(here, "--threshold", threshold)
    model = load("clients/model.skops").estimator
    told = predicted(here, "clients")
    p = told[[f"probability_{c}" for c in model.classes_]].to_numpy()
    wanted = model.classes_[(p[:, 1] > model.threshold_).astype(int)]
    np.testing.assert_array_equal(told["prediction"], wanted)
    assert any("the threshold" in note for note in found["notes"])
    held = model.classes_[(model.held_out_proba_[:, 1] > model.threshold_).astype(int)]
    wrong = (held != clients()["churn"].to_numpy(dtype=str)).mean()
    assert model.selection_.error.seen == pytest.approx(wrong)
    assert found["error"]["value"] == pytest.approx(model.selection_.error.error)
    if threshold == COSTS:
        assert model.threshold_ == pytest.approx(1 / 21)
        assert (p.argmax(axis=1) != (p[:, 1] > 1 / 21)).any()


def test_thresholds_that_mean_nothing(here: Here, table: Path) -> None:
    refused(here("fit", "clients.csv", *QUICK, "--threshold", "f2"), "'f2'", "scorer")
    refused(here("fit", "clients.csv", *QUICK, "--threshold", "[[0, 1], [5,"), "matrix of costs")
    refused(here("fit", "clients.csv", *QUICK, "--threshold", "[[0, 1]]"), "shape (1, 2)")
    assert not Path("clients/model.skops").exists()


def test_sets_of_classes(here: Here, table: Path) -> None:
    fit(here)
    model = load("clients/model.skops").estimator
    for coverage in (0.5, 0.95):
        told = predicted(here, "clients", "--coverage", coverage)
        inside = model.predict_set(clients()[["age", "town", "member"]], 1.0 - coverage)
        p = told[[f"probability_{c}" for c in model.classes_]].to_numpy()
        for words, there, row in zip(told["set"], inside, p, strict=True):
            assert words.split(" | ") == [
                model.classes_[j] for j in row.argsort()[::-1] if there[j]
            ]
    assert "set" not in predicted(here, "clients").columns
    said = here("predict", "clients/model.skops", "clients.csv", "-o", "p.csv", "--coverage", 0.95)
    assert "sets that hold the true class in 95% of new rows: " in said.err
    ended = here("predict", "clients/model.skops", "clients.csv", "--coverage", "90")
    refused(ended, "--coverage 90 is no part")


def test_models_from_python(here: Here, table: Path) -> None:
    frame = clients()[["age"]].assign(twice=2.0 * clients()["age"])
    rows = frame.to_numpy()
    y = clients()["churn"].to_numpy(dtype=str)
    frame.to_csv("age.csv", index=False)
    careful = AutoSVC(threshold=json.loads(COSTS), max_time=0.1, random_state=0)
    for first in (careful, LogisticRegression()):
        made = make_pipeline(StandardScaler(), first).fit(rows, y)
        save(made, "made.skops")
        ended = here("predict", "made.skops", "age.csv", "-o", "p.csv")
        assert ended.code == 0, ended.err
        np.testing.assert_array_equal(pd.read_csv("p.csv")["prediction"], made.predict(rows))
    refused(here("predict", "made.skops", "age.csv", "--coverage", 0.9), "LogisticRegression")


@pytest.mark.onnx
def test_onnx(here: Here, table: Path) -> None:
    runtime = pytest.importorskip("onnxruntime")
    found = fit(here, "--onnx")
    assert found["onnx"] == str(Path("clients/model.onnx"))
    session = runtime.InferenceSession(found["onnx"], providers=["CPUExecutionProvider"])
    frame = clients()
    fed = {one.name: frame[[one.name]].to_numpy(object) for one in session.get_inputs()}
    fed["age"] = frame[["age"]].to_numpy()
    label, _ = session.run(None, fed)
    told = predicted(here, "clients")
    np.testing.assert_array_equal(label, told["prediction"])
    assert fit(here)["onnx"] is None
    assert not Path("clients/model.onnx").exists()
    ended = here("fit", "clients.csv", *QUICK, "--onnx")
    assert "model.onnx" in ended.out


def test_onnx_without_the_package(here: Here, table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import svmselect.estimators.onnx.graph as graph

    def missing() -> None:
        raise ImportError("to_onnx needs the package onnx: pip install 'svmselect[onnx]'")

    monkeypatch.setattr(graph, "package", missing)
    refused(here("fit", "clients.csv", *QUICK, "--onnx"), "pip install 'svmselect[onnx]'")
