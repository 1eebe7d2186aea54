"""What fuzzing has found stays found, and a minute of it would notice what is wrong."""

from __future__ import annotations

import time
import types
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from fuzz import run
from fuzz.mutate import mutated
from svmselect.machine import solve

PAST = [pytest.param(n, p, id=f"{n}-{p.name}") for n in run.names() for p in run.corpus(n)]


@pytest.mark.parametrize(("name", "path"), PAST)
def test_past_failures_are_none_today(name: str, path: Path) -> None:
    with run.in_time(run.LONGEST):
        run.target(name).check(path.read_bytes())


@pytest.mark.parametrize("name", run.names())
def test_every_seed_is_as_it_should_be(name: str) -> None:
    target = run.target(name)
    assert target.seeds()
    for data in target.seeds():
        target.check(data)


def test_every_folder_of_the_corpus_has_its_target() -> None:
    folders = {path.name for path in (run.HERE / "corpus").iterdir()}
    assert folders <= set(run.names())


def test_a_failure_is_kept_and_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def check(data: bytes) -> None:
        assert b"X" not in data, "an X"

    planted = types.SimpleNamespace(seeds=lambda: [b"abc" * 9], check=check, TOKENS=(b"X",))
    monkeypatch.setattr(run, "target", lambda name: planted)
    monkeypatch.setattr(run, "FAILED", tmp_path)
    assert run.run("planted", 20.0, 0) == 1
    (kept,) = (tmp_path / "planted").iterdir()
    assert b"X" in kept.read_bytes()
    assert str(kept) in capsys.readouterr().out
    planted.check = lambda data: None
    assert run.run("planted", 0.05, 0) == 0


def test_what_takes_too_long_is_a_failure() -> None:
    with pytest.raises(TimeoutError, match="more than 1 s"), run.in_time(1):
        time.sleep(5)


def test_what_takes_too_long_is_a_failure_though_the_reader_takes_it_for_damage() -> None:
    with pytest.raises(TimeoutError, match="more than 1 s"), run.in_time(1), suppress(OSError):
        time.sleep(5)


def test_changes_are_those_of_the_seed() -> None:
    pool = [bytes(range(200)), b"a,b\n1,2\n"]
    once, again = (
        [mutated(pool[0], np.random.default_rng(s), pool, (b"NA",)) for s in range(300)]
        for _ in range(2)
    )
    assert once == again
    assert len(set(once)) > 250


def test_the_judge_of_the_solver_sees_what_is_wrong() -> None:
    solver = run.target("solver")
    case = solver.read(solver.seeds()[0])
    s = solve(**vars(case))
    gap, violation, _ = solver._judged(case, s.beta, s.intercept)
    assert max(abs(gap), violation) < 1e-9
    wrong = s.beta.copy()
    wrong[np.argmax(np.minimum(s.alpha, case.C * case.weights - s.alpha))] *= 0.99
    gap, violation, balance = solver._judged(case, wrong, s.intercept)
    assert max(abs(gap), violation) > 1e-6
    assert balance > 1e-6 or not case.fit_intercept
