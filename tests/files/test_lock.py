"""One writer at a time, within the life of a process and not beyond it."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from svmselect.experiments.reproduction.journal import TrialFile
from svmselect.files.lock import FOLDER, Lock
from svmselect.search.checkpoint import Journal
from svmselect.search.trace import provenance

HEADER = provenance(3, "abc", ("log C",), {"search": "Grid()"})
HOLDER = """
import sys, time
from pathlib import Path
from svmselect.files.lock import Lock
lock = Lock(sys.argv[1], "go away")
print("locked", flush=True)
time.sleep(600)
"""


class Other:
    """Another process that has the lock."""

    def __init__(self, path: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", HOLDER, str(path)], stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "locked\n"

    def __enter__(self) -> Other:
        return self

    def __exit__(self, *ending: object) -> None:
        self.process.kill()
        self.process.communicate()


def test_another_process_is_refused_and_told_who_and_what_to_do(tmp_path: Path) -> None:
    with Other(tmp_path) as other:
        with pytest.raises(ValueError, match="being written by another process") as told:
            Lock(tmp_path, "give another folder by -o")
        said = str(told.value)
        assert str(tmp_path) in said
        assert f"(number {other.process.pid})" in said
        assert said.endswith("wait until that has ended, or give another folder by -o")
    assert (tmp_path / FOLDER).exists()  # it was killed
    with Lock(tmp_path, ""):
        assert (tmp_path / FOLDER).read_text() == f"{os.getpid()}\n"
    assert list(tmp_path.iterdir()) == []


def test_files_have_locks_of_their_own(tmp_path: Path) -> None:
    trials = tmp_path / "trials.jsonl"
    with Other(tmp_path / "a.jsonl"), Other(trials):
        with pytest.raises(ValueError, match=r"a\.jsonl is being written .*give another file"):
            Journal(tmp_path / "a.jsonl", HEADER)
        assert not (tmp_path / "a.jsonl").exists()
        Journal(tmp_path / "b.jsonl", HEADER)
        with pytest.raises(ValueError, match=r"trials\.jsonl is being written .*output folder"):
            TrialFile(trials, "paper", (), resume=True)


def test_a_lock_is_taken_again_within_a_process_and_ends_with_the_last(tmp_path: Path) -> None:
    one, two = Lock(tmp_path, ""), Lock(tmp_path / ".", "")
    one.release()
    one.release()
    assert (tmp_path / FOLDER).exists()
    del two
    gc.collect()
    assert not (tmp_path / FOLDER).exists()


def test_a_journal_that_is_gone_has_no_lock(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "a.jsonl", HEADER)
    assert (tmp_path / "a.jsonl.lock").exists()
    del journal
    gc.collect()
    assert [one.name for one in tmp_path.iterdir()] == ["a.jsonl"]


def test_a_forked_child_neither_has_the_lock_nor_gives_it_back(tmp_path: Path) -> None:
    with Lock(tmp_path, "go away") as lock:
        child = os.fork()
        if not child:  # what pytest's process would do at its end must not be done here
            lock.release()
            try:
                Lock(tmp_path, "go away")
            except ValueError:
                os._exit(7)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
        assert (tmp_path / FOLDER).exists()


def test_many_who_want_it_have_it_one_after_another(tmp_path: Path) -> None:
    script = """
import sys, time
from pathlib import Path
from svmselect.files.lock import Lock
folder = Path(sys.argv[1])
done = 0
while done < 40:
    try:
        with Lock(folder, ""):
            (folder / "inside").open("x").close()
            (folder / "inside").unlink()
            done += 1
    except ValueError:
        time.sleep(0.001)
"""
    several = [subprocess.Popen([sys.executable, "-c", script, str(tmp_path)]) for _ in range(3)]
    assert [one.wait(timeout=120) for one in several] == [0, 0, 0]
    assert list(tmp_path.iterdir()) == []


def test_two_fits_in_one_folder(tmp_path: Path) -> None:
    from cli.running import clients, refused, run

    clients().to_csv(tmp_path / "clients.csv", index=False)
    (tmp_path / "out").mkdir()
    with Other(tmp_path / "out"):
        ended = run("fit", "clients.csv", "-t", "churn", "-o", "out", cwd=tmp_path)
        refused(ended, "out is being written by another process", "another folder by -o")
        assert [one.name for one in (tmp_path / "out").iterdir()] == [FOLDER]
    ended = run("fit", "clients.csv", "-t", "churn", "-o", "out", "--no-report", cwd=tmp_path)
    assert ended.code == 0
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["model.skops", "trace.jsonl"]


def test_a_killed_fit_leaves_no_lock_that_holds(tmp_path: Path) -> None:
    with Other(tmp_path) as other:
        os.kill(other.process.pid, signal.SIGKILL)
        other.process.wait()
        with Lock(tmp_path, ""):
            assert (tmp_path / FOLDER).exists()
