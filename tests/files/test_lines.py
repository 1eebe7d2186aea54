"""A last line torn by a kill, at every byte: the next one begins on a line of its own."""

from __future__ import annotations

import gc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from svmselect import report
from svmselect.experiments.reproduction.journal import TrialFile
from svmselect.experiments.reproduction.outcomes import Outcome
from svmselect.files.lines import append_line
from svmselect.report.record import Report
from svmselect.search.checkpoint import Journal
from svmselect.search.trace import Record, Trace, provenance
from svmselect.types import Evaluation

NAMES = ("log C", "rbf.length_scale")
HEADER = provenance(3, "abc", NAMES, {"search": "Grid()"})
PAGE = Report(title="t", subtitle="s", facts=(), words=("w",), criterion="gacv")


def evaluation(index: int) -> Evaluation:
    return Evaluation(np.array([0.1 + index, -1.0 / 3.0]), 0.25)


def checkpoint(path: Path, index: int) -> None:
    Journal(path, HEADER).append(Record("0", index, NAMES, evaluation(index)))


def trials(path: Path, index: int) -> None:
    file = TrialFile(path, "paper", (), resume=True)
    file.append(Outcome(("a", "b"), index, {"seed": 1}, {"error": 0.5}, 0.1))
    assert index in [one.trial for one in file.known.values()]


def known(path: Path) -> list[int]:
    """The indices a file has, read by whatever reads it."""
    if "trials" in path.read_text().partition("\n")[0]:
        return sorted(one.trial for one in TrialFile(path, "paper", (), True).known.values())
    return [one.index for one in Trace.load(path)]


WRITERS = [checkpoint, trials]


@pytest.mark.parametrize("write", WRITERS)
def test_a_last_line_cut_at_every_byte(tmp_path: Path, write: Callable[[Path, int], None]) -> None:
    path = tmp_path / "a.jsonl"
    for index in range(3):
        write(path, index)
    whole = path.read_bytes()
    last = whole.rfind(b"\n", 0, -1) + 1
    for cut in range(last, len(whole)):
        path.write_bytes(whole[:cut])
        gc.collect()
        assert known(path) == [0, 1]
        write(path, 2)
        assert path.read_bytes() == whole


@pytest.mark.parametrize("write", WRITERS)
def test_a_header_cut_at_every_byte(tmp_path: Path, write: Callable[[Path, int], None]) -> None:
    path = tmp_path / "a.jsonl"
    write(path, 0)
    whole = path.read_bytes()
    for cut in range(whole.find(b"\n") + 1):
        path.write_bytes(whole[:cut])
        write(path, 0)
        assert path.read_bytes() == whole


@pytest.mark.parametrize("write", WRITERS)
@pytest.mark.parametrize("content", [b"a note of mine", b"\x89PNG", b"[1]", b'{"a": 1'])
def test_a_file_of_one_line_that_is_not_ours_is_left_alone(
    tmp_path: Path, write: Callable[[Path, int], None], content: bytes
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"is not a (trace|file of trials)"):
        write(path, 0)
    assert path.read_bytes() == content


def test_a_report_after_a_torn_line(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    for index in range(2):
        checkpoint(path, index)
    whole = path.read_bytes()
    report.append(PAGE, path)
    added = path.read_bytes().removeprefix(whole)
    for cut in range(len(added)):
        path.write_bytes(whole + added[:cut])
        report.append(PAGE, path)
        assert path.read_bytes() == whole + added
    assert report.of_trace(path).title == "t"


def test_a_torn_line_longer_than_a_block(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"one\n" + b"x" * 200_000)
    append_line(path, "two\n")
    assert path.read_bytes() == b"one\ntwo\n"
    path.write_bytes(b"x" * 200_000)
    append_line(path, "one\n")
    assert path.read_bytes() == b"one\n"
    append_line(tmp_path / "new", "ä\n")
    assert (tmp_path / "new").read_bytes() == "ä\n".encode()
