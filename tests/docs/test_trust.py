"""The page of promises: each names tests, and these tests are there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
PAGE = TESTS.parent / "docs" / "guide" / "trust.md"
PROMISES = re.findall(r"^- (.*?)\n\n  Held by (.*?)\.$", PAGE.read_text(), re.M | re.S)


def named(cell: str) -> list[str]:
    return re.findall(r"`([\w/]+\.py::\w+)`", cell)


def is_there(name: str) -> bool:
    """Whether the file has a test, or a machine of tests, of this name."""
    file, _, test = name.partition("::")
    if not (TESTS / file).is_file():
        return False
    nodes = ast.parse((TESTS / file).read_text()).body
    return any(isinstance(n, ast.FunctionDef | ast.ClassDef) and n.name == test for n in nodes)


def test_every_promise_names_tests_that_are_there() -> None:
    assert len(PROMISES) >= 25
    assert len(PROMISES) == PAGE.read_text().count("\n- ")
    for promise, tests in PROMISES:
        assert named(tests), promise
        assert tests.count("`") == 2 * len(named(tests)), tests
    assert [name for _, tests in PROMISES for name in named(tests) if not is_there(name)] == []


def test_a_test_that_is_gone_would_be_missed() -> None:
    assert not is_there("machine/test_exact.py::test_nothing_of_the_kind")
    assert not is_there("machine/test_nothing.py::test_every_regime_is_solved_exactly")


def test_the_policy_on_security_points_there() -> None:
    assert "docs/guide/trust.md" in (TESTS.parent / "SECURITY.md").read_text()
