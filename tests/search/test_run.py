"""The loop: chains, limits, callbacks, interruption, checkpoints; on functions that remember."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from search.remembers import Fails, Remembers
from svmselect.parallel import Serial, pool
from svmselect.search import get_search
from svmselect.search.base import Search
from svmselect.search.checkpoint import Journal
from svmselect.search.run import CHAIN, Job, Outcome, Progress, Session, run
from svmselect.search.trace import Record, Trace, provenance
from svmselect.testing.searches import FUNCTIONS, TestFunction
from svmselect.types import Array, Evaluation

HEADER = provenance(0, "data", ("x0", "x1", "x2"), {})


def job(
    search: str | Search[Any] = "irprop",
    function: str = "kinked",
    label: str = "0",
    shift: float = 0.0,
    **more: Any,
) -> Job:
    problem: TestFunction = FUNCTIONS[function]
    start = np.array(problem.start) + shift
    return Job(label, Remembers(function), get_search(search), start, problem.space, 7, **more)


Told = tuple[str, int, list[float], float, float]


def told(records: Sequence[Record]) -> list[Told]:
    """What of a run must not depend on anything."""
    return sorted(
        (r.run, r.index, r.point.tolist(), r.loss, r.evaluation.details["past"]) for r in records
    )


def session(path: Path | None = None, **limits: Any) -> Session:
    return Session(Serial(), None if path is None else Journal(path, HEADER), **limits)


SEARCHES = ["irprop", "lbfgs", "cma-es", "random-walk", "coordinate"]


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("after", [1, 9, CHAIN, CHAIN + 5])
def test_resumed_is_uninterrupted(search: str, after: int, tmp_path: Path) -> None:
    whole = session(budget=60)
    (expected,) = run([job(search)], whole)
    path = tmp_path / "trace.jsonl"

    def stop(progress: Progress) -> bool:
        return progress.evaluations >= after

    cut = session(path, budget=60, callback=stop)
    (outcome,) = run([job(search)], cut)
    assert outcome.status.name == "callback"
    assert len(cut.records) == after
    with path.open("ab") as file:
        file.write(b'{"run": "0", "index": 99, "poi')  # torn by a kill
    again = session(path, budget=60)
    (resumed,) = run([job(search)], again)
    assert told(again.records) == told(whole.records)
    assert np.array_equal(ends(resumed), ends(expected))
    assert resumed.status == expected.status
    loaded = Trace.load(path)
    assert told(loaded.records) == told(whole.records)


@pytest.mark.parametrize("search", ["irprop", "cma-es"])
@pytest.mark.parametrize("after", [1, 5, 20, 50])
def test_several_runs_go_on_in_turn(search: str, after: int, tmp_path: Path) -> None:
    """The file of a resumed search has its lines in the order of one that was not interrupted."""
    jobs = [job(search, label=str(i), shift=0.3 * i) for i in range(3)]
    run(jobs, session(tmp_path / "whole.jsonl", budget=60))
    lines = (tmp_path / "whole.jsonl").read_text().splitlines(keepends=True)
    path = tmp_path / "trace.jsonl"
    path.write_text("".join(lines[: 1 + after]))
    run(jobs, session(path, budget=60))
    found, wanted = (
        [(one["run"], one["index"], one["loss"]) for one in map(json.loads, text[1:])]
        for text in (path.read_text().splitlines(), lines)
    )
    assert found == wanted


def test_resuming_needs_the_chain() -> None:
    """The function does remember: a cold start in the middle of a chain gives other digits."""
    whole = session(budget=CHAIN + 3)
    run([job("irprop")], whole)
    past = [r.evaluation.details["past"] for r in whole.records]
    assert past[0] == past[CHAIN] == 0.0
    assert all(p != 0.0 for p in past[1:CHAIN])


def test_a_batch_is_cut_into_chains() -> None:
    done = session()
    run([job(replace(get_search("grid"), size=3), "ridged")], done)
    past = [r.evaluation.details["past"] for r in sorted(done.records, key=lambda r: r.index)]
    assert [i for i, p in enumerate(past) if p == 0.0] == [0]
    done = session()
    run([job(replace(get_search("grid"), size=5), "ridged")], done)
    past = [r.evaluation.details["past"] for r in sorted(done.records, key=lambda r: r.index)]
    assert [i for i, p in enumerate(past) if p == 0.0] == [0, 10, 20]


def starts(search: str) -> list[Job]:
    return [job(search, label=str(i), shift=0.3 * i) for i in range(4)]


def test_parallel_is_serial(tmp_path: Path) -> None:
    """Batches and single points, several starts, cut and resumed: the same to the last bit."""
    jobs = [*starts("cma-es"), job("irprop", label="4")]
    serial = session(budget=90)
    expected = run(jobs, serial)
    with pool(2) as workers:
        parallel = Session(workers, Journal(tmp_path / "a", HEADER), budget=90)
        outcomes = run(jobs, parallel)
        assert told(parallel.records) == told(serial.records)
        assert [o.status for o in outcomes] == [o.status for o in expected]

        def stop(progress: Progress) -> bool:
            return progress.evaluations >= 25

        cut = Session(workers, Journal(tmp_path / "b", HEADER), stop, budget=90)
        run(jobs, cut)
        assert 25 <= len(cut.records) < 90
    again = session(tmp_path / "b", budget=90)
    run(jobs, again)
    assert told(again.records) == told(serial.records)


def test_budget_is_shared_and_spent_exactly() -> None:
    done = session(budget=23)
    outcomes = run(starts("cma-es")[:3], done)
    assert [o.evaluations for o in outcomes] == [8, 8, 7]
    assert all(o.status.name == "budget" for o in outcomes)
    assert all(o.best is not None for o in outcomes)


def test_callback_sees_every_evaluation_and_the_best() -> None:
    seen: list[Progress] = []
    done = session(callback=seen.append)
    (outcome,) = run([job("irprop")], done)
    assert [p.evaluations for p in seen] == list(range(1, len(done.records) + 1))
    lowest = np.minimum.accumulate([p.record.loss for p in seen])
    assert [p.best.loss for p in seen] == lowest.tolist()
    assert outcome.best is seen[-1].best


def test_time_is_up_but_there_is_always_something_to_show_for_it() -> None:
    done = session(max_time=0.0)
    (outcome,) = run([job("irprop")], done)
    assert outcome.status.name == "time"
    assert done.records == [outcome.best]


def interrupt_at(count: int) -> Any:
    def callback(progress: Progress) -> None:
        if progress.evaluations == count:
            raise KeyboardInterrupt

    return callback


def test_interruption_gives_the_best_so_far() -> None:
    done = session(callback=interrupt_at(6))
    outcomes = run([job("irprop"), job("irprop", label="1")], done)
    assert len(done.records) == 6
    assert [o.evaluations for o in outcomes] == [3, 3]  # in turns
    for outcome in outcomes:
        own = [r.loss for r in done.records if r.run == outcome.job.label]
        assert outcome.best is not None
        assert outcome.best.loss == min(own)
        assert outcome.status.name == "interrupted"


@dataclass(frozen=True)
class Interrupted:
    """Interrupted before it gives a first value."""

    def __call__(self, point: Array, gradient: bool, warm: Any) -> tuple[Evaluation, Any]:
        raise KeyboardInterrupt


def test_interruption_with_nothing_to_give_is_passed_on() -> None:
    with pytest.raises(KeyboardInterrupt):
        run([replace(job("irprop"), function=Interrupted())], session())


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_errors_come_through(n_jobs: int) -> None:
    with pool(n_jobs) as workers, pytest.raises(ValueError, match="column 3"):
        run([replace(job("irprop"), function=Fails())], Session(workers))


def test_early_stopping_takes_the_lowest_validation_error() -> None:
    """The validation error is x0^2; the search runs past 0 towards its own minimum at x0 = 1."""
    done = session()
    (outcome,) = run([job("irprop", patience=6)], done)
    assert outcome.status.name == "early"
    assert "stopped early: the validation error" in outcome.status.advice
    errors = [r.evaluation.details["validation"] for r in done.records]
    assert outcome.best is done.records[int(np.argmin(errors))]
    assert len(errors) == int(np.argmin(errors)) + 6 + 1


def ends(outcome: Outcome) -> Array:
    assert outcome.best is not None
    return outcome.best.point


def test_gradient_ascent_stands_by_its_last_point() -> None:
    done = session()
    (outcome,) = run([job("gradient-ascent", "noisy")], done)
    assert outcome.status.name == "converged"
    assert np.array_equal(ends(outcome), done.records[-1].point)


def test_other_points_than_recorded_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    first = session(path, budget=5)
    run([job("irprop")], first)
    with pytest.raises(
        ValueError, match="evaluation 0 of run '0' in the checkpoint is not the one"
    ):
        run([job("irprop", shift=0.1)], session(path, budget=5))
