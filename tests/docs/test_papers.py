"""docs/papers: each page is what the kept results say, verdicts and all."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

from svmselect.experiments import available
from svmselect.experiments.reproduction.kept import kept_result

ROOT = Path(__file__).parents[2]
PAPERS = ROOT / "docs" / "papers"
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("papers_tool", ROOT / "tools" / "papers.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", sorted(available()))
def test_the_page_is_generated_from_the_results(name: str, tool) -> None:
    page, made = (PAPERS / f"{name}.md").read_text(), tool.page(name)
    advice = "run tools/papers.py, and look at what changed"
    assert _NUMBER.sub("#", page) == _NUMBER.sub("#", made), advice
    for old, new in zip(_NUMBER.findall(page), _NUMBER.findall(made), strict=True):
        # the last digit may round otherwise where sums are added in another order
        digits = len(old.partition(".")[2])
        assert old == new or (digits and abs(float(old) - float(new)) < 1.5 * 10.0**-digits), advice


@pytest.mark.parametrize("name", sorted(available()))
def test_claims_are_many_and_each_verdict_is_recomputed(name: str) -> None:
    result = kept_result(available()[name], PAPERS / "results")
    decisions = result.decisions
    assert 10 <= len(decisions) <= 30
    page = (PAPERS / f"{name}.md").read_text()
    assert page.index("## Claims") < page.index("## Reading")
    for claim, decision in decisions:
        line = next(line for line in page.splitlines() if f"| {claim.claim} | {claim.how} " in line)
        assert f"| **{decision.verdict}** | {decision.found} |" in line
        if claim.test is not None and decision.verdict == "not tested":
            assert any(word in decision.found for word in ("trials", "sets", "partitions"))
        if claim.test is None:
            assert claim.how
    words = {decision.verdict for _, decision in decisions}
    assert {"holds", "fails"} <= words


def test_verdicts_turn_when_the_numbers_do() -> None:
    """A page cannot say "holds" whatever the trials say: worse numbers fail more claims."""
    from dataclasses import replace

    from svmselect.experiments.reproduction.claims import Evidence

    result = kept_result(available()["gold-sollich"], PAPERS / "results")
    worse = {
        exhibit: tuple(
            replace(row, earlier=None, ours=tuple(50.0 + v for v in row.ours) or (60.0,))
            if row.column.startswith("evidence-gradient")
            else row
            for row in rows
        )
        for exhibit, rows in result.rows.items()
    }
    evidence = Evidence(result.outcomes, worse)
    before = {claim.claim: decision.verdict for claim, decision in result.decisions}
    after = {claim.claim: claim.decision(evidence).verdict for claim, _ in result.decisions}
    turned = {text for text in before if before[text] != after[text]}
    (headline,) = [text for text in turned if "errs consistently less" in text]
    assert (before[headline], after[headline]) == ("holds", "fails")
