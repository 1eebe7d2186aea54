"""Several files as one table: folders, patterns, lists, and files that are no table together."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from svmselect.tables import gather, open_source

frame = pd.DataFrame({"a": np.arange(9.0), "b": list("uvwuvwuvw"), "y": [1, 2, 3] * 3})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for i in range(3):
        frame[3 * i : 3 * i + 3].to_parquet(tmp_path / f"part{i}.parquet", index=False)
    return tmp_path


def column(source):
    return np.concatenate([piece["a"] for piece in source.frames()])


def test_folder_pattern_and_list_are_one_table(folder):
    (folder / "inner").mkdir()
    (folder / "part2.parquet").rename(folder / "inner" / "part2.parquet")
    (folder / "_metadata.parquet").write_text("not a part of it")
    (folder / ".hidden").mkdir()
    names = [folder / "part0.parquet", f"{folder}/part1.parquet", folder / "inner"]
    for wanted in (folder, str(folder), f"{folder}/**/part?.parquet", names):
        source = open_source(wanted)
        assert sorted(column(source)) == frame["a"].tolist()
        assert source.words == "3 files, Parquet"
        assert len(source.parquet) == 3
        assert source.digest == ""
    assert gather(source).total == 9
    one = open_source([folder / "part0.parquet"])
    assert (one.title, one.words) == ("part0.parquet", "Parquet")


def test_row_numbers_go_on_and_columns_are_found_by_name(folder):
    turned = frame[3:6][["y", "b", "a"]]
    turned.to_parquet(folder / "part1.parquet", index=False)
    source = open_source(folder)
    pieces = list(source.frames())
    assert [list(piece.columns) for piece in pieces] == 3 * [["a", "b", "y"]]
    assert np.concatenate([piece.index for piece in pieces]).tolist() == list(range(9))
    table = gather(source, "y")
    assert table.columns["a"].tolist() == frame["a"].tolist()
    assert table.rows.tolist() == list(range(1, 10))


def test_text_files(folder):
    for i in range(2):
        frame[4 * i : 4 * i + 4].to_csv(folder / f"t{i}.csv", index=False)
    found = gather(open_source(f"{folder}/t*.csv"))
    assert found.columns["a"].tolist() == frame["a"][:8].tolist()
    assert open_source(f"{folder}/t*.csv").parquet == ()


def test_what_is_no_table_together(folder):
    frame[["a", "y"]].to_parquet(folder / "part9.parquet", index=False)
    with pytest.raises(ValueError, match=r"part9.parquet has other columns.*b only in one"):
        open_source(folder)
    frame.to_csv(folder / "t.csv", index=False, sep=";", decimal=",")
    with pytest.raises(ValueError, match="written in another way"):
        open_source([folder / "part0.parquet", folder / "t.csv"])
    with pytest.raises(ValueError, match="no file is like"):
        open_source(f"{folder}/x*.parquet")
    with pytest.raises(ValueError, match="no file is named"):
        open_source([])
    with pytest.raises(ValueError, match="there is no file"):
        open_source([folder / "part0.parquet", folder / "gone.parquet"])


def test_a_name_that_looks_like_a_pattern_is_a_name(folder):
    (folder / "part0.parquet").rename(folder / "part[0].parquet")
    assert open_source(folder / "part[0].parquet").title == "part[0].parquet"
