"""Rows of files as chunks: every row once, labels and rows that do not count."""

import numpy as np
import pandas as pd
import pytest

from svmselect.rows import ArrayRows
from svmselect.rows.scan import scan
from svmselect.rows.tables import TableChunks, TableRows, labels_in
from svmselect.tables import Encoder, gather, open_source, source

rng = np.random.default_rng(0)
N = 500
frame = pd.DataFrame(rng.normal(size=(N, 2)), columns=["a", "b"])
frame["y"] = rng.choice([3, 7], N)


@pytest.fixture
def chunks(tmp_path, monkeypatch):
    monkeypatch.setattr(source, "PIECE", 90)
    for i in range(2):
        frame[250 * i : 250 * (i + 1)].to_parquet(tmp_path / f"{i}.parquet", index=False)
    opened = open_source(tmp_path)
    return lambda **named: TableChunks(
        opened, Encoder.of(gather(opened, "y").without(["y"])), "y", **named
    )


@pytest.mark.parametrize("workers", [1, 3])
def test_files_are_arrays_in_pieces(chunks, workers):
    X, y = frame[["a", "b"]].to_numpy(), frame["y"].to_numpy()
    rows = TableRows(chunks(texts=False), workers)
    found, whole = (one.total(scan, 5, 60).cut() for one in (rows, ArrayRows(X, y)))
    assert rows.width == 2
    for name in ("rows", "read", "labels", "numbers", "X", "y"):
        np.testing.assert_array_equal(getattr(found, name), getattr(whole, name))


def test_rows_that_are_held_apart_do_not_count(chunks):
    left = np.array([0, 89, 90, 300, 499])
    found = TableRows(chunks(left=left)).total(scan, 5, N).cut()
    assert found.rows == N - len(left)
    assert sorted(found.numbers) == np.setdiff1d(np.arange(N), left).tolist()
    assert set(found.labels) == {"3", "7"}  # as the command line has them


def test_labels():
    names, places = labels_in(pd.Series([2.0, np.nan, 1.0, 2.0]), texts=False)
    assert names.tolist() == [1.0, 2.0]
    assert places.tolist() == [1, -1, 0, 1]
    names, places = labels_in(pd.Series([2.0, np.nan, 1.0, 2.0]), texts=True)
    assert names.tolist() == ["1", "2"]
    assert places.tolist() == [1, -1, 0, 1]
    names, places = labels_in(pd.Series(["no", None, "?", "ah"]), texts=False)
    assert names.tolist() == ["ah", "no"]
    assert places.tolist() == [1, -1, -1, 0]
