"""docs/how_to_choose.md: all criteria are there, as they declare themselves, and its code runs."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from svmselect.criteria import available
from svmselect.criteria.base import FREE, PENALISED

PAGE = (Path(__file__).parents[2] / "docs" / "how_to_choose.md").read_text()
LETTERS = {"h": "hinge", "s": "squared_hinge", "l": "logistic"}
OFFSETS = {"free": FREE, "penalised": PENALISED}


def table() -> dict[str, list[str]]:
    rows = re.findall(r"^\| \[`([\w-]+)`\]\(#[\w-]+\) \| (.+) \|$", PAGE, re.MULTILINE)
    return {name: [cell.strip() for cell in rest.split("|")] for name, rest in rows}


def sections() -> dict[str, str]:
    return dict(re.findall(r"^### ([\w-]+)\n(.*?)(?=^##|\Z)", PAGE, re.MULTILINE | re.DOTALL))


def test_all_are_there_once() -> None:
    assert set(table()) == set(sections()) == set(available())
    assert len(re.findall("^### ", PAGE, re.MULTILINE)) == len(sections())


@pytest.mark.parametrize("name", sorted(available()))
def test_table_says_what_the_criterion_declares(name: str) -> None:
    losses, offsets, better, gradient, _ = table()[name]
    cls = available()[name]
    said = {(LETTERS[a], OFFSETS[b]) for a in losses.split(", ") for b in offsets.split(", ")}
    assert said == cls.serves
    assert better == ("greater" if cls.greater_is_better else "smaller")
    assert gradient == ("yes" if cls().differentiable else "no")


@pytest.mark.parametrize("name", sorted(available()))
def test_section_has_all_parts(name: str) -> None:
    text = sections()[name]
    for part in ("Units:", "radient:", "Use it", "Found:"):
        assert part in text, part
    better = "greater is better" if available()[name].greater_is_better else "smaller is better"
    assert better in text
    for option in re.findall(r"`(\w+)=", text):
        assert option in {*available()[name].__dataclass_fields__, "fit_intercept"}


def test_code_runs(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert len(blocks) >= 4
    page = ModuleType("page")  # what it defines can be pickled, as in a script
    monkeypatch.setitem(sys.modules, "page", page)
    for block in blocks:
        exec(compile(block, "how_to_choose.md", "exec"), vars(page))
    assert capsys.readouterr().out
