"""Gaps are told where that says more than the median does, and else filled in."""

import numpy as np
import pandas as pd
import pytest

from svmselect import AutoSVC, load, save
from svmselect.tables.dataframe import table_of
from svmselect.tables.encoder import Encoder
from svmselect.tables.gaps import Gaps
from svmselect.tables.telling import pays

N = 400


def rows(seed: int) -> tuple[np.random.Generator, np.ndarray, np.ndarray]:
    """Numbers, and two classes that follow them."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=N)
    return rng, x, (x + rng.normal(size=N) > 0).astype(np.intp)


def test_gaps_at_random_are_hardly_ever_told() -> None:
    told = 0
    for seed in range(300):
        rng, x, y = rows(seed)
        told += pays(np.where(rng.random(N) < 0.1, np.nan, x), y)
    assert told < 0.1 * 300  # two looks at 4.5 % each


def test_gaps_of_some_class_are_told() -> None:
    rng, x, y = rows(0)
    assert pays(np.where((y == 1) & (rng.random(N) < 0.2), np.nan, x), y)
    three = np.where(x > 1.0, 2, y)
    assert pays(np.where((three == 2) & (rng.random(N) < 0.5), np.nan, x), three)


def test_gaps_are_told_where_the_median_would_mislead() -> None:
    rng, x, _ = rows(0)
    y = (np.abs(x) < 0.6).astype(np.intp)
    gap = rng.random(N) < 0.2  # of either class alike; the median is of one
    assert pays(np.where(gap, np.nan, x), y)


def test_two_rows_say_nothing() -> None:
    _, x, y = rows(0)
    y[:2] = 2
    x[:2] = np.nan
    assert not pays(x, y)
    x[2], y[2] = np.nan, 2
    assert pays(x, y)


def test_one_value_and_gaps() -> None:
    _, _, y = rows(0)
    assert pays(np.where(y == 1, np.nan, 3.0), y)
    assert not pays(np.where(np.arange(N) % 2 == 1, np.nan, 3.0), np.sort(y))


@pytest.fixture(scope="module")
def told() -> tuple[pd.DataFrame, np.ndarray]:
    """A frame with gaps of either kind in numbers, dates and ordered categories."""
    rng, x, y = rows(4)
    silent, saying = rng.random(N) < 0.15, (y == 1) & (rng.random(N) < 0.3)
    day = pd.Series(pd.date_range("2020-01-01", periods=N))
    grade = pd.Series(rng.choice(["lo", "mid", "hi"], N))
    columns = {}
    for name, gap in (("silent", silent), ("saying", saying)):
        order = pd.Categorical(grade.where(~gap), ["lo", "mid", "hi"], ordered=True)
        columns |= {name: np.where(gap, np.nan, x), f"{name} day": day.where(~gap)}
        columns |= {f"{name} grade": order}
    return pd.DataFrame(columns), np.where(y == 1, "yes", "no")


def test_what_the_encoder_says(told: tuple[pd.DataFrame, np.ndarray]) -> None:
    X, y = told
    table = table_of(X)
    made, values = Encoder.of(table).with_targets(table, y, None, 0)
    assert [(one.gap, one.filled) for one in made.inputs] == [(False, True)] * 3 + [
        (True, False)
    ] * 3
    assert values.shape == (N, len(made.columns))
    assert all("it was one says nothing" in one.words for one in made.inputs[:3])
    assert all("a column that says so" in one.words for one in made.inputs[3:])
    assert made.new_gaps(table) == {}  # they are not the first ones
    numbers = table_of(X[["silent"]])
    alone = Encoder.of(numbers).with_targets(numbers, y, None, 0)[0]
    assert not alone.plain  # so that it is exported


def test_arrays_have_the_same() -> None:
    rng, x, y = rows(2)
    X = np.column_stack([np.where(rng.random(N) < 0.1, np.nan, x), np.where(y == 1, np.nan, x), x])
    gaps = Gaps.of(X, "auto", y)
    assert gaps.told.tolist() == [False, True, False]
    assert gaps.filled
    assert gaps.columns == ("x0", "x1", "x1 is missing", "x2")
    assert np.isfinite(gaps.encode(X)).all()
    assert not Gaps.of(X[:, 1:], "auto", y).filled


@pytest.mark.parametrize("frame", [True, False])
def test_models_of_gaps_that_are_filled_in(frame: bool, tmp_path) -> None:
    rng, x, y = rows(3)
    X = np.column_stack([np.where(rng.random(N) < 0.1, np.nan, x), rng.normal(size=N)])[:150]
    given = pd.DataFrame(X, columns=["a", "b"]) if frame else X
    model = AutoSVC(random_state=0, ard="no").fit(given, y[:150])
    filled = AutoSVC(random_state=0, ard="no", missing="impute").fit(given, y[:150])
    np.testing.assert_array_equal(model.predict_proba(given), filled.predict_proba(given))
    np.testing.assert_allclose(
        model.to_sklearn().decision_function(given), model.decision_function(given)
    )
    save(model, tmp_path / "m.skops")
    again = load(tmp_path / "m.skops")
    np.testing.assert_array_equal(again.predict_proba(given), model.predict_proba(given))


@pytest.mark.onnx
def test_their_graph(told: tuple[pd.DataFrame, np.ndarray], tmp_path) -> None:
    runtime = pytest.importorskip("onnxruntime")
    X, y = told
    X = X[["silent", "saying"]][:150]
    model = AutoSVC(random_state=0, ard="no").fit(X, y[:150])
    assert [one.filled for one in model.encoder_.inputs] == [True, False]
    model.to_onnx(tmp_path / "m.onnx")
    session = runtime.InferenceSession(tmp_path / "m.onnx", providers=["CPUExecutionProvider"])
    _, p = session.run(None, {name: X[[name]].to_numpy() for name in X})
    np.testing.assert_allclose(p, model.predict_proba(X), rtol=0, atol=1e-9)
