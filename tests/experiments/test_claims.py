"""Claims and both yardsticks, on numbers one can work out by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from experiments.toy_paper import PAPER
from svmselect.experiments import Outcome, Outcomes, Published, Row, reproduce
from svmselect.experiments.reproduction.claims import Claim, Evidence, UntestedError
from svmselect.experiments.reproduction.kept import (
    keep,
    keep_earlier,
    kept_earlier,
    kept_result,
    kept_trials,
)
from svmselect.experiments.reproduction.row import Summary


def test_the_standard_error_of_a_difference_of_means() -> None:
    # ours: 2 +- 2 over four trials, theirs 5 +- 3 over nine: sqrt(4/4 + 9/9)
    ours = tuple(2.0 + np.array([-1.0, 1.0, -1.0, 1.0]) * np.sqrt(3.0))
    row = Row("r", "c", "q", ours, Published(5.0, sd=3.0, trials=9))
    assert row.sd == pytest.approx(2.0)
    assert row.error == pytest.approx(np.sqrt(2.0))
    assert row.agrees
    assert not row.agrees_in_mean  # 3 > 2 sqrt 2
    assert replace(row, published=Published(4.8, sd=3.0, trials=9)).agrees_in_mean
    # half a unit of the last printed digit is no disagreement
    rounded = Published(5.0, sd=3.0, trials=9, rounding=0.2)
    assert replace(row, published=rounded).agrees_in_mean
    # without their number of trials it cannot be told, nor for the best of several
    assert replace(row, published=Published(5.0, sd=3.0)).agrees_in_mean is None
    assert replace(row, fold="min").agrees_in_mean is None


def test_the_standard_error_of_a_difference_of_medians() -> None:
    rng = np.random.default_rng(0)
    medians = np.median(rng.normal(size=(20_000, 101)), axis=1)
    # normal errors: quartiles at +-0.6745
    printed = Published(0.0, low=-0.6745, high=0.6745, trials=101)
    assert printed.error(None) == pytest.approx(medians.std(), rel=0.03)


def test_a_single_draw_has_the_spread_of_ours() -> None:
    row = Row("r", "c", "q", (0.0, 2.0, 0.0, 2.0), Published(4.0, sd=0.1, trials=1))
    assert row.error == pytest.approx(row.sd * np.sqrt(1 + 1 / 4))
    assert not row.agrees
    assert not row.agrees_in_mean


def test_rows_that_prove_nothing_are_not_counted() -> None:
    row = Row("r", "c", "q", (1.0, 3.0), Published(2.0, sd=1.0, trials=5))
    assert row.agrees
    assert row.agrees_in_mean
    left_out = replace(row, uncounted="it fits our own choice")
    assert left_out.agrees is None
    assert left_out.agrees_in_mean is None
    assert left_out.verdict == row.verdict


def test_a_longer_run_of_which_little_is_left_stands_in() -> None:
    row = Row("r", "c", "q", (1.0, 3.0), Published(9.0, sd=1.0, trials=4))
    longer = replace(row, earlier=Summary(8.0, 2.0, 16))
    assert (longer.value, longer.sd, longer.trials) == (8.0, 2.0, 16)
    assert longer.error == pytest.approx(np.sqrt(0.25 + 0.25))
    assert longer.agrees_in_mean
    assert not row.agrees_in_mean


def _claims() -> tuple[Claim, ...]:
    def small(evidence: Evidence) -> tuple[bool, str]:
        value = evidence.value("table 1", "a", "near")
        return value < 0.5, f"{value:.2f}"

    def many(evidence: Evidence) -> tuple[bool, str]:
        return True, str(len(evidence.trials("a", "near", of="error", least=99)))

    return (
        Claim("abstract", "It is near.", "below one half", small),
        Claim("abstract", "It is far.", "above", lambda e: (not small(e)[0], "not so")),
        Claim("section 2", "There are many.", "99 trials", many),
        Claim("section 3", "It is new.", "no test"),
    )


def test_claims_are_decided_and_shown(tmp_path: Path) -> None:
    result = reproduce(replace(PAPER, claims=_claims()), trials=4, output=tmp_path)
    near = result.rows["table 1"][0].value
    assert near is not None
    words = [decision.verdict for _, decision in result.decisions]
    expected = ["holds", "fails"] if near < 0.5 else ["fails", "holds"]
    assert words == [*expected, "not tested", "not tested"]
    assert result.decisions[2][1].found == "4 trials of a, near, of 99 at least"
    page = (tmp_path / "toy.md").read_text()
    assert "Of 4: 1 holds, 1 fails, 2 not tested." in page
    assert f"| abstract | It is near. | below one half | **{words[0]}** | {near:.2f} |" in page
    assert result.markdown("## Reading\n\nOurs.").index("Ours.") > page.index("It is new.")


def test_what_is_missing_is_told() -> None:
    evidence = Evidence(Outcomes(()), {"table 1": [Row("a", "b", "q", ())]})
    with pytest.raises(UntestedError, match="no trials of a, b"):
        evidence.row("table 1", "a", "b")
    with pytest.raises(UntestedError, match="0 trials of a, b, of 1 at least"):
        evidence.trials("a", "b", of="error")


def test_trials_are_kept_and_read_back(tmp_path: Path) -> None:
    outcomes = [
        Outcome(("a", "b"), 1, {}, {"error": 0.25, "curve": [1.0, None, 3.5]}, 2.0),
        Outcome(("a", "b"), 0, {}, {"error": 1e-7, "flag": True, "picture": [1.0]}, 1.0),
    ]
    path = tmp_path / "p.csv.gz"
    keep(outcomes, path, ["picture"])
    first = path.read_bytes()
    keep(reversed(outcomes), path, ["picture"])
    assert path.read_bytes() == first
    known = kept_trials(path, {("a", "b"): {"size": 3}})
    assert known.values("a", "b", of="error") == (1e-7, 0.25)
    zero, one = known.cell("a", "b")
    assert one.values["curve"] == [1.0, None, 3.5]
    assert zero.values == {"error": 1e-7, "flag": True}
    assert zero.settings == {"size": 3}


def test_the_longer_of_two_runs_is_shown(tmp_path: Path) -> None:
    result = reproduce(PAPER, trials=3, output=tmp_path / "run")
    keep(result.outcomes.all, tmp_path / "toy.csv.gz")
    rows = {
        ("table 1", "a", "near", "error"): Summary(7.0, 0.5, 30),
        ("table 1", "a", "far", "error"): Summary(9.0, None, 2),
    }
    keep_earlier(rows, tmp_path / "toy-earlier.csv.gz")
    assert kept_earlier(tmp_path / "toy-earlier.csv.gz") == rows
    again = kept_result(PAPER, tmp_path)
    near, far, _ = again.rows["table 1"]
    assert (near.value, near.trials) == (7.0, 30)
    assert far.trials == 3
    assert far.value == pytest.approx(result.rows["table 1"][1].value, rel=1e-6)
    assert kept_earlier(tmp_path / "nothing.csv.gz") == {}
