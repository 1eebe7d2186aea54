"""Columns of very many levels: told by the target where that pays, and without leaking it."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import log_loss

from svmselect import AutoSVC, load, save
from svmselect.tables.dataframe import table_of
from svmselect.tables.encoder import Encoder
from svmselect.tables.inputs import Category
from svmselect.tables.targets import Target

N, LEVELS = 1000, 250


def towns(seed: int, pull: float, n: int = N) -> tuple[pd.DataFrame, np.ndarray]:
    """A town of many, whose effect on the log odds has this standard deviation, and a number."""
    effect = pull * np.random.default_rng(99).normal(size=LEVELS)
    rng = np.random.default_rng(seed)
    town, x = rng.integers(0, LEVELS, n), rng.normal(size=n)
    p = 1.0 / (1.0 + np.exp(-effect[town] - x))
    frame = pd.DataFrame({"town": [f"t{t}" for t in town], "x": x})
    return frame, np.where(rng.random(n) < p, "yes", "no")


def told(frame: pd.DataFrame, y: np.ndarray, groups: object = None) -> tuple[Encoder, np.ndarray]:
    table = table_of(frame)
    return Encoder.of(table).with_targets(table, y, groups, 0)


def test_a_statistic_where_it_pays() -> None:
    encoder, X = told(*towns(0, 3.0))
    assert isinstance(encoder.inputs[0], Target)
    assert encoder.columns == ("town: target", "x")
    assert encoder.supervised
    # of new rows it says what it should
    frame, y = towns(1, 3.0)
    new = encoder.encode(table_of(frame))[:, 0]
    assert np.corrcoef(new, y == "yes")[0, 1] > 0.4
    # a row's own target is not in its value: rows of one town and fold agree, whatever theirs is
    frame, y = towns(0, 3.0)
    changed = np.where(np.arange(N) == 5, "yes" if y[5] == "no" else "no", y)
    again = told(frame, changed)[1]
    assert again[5, 0] == pytest.approx(X[5, 0], abs=0.02)  # but for the overall share


def test_no_statistic_of_noise_or_of_few_levels() -> None:
    for seed in range(3):
        encoder, _ = told(*towns(seed, 0.0))
        assert isinstance(encoder.inputs[0], Category)
        assert not encoder.supervised
    frame, y = towns(0, 3.0)
    few = frame.assign(town=frame["town"].str[-1])
    assert isinstance(told(few, y)[0].inputs[0], Category)


def test_pure_noise_does_not_leak() -> None:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"id": rng.integers(0, 500, N).astype(str), "x": rng.normal(size=N)})
    y = rng.random(N) < 0.5
    half = N // 2
    model = AutoSVC(random_state=0).fit(frame[:half], y[:half])
    p = model.predict_proba(frame[half:])[:, 1]
    loss = -np.mean(np.log(np.where(y[half:], p, 1.0 - p)))
    assert loss > np.log(2.0) - 0.005
    assert -model.selection_.value > np.log(2.0) - 0.01


@pytest.mark.parametrize("seed", [0, 34])
def test_levels_that_look_telling_by_luck(seed: int) -> None:
    # of forty seeds these are the two in which a statistic gains more than two units
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, N)
    levels = np.array([f"l{i}" for i in range(500)])
    frame = pd.DataFrame({"id": levels[rng.integers(0, 500, N)]})
    assert not told(frame, y)[0].supervised
    model = AutoSVC(random_state=0, ard="no").fit(frame, y)
    new, truth = pd.DataFrame({"id": levels.repeat(8)}), rng.integers(0, 2, 4000)
    assert log_loss(truth, model.predict_proba(new)) > np.log(2.0) - 0.002
    # held-out rows share the choice and the sigmoid: two units or three in a thousand rows
    assert log_loss(y, model.held_out_proba_) > np.log(2.0) - 0.004


def test_several_classes_gaps_and_groups() -> None:
    frame, y = towns(0, 4.0)
    three = np.where(frame["x"] > 1.0, "high", y)
    frame.loc[::10, "town"] = None
    encoder, X = told(frame, three)
    assert encoder.inputs[0].columns == ("town: 0", "town: 1", "town: 2")
    assert np.isfinite(X).all()
    assert len(set(encoder.encode(table_of(frame))[::10, 0])) == 1  # gaps are a level
    groups = np.arange(N) // 2
    X = told(frame, y, groups)[1]
    both = X[frame["town"].isna(), 0]
    assert len(np.unique(both.round(9))) <= 5  # one value a fold


def test_a_model_with_a_statistic(tmp_path) -> None:
    frame, y = towns(0, 3.0)
    new, truth = towns(1, 3.0)
    model = AutoSVC(random_state=0, ard="no").fit(frame, y)
    assert model.score(new, truth) > AutoSVC(random_state=0, ard="no").fit(frame[["x"]], y).score(
        new[["x"]], truth
    )
    save(model, tmp_path / "m.skops")
    again = load(tmp_path / "m.skops")
    np.testing.assert_array_equal(again.predict_proba(new), model.predict_proba(new))
    np.testing.assert_allclose(
        model.to_sklearn().decision_function(new), model.decision_function(new)
    )
    with pytest.raises(ValueError, match="column 'town' of X has no value that the model knows"):
        model.predict(new.assign(town="elsewhere"))
