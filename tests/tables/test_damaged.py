"""Damaged files, wide headers and bombs: each is one sentence that names the file."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from svmselect.files import unpacked
from svmselect.tables import gather, open_source

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {
        "size": RNG.normal(size=60).round(3),
        "place": RNG.choice(["Bern", "Zug", "Chur"], 60),
        "count": RNG.integers(0, 9, 60),
        "class": RNG.choice(["yes", "no"], 60),
    }
)


def csv() -> bytes:
    return FRAME.to_csv(index=False).encode()


def parquet(compression: str) -> bytes:
    made = io.BytesIO()
    FRAME.to_parquet(made, compression=compression)  # type: ignore[call-overload]
    return made.getvalue()


def arff() -> bytes:
    head = "@relation r\n@attribute size real\n@attribute 'place' string\n"
    head += "@attribute count integer\n@attribute class {yes, no}\n@data\n"
    return (head + FRAME.to_csv(index=False, header=False)).encode()


def svmlight() -> bytes:
    lines = [f"{c} 1:{s} 3:{n}" for s, n, c in zip(FRAME["size"], FRAME["count"], FRAME["class"])]  # noqa: B905
    return "\n".join(lines).encode()


def kinds() -> dict[str, bytes]:
    made = {
        "d.csv": csv(),
        "d.arff": arff(),
        "d.svm": svmlight(),
        "d.csv.gz": gzip.compress(csv(), mtime=0),
        "d.csv.bz2": bz2.compress(csv()),
        "d.csv.xz": lzma.compress(csv()),
        "d.arff.gz": gzip.compress(arff(), mtime=0),
        "d.svm.xz": lzma.compress(svmlight()),
        "wide.csv": csv().decode().encode("utf-16"),
    }
    try:
        made["d.parquet"] = parquet("snappy")
        made["plain.parquet"] = parquet("none")
    except ImportError:
        pass
    return made


def mutants(content: bytes, seed: int, count: int) -> Iterator[bytes]:
    """Cut short, with a bit turned, a byte changed, a piece taken out or zeroed."""
    rng = np.random.default_rng(seed)
    for at in range(count):
        place = int(rng.integers(0, len(content)))
        made = bytearray(content)
        match at % 5:
            case 0:
                yield content[:place]
                continue
            case 1:
                made[place] ^= 1 << int(rng.integers(0, 8))
            case 2:
                made[place] = int(rng.integers(0, 256))
            case 3:
                del made[place : place + int(rng.integers(1, 20))]
            case 4:
                made[place : place + 4] = b"\xff\xff\xff\xff"
        yield bytes(made)


@pytest.mark.parametrize("name", kinds())
def test_no_damage_is_a_defect(tmp_path: Path, name: str) -> None:
    content = kinds()[name]
    file = tmp_path / name
    file.write_bytes(content)
    assert gather(open_source(file)).total == 60
    read, told = 0, list[str]()
    for made in mutants(content, 1, 250):
        file.write_bytes(made)
        try:
            gather(open_source(file))
            read += 1
        except ValueError as error:
            told.append(str(error))
    assert all(name in said and "\n" not in said for said in told)
    assert read < 250


def test_times_that_python_has_no_dates_for(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    import pyarrow.parquet

    far = arrow.array([0, 2**48, None], arrow.timestamp("ms", "UTC"))
    table = arrow.table({"when": far, "class": ["a", "b", "b"]})
    pyarrow.parquet.write_table(table, tmp_path / "d.parquet")
    when = gather(open_source(tmp_path / "d.parquet")).columns["when"]
    soon, late, never = when.tolist()
    assert (soon, never) == ("1970-01-01 00:00:00+00:00", None)
    assert late.replace(" ", "T").startswith("10889-08-02T05:31:50.656")  # as Arrow writes it
    here = arrow.array([0, 2**48, None], arrow.timestamp("ms", "Europe/Berlin"))
    pyarrow.parquet.write_table(table.set_column(0, "when", here), tmp_path / "d.parquet")
    when = gather(open_source(tmp_path / "d.parquet")).columns["when"]
    soon, late, never = when.tolist()  # in the zone's time or in universal time
    assert pd.Timestamp(soon) == pd.Timestamp(0, tz="UTC")
    assert late.startswith("10889-08-02 ")
    assert never is None


def test_numbers_that_are_none_in_odd_ways(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    import pyarrow.parquet

    odd = np.array([0x3FC00000, 0x7F800001, 0xFFA00001], dtype=np.uint32)  # 1.5, signalling NaNs
    table = arrow.table({"a": arrow.array(odd.view(np.float32)), "b": ["x", "y", "x"]})
    pyarrow.parquet.write_table(table, tmp_path / "d.parquet")
    assert gather(open_source(tmp_path / "d.parquet")).columns["a"][0] == 1.5


@pytest.mark.parametrize("name", ["d.csv.gz", "d.csv.bz2", "d.csv.xz", "d.parquet"])
def test_a_file_cut_short_says_so(tmp_path: Path, name: str) -> None:
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    file = tmp_path / name
    content = kinds()[name]
    for cut in (5, len(content) // 2, len(content) - 1):
        file.write_bytes(content[:cut])
        with pytest.raises(ValueError, match=rf"{name} is (damaged|no complete)"):
            gather(open_source(file))


@pytest.mark.parametrize("name", ["d.gz", "d.bz2", "d.xz"])
def test_a_file_that_is_not_packed_though_its_name_says_so(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(csv())
    with pytest.raises(ValueError, match=rf"{name} is damaged, cut short or no \.{name[2:]} file"):
        open_source(tmp_path / name)


def test_damage_far_down_is_told_of_too(tmp_path: Path) -> None:
    text = "a,b\n" + "".join(f"{i},{i * 7919 % 1000}\n" for i in range(200_000))
    packed = bytearray(gzip.compress(text.encode(), mtime=0))
    packed[-2000:] = b"\0" * 2000
    (tmp_path / "d.csv.gz").write_bytes(packed)
    source = open_source(tmp_path / "d.csv.gz")
    with pytest.raises(ValueError, match=r"d\.csv\.gz is damaged"):
        gather(source)


def test_other_characters_far_down_are_told_of_too(tmp_path: Path) -> None:
    for name, head in (
        ("d.csv", "a,b\n1,x\n"),
        ("d.arff", "@relation r\n@attribute a real\n@attribute b string\n@data\n"),
    ):
        text = head + "1,xxxxxxxxxxxxxxx\n" * 100_000
        (tmp_path / name).write_bytes(text.encode() + b"2,\xff\xfe\n")
        with pytest.raises(ValueError, match=rf"{name} has characters that are not UTF-8"):
            gather(open_source(tmp_path / name))


@pytest.mark.parametrize("packing", ["gz", "bz2", "xz"])
def test_a_bomb_is_refused(tmp_path: Path, packing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpacked, "FLOOR", 2**20)
    pack = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}[packing]
    file = tmp_path / f"d.csv.{packing}"
    rows = b"a,b\n" + b"1,2\n" * 2_000_000
    for content in (rows, b"a,b\n1," + b"2" * 8_000_000, b"a" * 8_000_000):
        file.write_bytes(pack(content))
        with pytest.raises(ValueError, match=r"unpacks to more than 1 MiB.*SVMSELECT_MAX_UNPACKED"):
            gather(open_source(file))
    file.write_bytes(pack(rows))
    monkeypatch.setenv(unpacked.VARIABLE, "64m")
    assert gather(open_source(file), limit=10).total == 2_000_000


def test_a_parquet_file_that_unpacks_to_far_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pyarrow")
    monkeypatch.setattr(unpacked, "FLOOR", 2**20)
    zeros = pd.DataFrame({"a": np.arange(500_000) % 2 * 0.0, "b": "x"})
    zeros.to_parquet(tmp_path / "d.parquet", compression="zstd", use_dictionary=False)  # type: ignore[call-overload]
    with pytest.raises(ValueError, match=r"d\.parquet unpacks to more than"):
        open_source(tmp_path / "d.parquet")


@pytest.mark.parametrize("cell", [[1, 2], {"x": 1}, [{"x": [1]}]])
def test_nested_columns_are_refused_by_name(tmp_path: Path, cell: object) -> None:
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"a": [cell] * 30, "b": range(30), "c": ["x", "y"] * 15})
    frame.to_parquet(tmp_path / "d.parquet")
    with pytest.raises(ValueError, match=r"column 'a' of d\.parquet is nested .*flatten"):
        open_source(tmp_path / "d.parquet")


def test_two_columns_of_one_name_in_parquet(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    import pyarrow.parquet

    table = arrow.table([[1, 2], [3, 4]], names=["a", "a"])
    pyarrow.parquet.write_table(table, tmp_path / "d.parquet")
    with pytest.raises(ValueError, match="two columns 'a'"):
        open_source(tmp_path / "d.parquet")


@pytest.mark.parametrize("mark", [",", "\t"])
def test_headers_of_any_length(tmp_path: Path, mark: str) -> None:
    width = 100_000
    header = mark.join(f"c{i}" for i in range(width))
    rows = "".join(mark.join(["1.5"] * width) + "\n" for _ in range(2))
    (tmp_path / "d.csv").write_text(f"{header}\n{rows}")
    source = open_source(tmp_path / "d.csv")
    assert len(source.names) == width
    assert source.names[-1] == f"c{width - 1}"


def test_a_line_without_end_is_no_header(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("svmselect.tables.text._LONGEST", 2**17)
    (tmp_path / "d.csv").write_text("a," * 2**18)
    with pytest.raises(ValueError, match=r"d\.csv has a first line of more than"):
        open_source(tmp_path / "d.csv")
    monkeypatch.undo()
    (tmp_path / "e.csv").write_text("a,b\n" + "x" * 2**18 + ",1\n")
    with pytest.raises(ValueError, match=r"e\.csv cannot be read: field larger"):
        open_source(tmp_path / "e.csv")


@pytest.mark.parametrize("separator", ["\u2028", "\x0b", "\x0c", "\x1c", "\x85"])
def test_lines_end_where_lines_end(tmp_path: Path, separator: str) -> None:
    (tmp_path / "d.csv").write_text(f"a{separator}x,b\n1,2\n3,4\n", encoding="utf-8")
    assert gather(open_source(tmp_path / "d.csv")).total == 2


@pytest.mark.parametrize(
    "line",
    ["1 " + "9" * 5000 + ":1", "1 99999999999999999999:2", "1 1:2 1:3 0:4"],
)
def test_numbers_of_svmlight_that_are_too_long(tmp_path: Path, line: str) -> None:
    (tmp_path / "d.svm").write_text(f"1 1:2\n{line}\n")
    with pytest.raises(ValueError, match=r"d\.svm"):
        gather(open_source(tmp_path / "d.svm"))


def test_a_byte_order_mark_is_no_part_of_an_svmlight_label(tmp_path: Path) -> None:
    (tmp_path / "d.svm").write_bytes(b"\xef\xbb\xbf1 1:2\n-1 1:3\n")
    assert gather(open_source(tmp_path / "d.svm")).columns["label"].tolist() == [1.0, -1.0]


def test_no_cell_of_a_row_that_is_too_long_is_lost(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("a,b\n1,2\n1,2,,5\n3,4\n3,4\n5,6\n1,2\n")
    with pytest.raises(ValueError, match=r"rows? .* of d\.csv has more cells|line 3 has 4 cells"):
        gather(open_source(tmp_path / "d.csv"))
    (tmp_path / "e.csv").write_text("a,b\n1,2,,5\n3,4\n3,4\n5,6\n1,2\n1,2\n1,2\n")
    with pytest.raises(ValueError, match=r"one of the rows 1 to 7 of e\.csv has more cells"):
        gather(open_source(tmp_path / "e.csv"))
