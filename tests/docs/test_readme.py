"""The benchmark tables of the README reach the pages."""

from pathlib import Path

import pytest
from readme import benchmarks

ROOT = Path(__file__).parents[2]


def test_tables_come_with_the_paragraph_that_says_how_they_were_made() -> None:
    text = "# A\n\nBy `benchmarks/a.py`:\n\n| a |\n|---|\n| 1 |\n\nOther:\n\n| b |\n|---|\n| 2 |\n"
    assert benchmarks(text) == "By `benchmarks/a.py`:\n\n| a |\n|---|\n| 1 |\n"


def test_a_readme_without_any_is_an_error() -> None:
    with pytest.raises(ValueError, match="no table"):
        benchmarks("# A\n\nNothing.\n")


def test_our_readme_has_one_and_its_script_exists() -> None:
    found = benchmarks((ROOT / "README.md").read_text())
    assert (ROOT / "benchmarks" / "auto.py").exists()
    assert "benchmarks/auto.py" in found
    assert "GridSearchCV" in found
