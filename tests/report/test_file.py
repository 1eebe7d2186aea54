"""Reports on disk: JSON and back, and a trace file that holds one."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from report.conftest import problem
from svmselect import AutoSVC, report, select
from svmselect.report import Report, Rival, render
from svmselect.report.codec import decode, encode
from svmselect.search.trace import Trace
from svmselect.types import Array


@dataclass(frozen=True, eq=False)
class Odd:
    """A record with everything a report may hold."""

    number: float
    words: str
    maybe: Rival | None
    pairs: tuple[tuple[str, float], ...]
    table: Array


@pytest.mark.parametrize("number", [1.0, float("nan"), float("inf"), -0.1])
def test_records_come_back(number: float) -> None:
    rival = Rival("a", "b", None, 0.5, 1, 2.0)
    odd = Odd(number, '"\u2028</script>', rival, (("a", 1.0),), np.array([[1.0, number], [0.5, 2]]))
    text = encode(odd)
    assert "\n" not in text
    assert json.loads(text)["maybe"]["held_out_error"] == 0.5
    back = decode(Odd, text)
    assert np.array_equal([back.number], [number], equal_nan=True)
    assert (back.words, back.maybe, back.pairs) == (odd.words, rival, odd.pairs)
    assert np.array_equal(back.table, odd.table, equal_nan=True)
    assert back.table.dtype == np.float64


@pytest.mark.parametrize("text", ["[]", "{}", '{"number": "x"}', "3", "nothing"])
def test_what_is_no_record_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no Odd can be read"):
        decode(Odd, text)


def test_a_report_draws_the_same_page_after_json(ugly: Report, three_classes: Report) -> None:
    for made in (ugly, three_classes):
        back = Report.from_json(made.to_json())
        assert back.to_json() == made.to_json()
        assert render(back) == render(made)


def test_a_trace_file_redraws_its_report(ugly: Report, tmp_path: Path) -> None:
    X, y = problem(40, 3)
    path = tmp_path / "trace.jsonl"
    select(X, y, budget=5, random_state=0, checkpoint=path)
    alone = report.of_trace(path)
    report.append(ugly, path)
    assert report.of_trace(path).to_json() == ugly.to_json()
    assert report.of_trace(path).to_json() != alone.to_json()
    # of several the last
    report.append(alone, path)
    assert report.of_trace(path).title == alone.title
    # and the search goes on as if nothing had happened
    assert len(Trace.load(path)) == 5
    again = select(X, y, budget=7, random_state=0, checkpoint=path)
    assert len(again.trace) == 7
    assert len(Trace.load(path)) == 7
    assert report.of_trace(path).title == alone.title


def test_a_torn_line_is_cut_before_a_report_is_added(ugly: Report, tmp_path: Path) -> None:
    X, y = problem(40, 3)
    path = tmp_path / "trace.jsonl"
    select(X, y, budget=4, random_state=0, checkpoint=path)
    with path.open("a") as file:
        file.write('{"run": "0", "ind')
    report.append(ugly, path)
    assert len(Trace.load(path)) == 4
    assert report.of_trace(path).title == ugly.title


def test_files_that_are_no_traces(ugly: Report, tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("hello\n")
    with pytest.raises(ValueError, match="not a trace"):
        report.of_trace(path)
    with pytest.raises(ValueError, match="not a trace"):
        report.append(ugly, path)
    assert path.read_text() == "hello\n"
    path.write_text("")
    with pytest.raises(ValueError, match="no complete first line"):
        report.append(ugly, path)


def test_a_report_of_another_format_is_refused(ugly: Report, tmp_path: Path) -> None:
    X, y = problem(40, 3)
    path = tmp_path / "trace.jsonl"
    select(X, y, budget=4, random_state=0, checkpoint=path)
    report.append(ugly, path)
    path.write_text(path.read_text().replace('"report", "format": 2', '"report", "format": 99'))
    with pytest.raises(ValueError, match="has format 99"):
        report.of_trace(path)


def test_write_makes_one_file_in_utf8(tmp_path: Path) -> None:
    X, y = problem(40, 2)
    model = AutoSVC(random_state=0, ard="no").fit(X, y)
    path = tmp_path / "report.html"
    report.write(report.of_fit(model, X, y, names=["naïve", "größe"]), path)
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]
    assert "größe" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"format": 7}, "line 4 of .* has format 7"),
        ({"format": ...}, "line 4 of .* has format None"),
        ({"report": ...}, "line 4 of .* cannot be drawn"),
        ({"report": []}, "line 4 of .* cannot be drawn"),
        ({"report": {"title": 3}}, "line 4 of .* cannot be drawn"),
    ],
)
def test_an_edited_report_is_named_by_file_and_line(
    change: dict[str, object], words: str, ugly: Report, tmp_path: Path
) -> None:
    X, y = problem(40, 3)
    path = tmp_path / "trace.jsonl"
    select(X, y, "gacv", search="grid", budget=2, checkpoint=path)
    report.append(ugly, path)
    lines = path.read_text().splitlines()
    fields = {**json.loads(lines[3]), **change}
    lines[3] = json.dumps({name: value for name, value in fields.items() if value is not ...})
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(ValueError, match=words):
        report.of_trace(path)


def test_a_report_with_a_number_that_cannot_be_drawn(ugly: Report, tmp_path: Path) -> None:
    X, y = problem(40, 3)
    path = tmp_path / "trace.jsonl"
    select(X, y, "gacv", search="grid", budget=2, checkpoint=path)
    report.append(ugly, path)
    lines = path.read_text().splitlines()
    fields = json.loads(lines[3])
    fields["report"]["error"]["baseline"] = "nan"
    lines[3] = json.dumps(fields)
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(ValueError, match=r"line 4 of .*trace\.jsonl cannot be drawn"):
        report.of_trace(path)
