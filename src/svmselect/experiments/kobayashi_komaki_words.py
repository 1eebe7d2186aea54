"""Beside Kobayashi & Komaki's tables: their p-values and ours; and their Table 1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from svmselect.experiments.kobayashi_komaki_p_values import p_as_printed, p_from_moments, p_paired
from svmselect.experiments.reproduction.outcomes import Outcomes
from svmselect.experiments.reproduction.paper import Task
from svmselect.experiments.reproduction.published import read_published
from svmselect.experiments.reproduction.row import Published, Row

PROPERTIES = {
    "bld": (6, 230, 115),
    "cra": (6, 133, 67),
    "hea": (13, 180, 90),
    "ion": (33, 234, 117),
    "rsy": (2, 250, 1000),
    "snr": (60, 138, 70),
}
"""Their Table 1: inputs, training and test rows."""
KRIC = "kric-logistic"


def p_values(machine: str, outcomes: Outcomes) -> list[list[str]]:
    """A line for each p-value that they print of errors against KRIC's."""
    lines = [
        line
        for line in read_published("kobayashi_komaki_tables_2_3.csv")
        if line["machine"] == machine
    ]
    moments = {
        (x["dataset"], x["criterion"]): (float(x["error_mean"]), float(x["error_sd"]))
        for x in lines
    }
    heads = ["set", "criterion", "printed p against KRIC", "that formula on their numbers",
             "the same on our splits", "paired t on our splits"]  # fmt: skip
    table = [heads]
    for line in lines:
        name, column = line["dataset"], line["criterion"]
        if column in ("optimal", KRIC):
            continue
        theirs = p_from_moments(*moments[name, KRIC], *moments[name, column])
        base = outcomes.values(machine, name, of=KRIC)
        ours = outcomes.values(machine, name, of=column)
        own = ["", ""]
        if len(ours) == len(base) > 1:
            own = [f"{p_as_printed(base, ours):.4f}", f"{p_paired(base, ours):.2g}"]
        printed = line["error_p_value_vs_kric"].replace("@", "").strip()
        table.append([name, column, printed, f"{theirs:.4f}", *own])
    return table


def size_tasks(_trials: int, _reduced: bool) -> list[Task]:
    """One look at each data set."""
    return [Task(("sizes", name), 0, 0, {"kind": "sizes"}) for name in PROPERTIES]


def size_rows(outcomes: Outcomes) -> list[Row]:
    """Their Table 1 beside our data."""
    return [
        Row(name, what, "count", outcomes.values("sizes", name, of=what), Published(float(size)),
            better="neither", missing=outcomes.problem("sizes", name),
            uncounted="sizes of data sets cannot disagree")
        for name, sizes in PROPERTIES.items()
        for what, size in zip(("dim", "#train", "#test"), sizes, strict=True)
    ]  # fmt: skip


def seconds_rows(
    printed: Mapping[tuple[str, str], Mapping[str, str]],
    cell: tuple[str, str],
    columns: Sequence[str],
    outcomes: Outcomes,
) -> list[Row]:
    """CPU seconds for all 20 values of C, beside theirs at 1.6 GHz."""
    return [
        Row(cell[1], column, "CPU seconds", outcomes.values(*cell, of=f"{column} seconds"),
            Published(float(printed[cell[1], column]["seconds_mean"])), time=True,
            missing=outcomes.problem(*cell))
        for column in columns
    ]  # fmt: skip
