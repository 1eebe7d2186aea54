"""Tables of text turned into numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from svmselect.datasets.record import Raw
from svmselect.types import Array


@dataclass(frozen=True)
class Coding:
    """How a table becomes X and y.

    Rows with a missing value ("?" or empty) go, and so do the columns in ``drop``. The label
    ``target`` (the last column unless named) is +1 for ``positive``, -1 else. A column of numbers
    stays; a nominal one becomes one 0/1 column if it has two values, one column per value if it
    has more (Glasmachers & Igel 2010, section 5), unless ``codes`` gives its values numbers, or
    with ``digits`` the digits in it are its number (UCI's German credit has A11, A12, ...). Codes
    that hold ``everywhere`` are given once; rows with other values go. So do rows whose label is
    among those to be ``without``.
    """

    positive: tuple[str, ...]
    target: str | None = None
    drop: tuple[str, ...] = ()
    nominal: tuple[str, ...] = ()
    codes: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    everywhere: Mapping[str, float] | None = None
    digits: bool = False
    without: tuple[str, ...] = ()


def encode(names: Sequence[str], rows: Sequence[Sequence[str]], coding: Coding) -> Raw:
    """Turn a table of text into numbers."""
    table = [[value.strip().strip("'\"") for value in row] for row in rows]
    table = [row for row in table if not any(value in ("", "?", "<null>", "nan") for value in row)]
    at = len(names) - 1 if coding.target is None else list(names).index(coding.target)
    kept = [j for j, name in enumerate(names) if j != at and name not in coding.drop]
    if coding.everywhere is not None:
        known = set(coding.everywhere)
        table = [row for row in table if all(row[j] in known for j in kept)]
    table = [row for row in table if row[at] not in coding.without]
    y = np.array([1.0 if row[at] in coding.positive else -1.0 for row in table])
    columns: list[Array] = []
    titles: list[str] = []
    for j in kept:
        values = [row[j] for row in table]
        for title, column in _column(names[j], values, coding):
            titles.append(title)
            columns.append(column)
    return Raw(np.column_stack(columns), y, tuple(titles))


def _column(name: str, values: list[str], coding: Coding) -> list[tuple[str, Array]]:
    """Encode one column: its numbers, or one or several columns of them."""
    code = coding.codes.get(name, coding.everywhere)
    if code is not None:
        return [(name, np.array([float(code[value]) for value in values]))]
    if name not in coding.nominal:
        try:
            return [(name, np.array([float(value) for value in values]))]
        except ValueError:
            pass  # text: nominal
    levels = sorted(set(values))
    if coding.digits:
        return [(name, np.array([float(value.lstrip("A")) for value in values]))]
    if len(levels) <= 2:
        return [(name, np.array([float(value == levels[-1]) for value in values]))]
    return [
        (f"{name}={level}", np.array([float(value == level) for value in values]))
        for level in levels
    ]
