"""A reproduction's result: rows of published numbers beside ours, and files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from svmselect.experiments.reproduction.claims import Claim, Decision, Evidence, Explanation
from svmselect.experiments.reproduction.outcomes import Outcomes
from svmselect.experiments.reproduction.paper import Exhibit, Paper
from svmselect.experiments.reproduction.row import Row

LARGEST = 3
"""Disagreements that a page explains."""


@dataclass(frozen=True)
class Disagreement:
    """A row whose number is not the printed one, and the experiments on what may be behind it."""

    exhibit: str
    row: Row
    tried: tuple[tuple[Explanation, Decision], ...]


@dataclass(frozen=True)
class Result:
    """What ``reproduce`` gives.

    rows : by exhibit ("table 3"), in the paper's order.
    missing : data set's trouble, once each, with the way to get it. failures : errors, by task.
    files : what was written. complete : False where a callback stopped it.
    """

    paper: Paper
    exhibits: tuple[Exhibit, ...]
    rows: Mapping[str, tuple[Row, ...]]
    outcomes: Outcomes
    trials: int
    reduced: bool
    seconds: float
    complete: bool
    folder: Path
    files: tuple[Path, ...] = ()

    @property
    def missing(self) -> tuple[str, ...]:
        """Data sets that could not be had, and how to get them."""
        return tuple(dict.fromkeys(o.problem for o in self.outcomes.all if o.state == "missing"))

    @property
    def failures(self) -> Mapping[str, str]:
        """Errors of trials, by their keys."""
        return {o.key: o.problem for o in self.outcomes.all if o.state == "failed"}

    @property
    def verdicts(self) -> Mapping[str, int]:
        """How often each verdict was given; missing data and other reasons under "not run".

        Of rows that are not counted, only what could not be run.
        """
        rows = [
            row
            for rows in self.rows.values()
            for row in rows
            if not row.uncounted or row.value is None
        ]
        return dict(Counter(row.verdict.split(":")[0] for row in rows).most_common())

    @property
    def agreement(self) -> tuple[int, int]:
        """Rows that lie where the paper's single trials do, and rows that could be compared."""
        judged = [r.agrees for rows in self.rows.values() for r in rows if r.agrees is not None]
        return sum(judged), len(judged)

    @property
    def agreement_in_mean(self) -> tuple[int, int]:
        """Rows within two standard errors of the difference, and rows where that can be told."""
        all_rows = [row for rows in self.rows.values() for row in rows]
        judged = [r.agrees_in_mean for r in all_rows if r.agrees_in_mean is not None]
        return sum(judged), len(judged)

    @property
    def decisions(self) -> tuple[tuple[Claim, Decision], ...]:
        """The paper's claims, each with what our trials say to it."""
        evidence = Evidence(self.outcomes, self.rows)
        return tuple((claim, claim.decision(evidence)) for claim in self.paper.claims)

    @property
    def disagreements(self) -> tuple[Disagreement, ...]:
        """The three largest, in standard errors of the difference, each with what was tried.

        Rows of which one experiment tells are one disagreement, the first of them.
        """
        evidence = Evidence(self.outcomes, self.rows)
        rows = [
            (abs(row.apart), exhibit, row)
            for exhibit, group in self.rows.items()
            for row in group
            if row.agrees_in_mean is False and row.apart is not None
        ]
        found: list[Disagreement] = []
        for _, exhibit, row in sorted(rows, key=lambda one: -one[0]):
            tried = tuple(e for e in self.paper.explanations if e.explains(exhibit, row))
            if any(tried and tried == tuple(e for e, _ in old.tried) for old in found):
                continue
            found.append(
                Disagreement(exhibit, row, tuple((e, e.decision(evidence)) for e in tried))
            )
        return tuple(found[:LARGEST])

    def markdown(self, reading: str = "") -> str:
        """The page, with a text of ours between claims and tables."""
        from svmselect.experiments.reproduction.page import markdown

        return markdown(self, reading)
