"""Pages of criteria, kernels and searches: every one has its page, a new one at once."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

import catalogue
from svmselect import criteria, kernels, search
from svmselect.criteria import Criterion
from svmselect.criteria.base import every

DOCS = Path(__file__).parents[2] / "docs"
ALL = {
    "criteria": criteria.available(),
    "kernels": kernels.available(),
    "searches": search.available(),
}


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    shutil.copytree(DOCS / "bodies", tmp_path / "bodies")
    shutil.copy(DOCS / "how_to_choose.md", tmp_path)
    return tmp_path


@pytest.mark.parametrize("folder", ALL)
def test_all_have_pages_and_are_listed(docs: Path, folder: str) -> None:
    catalogue.write(docs)
    index = (docs / folder / "index.md").read_text()
    for name in ALL[folder]:
        assert (docs / folder / f"{name}.md").exists()
        assert f"({name}.md)" in index
        assert f"\n{name}\n" in index


@pytest.mark.parametrize("folder", ALL)
def test_bodies_are_of_things_that_exist(folder: str) -> None:
    written = {path.stem for path in (DOCS / "bodies" / folder).glob("*.md")} - {"index"}
    assert written <= set(ALL[folder])


def test_a_new_criterion_has_a_page_without_a_body(
    docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    @dataclass(frozen=True)
    class Fresh(Criterion):
        """The share of a|b that is x_i. A second sentence."""

        tilt: float = 2.5

        name = "fresh"
        greater_is_better = True
        serves = every("logistic", offsets=("penalised",))
        formula = "1/n sum_i q_i"
        cost = "O(n^2)"
        reference = "Nobody 2031"

    Fresh.__abstractmethods__ = frozenset()
    known = {**criteria.available(), "fresh": Fresh}
    monkeypatch.setattr(criteria, "available", lambda: known)
    catalogue.write(docs)
    page = (docs / "criteria" / "fresh.md").read_text()
    for part in (
        "# fresh", r"*The share of a\|b that is x\_i.*", "| logistic |", "`tilt=2.5`", "O(n²)",
        "1/n sum_i q_i", "greater is better", "Nobody 2031", "fit_intercept=False",
    ):  # fmt: skip
        assert part in page, part
    assert "hinge" not in page
    assert "(fresh.md)" in (docs / "criteria" / "index.md").read_text()


def test_pages_that_have_not_changed_are_left_alone_and_old_ones_go(docs: Path) -> None:
    catalogue.write(docs)
    page, old = docs / "criteria" / "span.md", docs / "criteria" / "gone.md"
    before = page.stat().st_mtime_ns
    old.write_text("# gone\n")
    catalogue.write(docs)
    assert page.stat().st_mtime_ns == before
    assert not old.exists()
