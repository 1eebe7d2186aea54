"""Kwok's Tables I and II beside ours: the real data, and the toy apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import sqrt

import numpy as np

from svmselect.experiments.reproduction.outcomes import Outcomes
from svmselect.experiments.reproduction.published import read_published
from svmselect.experiments.reproduction.row import Published, Row

REAL = ("image-segmentation", "breast-cancer")
NAMES = (*REAL, "toy")
"""The real data first: the toy's geometry is only in a figure."""
KERNELS = ("polynomial", "gaussian")
TESTED = {"toy": 10_000, "image-segmentation": 2100, "breast-cancer": 299}
"""Test rows."""


def printed_lines(kernel: str, names: Sequence[str] = NAMES) -> list[dict[str, str]]:
    """The lines of the paper's table of a kernel, of these data sets."""
    lines = [
        x
        for x in read_published("kwok_tables_1_2.csv")
        if x["kernel"] == kernel and x["dataset"] in names
    ]
    return sorted(lines, key=lambda line: NAMES.index(line["dataset"]))


def table_rows(kernel: str, names: Sequence[str]) -> Callable[[Outcomes], list[Row]]:
    """Rows of Tables I or II, and the accuracies of our machines at the paper's own C."""

    def rows(outcomes: Outcomes) -> list[Row]:
        made = []
        for line in printed_lines(kernel, names):
            name = line["dataset"]
            cell = (name, kernel, "grid of C")
            missing = outcomes.problem(*cell)
            ours = "the toy's geometry is ours" if name == "toy" else ""
            fitted = ours
            if (name, kernel) == ("image-segmentation", "polynomial"):
                fitted = "its degree and scaling were chosen by these numbers"
            twice = fitted or "the printed number is compared with our machine at that C already"
            same = float(line["C_obtained"]) == float(line["best_C_in_range"])
            values = {of: outcomes.values(*cell, of=of) for of in OF}
            there = _share(name, line["test_accuracy_percent"])
            best = _share(name, line["best_test_accuracy_percent"])
            iterations = Published(float(line["iterations"]), tolerance=3.0)
            made += [
                Row(name, "C obtained", "log10 C", values["log10_C"], _decade(line["C_obtained"]),
                    better="neither", missing=missing, uncounted=ours),
                Row(name, "accuracy there", "percent", values["accuracy"], there,
                    better="higher", best=best.value, missing=missing, uncounted=ours),
                Row(name, "iterations", "count", values["iterations"], iterations,
                    missing=missing, uncounted=ours),
                Row(name, "best accuracy", "percent", values["best_accuracy"], best,
                    better="higher", missing=missing, uncounted=twice),
                Row(name, f"at the paper's C, {line['C_obtained']}", "percent",
                    values["accuracy_at_their_C"], there, better="higher", missing=missing,
                    uncounted=fitted),
                Row(name, f"at the paper's best C, {line['best_C_in_range']}", "percent",
                    values["accuracy_at_their_best_C"], best, better="higher", missing=missing,
                    uncounted=twice if same else fitted),
            ]  # fmt: skip
        return made

    return rows


OF = (
    "log10_C", "accuracy", "iterations", "best_accuracy", "accuracy_at_their_C",
    "accuracy_at_their_best_C",
)  # fmt: skip


def _decade(text: str) -> Published:
    return Published(round(float(np.log10(float(text))), 3), tolerance=0.5, trials=1, rounding=0.01)


def _share(name: str, text: str) -> Published:
    """A percentage with the spread of counting; the toy's own geometry is unknown: two points."""
    value = float(text)
    if name == "toy":
        return Published(value, tolerance=2.0)
    counting = 100.0 * sqrt(value / 100 * (1 - value / 100) / TESTED[name])
    return Published(
        value, sd=round(counting, 2), trials=1, rounding=0.05, whose="by counting test errors"
    )
