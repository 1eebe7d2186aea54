"""benchmarks/history.csv has a line for every release, with the ratios that `make bench` prints."""

import csv
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from svmselect import __version__

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def peers() -> ModuleType:
    """The script, whose folder is on the path where it is run."""
    spec = importlib.util.spec_from_file_location("peers", BENCHMARKS / "peers.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    before = sys.path[:]
    sys.path.insert(0, str(BENCHMARKS))
    sys.modules["peers"] = module  # where its dataclasses look themselves up
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path[:] = before
        for name in ("peers", "path", "solver"):
            sys.modules.pop(name, None)
    return module


def read(file: Path) -> list[dict[str, str]]:
    with file.open(newline="") as kept:
        return list(csv.DictReader(kept))


def test_this_version_has_a_line(peers: ModuleType) -> None:
    names = [row.name for row in peers.table(peers.LIQUID)]
    lines = read(BENCHMARKS / "history.csv")
    assert [line["version"] for line in lines].count(__version__) == 1
    assert lines[-1]["version"] == __version__
    assert list(lines[-1]) == ["version", "date", "machine", *names]
    ratios = [float(lines[-1][name]) for name in names if lines[-1][name]]
    assert ratios
    assert min(ratios) > 0.0


def test_a_release_keeps_one_line(
    peers: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "history.csv"
    assert peers.last(file) == {}
    peers.record({"grid": 41.26, "warm": 2.5}, ["grid", "warm"], file)
    peers.record({"warm": 3.0}, ["grid", "warm"], file)
    monkeypatch.setattr(peers, "__version__", "9.0.0")
    peers.record({"warm": 1.0}, ["grid", "warm"], file)
    first, second = read(file)
    assert (first["version"], first["grid"], first["warm"]) == (__version__, "41.3", "3")
    assert (second["version"], second["grid"], second["warm"]) == ("9.0.0", "", "1")
    assert peers.last(file) == second


def test_a_row_is_its_middle_ratio(peers: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    row = peers.Row("name", "ours", "theirs", 2.0, lambda: iter([(1.0, 2.0), (1.0, 8.0)]))
    assert peers.measured(row) == pytest.approx(4.0)
    assert capsys.readouterr().out == "| ours | theirs | 1e+03 | 5e+03 | 4 | 2 to 8 | 2 |\n"
