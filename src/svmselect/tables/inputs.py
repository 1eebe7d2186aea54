"""What was learned of one column, and the numbers it becomes.

Every input has ``columns``, the names of its numbers; ``parts``, how many of them share a length
scale; and ``spans``: what each is divided by, or NaN where that is its standard deviation. By these
two levels of a category are as far apart as two typical numbers: sqrt(2), of standardised ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from svmselect.tables.cells import label
from svmselect.tables.table import Column
from svmselect.types import Array

NAN = float("nan")
RARE = 3
"""Rows that a level needs for a column of its own, among many rows; among few it is fewer."""
MOST = 100
"""Levels that get a column of their own."""
_PAIR = float(np.sqrt(0.5))  # of a column that is 0 and 1: the levels are then sqrt(2) apart
_YES = {"true": "True", "1": "True", "false": "False", "0": "False"}
_DAY, _WEEK, _YEAR = 86400.0, 7.0, 365.2425
_CALLED = {_YEAR: "season", _WEEK: "weekday", 1.0: "hour"}


class _Measured:
    """What is one number, and perhaps a column that tells of gaps (``gap``).

    ``filled`` says that there were gaps and that to tell of them does not pay.
    """

    name: str
    gap: bool
    filled: bool

    @property
    def columns(self) -> tuple[str, ...]:
        """The number, and whether it is missing."""
        return (self.name, f"{self.name} is missing") if self.gap else (self.name,)

    @property
    def parts(self) -> tuple[int, ...]:
        """One length scale."""
        return (len(self.columns),)

    @property
    def spans(self) -> tuple[float, ...]:
        """The number is to be standardised."""
        return (NAN, 1.0) if self.gap else (NAN,)


@dataclass(frozen=True)
class Number(_Measured):
    """An input of numbers; ``middle`` is their median and stands in for gaps.

    With ``gap`` there were gaps, which another column tells: a gap is then as far from a number as
    numbers are from each other.
    """

    name: str
    middle: float
    gap: bool = False
    filled: bool = False
    kind: ClassVar[str] = "number"

    @classmethod
    def of(cls, name: str, column: Column, gaps: bool) -> Number:
        """Learn the median."""
        missing = np.isnan(column)
        return cls(name, float(np.median(column[~missing])), gaps and bool(missing.any()))

    @property
    def words(self) -> str:
        """What becomes of it."""
        return "a number" + _of_gaps(self)

    def encode(self, column: Column) -> Array:
        """The numbers, filled in."""
        return _with_gaps(np.asarray(column, dtype=np.float64), self.middle, self.gap)


@dataclass(frozen=True)
class Ordered(_Measured):
    """An input of words that have an order, which become their places in it."""

    name: str
    levels: tuple[str, ...]
    middle: float
    gap: bool = False
    filled: bool = False
    rare: ClassVar[float] = 0.0
    kind: ClassVar[str] = "ordered"

    @classmethod
    def of(cls, name: str, column: Column, levels: Sequence[str], gaps: bool) -> Ordered:
        """Learn the middle of the levels that occur."""
        made = cls(name, tuple(levels), 0.0)
        places = made.places(column)
        missing = np.isnan(places)
        return replace(
            made, middle=float(np.median(places[~missing])), gap=gaps and bool(missing.any())
        )

    @property
    def words(self) -> str:
        """What becomes of it."""
        order = " < ".join(_few(self.levels))
        return f"an ordered category, {order}" + _of_gaps(self)

    @property
    def categories(self) -> tuple[str, ...]:
        """The levels."""
        return self.levels

    def places(self, column: Column) -> Array:
        """The place of every cell, NaN where it is missing or none of the levels."""
        place = {level: float(i) for i, level in enumerate(self.levels)}
        loose = _alike(self.levels)
        found = {
            cell: NAN if cell is None else place.get(cell, loose.get(_plain(cell), NAN))
            for cell in set(column.tolist())
        }
        return np.array([found[cell] for cell in column], dtype=np.float64)

    def unseen(self, column: Column) -> Counter[str]:
        """Words that are none of the levels, with their numbers."""
        cells = zip(column, np.isnan(self.places(column)), strict=True)
        return Counter(cell for cell, strange in cells if strange and cell is not None)

    def encode(self, column: Column) -> Array:
        """Places, filled in."""
        return _with_gaps(self.places(column), self.middle, self.gap)


@dataclass(frozen=True)
class Category:
    """An input of words. Two levels are one column, 0 and 1; more have a column each.

    That treats levels alike: none is the one that the others are compared with. A gap is a level of
    its own where there were gaps (``gap``), and levels that are rare are one together (``pooled``,
    which makes up the share ``rare`` of the rows). A word that was not seen, and a gap that is the
    first, is one of these rare ones; where there are none, it is zero in every column, and of two
    levels the mean, ``share``. ``common`` is the most frequent level.
    """

    name: str
    categories: tuple[str, ...]
    common: str
    share: float
    gap: bool = False
    pooled: bool = False
    rare: float = 0.0
    kind: ClassVar[str] = "category"

    @classmethod
    def of(cls, name: str, column: Column, gaps: bool) -> Category:
        """Learn the levels; of many the most frequent."""
        counts = Counter(cell for cell in column if cell is not None)
        truth = _truth(counts)
        if truth:
            counts = Counter(_YES[cell.lower()] for cell in counts.elements())
        n, missing = len(column), len(column) - counts.total()
        gap = gaps and missing > 0
        kept, pooled = _kept(counts, n)
        common = min(counts, key=lambda level: (-counts[level], level))
        made = cls(name, kept, common, 0.0, gap, pooled, 0.0)
        rare = sum(n for level, n in counts.items() if level not in kept)
        if len(made.levels) == 2:
            second = {kept[-1]: counts[kept[-1]]} if len(kept) == 2 else {}
            told = next(iter(second.values()), missing if gap else rare)
            made = replace(made, share=told / (counts.total() + missing * gap))
        return replace(made, rare=rare / n)

    @property
    def levels(self) -> tuple[str, ...]:
        """Words, then the gap, then the rare ones, in the order of the columns."""
        gap = ("missing",) if self.gap else ()
        return (*self.categories, *gap, *(("rare",) if self.pooled else ()))

    @property
    def columns(self) -> tuple[str, ...]:
        """One column for two levels, else one for each."""
        kept = self.levels[1:] if len(self.levels) == 2 else self.levels
        first = len(self.levels) - len(kept)
        signs = ["="] * (len(self.categories) - first) + [" is "] * (self.gap + self.pooled)
        return tuple(f"{self.name}{s}{level}" for s, level in zip(signs, kept, strict=True))

    @property
    def parts(self) -> tuple[int, ...]:
        """One length scale."""
        return (len(self.columns),)

    @property
    def spans(self) -> tuple[float, ...]:
        """Two levels are sqrt(2) apart."""
        return (_PAIR,) if len(self.levels) == 2 else (1.0,) * len(self.levels)

    @property
    def words(self) -> str:
        """What becomes of it."""
        told = f"a category of {', '.join(_few(self.categories)) or 'rare levels'}"
        told += "; a gap is a level of its own" if self.gap else ""
        return told + (f"; levels that are rare are one ({self.rare:.1%})" if self.pooled else "")

    def place(self, cell: str | None) -> int:
        """The place of a cell among ``levels``, -1 for none of them."""
        return self._places([cell])[0]

    def codes(self, column: Column) -> np.ndarray:
        """The place of every cell among ``levels``, -1 for none of them."""
        distinct = list(set(column.tolist()))
        known = dict(zip(distinct, self._places(distinct), strict=True))
        return np.array([known[cell] for cell in column], dtype=np.intp)

    def _places(self, cells: Sequence[str | None]) -> list[int]:
        at = {level: i for i, level in enumerate(self.categories)}
        other = len(self.levels) - 1 if self.pooled else -1
        if _truth(at):
            spelled = {cell: at[level] for cell, level in _YES.items() if level in at}
        else:
            spelled = _alike(self.categories)
        gap = len(self.categories) if self.gap else other
        found = []
        for cell in cells:
            if cell is None:
                found.append(gap)
            else:
                loose = spelled.get(_plain(cell), other)
                found.append(at.get(cell, loose))
        return found

    def encode(self, column: Column) -> Array:
        """Indicators."""
        codes = self.codes(column)
        if len(self.levels) == 2:
            return np.where(codes < 0, self.share, codes)[:, None].astype(np.float64)
        made = np.zeros((len(codes), len(self.levels)))
        seen = codes >= 0
        made[np.flatnonzero(seen), codes[seen]] = 1.0
        return made

    def unseen(self, column: Column) -> Counter[str]:
        """Words that the model has no column for and did not pool, with their numbers."""
        codes = self.codes(column)
        other = len(self.levels) - 1 if self.pooled else -1
        return Counter(
            c for c, i in zip(column, codes, strict=True) if i == other and c is not None
        )


@dataclass(frozen=True)
class Moment:
    """An input of dates: the time itself in days, and where in the year, week and day it is.

    ``rounds`` are the lengths in days of the circles that the rows go round often enough.
    """

    name: str
    middle: float
    rounds: tuple[float, ...]
    gap: bool = False
    filled: bool = False
    kind: ClassVar[str] = "date"

    @classmethod
    def of(cls, name: str, column: Column, gaps: bool) -> Moment:
        """Learn the median, and which circles matter."""
        known = column[~np.isnan(column)] / _DAY
        span = float(known.max() - known.min())
        hours = bool(np.ptp(known % 1.0) > 0)
        wanted = ((_YEAR, span > 1.5 * _YEAR), (_WEEK, span > 2.0 * _WEEK), (1.0, hours))
        rounds = tuple(length for length, there in wanted if there)
        return cls(name, float(np.median(known)), rounds, gaps and len(known) < len(column))

    @property
    def columns(self) -> tuple[str, ...]:
        """The time, whether it is missing, and two columns a circle."""
        called = {_YEAR: "season", _WEEK: "weekday", 1.0: "hour"}
        rounds = [
            f"{self.name}: {called[r]} {part}" for r in self.rounds for part in ("sin", "cos")
        ]
        return (self.name, *([f"{self.name} is missing"] if self.gap else []), *rounds)

    @property
    def parts(self) -> tuple[int, ...]:
        """A length scale for the time and one for each circle."""
        return (1 + self.gap, *(2 for _ in self.rounds))

    @property
    def spans(self) -> tuple[float, ...]:
        """The time is to be standardised; the circles have radius one."""
        return (NAN, *(1.0 for _ in self.columns[1:]))

    @property
    def words(self) -> str:
        """What becomes of it."""
        told = ", ".join(["a date: time", *(_CALLED[r] for r in self.rounds)])
        return told + _of_gaps(self)

    def encode(self, column: Column) -> Array:
        """Days, and points on circles; their centre where the date is missing."""
        days = np.asarray(column, dtype=np.float64) / _DAY
        circles = []
        for length in self.rounds:
            angle = 2.0 * np.pi * (days % length) / length
            circles += [np.nan_to_num(np.sin(angle)), np.nan_to_num(np.cos(angle))]
        return np.column_stack([_with_gaps(days, self.middle, self.gap), *circles])


@dataclass(frozen=True)
class Unused:
    """A column that becomes nothing, and the reason."""

    name: str
    reason: str
    kind: ClassVar[str] = "not used"
    columns: ClassVar[tuple[str, ...]] = ()
    parts: ClassVar[tuple[int, ...]] = ()
    spans: ClassVar[tuple[float, ...]] = ()

    @property
    def words(self) -> str:
        """Why."""
        return f"left out: {self.reason}"

    def encode(self, column: Column) -> Array:
        """No columns."""
        return np.empty((len(column), 0))


Input = Number | Ordered | Category | Moment | Unused


def truth_as_numbers(column: Column) -> Column:
    """Words for true and false as one and zero, in texts that are to be numbers."""
    told = {"true": "1", "false": "0"}
    return np.array([c if c is None else told.get(c.lower(), c) for c in column], dtype=object)


def _kept(counts: Counter[str], n: int) -> tuple[tuple[str, ...], bool]:
    """Levels that get a column, and whether others are pooled: two at least, or there are none."""
    enough = min(RARE, 1 + n // 20)
    often = [level for level, count in counts.most_common() if count >= enough][:MOST]
    if len(counts) - len(often) < 2 and len(counts) <= MOST:
        often = list(counts)
    return tuple(sorted(often)), len(often) < len(counts)


def _of_gaps(one: _Measured | Moment) -> str:
    if one.filled:
        return "; a gap has the median, and that it was one says nothing"
    return "; a gap has the median and a column that says so" if one.gap else ""


def _with_gaps(values: Array, middle: float, told: bool) -> Array:
    missing = np.isnan(values)
    filled = np.where(missing, middle, values)
    return np.column_stack([filled, missing]) if told else filled[:, None]


def _truth(levels: Sequence[str] | Counter[str] | dict[str, int]) -> bool:
    """Whether these are words for true and false, however they are spelled."""
    return bool(levels) and all(level.lower() in ("true", "false") for level in levels)


def _alike(levels: Sequence[str]) -> dict[str, int]:
    """Levels by their plain spelling, where that is one level's only."""
    times = Counter(_plain(level) for level in levels)
    return {_plain(lvl): i for i, lvl in enumerate(levels) if times[_plain(lvl)] == 1}


def _plain(text: str) -> str:
    """A word without what people spell in several ways: case, blanks, 1.0 for 1."""
    return label(" ".join(text.split()).casefold())


def _few(levels: Sequence[str], most: int = 6) -> list[str]:
    return [*levels[:most], *(["..."] if len(levels) > most else [])]
