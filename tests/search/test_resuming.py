"""A run stopped, torn, cut back and mixed up at will: it always goes on to the same end."""

from __future__ import annotations

import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from search.test_run import Told, ends, job, session, told
from svmselect.search.run import Job, Outcome, Progress, run
from svmselect.search.trace import Trace

BUDGET = 45
SEARCHES = (
    "irprop", "lbfgs", "cma-es", "elitist-cma-es", "random-walk", "coordinate", "gradient-ascent",
    "grid",
)  # fmt: skip


def jobs(search: str) -> list[Job]:
    """Two starts, which share the budget."""
    return [job(search, "ridged", label=str(i), shift=0.2 * i) for i in range(2)]


@cache
def whole(search: str) -> tuple[list[Told], list[Outcome]]:
    """What a run finds that nothing interrupts."""
    done = session(budget=BUDGET)
    outcomes = run(jobs(search), done)
    return told(done.records), outcomes


class Interrupted(RuleBasedStateMachine):
    """The file of a run, and what may become of it."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.path = self.folder / "trace.jsonl"
        self.search = ""

    @initialize(search=st.sampled_from(SEARCHES))
    def choose(self, search: str) -> None:
        self.search = search

    @rule(more=st.integers(0, 20))
    def go_on(self, more: int) -> None:
        """And stop after a few evaluations more."""
        known = len(Trace.load(self.path)) if self.begun() else 0

        def stop(progress: Progress) -> bool:
            return progress.evaluations >= known + more

        run(jobs(self.search), session(self.path, budget=BUDGET, callback=stop))

    @precondition(lambda self: self.begun())
    @rule(bytes_=st.integers(1, 400))
    def tear(self, bytes_: int) -> None:
        """A kill, while lines are being written; maybe of the header."""
        content = self.path.read_bytes()
        self.path.write_bytes(content[: max(0, len(content) - bytes_)])

    @precondition(lambda self: self.begun())
    @rule(count=st.integers(1, 10))
    def lose_lines(self, count: int) -> None:
        """An older copy of the file."""
        header, *lines = self.path.read_bytes().splitlines(keepends=True)
        self.path.write_bytes(header + b"".join(lines[:-count]))

    @precondition(lambda self: self.begun())
    @rule(random=st.randoms(use_true_random=False))
    def mix(self, random: Any) -> None:
        """Workers end in any order."""
        header, *lines = self.path.read_bytes().splitlines(keepends=True)
        whole = [line for line in lines if line.endswith(b"\n")]
        random.shuffle(whole)
        self.path.write_bytes(header + b"".join(whole))

    def begun(self) -> bool:
        """Whether there is a file with a whole header."""
        return self.path.exists() and b"\n" in self.path.read_bytes()

    @invariant()
    def nothing_else_is_in_it(self) -> None:
        if self.search and self.begun():
            assert {str(one) for one in told(list(Trace.load(self.path)))} <= {
                str(one) for one in whole(self.search)[0]
            }

    def teardown(self) -> None:
        if self.search:
            last = session(self.path, budget=BUDGET)
            outcomes = run(jobs(self.search), last)
            expected, ended = whole(self.search)
            assert told(last.records) == expected
            assert told(list(Trace.load(self.path))) == expected
            for one, other in zip(outcomes, ended, strict=True):
                assert ends(one).tolist() == ends(other).tolist()
                assert one.status == other.status
        shutil.rmtree(self.folder)


TestInterrupted = Interrupted.TestCase
TestInterrupted.settings = settings(max_examples=60, stateful_step_count=12)
