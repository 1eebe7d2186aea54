"""The signs in Glasmachers & Igel's tables: paired Wilcoxon tests of one method against another.

``glasmachers_igel_signs.csv`` has their likelihood's, against the two methods that the text
compares it with; "?" where the two cells of the printed table that say the same contradict each
other in the copy we have. They count to the 15 and 2 of the text for smoothed cross-validation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from svmselect.experiments.glasmachers_igel_data import Benchmark
from svmselect.experiments.reproduction.claims import Evidence, UntestedError
from svmselect.experiments.reproduction.outcomes import Outcomes
from svmselect.experiments.reproduction.published import read_published

LIKELIHOOD = "likelihood"
OTHERS = ("cross-validation", "leave-one-out", "span-bound", "smoothed-cv")
FEW = 20
"""Partitions below which no sign is given: 0.001 can hardly be reached."""


def sign(ours: Sequence[float], other: Sequence[float]) -> str:
    """ "<" or "<<" where the first is better at 0.01 or 0.001, ">" or ">>" where it is worse.

    Wilcoxon's signed rank test over the partitions, as if they were independent; equal pairs are
    left out.
    """
    from scipy.stats import wilcoxon

    difference = np.asarray(ours) - np.asarray(other)
    difference = difference[difference != 0]
    if len(difference) < 5:
        return ""
    p = float(wilcoxon(difference).pvalue)
    mark = "<" if np.median(difference) < 0 else ">"
    return mark * (2 if p < 0.001 else 1 if p < 0.01 else 0)


def printed_signs() -> dict[tuple[str, str], str]:
    """Likelihood's printed signs by data set and the other method."""
    lines = read_published("glasmachers_igel_signs.csv")
    return {(x["dataset"], m): x[m] for x in lines for m in x if m != "dataset"}


def paired(
    outcomes: Outcomes, name: str, method: str, other: str
) -> tuple[list[float], list[float]]:
    """Errors of two methods on the partitions that both have."""
    one, two = (
        {o.trial: float(o.values["error"]) for o in outcomes.cell(name, m)} for m in (method, other)
    )
    both = sorted(one.keys() & two.keys())
    return [one[t] for t in both], [two[t] for t in both]


def sign_table(benchmarks: Sequence[Benchmark], outcomes: Outcomes) -> list[list[str]]:
    """Likelihood against each other method: their sign, and ours on how many partitions."""
    printed = printed_signs()
    heads = [f"likelihood against {m}: printed; ours" for m in OTHERS]
    table = [["", *heads]]
    for benchmark in benchmarks:
        cells = []
        for other in OTHERS:
            own, theirs = paired(outcomes, benchmark.name, LIKELIHOOD, other)
            said = _shown(printed.get((benchmark.title, other), "not taken over"))
            mark = _shown(sign(own, theirs)) if len(own) >= FEW else "too few"
            cells.append(f"{said}; {mark} ({len(own)})")
        table.append([benchmark.title, *cells])
    return table


def _shown(mark: str) -> str:
    return {"": "none", "?": "unreadable"}.get(mark, mark)


def signs_against(
    benchmarks: Sequence[Benchmark], other: str, share: float
) -> Callable[[Evidence], tuple[bool, str]]:
    """Likelihood is better by Wilcoxon's test on more sets (by ``share``) than it is worse."""

    def test(evidence: Evidence) -> tuple[bool, str]:
        marks = []
        for benchmark in benchmarks:
            own, theirs = paired(evidence.outcomes, benchmark.name, LIKELIHOOD, other)
            if len(own) < FEW:
                continue
            marks.append(sign(own, theirs))
        if len(marks) < 3:
            raise UntestedError(f"{len(marks)} sets of {FEW} partitions, of 3 at least")
        better, worse = (sum(side in mark for mark in marks) for side in "<>")
        said = f"better on {better}, worse on {worse}, of {len(marks)} sets"
        return better > share * worse, said

    return test
