"""SIGKILL at any moment of `svmselect fit --resume`: nothing is lost, and the end is the same."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cli.running import ENVIRONMENT, clients, run
from svmselect import load

pytestmark = pytest.mark.slow

FITS = {
    "default": [],
    "default of three classes": ["--seed", "1"],
    "criterion": ["-c", "smoothed-cv", "--search", "irprop"],
}


def table(folder: Path, name: str) -> None:
    frame = clients(90)
    if "three" in name:
        frame.loc[::5, "churn"] = "unknown"
    frame.to_csv(folder / "clients.csv", index=False)


def evaluations(path: Path) -> list[dict[str, Any]]:
    """What the trace has, but for the seconds it took."""
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return [{k: v for k, v in one.items() if k not in ("seconds", "versions")} for one in lines]


def sound(folder: Path) -> None:
    """What a kill may leave behind: whole files of known names, a torn last line at most."""
    known = {"model.skops", "trace.jsonl", "trace.jsonl.lock"}
    names = {p.name for p in folder.iterdir() if not p.name.startswith(".svmselect-")}
    assert names <= known
    trace = folder / "trace.jsonl"
    if trace.exists():
        for line in trace.read_bytes().split(b"\n")[:-1]:
            json.loads(line)
    if (folder / "model.skops").exists():
        load(folder / "model.skops")


@pytest.mark.parametrize("name", FITS)
def test_killed_again_and_again(tmp_path: Path, name: str) -> None:
    table(tmp_path, name)
    command = ["fit", "clients.csv", "-t", "churn", "--no-report", *FITS[name]]
    assert run(*command, "-o", "whole", cwd=tmp_path).code == 0
    whole = evaluations(tmp_path / "whole" / "trace.jsonl")
    out = tmp_path / "out"
    rng = random.Random(name)
    kills = 0
    # moments are chosen by how much of the trace there is, which no other load of the machine moves
    for moment in sorted(rng.sample(range(1, len(whole)), 5)):
        process = subprocess.Popen(
            [sys.executable, "-m", "svmselect", *command, "-o", "out", "--resume"],
            cwd=tmp_path, env={**os.environ, **ENVIRONMENT},
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        trace = out / "trace.jsonl"
        while process.poll() is None:
            if trace.exists() and trace.read_bytes().count(b"\n") > moment:
                process.send_signal(signal.SIGKILL)
                break
        kills += process.wait() == -signal.SIGKILL
        sound(out)
        # a kill may also tear the line that is just being written
        if kills % 2 and trace.read_bytes().count(b"\n") > 2:
            trace.write_bytes(trace.read_bytes()[: -rng.randrange(1, 30)])
    assert kills >= 2
    ended = run(*command, "-o", "out", "--resume", cwd=tmp_path)
    assert ended.code == 0, ended.err
    assert evaluations(out / "trace.jsonl") == whole
    one, other = (load(tmp_path / f / "model.skops").estimator for f in ("whole", "out"))
    assert one.C_ == other.C_
    assert one.kernel_ == other.kernel_
    np.testing.assert_array_equal(one.dual_coef_, other.dual_coef_)
    np.testing.assert_array_equal(one.intercept_, other.intercept_)
    left = [p.name for p in out.iterdir() if not p.name.startswith(".svmselect-")]
    assert sorted(left) == ["model.skops", "trace.jsonl"]
