"""What came out of the trials, by cell."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np


@dataclass(frozen=True)
class Outcome:
    """One trial's numbers, or why there are none.

    ``state`` is "done"; "missing": a data set could not be had, and ``problem`` says how to get
    it; or "failed", and ``problem`` is the error.
    """

    name: tuple[str, ...]
    trial: int
    settings: Mapping[str, Any] = field(default_factory=dict)
    values: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    state: Literal["done", "missing", "failed"] = "done"
    problem: str = ""

    @property
    def key(self) -> str:
        """The key of its task."""
        return "/".join((*self.name, str(self.trial)))


@dataclass(frozen=True)
class Outcomes:
    """All outcomes of a reproduction; a paper's rows are folded from these."""

    all: tuple[Outcome, ...]

    @classmethod
    def of(cls, outcomes: Iterable[Outcome]) -> Outcomes:
        """In the order of cells and trials, so that nothing depends on who finished first."""
        return cls(tuple(sorted(outcomes, key=lambda o: (o.name, o.trial))))

    def cell(self, *name: str) -> Sequence[Outcome]:
        """The trials of one cell that were done, by trial."""
        return [o for o in self.all if o.name == name and o.state == "done"]

    def values(self, *name: str, of: str) -> tuple[float, ...]:
        """One number of every trial of a cell that has it: kept trials may be older than it."""
        return tuple(float(o.values[of]) for o in self.cell(*name) if of in o.values)

    def curve(self, *name: str, of: str) -> np.ndarray[Any, Any]:
        """One list of every trial of a cell: an array of trials x points."""
        return np.array([o.values[of] for o in self.cell(*name)], dtype=float)

    def problem(self, *name: str) -> str:
        """Why a cell, or part of it, has no trials; empty where all went well."""
        troubles = [o for o in self.all if o.name == name and o.state != "done"]
        if not troubles:
            return ""
        words = {"missing": "data missing", "failed": f"{len(troubles)} failed"}
        return f"{words[troubles[0].state]}: {troubles[0].problem}"
