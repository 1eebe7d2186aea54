"""The bar: on a terminal, after a while, with the time left; and nowhere else."""

import os
import re
import subprocess
import sys
import time

import numpy as np
import pytest

from svmselect.cli import progress
from svmselect.cli.console import Output, duration, percent, plain

pty = pytest.importorskip("pty", exc_type=ImportError)

SCRIPT = """
import sys, time
from svmselect.cli import progress
from svmselect.cli.console import Output
from svmselect.progress import bar as bars

bars.PATIENCE = float(sys.argv[1])
with progress.Bar("choosing", 100, Output(quiet=sys.argv[2] == "quiet")) as bar:
    for _ in range(25):
        bar.step()
        time.sleep(0.02)
    bar.reach(50, 100)
    time.sleep(0.3)
"""


def on_a_terminal(*arguments: str) -> str:
    """What the script draws on a terminal of 80 columns."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, *arguments],
        stderr=theirs,
        env={**os.environ, "COLUMNS": "80", "TERM": "xterm"},
    )
    os.close(theirs)
    drawn = b""
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        drawn += part
    os.close(ours)
    assert process.wait() == 0
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", drawn.decode())


def test_a_terminal_has_a_bar_with_the_time_left() -> None:
    drawn = on_a_terminal("0.1", "talk")
    assert "choosing" in drawn
    assert re.search(r"about \d+ s left", drawn)


def test_short_work_and_quiet_work_have_none() -> None:
    assert on_a_terminal("60", "talk") == ""
    assert on_a_terminal("0.1", "quiet") == ""


def test_a_pipe_has_none() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT, "0", "talk"], capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_more_steps_than_expected_and_a_limit() -> None:
    """The share that is drawn grows, stays below one, and follows the clock where that is near."""

    class Drawn:
        def __init__(self) -> None:
            self.shares: list[float] = []

        def draw(self, text: str, share: float | None, left: str) -> None:
            assert share is not None
            self.shares.append(share)

        def say(self, line: str) -> None: ...

        def stop(self) -> None: ...

    bar = progress.Bar("x", 10, Output(), limit=None)
    bar._drawn = drawn = Drawn()
    for _ in range(40):
        bar.step()
    assert np.all(np.diff(drawn.shares) > -1e-12)
    assert drawn.shares[4] == pytest.approx(0.5)
    assert drawn.shares[-1] < 1.0
    late = progress.Bar("x", 1000, Output(), limit=10.0)
    late._drawn = drawn = Drawn()
    late.began = time.monotonic() - 9.0
    late.step()
    assert drawn.shares[-1] >= 0.9


def test_words_for_numbers() -> None:
    assert [duration(s) for s in (0.04, 9.94, 59.6, 119.0, 600.0, 9000.0)] == [
        "0.0 s", "9.9 s", "60 s", "119 s", "10 min", "2.5 h",
    ]  # fmt: skip
    assert percent(0.0123) == "1.2 %"
    assert plain({"a": (1, float("nan"), {"b": None}), 2: True}) == {
        "a": [1, None, {"b": None}],
        "2": True,
    }
