"""A paper's conclusions, each with the test that decides it on our trials."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from svmselect.experiments.reproduction.outcomes import Outcomes
from svmselect.experiments.reproduction.row import Row

Word = Literal["holds", "fails", "not tested"]


@dataclass(frozen=True)
class Decision:
    """What our trials say to a claim, and the numbers that say it (or why none do)."""

    verdict: Word
    found: str


class UntestedError(Exception):
    """Raised by a test for want of trials; its text says what is missing."""


@dataclass(frozen=True)
class Evidence:
    """All that a test may look at: single trials, and the rows folded from them."""

    outcomes: Outcomes
    rows: Mapping[str, Sequence[Row]]

    def row(self, exhibit: str, row: str, column: str, quantity: str | None = None) -> Row:
        """One row of an exhibit that has a value."""
        for one in self.rows.get(exhibit, ()):
            same = (one.row, one.column) == (row, column)
            if same and quantity in (None, one.quantity) and one.value is not None:
                return one
        raise UntestedError(f"no trials of {row}, {column}")

    def value(self, exhibit: str, row: str, column: str, quantity: str | None = None) -> float:
        """Its number."""
        value = self.row(exhibit, row, column, quantity).value
        assert value is not None
        return value

    def trials(self, *cell: str, of: str, least: int = 1) -> tuple[float, ...]:
        """One number of each trial of a cell, of which there must be some."""
        values = self.outcomes.values(*cell, of=of)
        if len(values) < least:
            raise UntestedError(f"{len(values)} trials of {', '.join(cell)}, of {least} at least")
        return values


Test = Callable[[Evidence], tuple[bool, str]]


@dataclass(frozen=True)
class Claim:
    """A conclusion in our words, where the paper draws it, and the test that decides it.

    ``test`` tells whether it holds, and what was found; it is None where nothing here can tell, and
    ``how`` then says why.
    """

    where: str
    claim: str
    how: str
    test: Test | None = None

    def decision(self, evidence: Evidence) -> Decision:
        """Decide it."""
        if self.test is None:
            return Decision("not tested", "")
        try:
            holds, found = self.test(evidence)
        except UntestedError as reason:
            return Decision("not tested", str(reason))
        return Decision("holds" if holds else "fails", found)


@dataclass(frozen=True)
class Explanation(Claim):
    """What may be behind a large disagreement, and the experiment that tells.

    ``where`` says what disagrees, ``claim`` what was supposed, ``how`` what was tried; ``about`` is
    a regular expression for the rows it explains, such as "table 2/.*/span-bound".
    """

    about: str = ""

    def explains(self, exhibit: str, row: Row) -> bool:
        """Whether it is about this row."""
        return re.fullmatch(self.about, f"{exhibit}/{row.row}/{row.column}") is not None
