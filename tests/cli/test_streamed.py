"""Tables of more rows than are held in memory: passes, several files, resumed, predicted."""

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from cli.running import Here, refused
from svmselect.estimators import by_rows
from svmselect.estimators.strategies import grown

ROWS = 3000
FAST = ("--target", "y", "--ard", "no", "--loss", "hinge", "--no-report", "--json")


def few(**given):
    return grown.Budget(landmarks=60, first=30, **given)


@pytest.fixture(autouse=True)
def several_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["svmselect.tables.gather"], "ROWS", 1200)
    monkeypatch.setattr(by_rows, "SEVERAL", 1000)
    monkeypatch.setattr(by_rows, "CHOSEN_ON", 400)
    monkeypatch.setattr(by_rows, "Budget", few)


@pytest.fixture
def here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Here:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROWS, 3))
    frame = pd.DataFrame(X, columns=list("abc")).assign(kind=rng.choice(["u", "v"], ROWS))
    f = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + (frame["kind"] == "u")
    frame["y"] = np.where(f + 0.3 * rng.normal(size=ROWS) > 0.5, "yes", "no")
    frame.loc[7, "y"] = None
    (tmp_path / "data").mkdir()
    for i in range(3):
        part = frame[1000 * i : 1000 * (i + 1)]
        part.to_parquet(tmp_path / "data" / f"p{i}.parquet", index=False, row_group_size=250)
    frame.to_csv(tmp_path / "all.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return Here(capsys)


def test_all_rows_of_several_files(here: Here) -> None:
    told = here("fit", "data/*.parquet", *FAST)
    assert told.code == 0, told.err
    found = json.loads(told.out)
    assert found["rows"] == ROWS - 1
    assert found["model"] == "data-out/model.skops"
    assert any("1,200 of them are in memory" in note for note in found["notes"])
    assert any("trained on all 2,999 rows" in note for note in found["notes"])
    assert found["error"]["value"] < 0.2
    for names in (["data"], ["data/p0.parquet", "data/p1.parquet", "data/p2.parquet"]):
        again = json.loads(here("fit", *names, *FAST, "-o", "again").out)
        assert again["C"] == pytest.approx(found["C"])
    out = here("predict", "again", "data", "-o", "p.csv", "--json")
    predicted = json.loads(out.out)
    assert predicted["rows"] == ROWS
    assert predicted["error"]["value"] < 0.2


def test_text_is_read_in_passes_too_and_rows_are_held_apart(here: Here) -> None:
    told = here("fit", "all.csv", *FAST, "--holdout", "0.25")
    found = json.loads(told.out)
    assert found["rows"] == ROWS - 1 - 300
    assert found["test"]["rows"] == 300
    assert found["test"]["value"] < 0.25


def test_a_report_of_the_sample(here: Here) -> None:
    told = here("fit", "data", "--target", "y", "--ard", "no", "--loss", "hinge", "-o", "out")
    assert told.code == 0, told.err
    assert "1,200 of 3,000 rows in memory" in told.out
    assert "2999 rows" in Path("out/report.html").read_text()


def test_what_takes_a_sample_still_does(here: Here) -> None:
    found = json.loads(here("fit", "all.csv", *FAST, "--rows", "500").out)
    assert found["rows"] == 500
    assert any("500 of 3,000 rows are used" in note for note in found["notes"])


def test_another_fit_in_the_same_folder_begins_anew_and_resume_goes_on(here: Here) -> None:
    first = json.loads(here("fit", "data", *FAST, "-o", "out").out)
    assert Path("out/trace.passes.npz").exists()
    resumed = json.loads(here("fit", "data", *FAST, "-o", "out", "--resume").out)
    assert resumed["C"] == first["C"]
    other = here("fit", "all.csv", *FAST, "-o", "out", "--seed", "3")
    assert other.code == 0, other.err


def test_clusters_are_refused_where_they_cannot_help(here: Here) -> None:
    refused(here("fit", "all.csv", *FAST, "--dask", "tcp://127.0.0.1:1"), "reads Parquet files")
    refused(here("fit", "data", *FAST, "--dask", "x", "--rows", "100"), "--dask is for many rows")


@pytest.mark.cluster
@pytest.mark.slow
def test_on_a_cluster(here: Here) -> None:
    from distributed import LocalCluster

    alone = json.loads(here("fit", "data", *FAST, "-o", "alone").out)
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        told = here("fit", "data", *FAST, "-o", "out", "--dask", cluster.scheduler_address)
    assert told.code == 0, told.err
    found = json.loads(told.out)
    assert found["rows"] == alone["rows"]
    for name in ("C", "value"):
        assert found[name] == pytest.approx(alone[name], rel=1e-6)
