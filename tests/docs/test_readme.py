"""The benchmark tables of the README reach the pages, with how they were made."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
FAQ = (ROOT / "docs" / "guide" / "faq.md").read_text()
INCLUDED = re.findall(
    r"^```\{include\} \.\./\.\./README\.md\n:start-after: (.+)\n:end-before: (.+)\n```$", FAQ, re.M
)


def test_the_page_includes_each_table_once() -> None:
    assert len(set(INCLUDED)) == len(INCLUDED) == 2


@pytest.mark.parametrize(("start", "end"), INCLUDED)
def test_tables_come_with_the_paragraph_that_says_how_they_were_made(start: str, end: str) -> None:
    assert README.count(start) == README.count(end) == 1
    text = README.partition(start)[2].partition(end)[0]
    above, table = text.strip().split("\n\n")
    assert all(line.startswith("|") for line in table.splitlines())
    assert "GridSearchCV" in table
    script = re.search(r"`(benchmarks/\w+\.py)", above)
    assert script is not None
    assert (ROOT / script[1]).exists()
