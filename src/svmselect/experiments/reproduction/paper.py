"""What a paper's file declares: its tasks, its tables and figures, and how one trial is run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from zlib import crc32

from svmselect.experiments.reproduction.claims import Claim, Explanation
from svmselect.experiments.reproduction.outcomes import Outcomes
from svmselect.experiments.reproduction.row import Row

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Values = Mapping[str, Any]


@dataclass(frozen=True)
class Task:
    """One trial of one cell: a name, settings that JSON can hold, and a seed; all it depends on.

    ``name`` says which cell, say ("crabs", "gacv"); tables and figures that ask for the same cell
    share its trials. Trials of cells to be compared pair by pair are given the same seed.
    """

    name: tuple[str, ...]
    trial: int
    seed: int
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """The name it has in the file of trials."""
        return "/".join((*self.name, str(self.trial)))


Run = Callable[[Task, Path | None], Values]


@dataclass(frozen=True)
class Exhibit:
    """A table or a figure: which tasks it needs, how they fold into rows, how it is drawn.

    tasks : of a number of trials, and whether slow columns are to be reduced.
    rows : published beside ours, from all outcomes there are; an absent cell gives a row that
        says why.
    draw : on an empty figure of matplotlib; None where there is nothing to draw.
    grid : whether the page shows a line a row and a column a column; else a line for each.
    beside : a table of words for the page, heads first: what is not one number a row.
    """

    kind: Literal["table", "figure"]
    number: int
    title: str
    tasks: Callable[[int, bool], Sequence[Task]]
    rows: Callable[[Outcomes], Sequence[Row]]
    draw: Callable[[Outcomes, Figure], None] | None = None
    grid: bool = False
    beside: Callable[[Outcomes], Sequence[Sequence[str]]] | None = None

    @property
    def name(self) -> str:
        """Such as "table 3"."""
        return f"{self.kind} {self.number}"


@dataclass(frozen=True)
class Paper:
    """A publication whose numbers can be set beside ours.

    run : one trial, a function at the top of its module, so that workers can import it; of a task
        and the folder of data sets; returns a few numbers, strings or short lists.
    notes : sentences for the page: settings, readings of the text, what is reduced and how.
    claims : what the paper concludes, in our words, each with a test on the trials.
    explanations : what may be behind the largest disagreements, each with an experiment.
    """

    name: str
    title: str
    reference: str
    exhibits: tuple[Exhibit, ...]
    run: Run
    notes: tuple[str, ...] = ()
    claims: tuple[Claim, ...] = ()
    explanations: tuple[Explanation, ...] = ()

    def chosen(self, table: int | None, figure: int | None) -> tuple[Exhibit, ...]:
        """The exhibits asked for; all of them where neither number is given."""
        if table is None and figure is None:
            return self.exhibits
        wanted = {("table", table), ("figure", figure)}
        found = tuple(e for e in self.exhibits if (e.kind, e.number) in wanted)
        for kind, number in (("table", table), ("figure", figure)):
            if number is not None and (kind, number) not in {(e.kind, e.number) for e in found}:
                has = ", ".join(e.name for e in self.exhibits)
                raise ValueError(f"{self.name} has no {kind} {number}; it has {has}")
        return found


def seed_of(*words: str | int) -> int:
    """A seed that depends on these words and nothing else, the same on every machine."""
    return crc32("/".join(map(str, words)).encode())
