"""Reproductions: trials kept as they come, resumed exactly, folded into rows with verdicts."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from experiments.toy_paper import PAPER, make_paper
from svmselect.experiments import Progress, Published, Row, available, reproduce


def read_csv(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_rows_files_and_verdicts(tmp_path: Path) -> None:
    result = reproduce(PAPER, trials=4, output=tmp_path)
    assert not result.failures
    rows = {(r["row"], r["column"]): r for r in read_csv(tmp_path / "toy.csv")}
    expected = np.mean([np.random.default_rng(100 + t).normal() for t in range(4)])
    assert float(rows["a", "near"]["ours"]) == pytest.approx(float(expected))
    assert rows["a", "near"]["verdict"] == "within 2 sd"
    assert rows["a", "far"]["verdict"] == "ours worse"
    assert rows["a", "absent"]["verdict"].startswith("not run: data missing: put absent.npz")
    assert result.verdicts == {"within 2 sd": 2, "ours worse": 1, "not run": 1}
    assert result.agreement == (2, 3)
    page = (tmp_path / "toy.md").read_text()
    assert "put absent.npz into the folder" in page
    assert "| a | far | error | 0 (0.1) |" in page
    assert (tmp_path / "figure-1.png").read_bytes().startswith(b"\x89PNG")


def test_an_interrupted_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    whole = reproduce(PAPER, trials=3, output=tmp_path / "whole")
    part = reproduce(PAPER, trials=3, output=tmp_path / "part", callback=lambda p: p.done == 2)
    assert not part.complete
    assert "1 trial a cell at most (asked for: 3)" in part.markdown()
    assert "Stopped before the end" in part.markdown()
    seen: list[Progress] = []
    again = reproduce(PAPER, trials=3, output=tmp_path / "part", resume=True, callback=seen.append)
    lines = (tmp_path / "part" / "trials.jsonl").read_text().splitlines()
    kept = [json.loads(line) for line in lines[1:]]
    keys = [(*fields["name"], fields["trial"]) for fields in kept]
    assert len(keys) == len(set(keys)) == 6
    assert len([p for p in seen if p.outcome.state == "done"]) == 4
    assert again.rows == whole.rows


def test_more_trials_keep_the_first_ones(tmp_path: Path) -> None:
    reproduce(PAPER, trials=2, output=tmp_path)
    seen: list[Progress] = []
    reproduce(PAPER, trials=3, output=tmp_path, resume=True, callback=seen.append)
    assert [p.outcome.trial for p in seen if p.outcome.state == "done"] == [2, 2]


def test_a_torn_last_line_is_run_again(tmp_path: Path) -> None:
    first = reproduce(PAPER, trials=2, output=tmp_path)
    path = tmp_path / "trials.jsonl"
    path.write_bytes(path.read_bytes()[:-9])
    again = reproduce(PAPER, trials=2, output=tmp_path, resume=True)
    assert again.rows == first.rows
    assert len(path.read_text().splitlines()) == 5


def test_other_settings_and_other_files_are_refused(tmp_path: Path) -> None:
    reproduce(PAPER, trials=1, output=tmp_path)
    with pytest.raises(ValueError, match=r"shift was 0, now 1"):
        reproduce(make_paper(shift=1), trials=1, output=tmp_path, resume=True)
    with pytest.raises(ValueError, match="full was False, now True"):
        reproduce(PAPER, trials=2, output=tmp_path, resume=True)
    with pytest.raises(ValueError, match="not trials of 'other'"):
        reproduce(make_paper(name="other"), trials=1, output=tmp_path, resume=True)
    (tmp_path / "trials.jsonl").write_text("something\n")
    with pytest.raises(ValueError, match="not a file of trials"):
        reproduce(PAPER, trials=1, output=tmp_path, resume=True)


def test_without_resume_the_old_trials_are_kept(tmp_path: Path) -> None:
    reproduce(PAPER, trials=2, output=tmp_path)
    reproduce(make_paper(shift=1), trials=1, output=tmp_path)
    old = (tmp_path / "trials-1.jsonl").read_text().splitlines()
    assert len(old) == 5


def test_a_failing_trial_is_named_and_the_rest_goes_on(tmp_path: Path) -> None:
    result = reproduce(make_paper(fail_at=1), trials=3, output=tmp_path)
    assert list(result.failures) == ["a/far/1", "a/near/1"]
    assert {len(r.ours) for r in result.rows["table 1"] if r.column != "absent"} == {2}
    assert "ZeroDivisionError" in (tmp_path / "toy.md").read_text()
    mended = reproduce(PAPER, trials=3, output=tmp_path / "b")
    assert not mended.failures


def test_only_one_exhibit_and_wrong_requests(tmp_path: Path) -> None:
    assert set(reproduce(PAPER, table=1, output=tmp_path).rows) == {"table 1"}
    with pytest.raises(ValueError, match="toy has no table 7; it has table 1, figure 1"):
        reproduce(PAPER, table=7, output=tmp_path)
    with pytest.raises(ValueError, match="trials must be 1 or more"):
        reproduce(PAPER, trials=0, output=tmp_path)
    with pytest.raises(ValueError, match="'nothing' is not one of"):
        reproduce("nothing", output=tmp_path)
    with pytest.raises(ValueError, match="give one of them"):
        reproduce(PAPER, n_jobs=2, dask="tcp://127.0.0.1:1", output=tmp_path)


def test_workers_do_not_change_the_numbers(tmp_path: Path) -> None:
    serial = reproduce(PAPER, trials=3, output=tmp_path / "1")
    joblib = reproduce(PAPER, trials=3, output=tmp_path / "2", n_jobs=2)
    assert serial.rows == joblib.rows


@pytest.mark.parametrize(
    ("ours", "published", "options", "verdict"),
    [
        ((1.0, 3.0), Published(4.0, sd=1.0), {}, "within 2 sd"),
        ((1.0, 3.0), Published(4.1, sd=1.0), {}, "ours better"),
        ((1.0, 3.0), Published(4.1, sd=1.0), {"better": "higher"}, "ours worse"),
        ((1.0, 3.0), Published(4.1, sd=1.0), {"better": "neither"}, "ours lower"),
        ((5.0,), Published(4.0, low=3.0, high=5.0), {}, "within the quartiles"),
        ((5.1,), Published(4.0, low=3.0, high=5.0), {}, "ours worse"),
        ((5.0,), Published(4.0, tolerance=1.0), {}, "within 1"),
        ((1.0, 3.0), Published(4.0), {}, "within 2 sd of ours"),
        ((4.0,), Published(4.0), {}, "equal"),
        ((5.0,), None, {}, "ours alone"),
        ((0.5,), Published(4.0), {"time": True}, "faster: 8 times"),
        ((8.0,), Published(4.0), {"time": True}, "slower: 2 times"),
        ((), Published(4.0), {"missing": "data missing: x"}, "not run: data missing: x"),
    ],
)
def test_verdicts(
    ours: tuple[float, ...], published: Published | None, options: dict[str, Any], verdict: str
) -> None:
    assert Row("r", "c", "q", ours, published, **options).verdict == verdict


def test_best_published_is_beaten_or_not() -> None:
    assert Row("r", "c", "q", (1.0, 2.0), best=1.6).beats_best
    assert not Row("r", "c", "q", (1.0, 2.0), best=1.5).beats_best
    assert Row("r", "c", "q", (1.0, 2.0), best=1.4, better="higher").beats_best
    assert Row("r", "c", "q", (3.0, 2.0), best=2.1, fold="min").beats_best
    assert not Row("r", "c", "q", (), best=1.5).beats_best


def test_every_paper_is_found_and_declares_itself() -> None:
    for name, paper in available().items():
        assert paper.name == name
        assert paper.exhibits
        for exhibit in paper.exhibits:
            for trials, reduced in ((1, True), (2, False)):
                tasks = exhibit.tasks(trials, reduced)
                assert len({task.key for task in tasks}) == len(tasks)
                json.dumps([dict(task.settings) for task in tasks])
