"""Data frames of pandas and polars: types, roles, spellings, dates, gaps, and what is refused."""

from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest

from svmselect.tables.dataframe import as_frame, table_of
from svmselect.tables.dates import are_dates, as_dates, written
from svmselect.tables.encoder import Encoder
from svmselect.tables.gaps import Gaps
from svmselect.tables.inputs import Category, Moment, Number, Ordered, Unused

N = 40


def learned(column, missing="auto"):
    return Encoder.of(table_of(pd.DataFrame({"a": column})), missing)


def encoded(encoder, column):
    table = table_of(pd.DataFrame({"a": column}))
    return encoder.encode(encoder.typed(table, "X"), "X")


def objects(*cells):
    return np.array(cells, dtype=object)


COLUMNS = [
    (pd.Series([1, 2] * 20), Number),
    (pd.array([1, None] * 20, dtype="Int64"), Number),
    (pd.Series([1.5, np.nan] * 20, dtype="float32"), Number),
    (objects(*[Decimal("1.5"), None] * 20), Number),
    (pd.to_timedelta(np.arange(N), unit="s"), Number),
    (objects(*[time(h % 24) for h in range(N)]), Number),
    (pd.Series([True, False] * 20), Category),
    (pd.array([True, None] * 20, dtype="boolean"), Category),
    (objects(*[True, None] * 20), Category),
    (pd.Series(["x", "y"] * 20), Category),
    (pd.Categorical([1, 2] * 20), Category),
    (objects(*[1, "a"] * 20), Category),
    (pd.Categorical(["lo", "hi"] * 20, categories=["lo", "hi"], ordered=True), Ordered),
    (pd.date_range("2020-01-01", periods=N), Moment),
    (pd.date_range("2020-01-01", periods=N, tz="Asia/Tokyo"), Moment),
    (objects(*[date(1, 1, 1 + d % 28) for d in range(N)]), Moment),
    (objects(*[datetime(9999, 1, 1 + d % 28, tzinfo=UTC) for d in range(N)]), Moment),
    (pd.period_range("2020-01", periods=N, freq="M"), Moment),
    (pd.Series([f"{1 + d % 28}.12.2020" for d in range(N)]), Moment),
    (pd.Series([None] * N), Unused),
    (pd.Series([f"n{i}" for i in range(N)]), Unused),
    (pd.Series(["x"] * N), Unused),
]


@pytest.mark.parametrize(("column", "kind"), COLUMNS)
def test_what_a_column_is(column, kind):
    encoder = learned(column)
    assert type(encoder.inputs[0]) is kind
    X = encoder.encode(table_of(pd.DataFrame({"a": column})))
    assert X.shape == (N, len(encoder.columns))
    assert np.isfinite(X).all()
    assert len(encoder.spans) == len(encoder.variables) == len(encoder.owners) == X.shape[1]
    assert encoder.inputs[0].words


def test_polars_and_pandas_agree():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "number": np.where(rng.random(N) < 0.3, np.nan, rng.normal(size=N)),
            "word": rng.choice(list("abc"), N),
            "truth": rng.random(N) < 0.5,
            "day": pd.date_range("2020-01-01", periods=N, freq="17h"),
            "zone": pd.date_range("2020-01-01", periods=N, freq="17h", tz="Europe/Zurich"),
            "level": pd.Categorical(rng.choice(list("xyz"), N)),
        }
    )
    ours = table_of(frame)
    encoder = Encoder.of(ours)
    theirs = table_of(pl.from_pandas(frame).with_columns(pl.col("number").fill_nan(None)))
    assert Encoder.of(theirs) == encoder
    np.testing.assert_allclose(encoder.encode(theirs), encoder.encode(ours))
    enum = pl.DataFrame({"a": pl.Series(["x", "y"] * 20, dtype=pl.Enum(["y", "x"]))})
    assert Encoder.of(table_of(enum)).inputs[0].levels == ("y", "x")


def test_two_levels_are_as_far_apart_as_two_typical_numbers():
    for column in (["x", "y"] * 20, ["x", "y", "z", "x"] * 10):
        encoder = learned(column)
        X = encoder.encode(table_of(pd.DataFrame({"a": column}))) / encoder.spans
        assert np.sum((X[0] - X[1]) ** 2) == pytest.approx(2.0)


def test_gaps_are_told():
    numbers = learned([1.0, np.nan, 4.0, 3.0])
    assert numbers.columns == ("a", "a is missing")
    np.testing.assert_array_equal(encoded(numbers, [np.nan, 2.0]), [[3, 1], [2, 0]])
    words = learned(["x", None, "x", "y", None] * 8)
    assert words.columns == ("a=x", "a=y", "a is missing")
    np.testing.assert_array_equal(encoded(words, ["y", None]), [[0, 1, 0], [0, 0, 1]])
    one = learned(["x", None] * 20)
    assert one.columns == ("a is missing",)
    np.testing.assert_array_equal(encoded(one, ["x", None]), [[0], [1]])
    flat = learned([1.0, np.nan] * 20)  # one value and gaps is not constant
    np.testing.assert_array_equal(encoded(flat, [1.0, np.nan]), [[1, 0], [1, 1]])


def test_gaps_are_filled_in_or_refused_where_that_is_asked():
    filled = learned([1.0, np.nan, 4.0, 3.0], "impute")
    np.testing.assert_array_equal(encoded(filled, [np.nan, 2.0]), [[3], [2]])
    words = learned(["x", None, "x", "y"] * 10, "impute")
    np.testing.assert_array_equal(encoded(words, ["y", None]), [[1], [0]])
    with pytest.raises(ValueError, match=r"column 'a' of X has 1 missing value, .* row 1"):
        encoded(learned([1.0, 2.0], "error"), [1.0, np.nan])


def test_gaps_that_are_new():
    np.testing.assert_array_equal(encoded(learned([1.0, 2.0, 4.0]), [np.nan]), [[2.0]])
    np.testing.assert_array_equal(
        encoded(learned(["x", "y", "y", "z"] * 10), [None, "x"])[0], [0] * 3
    )


def test_rare_levels_are_one():
    column = ["x"] * 20 + ["y"] * 17 + ["r", "s", "t"]
    encoder = learned(column)
    assert encoder.columns == ("a=x", "a=y", "a is rare")
    assert encoder.inputs[0].rare == pytest.approx(3 / 40)
    found = encoded(encoder, ["x", "s", "never seen"])
    np.testing.assert_array_equal(found, [[1, 0, 0], [0, 0, 1], [0, 0, 1]])
    lone = learned(["x"] * 20 + ["y"] * 19 + ["r"])  # one rare level is none to pool with
    assert lone.columns == ("a=r", "a=x", "a=y")


def test_very_many_levels():
    rng = np.random.default_rng(0)
    many = rng.integers(0, 100_000, 30_000)
    many[:5000] = np.arange(5000) % 300
    encoder = learned(pd.Series(many).map(str))
    assert len(encoder.columns) <= 101


@pytest.mark.parametrize("spelled", [True, "True", "TRUE", " true ", 1, 1.0, "1"])
def test_truth_is_spelled_in_many_ways(spelled):
    for column in ([True, False] * 20, ["TRUE", "false", "true", "FALSE "] * 10):
        encoder = learned(column)
        assert encoder.columns == ("a=True",)
        np.testing.assert_array_equal(encoded(encoder, objects(spelled, False)), [[1], [0]])
    np.testing.assert_array_equal(
        encoded(learned([1, 0] * 20), objects(spelled, "FALSE")), [[1], [0]]
    )


def test_blanks_and_case_of_words():
    encoder = learned(["male", " male", "female"] * 10)
    assert encoder.columns == ("a=male",)
    np.testing.assert_array_equal(encoded(encoder, ["Male ", "FEMALE"]), [[1], [0]])
    both = learned(["a", "A", "b"] * 10)  # that the rows tell apart
    assert both.columns == ("a=A", "a=a", "a=b")


def test_a_column_of_strangers_is_refused():
    encoder = learned(["x", "y", "z"] * 20)
    with pytest.raises(ValueError, match=r"column 'a' of X has no value that the model knows.*'u'"):
        encoded(encoder, ["u", "v"] * 5)
    np.testing.assert_array_equal(encoded(encoder, ["u"]), [[0, 0, 0]])  # one may be new
    np.testing.assert_array_equal(encoded(encoder, ["u", "x"])[0], [0, 0, 0])
    ordered = learned(pd.Categorical(["lo", "hi"] * 20, ["lo", "hi"], ordered=True))
    with pytest.raises(ValueError, match=r"column 'a' of X has no value that the model knows.*'u'"):
        encoded(ordered, ["u", "v"] * 5)
    np.testing.assert_array_equal(encoded(ordered, ["u", "LO", " hi"]), [[0.5], [0], [1]])
    assert ordered.unseen(table_of(pd.DataFrame({"a": ["u", "lo", "u"]}))) == {"a": {"u": 2}}


def test_dates_become_time_and_circles():
    days = pd.date_range("2020-01-06", periods=730)  # a Monday
    encoder = learned(days)
    assert encoder.columns == (
        "a", "a: season sin", "a: season cos", "a: weekday sin", "a: weekday cos",
    )  # fmt: skip
    assert encoder.variables.tolist() == [0, 1, 1, 2, 2]
    X = encoded(encoder, days)
    np.testing.assert_allclose(np.diff(X[:, 0]), 1.0)
    np.testing.assert_allclose(X[7, 3:], X[0, 3:], atol=1e-9)
    np.testing.assert_allclose(X[365, 1:3], X[0, 1:3], atol=0.02)
    np.testing.assert_allclose(np.hypot(X[:, 1], X[:, 2]), 1.0)
    assert learned(pd.date_range("2020-01-01", periods=40, freq="h")).columns == (
        "a", "a: hour sin", "a: hour cos",
    )  # fmt: skip
    gaps = learned(pd.Series(days).where(np.arange(730) % 3 > 0))
    assert gaps.columns[:2] == ("a", "a is missing")
    assert np.isfinite(encoded(gaps, pd.Series([pd.NaT, days[0]]))).all()


@pytest.mark.parametrize(
    ("text", "when"),
    [
        ("2024-02-29", datetime(2024, 2, 29)), ("2024/2/9", datetime(2024, 2, 9)),
        ("29.2.2024 12:30", datetime(2024, 2, 29, 12, 30)),
        ("2024-02-29T12:30:15.5Z", datetime(2024, 2, 29, 12, 30, 15, 500000)),
        ("2024-02-29 12:30:00+02:00", datetime(2024, 2, 29, 10, 30)),
        ("12/31/2024", datetime(2024, 12, 31)), ("31/12/2024", datetime(2024, 12, 31)),
    ],
)  # fmt: skip
def test_dates_in_texts(text, when):
    seconds = (when.replace(tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)) / timedelta(seconds=1)
    assert are_dates(objects(text, None))
    assert as_dates(objects(text))[0][0] == pytest.approx(seconds)
    assert written(float(as_dates(objects("2024-02-29"))[0][0])) == "2024-02-29"


@pytest.mark.parametrize("text", ["2024-02-30", "1.2", "3/4/2024", "32/13/2024", "yes", "2024"])
def test_what_is_no_date_or_leaves_the_month_open(text):
    assert not are_dates(objects(text, text))


def test_what_is_refused():
    twice = pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"])
    with pytest.raises(ValueError, match="two columns 'a'"):
        table_of(twice)
    for cell in ([1], {"b": 1}, (1, 2), np.ones(2), 1j, object()):
        column = np.empty(2, dtype=object)
        column[:] = [cell, cell]
        with pytest.raises(TypeError, match="column 'a' of X holds"):
            table_of(pd.DataFrame({"a": column}))
    with pytest.raises(TypeError, match="column 'a' of X holds"):
        table_of(pl.DataFrame({"a": [[1], [2]]}))
    with pytest.raises(ValueError, match=r"column 'a' of X is infinite in row 1"):
        encoded(learned([1.0, 2.0]), [1.0, np.inf])
    for huge in (10**400, -(10**400)):  # no float is as large
        with pytest.raises(ValueError, match=r"column 'a' of X is infinite in row 1"):
            encoded(learned([1.0, 2.0]), objects(1, huge))
    with pytest.raises(ValueError, match=r"column 'a' of X has 'x' in row 0, where .* a number"):
        encoded(learned([1.0, 2.0]), ["x", "1"])
    with pytest.raises(ValueError, match=r"column 'a' of X has 'x' in row 0, where .* a date"):
        encoded(learned(pd.date_range("2020-01-01", periods=3)), ["x", "2020-01-01"])
    when, number = learned(pd.date_range("2020-01-01", periods=3)), learned([1.0, 2.0])
    with pytest.raises(ValueError, match=r"column 'a' of X has a number in row 1, .* a date"):
        encoded(when, [np.nan, 1.0])
    with pytest.raises(ValueError, match=r"column 'a' of X has a date in row 0, .* a number"):
        encoded(number, pd.date_range("2020-01-01", periods=3))
    with pytest.raises(ValueError, match=r"no value that the model knows: it has '2020-01-01'"):
        encoded(learned(["x", "y"] * 9), pd.date_range("2020-01-01", periods=9))
    for encoder in (when, number):  # all of it missing is neither
        assert np.isfinite(encoded(encoder, [None, np.nan])).all()
    with pytest.raises(TypeError, match="lazy frame"):
        as_frame(pl.LazyFrame({"a": [1]}))
    assert as_frame(np.ones((2, 2))) is None


def test_gaps_in_arrays():
    X = np.array([[1.0, 2.0, np.nan], [np.nan, 4.0, np.nan], [5.0, 6.0, np.nan]])
    gaps = Gaps.of(X)
    np.testing.assert_array_equal(gaps.encode(X), [[1, 0, 2, 0], [3, 1, 4, 0], [5, 0, 6, 0]])
    np.testing.assert_array_equal(gaps.variables, [0, 0, 1, 2])
    np.testing.assert_array_equal(gaps.spans, [np.nan, 1, np.nan, np.nan])
    assert gaps.columns == ("x0", "x0 is missing", "x1", "x2")
    new = gaps.encode(np.array([[1.0, np.nan, 7.0]]))
    np.testing.assert_array_equal(new, [[1, 0, 4, 7]])
    filled = Gaps.of(X, "impute")
    assert filled.plain
    np.testing.assert_array_equal(filled.encode(X)[:, :2], [[1, 2], [3, 4], [5, 6]])
    whole = X[:, 1:2]
    assert Gaps.of(whole).encode(whole) is whole
