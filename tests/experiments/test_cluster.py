"""A Dask cluster of several processes, one killed in mid-run: no trial lost, none counted twice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from experiments.toy_paper import make_paper
from svmselect.experiments import Progress, reproduce

pytestmark = pytest.mark.cluster

TESTS = Path(__file__).parents[1]
WORKERS = 3


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[str]:
    """A scheduler and workers, each a process of its own; gives the scheduler's address."""
    distributed = pytest.importorskip("distributed", reason="needs distributed")
    environment = os.environ | {"PYTHONPATH": str(TESTS)}
    note = tmp_path / "scheduler.json"
    common = ["--scheduler-file", str(note)]
    commands = [["scheduler", "--port", "0", "--host", "127.0.0.1", "--no-dashboard", *common]]
    commands += [
        ["worker", *common, "--nthreads", "1", "--no-dashboard", "--no-nanny"]
        for _ in range(WORKERS)
    ]
    with (tmp_path / "log").open("wb") as log:
        processes = []
        for command in commands:
            started = [sys.executable, "-m", "dask", *command]
            processes.append(
                subprocess.Popen(
                    started, env=environment, cwd=tmp_path, stdout=log, stderr=subprocess.STDOUT
                )
            )
            while not note.exists():
                assert processes[0].poll() is None, (tmp_path / "log").read_text()
                time.sleep(0.05)
        try:
            address = json.loads(note.read_text())["address"]
            with distributed.Client(address, set_as_default=False) as client:
                client.wait_for_workers(WORKERS, timeout=60)
            yield address
        finally:
            for process in processes:
                process.kill()  # a worker whose scheduler is gone does not end by itself
            for process in processes:
                process.wait(timeout=30)


def test_a_killed_worker_loses_nothing(cluster: str, tmp_path: Path) -> None:
    trials = 20
    paper = make_paper(columns=("near", "far"), pause=0.2)
    killed: list[int] = []

    def kill_one(progress: Progress) -> None:
        if progress.done == 6:
            killed.append(progress.outcome.values["process"])
            os.kill(killed[0], signal.SIGKILL)

    folder = tmp_path / "out"
    result = reproduce(paper, trials=trials, dask=cluster, output=folder, callback=kill_one)
    assert result.complete
    assert not result.failures
    kept = [json.loads(line) for line in (folder / "trials.jsonl").read_text().splitlines()[1:]]
    counts = Counter((*fields["name"], fields["trial"]) for fields in kept)
    assert counts == Counter(("a", c, t) for c in ("near", "far") for t in range(trials))
    processes = Counter(fields["values"]["process"] for fields in kept)
    assert len(processes) == WORKERS
    after = {fields["values"]["process"] for fields in kept[-10:]}
    assert killed[0] not in after

    serial = make_paper(columns=("near", "far"))
    assert result.rows == reproduce(serial, trials=trials, output=tmp_path / "serial").rows


def test_no_scheduler_there(tmp_path: Path) -> None:
    paper = make_paper()
    with pytest.raises(ValueError, match="no Dask scheduler answers at"):
        reproduce(paper, dask="tcp://127.0.0.1:9", output=tmp_path)
