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


@pytest.mark.parametrize("page", [README, FAQ], ids=["README", "faq"])
def test_who_says_faster_says_than_which_grid(page: str) -> None:
    said = [text for text in page.split("\n\n") if re.search(r"\btimes\s+faster", text)]
    said = [text for text in said if "grid" in text]
    assert said
    assert all(re.search(r"10\s+values\s+of\s+C\s+×\s+10\s+of\s+gamma", t) for t in said)


PAGES = ["README.md", "docs/index.md", "docs/guide/start.md", "docs/guide/from_grid_search.md"]
PAGES += ["docs/guide/from_svc_probability.md", "docs/guide/report.md", "docs/guide/plots.md"]


@pytest.mark.parametrize("page", [*PAGES, "examples/a_tour.py"])
def test_auto_classifier_comes_first(page: str) -> None:
    imported = re.findall(r"^from svmselect import .*", (ROOT / page).read_text(), re.M)
    assert "AutoClassifier" in imported[0]
    assert "AutoSVC" not in imported[0]


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
