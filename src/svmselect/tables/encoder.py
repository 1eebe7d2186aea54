"""Columns to numbers: what was learned of each input, and the same for new rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from svmselect.tables.cells import as_numbers, read_column, texts
from svmselect.tables.dates import as_dates
from svmselect.tables.inputs import (
    Category,
    Input,
    Moment,
    Number,
    Ordered,
    Unused,
    truth_as_numbers,
)
from svmselect.tables.record import from_text, to_text
from svmselect.tables.roles import as_words
from svmselect.tables.source import Source, listed
from svmselect.tables.table import (
    DATE,
    NUMBER,
    Column,
    Role,
    Table,
    check_complete,
    missing_in,
)
from svmselect.tables.targets import Target, worthwhile
from svmselect.tables.telling import pays
from svmselect.types import Array, BoolArray, IntArray

MISSING = ("auto", "error", "impute")
"""Gaps are told by a column or a level of their own, refused, or filled in and forgotten."""
_MEASURED = Number | Ordered | Moment


@dataclass(frozen=True)
class Encoder:
    """The inputs of a model, in order, and what it does about gaps: see ``MISSING``."""

    inputs: tuple[Input | Target, ...]
    missing: str = "auto"

    def __getstate__(self) -> dict[str, Any]:
        """The inputs as one text: a model file has a node for everything else."""
        return {"missing": self.missing, "columns": to_text(self.inputs)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Undo that; older files have the inputs themselves."""
        told = dict(state)
        if "columns" in told:
            told["inputs"] = from_text(told.pop("columns"))
        vars(self).update(told)

    @classmethod
    def of(cls, table: Table, missing: str = "auto") -> Encoder:
        """Learn the inputs from a table without its target."""
        gaps = missing == "auto"
        return cls(tuple(_input(name, table, gaps) for name in table.columns), missing)

    def with_targets(
        self, table: Table, y: NDArray[Any], groups: Any, seed: int
    ) -> tuple[Encoder, Array]:
        """With what the target decides: target statistics and columns of gaps; and the matrix.

        A statistic takes the place of very many levels, and gaps are told, where that pays.
        The rows of the table have statistics that their own targets are not in.
        """
        inputs, own = list(self.inputs), {}
        classes = np.unique(y, return_inverse=True)[1].ravel()
        for i, one in enumerate(inputs):
            column = table.columns[one.name]
            if isinstance(one, Category):
                found = worthwhile(one, column, y, groups, seed)
                if found is not None:
                    inputs[i], own[i] = found
            elif isinstance(one, _MEASURED) and one.gap:
                values = one.places(column) if isinstance(one, Ordered) else column
                if not pays(values, classes):
                    inputs[i] = replace(one, gap=False, filled=True)
        made = replace(self, inputs=tuple(inputs))
        X = made.encode(table)
        for i, values in own.items():
            X[:, made.owners == i] = values
        return made, X

    @property
    def supervised(self) -> bool:
        """Whether some input is told by the target, so that rows fitted to are not as new ones."""
        return any(isinstance(one, Target) for one in self.inputs)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the encoded columns."""
        return tuple(column for one in self.inputs for column in one.columns)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the inputs, those that become nothing included."""
        return tuple(one.name for one in self.inputs)

    @property
    def spans(self) -> Array:
        """What each encoded column is divided by; NaN where that is its standard deviation."""
        return np.array([span for one in self.inputs for span in one.spans])

    @property
    def variables(self) -> IntArray:
        """The length scale that each encoded column has, counted from 0."""
        parts = [part for one in self.inputs for part in one.parts]
        return np.repeat(np.arange(len(parts)), parts)

    @property
    def worded(self) -> BoolArray:
        """Which inputs are categories."""
        return np.array([isinstance(one, Category) for one in self.inputs], dtype=np.bool_)

    @property
    def owners(self) -> IntArray:
        """The input that each encoded column comes from."""
        return np.repeat(np.arange(len(self.inputs)), [len(one.columns) for one in self.inputs])

    @property
    def plain(self) -> bool:
        """Whether every input is a number as it is."""
        return all(
            isinstance(one, Number) and not one.gap and not one.filled for one in self.inputs
        )

    def encode(self, table: Table, title: str = "X") -> Array:
        """The matrix of a typed table that has the inputs; refuses what no model can use."""
        self.check(table, title)
        made = np.empty((len(table), len(self.columns)))
        at = 0
        for one in self.inputs:
            column = table.columns[one.name]
            if self.missing == "impute" and isinstance(one, Category | Target):
                column = np.array([one.common if c is None else c for c in column], dtype=object)
            width = len(one.columns)
            made[:, at : at + width] = one.encode(column)
            at += width
        return made

    def check(self, table: Table, title: str) -> None:
        """Refuse infinite numbers, columns of nothing known, and gaps if they are to be refused."""
        if self.missing == "error":
            idle = [one.name for one in self.inputs if isinstance(one, Unused)]
            check_complete(table.without(idle), title)
        for one in self.inputs:
            column = table.columns[one.name]
            if isinstance(one, Unused):
                continue
            if isinstance(one, Category | Ordered | Target):
                _refuse_strangers(one, column, title)
            elif column.dtype != object and np.isinf(column).any():
                row = int(table.rows[int(np.argmax(np.isinf(column)))])
                raise ValueError(
                    f"column {one.name!r} of {title} is infinite in row {row}; correct it"
                )

    def match(self, names: Iterable[str], title: str, sparse: bool = False) -> None:
        """Refuse a table that lacks an input; one of sparse rows has zeros there."""
        there = list(names)
        known = set(there)
        lacking = [
            one.name for one in self.inputs if one.name not in known and not isinstance(one, Unused)
        ]
        if lacking and not sparse:
            raise ValueError(
                f"{title} has no column {lacking[0]!r}"
                + (f" (nor {listed(lacking[1:], 4)})" if lacking[1:] else "")
                + f", which the model needs; its columns are {listed(there)}"
            )

    def read(self, frame: Any, source: Source, before: int) -> Table:
        """The inputs in a data frame of raw new rows, typed as they were learned.

        ``before`` is the number of rows that came before it in the file.
        """
        there = set(source.names)
        columns: dict[str, Column] = {}
        rows = np.arange(before + 1, before + len(frame) + 1)
        for one in self.inputs:
            if one.name not in there:  # of sparse rows, or of no use
                columns[one.name] = np.zeros(len(frame))
            elif isinstance(one, Category | Ordered | Target):
                columns[one.name] = texts(frame[one.name].tolist())
            elif isinstance(one, Unused):
                columns[one.name] = np.zeros(len(frame))
            else:
                raw = read_column(frame[one.name], source.decimal)
                columns[one.name] = as_learned(one, raw, rows, source.title, source.decimal, NUMBER)
        return Table(columns, rows, before + len(frame), self._roles)

    def typed(self, table: Table, title: str) -> Table:
        """A table of columns as they look, with the inputs typed as they were learned."""
        self.match(table.columns, title)
        columns = {
            one.name: np.zeros(len(table))
            if isinstance(one, Unused)
            else as_learned(
                one, table.columns[one.name], table.rows, title, ".", table.role(one.name)
            )
            for one in self.inputs
        }
        return Table(columns, table.rows, table.total, self._roles)

    @property
    def _roles(self) -> dict[str, Role]:
        """Which columns of typed tables are dates, though they look like numbers."""
        return {one.name: DATE for one in self.inputs if isinstance(one, Moment)}

    def new_gaps(self, table: Table) -> dict[str, int]:
        """How many values are missing in columns that were complete when they were learned."""
        found: dict[str, int] = {}
        for one in self.inputs:
            if isinstance(one, Unused) or (isinstance(one, _MEASURED) and one.filled):
                continue
            if not one.gap and self.missing == "auto":
                count = int(missing_in(table.columns[one.name]).sum())
                found |= {one.name: count} if count else {}
        return found

    def relevance(self, shares: Array) -> dict[str, float]:
        """What inputs count, by name; the largest first, and those that are not used left out."""
        used = [
            (one.name, float(share))
            for one, share in zip(self.inputs, shares, strict=True)
            if one.columns
        ]
        return dict(sorted(used, key=lambda item: -item[1]))

    def unseen(self, table: Table) -> dict[str, Counter[str]]:
        """Texts that no category stands for, by input, and how often they occur."""
        found: dict[str, Counter[str]] = {}
        for one in self.inputs:
            if isinstance(one, Category | Ordered | Target):
                strange = one.unseen(table.columns[one.name])
                if strange:
                    found[one.name] = strange
        return found


def as_learned(
    one: Input | Target, column: Column, rows: IntArray, title: str, decimal: str, role: Role
) -> Column:
    """A column as numbers, dates or texts, whatever its input needs; refuses what is none."""
    if isinstance(one, Category | Ordered | Target):
        return as_words(column, role)
    if column.dtype != object:
        known = ~np.isnan(column)
        if known.any() and (role == DATE) != isinstance(one, Moment):
            there, wanted = ("a date", "a number") if role == DATE else ("a number", "a date")
            raise ValueError(
                f"column {one.name!r} of {title} has {there} in row {rows[int(np.argmax(known))]}, "
                f"where the model needs {wanted}; is it another column?"
            )
        return column
    if isinstance(one, Moment):
        found, strange = as_dates(column)
        wanted = "a date"
    else:
        found, strange = as_numbers(truth_as_numbers(column), decimal)
        wanted = "a number"
    if strange.any():
        first = int(np.argmax(strange))
        raise ValueError(
            f"column {one.name!r} of {title} has {column[first]!r} in row {rows[first]}, "
            f"where the model needs {wanted}; correct it"
        )
    return found


def _input(name: str, table: Table, gaps: bool) -> Input:
    column, role = table.columns[name], table.role(name)
    known = column[~missing_in(column)]
    if not len(known):
        return Unused(name, "it is empty")
    told = gaps and len(known) < len(column)
    if role.kind != "number" and not told and np.all(known == known[0]):
        return Unused(name, f"it has one value only, {known[0]}")
    if role.kind == "date":
        return Moment.of(name, column, gaps)
    if role.kind == "ordered":
        return Ordered.of(name, column, role.levels, gaps)
    if role.kind == "number":
        return Number.of(name, column, gaps)
    made = Category.of(name, column, gaps)
    if len(made.levels) < 2:
        return Unused(name, f"no two of its {len(set(known))} different texts occur often enough")
    return made


def _refuse_strangers(one: Category | Ordered | Target, column: Column, title: str) -> None:
    """Refuse a column in which every value is new, unless that may well be chance."""
    known = int((~missing_in(column)).sum())
    strange = one.unseen(column)
    if known and strange.total() == known and max(one.rare, 0.01) ** known < 1e-3:
        shown = ", ".join(repr(text) for text, _ in strange.most_common(3))
        raise ValueError(
            f"column {one.name!r} of {title} has no value that the model knows: it has {shown}, "
            f"and the model was fitted to {listed(one.categories, 4)}; is it another column, or "
            "spelled in another way?"
        )
