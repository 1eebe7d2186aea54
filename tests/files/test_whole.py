"""Files written whole: what was there is kept where writing fails, whatever is written."""

from __future__ import annotations

import errno
import os
import resource
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

import svmselect
from svmselect import report
from svmselect.files.whole import replacing, replacing_text, write_whole
from svmselect.report.record import Report
from svmselect.search.checkpoint import Journal
from svmselect.search.trace import Record, provenance
from svmselect.types import Evaluation

PAGE = Report(title="t", subtitle="s", facts=(), words=("w",), criterion="gacv")
HEADER = provenance(3, "abc", ("log C",), {"search": "Grid()"})


def scaler() -> StandardScaler:
    return StandardScaler().fit(np.arange(6.0).reshape(3, 2))


WRITERS: dict[str, Callable[[Path], Any]] = {
    "text": lambda path: write_whole(path, "x" * 5000),
    "model": lambda path: svmselect.save(scaler(), path),
    "page": lambda path: report.write(PAGE, path),
}


def full(*arguments: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS.keys())
@pytest.mark.parametrize("where", ["os.fsync", "pathlib.Path.replace"])
def test_what_was_there_is_kept_where_writing_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: Callable[[Path], Any], where: str
) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"before")
    with monkeypatch.context() as patched:
        patched.setattr(where, full)
        with pytest.raises(OSError, match="No space left") as told:
            write(file)
    assert told.value.filename == str(file)
    assert file.read_bytes() == b"before"
    assert [one.name for one in tmp_path.iterdir()] == ["file"]
    write(file)
    assert file.read_bytes() != b"before"
    assert [one.name for one in tmp_path.iterdir()] == ["file"]


FULL = """
import resource, sys
from svmselect.cli import main
resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))
main(sys.argv[1:])
"""


@pytest.mark.parametrize(
    "command",
    [["predict", "m.skops", "d.csv", "-o", "old"], ["report", "t.jsonl", "-o", "old"]],
    ids=lambda command: command[0],
)
def test_a_full_disk_is_one_sentence(tmp_path: Path, command: list[str]) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 2))
    model = svmselect.AutoSVC(ard="no", random_state=0).fit(X[:60], X[:60, 0] > 0)
    svmselect.save(model, tmp_path / "m.skops")
    np.savetxt(tmp_path / "d.csv", X, delimiter=",", header="a,b", comments="")
    svmselect.select(X[:40], X[:40, 0] > 0, "gacv", search="grid", checkpoint=tmp_path / "t.jsonl")
    (tmp_path / "old").write_text("before")
    before = sorted(one.name for one in tmp_path.iterdir())
    ended = subprocess.run(
        [sys.executable, "-c", FULL, *command], cwd=tmp_path, capture_output=True, text=True
    )
    assert ended.returncode == 2, ended.stderr
    assert "old: there is no room for it (File too large)" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert (tmp_path / "old").read_text() == "before"
    assert sorted(one.name for one in tmp_path.iterdir()) == before


def test_a_full_standard_output_is_one_sentence(tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("needs a newer system: /dev/full")
    with Path("/dev/full").open("w") as out:
        ended = subprocess.run(
            [sys.executable, "-m", "svmselect", "list", "kernels"], stdout=out,
            stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
    assert ended.returncode == 2, ended.stderr
    assert "standard output: there is no room for it" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert len(ended.stderr.splitlines()) == 1


def test_an_error_in_the_block_leaves_no_trace(tmp_path: Path) -> None:
    def fails() -> None:
        with replacing_text(tmp_path / "a") as file:
            file.write("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fails()
    assert list(tmp_path.iterdir()) == []


def test_permissions_and_links_are_kept(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    mask = os.umask(0o027)
    try:
        write_whole(real, "a")
    finally:
        os.umask(mask)
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    real.chmod(0o604)
    link.symlink_to(real)
    write_whole(link, "ä\n")
    assert link.is_symlink()
    assert real.read_bytes() == "ä\n".encode()
    assert stat.S_IMODE(real.stat().st_mode) == 0o604


def test_what_is_no_file_is_written_to_directly(tmp_path: Path) -> None:
    write_whole("/dev/null", "x" * 100)
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)
    with pytest.raises(OSError, match="Is a directory"):
        write_whole(tmp_path, "x")
    with pytest.raises(FileNotFoundError) as told:
        write_whole(tmp_path / "no" / "file", "x")
    assert told.value.filename == str(tmp_path / "no" / "file")


def test_a_journal_without_room_keeps_its_lines(tmp_path: Path) -> None:
    def record(index: int = 0) -> Record:
        return Record("0", index, tuple(HEADER["names"]), Evaluation(np.array([0.1 + index]), 0.25))

    journal = Journal(tmp_path / "a.jsonl", HEADER)
    journal.append(record())
    before = (tmp_path / "a.jsonl").read_bytes()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 20, hard))
    try:
        with pytest.raises(OSError, match="File too large") as told:
            journal.append(record(index=1))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert told.value.filename == str(tmp_path / "a.jsonl")
    assert (tmp_path / "a.jsonl").read_bytes() == before
    journal.append(record(index=1))
    assert (tmp_path / "a.jsonl").read_bytes().count(b"\n") == 3


def test_bytes_too(tmp_path: Path) -> None:
    with replacing(tmp_path / "a") as file:
        file.write(b"\0\r\n")
        assert not (tmp_path / "a").exists()
    assert (tmp_path / "a").read_bytes() == b"\0\r\n"
