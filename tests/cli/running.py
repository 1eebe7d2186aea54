"""How the tests of the command line call it: as a process of its own, or in this one."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from svmselect.cli import main

ENVIRONMENT = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


@dataclass(frozen=True)
class Ended:
    """A command that has ended: its exit code and what it wrote."""

    code: int
    out: str
    err: str


def run(*arguments: object, cwd: Path, stdin: bytes | None = None) -> Ended:
    """A command as a user gives it."""
    done = subprocess.run(
        [sys.executable, "-m", "svmselect", *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, **ENVIRONMENT},
        input=stdin,
        capture_output=True,
    )
    return Ended(done.returncode, done.stdout.decode(), done.stderr.decode())


class Here:
    """The same entry point in this process, which saves the start of another."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.capsys = capsys

    def __call__(self, *arguments: object) -> Ended:
        self.capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        written = self.capsys.readouterr()
        code = ended.value.code
        assert isinstance(code, int)
        return Ended(code, written.out, written.err)


def refused(ended: Ended, *words: str) -> None:
    """Exit code 2, and one sentence on standard error that has these words."""
    assert ended.code == 2, ended
    assert ended.out == "" or "rows" in ended.out  # at most the line about the data
    last = ended.err.strip().splitlines()[-1]
    assert last.startswith("svmselect: ")
    assert "Traceback" not in ended.err
    for word in words:
        assert word in last, last


def clients(n: int = 80, seed: int = 0) -> pd.DataFrame:
    """Mixed columns: a number that matters, a category, an identifier, a constant, the target."""
    rng = np.random.default_rng(seed)
    age, town = rng.normal(40, 12, n).round(2), rng.choice(["Bern", "Zug, ZG", "Chur"], n)
    f = (age - 40) / 12 + (town == "Bern") + 0.3 * rng.normal(size=n)
    return pd.DataFrame(
        {
            "client_id": rng.permutation(n) + 1000,
            "age": age,
            "town": town,
            "member": rng.choice(["yes", "no"], n),
            "country": "CH",
            "churn": np.where(f > 0.3, "left", "stayed"),
        }
    )
