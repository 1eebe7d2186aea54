"""No room, no right to write, no memory: one sentence, exit code 2, and nothing half-written."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import svmselect
from cli.running import ENVIRONMENT, Ended, clients, refused
from svmselect import load

pytestmark = pytest.mark.slow

# A process that has limits of its own before the command runs.
LIMITED = """
import ctypes, resource, sys
kind, most, *arguments = sys.argv[1:]
from svmselect.cli import main
if kind == "file":
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(most), int(most)))
elif kind == "memory":
    import sklearn.svm, pandas, scipy.optimize, skops.io
    import svmselect.estimators, svmselect.tables
    import numpy, scipy.linalg
    for linear in (numpy.linalg, scipy.linalg):  # each has an OpenBLAS of its own, which ends the
        linear.cholesky(numpy.eye(300) @ numpy.eye(300))  # process where it cannot have its buffers
    used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + int(most), used + int(most)))
main(arguments)
"""
# Root may write anywhere: without CAP_DAC_OVERRIDE it may not, which holds from the next exec on.
UNPRIVILEGED = """
import ctypes, os, sys
ctypes.CDLL(None).prctl(24, 1, 0, 0, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""


def limited(kind: str, most: int, *arguments: str, cwd: Path) -> Ended:
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, kind, str(most), *arguments],
        cwd=cwd, env={**os.environ, **ENVIRONMENT}, capture_output=True, text=True,
    )  # fmt: skip
    return Ended(done.returncode, done.stdout, done.stderr)


def files(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in folder.iterdir()} if folder.exists() else {}


FIT = ("fit", "clients.csv", "-t", "churn", "-o", "out")


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a table and what a fit has written."""
    folder = tmp_path_factory.mktemp("fitted")
    clients().to_csv(folder / "clients.csv", index=False)
    assert limited("none", 0, *FIT, cwd=folder).code == 0
    return folder


@pytest.mark.parametrize("part", [0.001, 0.1, 0.7])
def test_a_disk_that_becomes_full_at_any_time(fitted: Path, tmp_path: Path, part: float) -> None:
    clients().to_csv(tmp_path / "clients.csv", index=False)
    largest = max(len(content) for content in files(fitted / "out").values())
    ended = limited("file", max(1, int(part * largest)), *FIT, cwd=tmp_path)
    refused(ended, "out", "there is no room for it", "File too large")
    out = tmp_path / "out"
    assert set(files(out)) <= {"trace.jsonl", "model.skops"}
    if (out / "model.skops").exists():
        load(out / "model.skops")
    assert files(out).get("trace.jsonl", b"\n").endswith(b"\n")
    # with room again it goes on to the same end
    assert limited("none", 0, *FIT, "--resume", cwd=tmp_path).code == 0
    one, other = (load(f / "out" / "model.skops").estimator for f in (fitted, tmp_path))
    np.testing.assert_array_equal(one.dual_coef_, other.dual_coef_)


def test_a_full_disk_keeps_the_model_before(fitted: Path, tmp_path: Path) -> None:
    clients().to_csv(tmp_path / "clients.csv", index=False)
    out = tmp_path / "out"
    out.mkdir()
    (out / "model.skops").write_bytes((fitted / "out" / "model.skops").read_bytes())
    (out / "trace.jsonl").write_bytes((fitted / "out" / "trace.jsonl").read_bytes())
    before = files(out)
    most = len(before["model.skops"]) // 2
    ended = limited("file", most, *FIT, "--resume", cwd=tmp_path)
    refused(ended, "model.skops: there is no room for it")
    assert files(out)["model.skops"] == before["model.skops"]


@pytest.mark.parametrize("what", ["folder", "parent", "trace"])
def test_no_right_to_write(tmp_path: Path, what: str) -> None:
    clients().to_csv(tmp_path / "clients.csv", index=False)
    out = tmp_path / "out"
    closed = {"folder": out, "parent": tmp_path, "trace": out / "trace.jsonl"}[what]
    if what != "parent":
        out.mkdir()
    if what == "trace":
        closed.write_text("")
    closed.chmod(0o500)
    before = files(out)
    try:
        ended = subprocess.run(
            [sys.executable, "-c", UNPRIVILEGED, sys.executable, "-m", "svmselect", *FIT],
            cwd=tmp_path, env={**os.environ, **ENVIRONMENT}, capture_output=True, text=True,
        )  # fmt: skip
    finally:
        closed.chmod(0o700)
    if what == "trace":  # a file may be replaced where its folder may be written
        assert ended.returncode == 0, ended.stderr
        return
    refused(Ended(ended.returncode, ended.stdout, ended.stderr), "out", "check the name and your")
    assert files(out) == before


@pytest.mark.parametrize("most", [16, 40])
def test_no_memory_for_a_fit(tmp_path: Path, most: int) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 4))
    rows = np.column_stack([X, X[:, 0] * X[:, 1] > 0])
    np.savetxt(tmp_path / "clients.csv", rows, "%.4f", ",", header="a,b,c,d,churn", comments="")
    ended = limited("memory", most * 2**20, *FIT, "-c", "gacv", "--search", "grid", cwd=tmp_path)
    refused(ended, "there is not enough memory")
    assert set(files(tmp_path / "out")) <= {"trace.jsonl"}


def test_no_memory_in_the_library_is_a_memory_error() -> None:
    script = """
import resource
import numpy as np
from svmselect import select
from svmselect.kernels import RBF
from svmselect.machine import solve
rng = np.random.default_rng(0)
X, y = rng.normal(size=(4000, 3)), np.where(np.arange(4000) % 2 == 0, 1.0, -1.0)
solve(RBF(1.0)(X[:100]), y[:100], 1.0)
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
unlimited = resource.getrlimit(resource.RLIMIT_AS)
resource.setrlimit(resource.RLIMIT_AS, (used + 2**26, unlimited[1]))
try:
    select(X, y, "gacv", search="grid", kernel=RBF(1.0))
except MemoryError as error:
    print("told:", error)
resource.setrlimit(resource.RLIMIT_AS, unlimited)
print(solve(RBF(1.0)(X[:100]), y[:100], 1.0).status.ok)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True,
        env={**os.environ, **ENVIRONMENT},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    said, after = done.stdout.splitlines()
    assert said.startswith("told: ")
    assert after == "True"


def test_two_fits_of_one_folder_at_once(tmp_path: Path) -> None:
    clients().to_csv(tmp_path / "clients.csv", index=False)
    both = [
        subprocess.Popen(
            [sys.executable, "-m", "svmselect", *FIT, "--no-report"], cwd=tmp_path,
            env={**os.environ, **ENVIRONMENT}, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]  # fmt: skip
    ends = [(one.communicate()[1], one.returncode) for one in both]
    codes = sorted(code for _, code in ends)
    assert codes in ([0, 2], [0, 0])  # the second may have come when the first had ended
    for said, code in ends:
        assert code == 0 or "is being written by another process" in said
    assert svmselect.load(tmp_path / "out" / "model.skops")
    assert sorted(files(tmp_path / "out")) == ["model.skops", "trace.jsonl"]


MOST = """
import resource, sys
from svmselect.cli import main
try:
    main(sys.argv[1:])
except SystemExit as ended:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024, file=sys.stderr)
    raise
"""


def test_more_rows_take_no_more_memory_to_predict(fitted: Path, tmp_path: Path) -> None:
    """Of a table fifteen times as long, which once took five million rows in 270 MiB."""
    head, *lines = clients().to_csv(index=False).splitlines(keepends=True)
    used = []
    for times in (400, 6_000):
        with (tmp_path / "rows.csv").open("w") as file:
            file.write(head)
            for _ in range(times):
                file.writelines(lines)
        done = subprocess.run(
            [sys.executable, "-c", MOST, "predict", fitted / "out" / "model.skops", "rows.csv",
             "-o", "predicted.csv"],
            cwd=tmp_path, env={**os.environ, **ENVIRONMENT}, capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        with (tmp_path / "predicted.csv").open() as file:
            assert sum(1 for _ in file) == times * len(lines) + 1
        used.append(int(done.stderr.splitlines()[-1]))
    assert used[1] < used[0] + 100
