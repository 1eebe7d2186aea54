"""Files made to hurt: what takes time or memory out of proportion, and names by the thousand."""

import time
from pathlib import Path

import pytest

from svmselect.tables import gather, open_source
from svmselect.tables.arff import _ATTRIBUTE, _QUOTED
from svmselect.tables.cells import _THOUSANDS, _WHOLE
from svmselect.tables.roles import _ID_NAME
from svmselect.tables.sniff import _COMMA_NUMBER, _DOT_NUMBER
from svmselect.tables.source import unique_names
from svmselect.tables.svmlight import _BARE, _LINE

N = 20_000


def seconds(action, *arguments) -> float:
    began = time.process_time()  # of this process alone, however busy the machine is
    action(*arguments)
    return time.process_time() - began


@pytest.mark.parametrize("quote", ["'", '"'])
def test_backslashes_in_a_name_of_arff_cost_no_more_than_letters(quote: str) -> None:
    assert seconds(_ATTRIBUTE.match, f"@attribute {quote}" + "\\a" * 60) < 1.0
    assert seconds(_ATTRIBUTE.match, f"@attribute {quote}" + "\\a" * N) < 1.0


@pytest.mark.parametrize(
    ("line", "name"),
    [
        (r"@attribute 'it\'s' real", r"'it\'s'"),
        (r"@attribute 'C:\' real", r"'C:\'"),
        (r"@attribute 'a b\' real", r"'a b\'"),
        (r'@attribute "a \"b\" c" real', r'"a \"b\" c"'),
        (r"@attribute a\b real", r"a\b"),
    ],
)
def test_names_of_arff(line: str, name: str) -> None:
    found = _ATTRIBUTE.match(line)
    assert found is not None
    assert found.groups() == (name, "real")


@pytest.mark.parametrize(
    "pattern", [_LINE, _BARE, _COMMA_NUMBER, _DOT_NUMBER, _THOUSANDS, _WHOLE, _ID_NAME],
    ids=lambda p: p.pattern[:20],
)  # fmt: skip
@pytest.mark.parametrize(
    "piece", ["1", ".000", " ", "1:2 ", " qid:1", "#", "x", "-", "_id", "a,", "\t1:", "1 1:2#"]
)
def test_no_pattern_of_a_reader_takes_time_out_of_proportion(pattern, piece: str) -> None:
    # more than linear time in 20,000 pieces is minutes
    for start in ("", "1 1:2", "+1", "x "):
        for end in ("", "!", ":", "\x00", "\n"):
            assert seconds(pattern.fullmatch, start + piece * N + end) < 1.0


@pytest.mark.parametrize("piece", ["\n", ",", " ", ", ", "\n "])
def test_looking_for_quotes_in_arff_rows(piece: str) -> None:
    assert seconds(_QUOTED.search, piece * N) < 1.0


def test_an_arff_file_of_backslashes_is_refused_at_once(tmp_path: Path) -> None:
    file = tmp_path / "d.arff"
    file.write_text("@relation r\n@attribute '" + "\\a" * 60 + "\n@data\n1\n")
    with pytest.raises(ValueError, match="one column only"):
        gather(open_source(file))


def test_names_of_one_kind_by_the_thousand() -> None:
    assert unique_names(["a", "a (2)", "a", "a", "", "column 5"]) == (
        "a", "a (2)", "a (3)", "a (4)", "column 5", "column 5 (2)",
    )  # fmt: skip
    names: tuple[str, ...] = ()

    def many() -> None:
        nonlocal names
        names = unique_names(["a"] * 100_000)

    assert seconds(many) < 2.0
    assert len(set(names)) == 100_000
    assert names[-1] == "a (100000)"
