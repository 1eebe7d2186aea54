"""Every format, read to the same table; and files that are none."""

import gzip
import tracemalloc
from decimal import Decimal
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
import pandas as pd
import pytest

from svmselect.files import unpacked
from svmselect.tables import gather, open_source
from svmselect.tables.gather import labels_of

FRAME = pd.DataFrame(
    {
        "size": [1.5, 2.25, -3.0, 4.0],
        "place": ["Bern", "Zug, ZG", "Bern", 'the "old" town'],
        "count": [1, 2, 3, 4],
        "class": ["yes", "no", "no", "yes"],
    }
)


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def check(path: Path) -> None:
    """The file holds FRAME."""
    source = open_source(path)
    table = gather(source, "class")
    assert source.names == tuple(FRAME.columns)
    assert table.total == len(table) == len(FRAME)
    for name in ("size", "count"):
        np.testing.assert_array_equal(table.columns[name], FRAME[name])
    assert table.columns["place"].tolist() == FRAME["place"].tolist()
    assert labels_of(table.columns["class"]).tolist() == FRAME["class"].tolist()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "text separated by commas"),
        ({"sep": ";"}, "text separated by semicolons"),
        ({"sep": ";", "decimal": ","}, "text separated by semicolons, decimal commas"),
        ({"sep": "\t"}, "text separated by tabs"),
        ({"sep": "|"}, "text separated by bars"),
        ({"encoding": "utf-8-sig"}, "text separated by commas"),
        ({"encoding": "utf-16"}, "text separated by commas"),
        ({"lineterminator": "\r\n"}, "text separated by commas"),
        ({"quoting": 1}, "text separated by commas"),
    ],
)
def test_text_tables(tmp_path: Path, options, words: str) -> None:
    file = tmp_path / "data.csv"
    FRAME.to_csv(file, index=False, **options)
    assert open_source(file).words == words
    check(file)


def test_parquet(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    FRAME.to_parquet(tmp_path / "data.parquet")
    check(tmp_path / "data.parquet")
    FRAME.set_index("size").reset_index(drop=False).iloc[[3, 1, 0, 2]].to_parquet(
        tmp_path / "shuffled.parquet"
    )
    assert open_source(tmp_path / "shuffled.parquet").names == tuple(FRAME.columns)


def test_json_lines(tmp_path: Path) -> None:
    FRAME.to_json(tmp_path / "d.jsonl", orient="records", lines=True)
    check(tmp_path / "d.jsonl")
    rows = '{"a": 1, "b": true}\n\n{"b": null, "c": "x"}\n{"a": 2.5, "b": false}\n'
    table = gather(open_source(write(tmp_path / "gaps.json", rows)))
    np.testing.assert_array_equal(table.columns["a"], [1, np.nan, 2.5])
    assert table.columns["b"].tolist() == ["True", None, "False"]
    assert table.columns["c"].tolist() == [None, "x", None]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('{"a": 1, "b": 2}\n{"a": 1, "b": [2]}', "column 'b' of d.jsonl is nested in line 2"),
        ('{"a": 1, "b": 2}\n{"a": 1, ', "line 2 of d.jsonl is no JSON"),
        ('{"a": 1, "b": 2}\n3', "line 2 of d.jsonl is no JSON object"),
        ('{"a": 1}\n{"a": 2}', "one column only"),
    ],
)
def test_json_lines_that_are_no_table(tmp_path: Path, content: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        open_source(write(tmp_path / "d.jsonl", content))


def test_workbooks(tmp_path: Path) -> None:
    pytest.importorskip("openpyxl")
    path = tmp_path / "d.xlsx"
    with pd.ExcelWriter(path) as book:
        FRAME.to_excel(book, sheet_name="people", index=False)
        FRAME.to_excel(book, sheet_name="others", index=False)
    check(path)
    source = open_source(path)
    assert source.words == "Excel, sheet 'people'"
    assert source.notes == ("the first of 2 sheets is read, 'people'",)
    assert open_source(path, header=False).names[0] == "column 1"
    days = pd.DataFrame({"day": pd.date_range("2020-01-01", periods=3), "b": [True, None, False]})
    days.to_excel(path, index=False)
    table = gather(open_source(path))
    assert table.role("day").kind == "date"
    assert np.diff(table.columns["day"]).tolist() == [86400.0, 86400.0]
    assert table.columns["b"].tolist() == ["True", None, "False"]


def test_damaged_workbooks(tmp_path: Path) -> None:
    pytest.importorskip("openpyxl")
    with ZipFile(tmp_path / "d.xlsx", "w") as archive:
        archive.writestr("xl/workbook.xml", "<nothing/>")
    with pytest.raises(ValueError, match="is no complete workbook"):
        open_source(tmp_path / "d.xlsx")
    with ZipFile(tmp_path / "big.xlsx", "w", ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", b"0" * (300 * 2**20))
    with pytest.raises(ValueError, match="unpacks to more than"):
        open_source(tmp_path / "big.xlsx")


@pytest.mark.parametrize("place", ["XFD1048576", "A1048576", "XFD3"])
def test_a_cell_far_out_does_not_fill_the_memory(tmp_path: Path, place: str) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (["a", "b"], [1, "x"], [2, "y"]):
        book.active.append(row)
    book.active[place] = 1
    book.save(tmp_path / "d.xlsx")
    tracemalloc.start()
    try:
        source = open_source(tmp_path / "d.xlsx")
        assert gather(source).total == (2 if place == "XFD3" else 3)
        assert tracemalloc.get_traced_memory()[1] < 2**27
    finally:
        tracemalloc.stop()


def test_a_sheet_of_very_many_cells_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in range(1, 200):
        book.active.cell(row, 1, row)
    book.active["XFD200"] = 1
    book.save(tmp_path / "d.xlsx")
    assert gather(open_source(tmp_path / "d.xlsx")).total == 199
    monkeypatch.setattr(unpacked, "FLOOR", 2**20)
    with pytest.raises(ValueError, match=r"d\.xlsx unpacks to more than"):
        open_source(tmp_path / "d.xlsx")


def test_types_of_parquet(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame(
        {
            "code": pd.Categorical(["1", "2", "1"]),
            "sure": [True, False, True],
            "perhaps": pd.array([True, None, False], dtype="boolean"),
            "whole": pd.array([1, None, 3], dtype="Int64"),
            "price": [Decimal("1.50"), Decimal("2"), None],
            "day": pd.to_datetime(["2020-01-01", "2020-01-02", "2020-01-01"]),
            "digits": ["1", None, "3"],
        }
    )
    frame.to_parquet(tmp_path / "d.parquet")
    found = gather(open_source(tmp_path / "d.parquet")).columns
    assert found["code"].tolist() == ["1", "2", "1"]
    assert found["sure"].tolist() == ["True", "False", "True"]
    assert found["perhaps"].tolist() == ["True", None, "False"]
    assert np.diff(found["day"]).tolist() == [86400.0, -86400.0]
    np.testing.assert_array_equal(found["whole"], [1.0, np.nan, 3.0])
    np.testing.assert_array_equal(found["price"], [1.5, 2.0, np.nan])
    np.testing.assert_array_equal(found["digits"], [1.0, np.nan, 3.0])


def test_arff(tmp_path: Path) -> None:
    file = write(
        tmp_path / "data.arff",
        "% a comment\n@RELATION r\n\n@ATTRIBUTE size REAL\n@attribute 'place' string\n"
        "@attribute count integer\n@attribute class {yes, no}\n@DATA\n"
        "1.5, Bern, 1, yes\n2.25, 'Zug, ZG', 2, no\n% another\n-3, Bern, 3, no\n"
        "4, 'the \"old\" town', 4, yes\n",
    )
    source = open_source(file)
    assert (source.words, source.target) == ("ARFF", "class")
    check(file)


def test_arff_names_types_and_gaps(tmp_path: Path) -> None:
    file = write(
        tmp_path / "data.arff",
        "@relation r\n@attribute 'a b' numeric\n@attribute \"c\\'d\" {0,1}\n@attribute e numeric\n"
        "@data\n1,0,5\n?,1,6\n",
    )
    source = open_source(file)
    table = gather(source)
    assert source.names == ("a b", "c'd", "e")
    assert source.target == "e"
    np.testing.assert_array_equal(table.columns["a b"], [1.0, np.nan])
    assert table.columns["c'd"].tolist() == ["0", "1"]  # declared as categories


def test_svmlight(tmp_path: Path) -> None:
    file = write(tmp_path / "data.svm", "# head\n+1 1:0.5 3:2 # tail\n-1 2:1e-3\n1\n\n-1  3:4\n")
    source = open_source(file)
    table = gather(source, source.target)
    assert (source.words, source.names) == ("SVMlight", ("label", "x1", "x2", "x3"))
    assert labels_of(table.columns["label"]).tolist() == ["1", "-1", "1", "-1"]
    np.testing.assert_array_equal(table.columns["x1"], [0.5, 0, 0, 0])
    np.testing.assert_array_equal(table.columns["x2"], [0, 1e-3, 0, 0])
    np.testing.assert_array_equal(table.columns["x3"], [2, 0, 0, 4])


def test_svmlight_as_scikit_learn_writes_and_reads_it(tmp_path: Path) -> None:
    from sklearn.datasets import dump_svmlight_file, load_svmlight_file

    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 6)) * (rng.random((50, 6)) < 0.4)
    X[0] = 1.0
    for zero_based in (True, False):
        dump_svmlight_file(X, rng.integers(0, 2, 50), str(tmp_path / "d"), zero_based=zero_based)
        table = gather(open_source(tmp_path / "d"))
        ours = np.column_stack([c for name, c in table.columns.items() if name != "label"])
        theirs = load_svmlight_file(str(tmp_path / "d"), zero_based=zero_based)[0].toarray()
        np.testing.assert_array_equal(ours, theirs)


def test_the_content_decides_and_not_the_name(tmp_path: Path) -> None:
    FRAME.to_csv(tmp_path / "data.arff", index=False)
    check(tmp_path / "data.arff")
    FRAME.to_csv(tmp_path / "plain.csv", index=False)
    packed = tmp_path / "data.csv.gz"
    packed.write_bytes(gzip.compress((tmp_path / "plain.csv").read_bytes()))
    check(packed)


def test_blanks_between_cells(tmp_path: Path) -> None:
    file = write(tmp_path / "data.txt", "a b  c\n1 2 3\n 4  5 6\n")
    table = gather(open_source(file))
    np.testing.assert_array_equal(
        np.column_stack(list(table.columns.values())), [[1, 2, 3], [4, 5, 6]]
    )


@pytest.mark.parametrize(
    ("content", "names"),
    [
        ("5.1,3.5,Iris-setosa\n4.9,3.0,Iris-virginica\n", ("column 1", "column 2", "column 3")),
        ("p,x,s,p\ne,x,y,p\n", ("column 1", "column 2", "column 3", "column 4")),
        ("0,1,2\n3.5,4,5\n", ("0", "1", "2")),
        ("1,2,species\n3.5,4,5\n", ("1", "2", "species")),
        ("colour,shape\nred,round\nblue,flat\n", ("colour", "shape")),
        (",a,a\n0,1,2\n1,3,4\n", ("column 1", "a", "a (2)")),
        ("\n\na,b\n1,2\n", ("a", "b")),
        ("a,b\nr1,1,2\nr2,3,4\n", ("row name", "a", "b")),  # R's write.table
        ("a b\n1 5 x\n2 3 y\n", ("row name", "a", "b")),
        ("a,b\n1,2,\n3,4,\n", ("a", "b", "column 3")),  # a separator too many
    ],
)
def test_whether_there_is_a_header(tmp_path: Path, content: str, names: tuple[str, ...]) -> None:
    assert open_source(write(tmp_path / "d.csv", content)).names == names


def test_a_header_can_be_insisted_on(tmp_path: Path) -> None:
    file = write(tmp_path / "d.csv", "1,2\n3,4\n")
    assert open_source(file, header=True).names == ("1", "2")
    assert len(gather(open_source(file, header=True))) == 1
    assert len(gather(open_source(file, header=False))) == 2


def test_old_encodings_and_broken_lines(tmp_path: Path) -> None:
    file = write(tmp_path / "d.csv", "name,größe\nMüller,3\nÅse,4\n".encode("cp1252"))
    assert gather(open_source(file)).columns["name"].tolist() == ["Müller", "Åse"]
    file = write(tmp_path / "e.csv", 'a,b\n"two\nlines",3\nz,4\n')
    assert gather(open_source(file)).columns["a"].tolist() == ["two\nlines", "z"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        (" \n\n", "is empty"),
        ("a\n1\n2\n", "one column only"),
        ("a,b\n", "a header and no rows"),
        ("a,b\n1,2\n3,4,5\n", "row 2 .*more cells than the 2 columns"),
        ("a,b\n" + "1,2\n" * 30000 + "1,2,3\n", "row 30001 .*more cells"),
        ('a,b\n"1,2\n3,4\n', "never closed"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "no text file"),
        (b"PK\x03\x04 something", "archive, an old workbook or a model file"),
        (b"PAR1 something", "no complete Parquet file"),
        ("@relation r\n@attribute a numeric\n", "no @data line"),
        ("@relation r\n@attribute a numeric\n@attribute b numeric\n@data\n{0 1}\n", "sparse ARFF"),
        ("1 1:2 30000:1\n", "29999|30000 columns"),
        ("1 1:2 2:x\n", "cannot be read as SVMlight"),
    ],
)
def test_refused(tmp_path: Path, content: str | bytes, message: str) -> None:
    file = write(tmp_path / "d.csv", content)
    with pytest.raises(ValueError, match=message):
        gather(open_source(file))


def test_no_such_file_and_a_folder(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="there is no file"):
        open_source(tmp_path / "nothing.csv")
    with pytest.raises(ValueError, match="is a folder without Parquet files"):
        open_source(tmp_path)


def test_columns_by_name_and_position(tmp_path: Path) -> None:
    source = open_source(write(tmp_path / "d.csv", "a,B b,3\n1,2,x\n"))
    assert [source.column(w) for w in ("a", "b B"[::-1], "1", "2", "-1", "3")] == [
        "a", "B b", "a", "B b", "3", "3",
    ]  # fmt: skip
    assert source.column("b b") == "B b"
    for wrong in ("0", "4", "-4"):
        with pytest.raises(ValueError, match="has no column"):
            source.column(wrong)
    with pytest.raises(ValueError, match="its columns are a, B b, 3"):
        source.column("nope")
    with pytest.raises(ValueError, match="which column"):
        source.column(None)


def test_without_pyarrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(ValueError, match=r"pip install 'svmselect\[parquet\]'"):
        open_source(write(tmp_path / "d.parquet", b"PAR1PAR1"))
