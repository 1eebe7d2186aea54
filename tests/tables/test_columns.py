"""Types of columns, what is noticed about them, samples, and the encoding."""

from pathlib import Path

import numpy as np
import pytest

from svmselect.tables import Encoder, Table, gather, open_source
from svmselect.tables.cells import label, number, texts
from svmselect.tables.inputs import Category, Number
from svmselect.tables.roles import unused
from svmselect.tables.table import check_complete


def read(tmp_path: Path, content: str, **options) -> Table:
    file = tmp_path / "d.csv"
    file.write_text(content)
    return gather(open_source(file), **options)


def table(**columns) -> Table:
    arrays = {
        name: np.array(values, dtype=object if isinstance(values[0], str | None) else float)
        for name, values in columns.items()
    }
    n = len(next(iter(arrays.values())))
    return Table(arrays, np.arange(1, n + 1), n)


@pytest.mark.parametrize(
    ("cell", "decimal", "value"),
    [
        ("1.5", ".", 1.5), (" -2e3 ", ".", -2000.0), ("1,5", ".", None), ("1,5", ",", 1.5),
        ("1.234,5", ",", 1234.5), ("1.234.567", ",", 1234567.0), ("1.5", ",", 1.5),
        ("1_000", ".", None), ("x", ".", None), ("", ".", None),
    ],
)  # fmt: skip
def test_numbers(cell: str, decimal: str, value: float | None) -> None:
    assert number(cell, decimal) == value


def test_whole_numbers_that_no_float_can_hold(tmp_path: Path) -> None:
    found = read(tmp_path, f"a,b\n{'1' * 400},x\n2,y\n-{'9' * 309},x\n")
    # some pandas leave them text
    assert np.asarray(found.columns["a"]).astype(float).tolist() == [np.inf, 2.0, -np.inf]


def test_labels_and_texts() -> None:
    assert [label(x) for x in ("1", "+1", "1.0", "-1.", "01", "1.5", "x")] == [
        "1", "1", "1", "-1", "01", "1.5", "x",
    ]  # fmt: skip
    assert texts([1.0, 2.5, np.nan, None, " a ", "NA", "?", True]).tolist() == [
        "1", "2.5", None, None, "a", None, None, "True",
    ]  # fmt: skip


def test_gaps_in_columns_of_numbers(tmp_path: Path) -> None:
    found = read(tmp_path, "a,b,c\n1,x,\n,y,\nNone,NA,\n-,?,\n2,None,\n")
    np.testing.assert_array_equal(found.columns["a"], [1, np.nan, np.nan, np.nan, 2])
    assert found.columns["b"].tolist() == ["x", "y", None, None, "None"]
    assert unused(found, None)[0].reason == "it is empty"


def test_a_slip_in_a_column_of_numbers_is_named(tmp_path: Path) -> None:
    rows = [f"{i * 1.5},{i % 2}" for i in range(100)]
    rows[41] = "12o,1"
    with pytest.raises(ValueError, match=r"column 'a'.* row 42: '12o'; correct it"):
        read(tmp_path, "a,b\n" + "\n".join(rows))


def test_codes_that_are_partly_numbers_are_categories(tmp_path: Path) -> None:
    rows = [f"{'5more' if i % 20 == 0 else i % 4},{i}" for i in range(100)]
    found = read(tmp_path, "doors,b\n" + "\n".join(rows))
    assert set(found.columns["doors"]) == {"0", "1", "2", "3", "5more"}


def test_a_column_whose_type_shows_late(tmp_path: Path) -> None:
    rows = [f"{i % 3},{i}" for i in range(25_000)] + ["x,1"] * 3000
    found = read(tmp_path, "a,b\n" + "\n".join(rows))
    assert set(found.columns["a"]) == {"0", "1", "2", "x"}


def test_a_sample_is_a_part_of_the_rows_in_their_order(tmp_path: Path) -> None:
    content = "a,b\n" + "\n".join(f"{i},{2 * i}" for i in range(60_000))
    found = read(tmp_path, content, limit=1000)
    again = read(tmp_path, content, limit=1000)
    other = read(tmp_path, content, limit=1000, seed=1)
    assert (len(found), found.total) == (1000, 60_000)
    np.testing.assert_array_equal(found.columns["b"], 2 * found.columns["a"])
    np.testing.assert_array_equal(found.columns["a"] + 1, found.rows)
    assert np.all(np.diff(found.rows) > 0)
    np.testing.assert_array_equal(found.rows, again.rows)
    assert not np.array_equal(found.rows, other.rows)
    # every part of the file has its share: five standard deviations of a binomial
    shares = np.histogram(found.rows, bins=4, range=(1, 60_000))[0]
    assert np.all(np.abs(shares - 250) < 5 * np.sqrt(1000 * 0.25 * 0.75))


def test_what_is_no_input_is_noticed() -> None:
    rng = np.random.default_rng(0)
    n = 100
    found = table(
        patient_id=rng.permutation(n) + 5000.0,
        row=np.arange(n) + 3.0,
        name=[f"n{i}" for i in range(n)],
        street=[f"s{i % 70}" for i in range(n)],
        country=["CH"] * n,
        zero=np.zeros(n),
        age=rng.permutation(n) + 1000.0,
        weight=rng.normal(size=n),
        sex=["f", "m"] * (n // 2),
    )
    left = {one.name: one.reason for one in unused(found, "sex")}
    assert list(left) == ["patient_id", "row", "name", "country", "zero"]
    assert "every number occurs once" in left["patient_id"]
    assert "counts the rows" in left["row"]
    assert "one value only, CH" in left["country"]
    kept = {one.name for one in unused(found, "sex", ignore=["age"], use=["row"])}
    assert kept == {"patient_id", "name", "country", "zero", "age"}


def test_missing_values_are_refused_by_name() -> None:
    found = table(a=[1.0, 2.0], b=[1.0, np.nan], c=["x", None])
    with pytest.raises(
        ValueError, match=r"column 'b' \(and 'c'\) of f has 1 missing value, .*row 2"
    ):
        check_complete(found, "f")
    check_complete(found.without(["b", "c"]), "f")


def test_categories_are_encoded_alike() -> None:
    found = table(
        size=[1.0, np.nan, 3.0, 8.0],
        sex=["m", "f", None, "f"],
        town=["a", "b", "c", "b"],
    )
    encoder = Encoder.of(found, "impute")
    assert encoder.columns == ("size", "sex=m", "town=a", "town=b", "town=c")
    np.testing.assert_array_equal(
        encoder.encode(found),
        [[1, 1, 1, 0, 0], [3, 0, 0, 1, 0], [3, 0, 0, 0, 1], [8, 0, 0, 1, 0]],
    )
    assert encoder.relevance(np.array([0.1, 0.2, 0.7])) == pytest.approx(
        {"town": 0.7, "sex": 0.2, "size": 0.1}
    )


def test_texts_not_seen_are_none_of_the_categories() -> None:
    encoder = Encoder(
        (Category("sex", ("f", "m"), "f", 0.25), Category("t", ("a", "b", "c"), "a", 0.0))
    )
    new = table(sex=["f", "x"], t=["d", "c"])
    np.testing.assert_array_equal(encoder.encode(new), [[0, 0, 0, 0], [0.25, 0, 0, 1]])
    assert encoder.unseen(new) == {"sex": {"x": 1}, "t": {"d": 1}}


def test_new_rows_are_matched_by_name(tmp_path: Path) -> None:
    encoder = Encoder((Number("a", 1.0), Category("c", ("1", "2", "3"), "1", 0.0)))
    file = tmp_path / "new.csv"
    file.write_text("c,other,a\n2,9,7\n3,9,8.5\n")
    source = open_source(file)
    encoder.match(source.names, source.title, source.sparse)
    (frame,) = source.frames()
    found = encoder.read(frame, source, before=0)
    np.testing.assert_array_equal(encoder.encode(found), [[7, 0, 1, 0], [8.5, 0, 0, 1]])
    file.write_text("c,other,b\n2,9,7\n")
    with pytest.raises(ValueError, match=r"no column 'a', which the model needs"):
        encoder.match(open_source(file).names, "new.csv")
    file.write_text("c,a\n2,9\n2,nine\n")
    source = open_source(file)
    (frame,) = source.frames()
    with pytest.raises(ValueError, match=r"'nine' in row 12, where the model needs a number"):
        encoder.read(frame, source, before=10)


def test_sparse_rows_have_zeros_where_a_column_is_not_there(tmp_path: Path) -> None:
    encoder = Encoder(tuple(Number(f"x{i}", 0.0) for i in (1, 2, 3)))
    file = tmp_path / "new.svm"
    file.write_text("1 1:5\n1 2:6\n")
    source = open_source(file)
    encoder.match(source.names, source.title, source.sparse)
    (frame,) = source.frames()
    np.testing.assert_array_equal(
        encoder.encode(encoder.read(frame, source, 0)), [[5, 0, 0], [0, 6, 0]]
    )
