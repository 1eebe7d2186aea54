"""What may be behind the largest disagreements with Kobayashi & Komaki, and what we tried.

GACV: it fails in our runs on all six sets, in theirs on four of six with the SVM. A second term
smaller by a factor of 4 n or so gives their errors on ion and snr, and fails where theirs does.
Heart: their machines err more than ours at every C; without the last column ours err as much. Other
scalings of the columns explain neither.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from svmselect.experiments.reproduction.claims import Evidence, Explanation
from svmselect.experiments.reproduction.outcomes import Outcomes
from svmselect.experiments.reproduction.paper import Task, seed_of
from svmselect.experiments.reproduction.published import read_published
from svmselect.experiments.reproduction.row import Row
from svmselect.types import Array

SCALINGS: Mapping[str, Callable[[Array], Array]] = {
    "unit columns": lambda X: X / np.sqrt((X**2).sum(axis=0)),
    "unit columns, centred": lambda X: (X - X.mean(axis=0)) / np.sqrt((X**2).sum(axis=0)),
    "standardised": lambda X: (X - X.mean(axis=0)) / X.std(axis=0),
    "unit rows": lambda X: X / np.sqrt((X**2).sum(axis=1, keepdims=True)),
    "raw": lambda X: X,
    "the last column left out": lambda X: SCALINGS["unit columns"](X[:, :-1]),
}
"""The first is the paper's; the last is tried where our machines err less, on hea."""
LESS = "the last column left out"
OTHERS = tuple(s for s in SCALINGS if s not in ("unit columns", LESS))
_SETS = ("hea", "ion", "snr")
_MACHINES = {"svm": "table 2", "klr": "table 3"}
_SPLITS = 20
_SEEN = ("optimal", "kric-logistic", "gacv", "gacv, small term")
SMALL = "gacv, small term"


def tried_on(name: str) -> tuple[str, ...]:
    """What is tried on a set."""
    return (*OTHERS, LESS) if name == "hea" else OTHERS


def scaled_tasks(settings: Mapping[str, Any], trials: int, reduced: bool) -> list[Task]:
    """The tables' columns on differently scaled data; ``settings`` are the tables'.

    C goes to 10^3.5 only: on columns of unit variance, machines at larger C are hard and dear.
    """
    short = {**settings, "grid": list(settings["grid"])[:12], "columns": list(_SEEN[1:])}
    return [
        Task((machine, name, scaling), trial, seed_of("split", name, trial), short)
        for trial in range(1 if reduced else min(trials, _SPLITS))
        for machine in _MACHINES
        for name in _SETS
        for scaling in tried_on(name)
    ]


def scaled_rows(outcomes: Outcomes) -> list[Row]:
    """Errors by scaling."""
    return [
        Row(f"{name}, {machine}, {scaling}", column, "test error",
            outcomes.values(machine, name, scaling, of=column),
            missing=outcomes.problem(machine, name, scaling))
        for machine in _MACHINES
        for name in _SETS
        for scaling in tried_on(name)
        for column in _SEEN
    ]  # fmt: skip


def _printed(machine: str, name: str, column: str) -> tuple[float, float]:
    for line in read_published("kobayashi_komaki_tables_2_3.csv"):
        if (line["machine"], line["dataset"], line["criterion"]) == (machine, name, column):
            return float(line["error_mean"]), float(line["error_sd"])
    raise KeyError((machine, name, column))


def smaller_term(machine: str) -> Callable[[Evidence], tuple[bool, str]]:
    """With the small term, errors are as printed on more sets than with the published one."""

    def test(evidence: Evidence) -> tuple[bool, str]:
        near = {"gacv": 0, SMALL: 0}
        said = []
        for name in ALL:
            printed, sd = _printed(machine, name, "gacv")
            found = {}
            for column in near:
                quantity = "test error" + (", other readings" if column == SMALL else "")
                found[column] = evidence.value(_MACHINES[machine], name, column, quantity)
                near[column] += abs(found[column] - printed) <= sd
            said.append(f"{name} {found['gacv']:.3f}, {found[SMALL]:.3f} ({printed:.3f})")
        return near[SMALL] > near["gacv"], (
            f"{near['gacv']} sets as published, {near[SMALL]} with it: {'; '.join(said)}"
        )

    return test


def logistic_formula(evidence: Evidence) -> tuple[bool, str]:
    """A GACV derived for the logistic loss errs as theirs does on more sets than the SVM's."""
    near = {"gacv": 0, "gacv, logistic": 0}
    said = []
    for name in ALL:
        printed, sd = _printed("klr", name, "gacv")
        for column in near:
            quantity = "test error" + (", other readings" if column != "gacv" else "")
            found = evidence.value("table 3", name, column, quantity)
            near[column] += abs(found - printed) <= sd
        said.append(f"{name} {found:.3f} ({printed:.3f})")
    return near["gacv, logistic"] > near["gacv"], (
        f"{near['gacv']} sets with the SVM's, {near['gacv, logistic']} with it: {', '.join(said)}"
    )


def some_scaling(
    machine: str, name: str, tried: Sequence[str] = OTHERS
) -> Callable[[Evidence], tuple[bool, str]]:
    """Some scaling has all of optimal, KRIC and GACV within a standard deviation of print."""

    def test(evidence: Evidence) -> tuple[bool, str]:
        printed = {c: _printed(machine, name, c) for c in ("optimal", "kric-logistic", "gacv")}
        said, good = [], False
        for scaling in tried:
            means = {
                c: float(np.mean(evidence.trials(machine, name, scaling, of=c, least=3)))
                for c in printed
            }
            good = good or all(abs(means[c] - m) <= sd for c, (m, sd) in printed.items())
            said.append(f"{scaling} {', '.join(f'{m:.3f}' for m in means.values())}")
        wanted = ", ".join(f"{m:.3f}" for m, _ in printed.values())
        return good, f"optimal, KRIC, GACV: {'; '.join(said)}; printed {wanted}"

    return test


ALL = ("bld", "cra", "hea", "ion", "rsy", "snr")
_HOW_TERM = "that term divided by 4 n: errors within their deviation on more of the six sets"
_HOW_SCALED = "other scalings: optimal, KRIC and GACV all within a deviation of print"

EXPLANATIONS = (
    Explanation("Table 2: GACV", "Their second term was smaller by a factor of the order of n.",
                _HOW_TERM, smaller_term("svm"), r"table 2/(ion|snr)/gacv"),
    Explanation("Table 2: GACV, ion", "Columns of ion were scaled otherwise.", _HOW_SCALED,
                some_scaling("svm", "ion"), r"table 2/(ion|snr)/gacv"),
    Explanation("Table 2: GACV, snr", "Columns of snr were scaled otherwise.", _HOW_SCALED,
                some_scaling("svm", "snr"), r"table 2/(ion|snr)/gacv"),
    Explanation("Table 3: GACV", "The same slip in the term.", _HOW_TERM,
                smaller_term("klr"), r"table 3/.*/gacv"),
    Explanation("Table 3: GACV", "Theirs was derived for the logistic loss.",
                "such a formula: errors within their deviation on more of the six sets",
                logistic_formula, r"table 3/.*/gacv"),
    Explanation("Tables 2, 3: hea, all columns", "Columns were scaled otherwise.", _HOW_SCALED,
                some_scaling("svm", "hea"), r"table [23]/hea/.*"),
    Explanation("Tables 2, 3: hea, all columns", "Their data lacked the last column (thal).",
                "without it: optimal, KRIC and GACV all within a deviation of print",
                some_scaling("svm", "hea", (LESS,)), r"table [23]/hea/.*"),
)  # fmt: skip
