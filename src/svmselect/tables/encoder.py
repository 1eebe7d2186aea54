"""Columns to numbers: what was learned of each input, and the same for new rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from svmselect.tables.cells import as_numbers, read_column, texts
from svmselect.tables.gather import Column, Table
from svmselect.tables.source import Source, listed
from svmselect.types import Array


@dataclass(frozen=True)
class Number:
    """An input of numbers; ``middle`` is its median."""

    name: str
    middle: float

    @property
    def columns(self) -> tuple[str, ...]:
        """One column."""
        return (self.name,)

    def encode(self, column: Column) -> Array:
        """The numbers, as a matrix of one column."""
        return np.asarray(column, dtype=np.float64)[:, None]

    def filled(self, column: Column) -> Column:
        """With the median where a value is missing."""
        return np.where(np.isnan(column), self.middle, column)


@dataclass(frozen=True)
class Category:
    """An input of texts. Two categories are one column, 0 and 1; more have a column each.

    That treats categories alike: none is the one that the others are compared with. A text that was
    not seen is none of them: zero in every column, and of two the mean, ``share``.
    """

    name: str
    categories: tuple[str, ...]
    common: str
    share: float

    @property
    def columns(self) -> tuple[str, ...]:
        """One column for two categories, else one for each."""
        kept = self.categories[1:] if len(self.categories) == 2 else self.categories
        return tuple(f"{self.name}={category}" for category in kept)

    def encode(self, column: Column) -> Array:
        """Indicators."""
        place = {category: i for i, category in enumerate(self.categories)}
        codes = np.array([place.get(cell, -1) for cell in column], dtype=np.intp)
        if len(self.categories) == 2:
            return np.where(codes < 0, self.share, codes)[:, None].astype(np.float64)
        made = np.zeros((len(codes), len(self.categories)))
        seen = codes >= 0
        made[np.flatnonzero(seen), codes[seen]] = 1.0
        return made

    def filled(self, column: Column) -> Column:
        """With the most frequent category where a value is missing."""
        return np.array([self.common if cell is None else cell for cell in column], dtype=object)


@dataclass(frozen=True)
class Encoder:
    """The inputs of a model, in order; ``impute`` is whether missing values are filled in."""

    inputs: tuple[Number | Category, ...]
    impute: bool = False

    @classmethod
    def of(cls, table: Table, impute: bool = False) -> Encoder:
        """Learn the inputs from a table without its target."""
        return cls(tuple(_input(name, c) for name, c in table.columns.items()), impute)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the encoded columns."""
        return tuple(column for one in self.inputs for column in one.columns)

    def relevance(self, shares: Array) -> dict[str, float]:
        """What encoded columns count, summed for each input; the largest first."""
        found, at = {}, 0
        for one in self.inputs:
            found[one.name] = float(shares[at : at + len(one.columns)].sum())
            at += len(one.columns)
        return dict(sorted(found.items(), key=lambda item: -item[1]))

    def encode(self, table: Table) -> Array:
        """The matrix of a typed table that has the inputs."""
        parts = []
        for one in self.inputs:
            column = table.columns[one.name]
            parts.append(one.encode(one.filled(column) if self.impute else column))
        return np.hstack(parts)

    def match(self, source: Source) -> None:
        """Refuse a file that lacks an input; one of sparse rows has zeros there."""
        there = set(source.names)
        lacking = [one.name for one in self.inputs if one.name not in there]
        if lacking and not source.sparse:
            raise ValueError(
                f"{source.title} has no column {lacking[0]!r}"
                + (f" (nor {listed(lacking[1:], 4)})" if lacking[1:] else "")
                + f", which the model needs; its columns are {listed(source.names)}"
            )

    def read(self, frame: Any, source: Source, before: int) -> Table:
        """The inputs in a data frame of new rows, typed as they were learned.

        ``before`` is the number of rows that came before it in the file.
        """
        columns: dict[str, Column] = {}
        rows = np.arange(before + 1, before + len(frame) + 1)
        there = set(source.names)
        for one in self.inputs:
            if one.name not in there:  # of sparse rows
                columns[one.name] = np.zeros(len(frame))
            elif isinstance(one, Category):
                columns[one.name] = texts(frame[one.name].tolist())
            else:
                columns[one.name] = _numbers(one.name, frame[one.name], source, before)
        return Table(columns, rows, before + len(frame))

    def unseen(self, table: Table) -> dict[str, Counter[str]]:
        """Texts that no category stands for, by input, and how often they occur."""
        found: dict[str, Counter[str]] = {}
        for one in self.inputs:
            if isinstance(one, Category):
                known = set(one.categories)
                strange = [c for c in table.columns[one.name] if c is not None and c not in known]
                if strange:
                    found[one.name] = Counter(strange)
        return found


def _input(name: str, column: Column) -> Number | Category:
    if column.dtype != object:
        return Number(name, float(np.nanmedian(column)))
    counts = Counter(cell for cell in column if cell is not None)
    categories = tuple(sorted(counts))
    share = counts[categories[1]] / counts.total() if len(categories) == 2 else 0.0
    return Category(name, categories, counts.most_common(1)[0][0], share)


def _numbers(name: str, raw: Any, source: Source, before: int) -> Array:
    """Refuse texts in a column of numbers."""
    column = read_column(raw, source.decimal)
    if column.dtype != object:
        return np.asarray(column)
    found, strange = as_numbers(column, source.decimal)
    if strange.any():
        first = int(np.argmax(strange))
        raise ValueError(
            f"column {name!r} of {source.title} has {column[first]!r} in row {before + first + 1}, "
            "where the model needs a number; correct it"
        )
    return found


def infinite(X: Array, columns: Sequence[str], table: Table, title: str) -> None:
    """Refuse numbers that are infinite."""
    bad = np.isinf(X)
    if bad.any():
        row, column = (int(i) for i in np.argwhere(bad)[0])
        raise ValueError(
            f"column {columns[column]!r} of {title} is infinite in row {table.rows[row]}; "
            "correct it"
        )
