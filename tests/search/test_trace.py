"""Traces: exact floats, torn lines, foreign files, provenance."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svmselect.search.checkpoint import Journal, seed_of
from svmselect.search.trace import Record, Trace, from_line, provenance, read_lines, to_line
from svmselect.types import Evaluation, Status

NAMES = ("log C", "rbf.length_scale")
HEADER = provenance(3, "abc", NAMES, {"search": "IRprop()"})


def record(run: str = "0", index: int = 0, value: float = 0.25, **more: object) -> Record:
    point = np.array([0.1 + index, -1.0 / 3.0])
    return Record(run, index, NAMES, Evaluation(point, value, **more))  # type: ignore[arg-type]


@given(st.lists(st.floats(allow_subnormal=True), min_size=6, max_size=6))
def test_every_float_comes_back_exactly(numbers: list[float]) -> None:
    a, b, c, d, e, f = numbers
    evaluation = Evaluation(
        np.array([a, b]), c, np.array([d, a]), stderr=e, seconds=0.5, details={"value": f}
    )
    line = to_line(Record("1", 2, NAMES, evaluation), NAMES)
    assert line.endswith("\n")

    def strict(name: str) -> float:
        raise AssertionError(f"{name} is not JSON")

    back = from_line(json.loads(line, parse_constant=strict), NAMES).evaluation
    pairs = [
        *zip(back.point, evaluation.point, strict=True),
        (back.value, c), (back.gradient[0], d), (back.stderr, e), (back.details["value"], f),
    ]  # fmt: skip
    for one, other in pairs:
        assert np.float64(one).tobytes() == np.float64(other).tobytes() or (
            math.isnan(one) and math.isnan(other)
        )


def test_status_and_other_names_come_back() -> None:
    odd = Record("iso/0", 4, ("log C",), Evaluation(np.zeros(1), 1.0, status=Status("odd", "why")))
    back = from_line(json.loads(to_line(odd, NAMES)), NAMES)
    assert back.names == ("log C",)
    assert back.evaluation.status == Status("odd", "why")
    assert (back.run, back.index) == ("iso/0", 4)


def test_best_is_the_lowest_finite_loss_and_the_first_of_equals() -> None:
    losses = [math.nan, 0.5, 0.25, math.inf, 0.25]
    trace = Trace(tuple(record(index=i, value=v) for i, v in enumerate(losses)))
    assert trace.best().index == 2
    assert trace.losses.tolist() == [math.inf, 0.5, 0.25, math.inf, 0.25]
    with pytest.raises(ValueError, match="the trace is empty"):
        Trace(()).best()


def test_runs_are_told_apart() -> None:
    trace = Trace((record("0"), record("0", 1), record("1")))
    assert {name: len(part) for name, part in trace.runs.items()} == {"0": 2, "1": 1}
    assert trace[0].parameters == pytest.approx(
        {"C": math.exp(0.1), "rbf.length_scale": math.exp(-1 / 3)}
    )


def test_journal_goes_on_after_a_torn_line(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    journal = Journal(path, HEADER)
    journal.append(record())
    journal.append(record(index=1))
    whole = path.read_bytes()
    for cut in range(len(whole) - 1, whole.rfind(b"\n", 0, -1) + 1, -7):
        path.write_bytes(whole[:cut])
        again = Journal(path, HEADER)
        assert list(again.known["0"]) == [0]
        again.append(record(index=1))
        assert path.read_bytes() == whole
    assert len(Trace.load(path)) == 2


def test_a_file_torn_in_its_header_begins_anew(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"svmselect": "tra')
    assert seed_of(path) is None
    assert Journal(path, HEADER).known == {}
    assert seed_of(path) == 3
    assert read_lines(path)[0] == json.loads(json.dumps(HEADER))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"data": "xyz"}, "written for other data"),
        ({"seed": 4}, "begun with random_state=3, not 4"),
        ({"settings": {"search": "Grid()"}}, r"search was IRprop\(\), now Grid\(\)"),
    ],
)
def test_other_data_or_settings_are_refused(
    change: dict[str, object], message: str, tmp_path: Path
) -> None:
    path = tmp_path / "a.jsonl"
    Journal(path, HEADER)
    before = path.read_bytes()
    with pytest.raises(ValueError, match=message):
        Journal(path, HEADER | change)
    assert path.read_bytes() == before


@pytest.mark.parametrize("content", ["hello\n", "[1, 2]\n", '{"a": 1}\n'])
def test_foreign_files_are_left_alone(content: str, tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text(content)
    with pytest.raises(ValueError, match="is not a trace of svmselect"):
        Journal(path, HEADER)
    assert path.read_text() == content


def test_a_damaged_line_in_the_middle_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    journal = Journal(path, HEADER)
    with path.open("a") as file:
        file.write('{"run": "0"}\n')
    journal.append(record())
    with pytest.raises(ValueError, match=r"line 2 of .* cannot be read"):
        Trace.load(path)


def test_provenance_says_where_it_comes_from() -> None:
    assert HEADER["versions"]["numpy"] == np.__version__
    assert {"svmselect", "scipy", "python", "machine"} <= set(HEADER["versions"])
    assert HEADER["seed"] == 3
    assert HEADER["data"] == "abc"


def test_a_line_that_says_it_is_something_else_is_no_evaluation(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    journal = Journal(path, HEADER)
    journal.append(record())
    with path.open("a") as file:
        file.write('{"svmselect": "report", "format": 1}\n')
    assert len(Trace.load(path)) == 1
    Journal(path, HEADER).append(record())
    assert len(Trace.load(path)) == 2


def edited(tmp_path: Path, line: int, change: object) -> Path:
    """A trace of two evaluations, one line changed by hand."""
    path = tmp_path / "edited.jsonl"
    lines = [json.dumps(HEADER), *(to_line(record(index=i), NAMES).strip() for i in range(2))]
    if isinstance(change, str):
        lines[line - 1] = change
    else:
        fields = json.loads(lines[line - 1])
        for name, value in change.items():  # type: ignore[attr-defined]
            fields[name] = value
            if value is Ellipsis:
                del fields[name]
        lines[line - 1] = json.dumps(fields)
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize(
    "change",
    [
        *({name: ...} for name in ("run", "index", "point", "loss", "gradient", "stderr")),
        *({name: ...} for name in ("seconds", "details")),
        *({"point": v} for v in (None, 1.0, "ab", [], [1.0], [1.0, 2.0, 3.0], [1.0, None])),
        *({"point": [1.0, v]} for v in (math.nan, "nan", math.inf, "-inf", 1e12, "x", 10**400, [])),
        *({"gradient": v} for v in ([1.0], 1.0, "ab", {}, [None, 1.0])),
        *({"loss": v} for v in (None, [], "x", 10**400)),
        *({"index": v} for v in (None, 1.5, "x", True, math.nan, [])),
        *({"run": v} for v in (None, 1, [])),
        *({"seconds": v} for v in (None, "x", [])),
        *({"details": v} for v in (None, [], 3, {"value": None}, {"value": "x"})),
        *({"names": v} for v in (None, [], ["log C"], [1, 2], "ab")),
        *({"status": v} for v in (None, [], 3, ["a", "b", "c"])),
        "", "[]", "3", "null", '"x"', "{", "[" * 100_000, "9" * 10_000, "\x00",
    ],
    ids=str,
)  # fmt: skip
def test_an_edited_evaluation_is_named_by_file_and_line(tmp_path: Path, change: object) -> None:
    path = edited(tmp_path, 3, change)
    with pytest.raises(ValueError, match=r"^line 3 of .*edited\.jsonl cannot be read: ") as told:
        Trace.load(path)
    assert "restore the file or remove the line" in str(told.value)
    with pytest.raises(ValueError, match="line 3 of"):
        Journal(path, HEADER)


@pytest.mark.parametrize(
    "change",
    [
        *({name: ...} for name in ("seed", "data", "names", "settings", "versions")),
        *({"seed": v} for v in (None, "3", 1.5, math.nan, [])),
        *({"names": v} for v in (None, "ab", 3, [1])),
        *({"settings": v} for v in (None, [], {"a": 1})),
        {"data": None}, {"versions": []},
    ],
    ids=str,
)  # fmt: skip
def test_an_edited_header_is_named_by_file_and_line(tmp_path: Path, change: object) -> None:
    path = edited(tmp_path, 1, change)
    with pytest.raises(ValueError, match=r"^line 1 of .*edited\.jsonl cannot be read: "):
        Trace.load(path)
    with pytest.raises(ValueError, match="line 1 of"):
        seed_of(path)


@pytest.mark.parametrize("change", [{"format": ...}, {"format": 2}, {"svmselect": ...}, "[" * 9999])
def test_a_header_of_something_else(tmp_path: Path, change: object) -> None:
    with pytest.raises(ValueError, match=r"edited\.jsonl (has format|is not a trace)"):
        Trace.load(edited(tmp_path, 1, change))


@pytest.mark.parametrize("value", [math.nan, math.inf, "nan"])
def test_a_value_that_is_no_number_is_one_that_was_computed(tmp_path: Path, value: object) -> None:
    assert Trace.load(edited(tmp_path, 2, {"loss": value}))[0].loss == math.inf


@pytest.mark.parametrize("seed", [0, 1])
def test_no_damage_to_a_trace_is_a_defect(tmp_path: Path, seed: int) -> None:
    from svmselect import report
    from tables.test_damaged import mutants

    path, told, read = tmp_path / "a.jsonl", list[str](), 0
    lines = [json.dumps(HEADER) + "\n", *(to_line(record(index=i), NAMES) for i in range(4))]
    for made in mutants("".join(lines).encode(), seed, 300):
        path.write_bytes(made)
        try:
            with np.errstate(over="ignore"):  # of numbers that damage made large
                report.of_trace(path)
            read += 1
        except ValueError as error:
            told.append(str(error))
    assert all(str(path) in said for said in told)
    assert read
    assert told
