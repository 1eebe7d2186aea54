"""Files cut short at, and bits turned in, every place there is in them: told, or without effect."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import svmselect
from cli.running import Here, clients, refused
from svmselect import AutoSVC
from svmselect.search.trace import Trace
from svmselect.tables import gather, open_source
from tables.test_damaged import kinds

X = np.random.default_rng(0).normal(size=(20, 2)).round(2)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A small model, as it is saved."""
    path = tmp_path_factory.mktemp("model") / "m.skops"
    fitted = AutoSVC(criterion="gacv", search="grid", ard="no", random_state=0)
    svmselect.save(fitted.fit(X, X[:, 0] > 0), path)
    return path.read_bytes()


def offsets(length: int) -> list[int]:
    """The ends byte by byte, where headers and directories are, and between them every so often."""
    ends = [*range(min(48, length)), *range(max(0, length - 96), length)]
    return sorted({*ends, *range(0, length, max(1, length // 150))})


def turned(content: bytes) -> Iterator[bytes]:
    """With one bit turned at each of these places, the eight of a byte in turn."""
    for i, at in enumerate(offsets(len(content))):
        made = bytearray(content)
        made[at] ^= 1 << (i % 8)
        yield bytes(made)


def cut(content: bytes) -> Iterator[bytes]:
    """Cut short at each of these places."""
    for at in offsets(len(content)):
        yield content[:at]


def test_a_model_cut_anywhere_is_refused(tmp_path: Path, model: bytes) -> None:
    file = tmp_path / "m.skops"
    for made in cut(model):
        file.write_bytes(made)
        with pytest.raises(ValueError, match=r"m\.skops"):
            svmselect.load(file)


def test_no_bit_of_a_model_turns_unnoticed(tmp_path: Path, model: bytes) -> None:
    """Or it is one that says nothing, such as the hour at which a member was packed."""
    file = tmp_path / "m.skops"
    file.write_bytes(model)
    expected, told = svmselect.load(file).predict_proba(X), list[str]()
    for made in turned(model):
        file.write_bytes(made)
        try:
            found = svmselect.load(file).predict_proba(X)
        except ValueError as error:
            told.append(str(error))
            continue
        np.testing.assert_array_equal(found, expected)
    assert all("m.skops" in said for said in told)
    assert len(told) > 0.6 * len(offsets(len(model)))


@pytest.mark.parametrize("damage", [cut, turned])
def test_evaluations_of_a_damaged_trace_are_those_that_were_written(
    tmp_path: Path, damage: Callable[[bytes], Iterator[bytes]]
) -> None:
    from search.test_run import job, session
    from svmselect.search.run import run

    path = tmp_path / "t.jsonl"
    run([job("irprop")], session(path, budget=12))
    content, whole = path.read_bytes(), Trace.load(path)
    read, told = 0, list[str]()
    for made in damage(content):
        path.write_bytes(made)
        try:
            found = Trace.load(path)
        except ValueError as error:
            told.append(str(error))
            continue
        read += 1
        assert len(found) <= len(whole)
        if damage is cut:
            assert [r.loss for r in found] == [r.loss for r in whole][: len(found)]
    assert read
    assert all("t.jsonl" in said for said in told)
    assert json.loads(content.splitlines()[0])["svmselect"] == "trace"


@pytest.mark.parametrize("damage", [cut, turned])
@pytest.mark.parametrize("name", ["d.csv.gz", "d.csv.xz", "d.parquet", "d.arff", "d.svm"])
def test_tables(tmp_path: Path, name: str, damage: Callable[[bytes], Iterator[bytes]]) -> None:
    file, told = tmp_path / name, list[str]()
    for made in damage(kinds()[name]):
        file.write_bytes(made)
        try:
            assert gather(open_source(file)).total >= 0
        except ValueError as error:
            told.append(str(error))
    assert told or name == "d.svm"
    assert all(name in said and "\n" not in said for said in told)


@pytest.mark.parametrize("name", ["clients.csv.gz", "clients.parquet", "model.skops"])
def test_damage_is_told_in_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], model: bytes, name: str
) -> None:
    """By the command line too, with exit code 2."""
    here, file = Here(capsys), tmp_path / name
    clients().to_csv(tmp_path / "clients.csv", index=False)
    if name == "model.skops":
        file.write_bytes(model)
        command = ["predict", file, tmp_path / "clients.csv", "-o", tmp_path / "p.csv"]
    else:
        frame = clients()
        frame.to_parquet(file) if name.endswith("parquet") else frame.to_csv(file, index=False)
        command = ["fit", file, "-t", "churn", "-o", tmp_path / "out"]
    content = file.read_bytes()
    for at in (0, 10, len(content) // 2, len(content) - 3):
        file.write_bytes(content[:at])
        refused(here(*command), name)
    assert not (tmp_path / "p.csv").exists()
    assert not (tmp_path / "out" / "model.skops").exists()
