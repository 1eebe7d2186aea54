"""From a file and its options to a matrix and labels, with a note on all that was done."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from svmselect.cli.console import count
from svmselect.cli.options import Missing
from svmselect.data import stratified_folds
from svmselect.estimators.scaling import Scaling
from svmselect.tables import Encoder, Source, Table, gather, open_source
from svmselect.tables.gather import labels_of
from svmselect.tables.roles import Left, unused, with_roles
from svmselect.tables.source import listed
from svmselect.tables.table import check_complete, joined, missing_in
from svmselect.types import Array

_MOST_CLASSES = 100
_ROOM = 2**26  # numbers of a matrix that is held in memory: half a gigabyte


@dataclass(frozen=True)
class TableOptions:
    """What of a table is to be used, and how."""

    target: str | None = None
    header: bool | None = None
    missing: str = "auto"
    ignore: tuple[str, ...] = ()
    use: tuple[str, ...] = ()
    rows: int | None = None
    seed: int = 0
    categorical: tuple[str, ...] = ()
    ordered: tuple[str, ...] = ()
    groups: str | None = None

    @classmethod
    def of(
        cls,
        target: str | None,
        header: bool | None,
        missing: Missing,
        ignore: list[str] | None,
        use: list[str] | None,
        rows: int | None,
        seed: int,
        categorical: list[str] | None = None,
        ordered: list[str] | None = None,
        groups: str | None = None,
    ) -> TableOptions:
        """As the options of a command say it."""
        return cls(
            target, header, missing.learned, tuple(ignore or ()), tuple(use or ()), rows, seed,
            tuple(categorical or ()), tuple(ordered or ()), groups,
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Prepared:
    """Rows that can be classified; ``notes`` say what was left out, ``left`` has these columns.

    ``streamed`` says that they are a sample of rows that are to be read in passes.
    """

    source: Source
    target: str
    encoder: Encoder
    X: Table
    y: NDArray[Any]
    total: int
    notes: tuple[str, ...]
    left: tuple[Left, ...] = ()
    groups: NDArray[Any] | None = None
    streamed: bool = False

    def matrix(self, standardize: bool) -> Array:
        """The rows as numbers, as an estimator would have them."""
        X = self.encoder.encode(self.X, self.source.title)
        scaling = Scaling.of(X, np.ones(len(X)), standardize, spans=self.encoder.spans)
        return scaling(X)

    @property
    def classes(self) -> dict[str, int]:
        """How often each label occurs."""
        return dict(sorted(Counter(self.y.tolist()).items()))

    @property
    def words(self) -> str:
        """The data in one line."""
        held = self.classes
        shown = ", ".join(f"{name} {n:,}" for name, n in list(held.items())[:6])
        more = ", ..." if len(held) > 6 else ""
        part = "" if self.total == len(self.y) else f" of {self.total:,}"
        part += " rows in memory" if self.streamed else " rows"
        inputs = count(len(self.encoder.inputs), "input")
        return (
            f"{self.source.title} ({self.source.words}): {len(self.y):,}{part}, {inputs}; "
            f"{self.target} is {shown}{more}"
        )


def prepare(data: str | Sequence[str], options: TableOptions, streams: bool = False) -> Prepared:
    """Read a table, notice what is no input, refuse what cannot be used.

    ``streams`` allows for rows that do not fit in memory, of which a sample is kept.
    """
    source = open_source(data, options.header)
    target = source.column(options.target)
    ignore = {source.column(name) for name in options.ignore}
    use = {source.column(name) for name in options.use}
    table = gather(source, target, options.rows, options.seed)
    notes = list(source.notes)
    streamed = streams and len(table) < table.total
    if len(table) < table.total and not streamed:
        notes.append(
            f"{len(table):,} of {table.total:,} rows are used, drawn at random (seed "
            f"{options.seed}); --rows changes that"
        )
    table, labels = _labelled(table, target, source, options.missing != "error", notes)
    table = with_roles(table, source, options.categorical, options.ordered)
    members = None if options.groups is None else source.column(options.groups)
    groups = None if members is None else groups_of(table, members, target, source)
    left = unused(table if members is None else table.without([members]), target, ignore, use)
    if members is not None:
        left.append(Left(members, "its values are the groups"))
    notes += [f"column {one.name!r} is left out: {one.reason}" for one in left]
    inputs = table.without([target, *(one.name for one in left)])
    if not inputs.columns:
        raise ValueError(
            f"{source.title} has no input left besides the target {target!r}: every other column "
            "has one value or names the rows; --use NAME keeps one nevertheless"
        )
    if options.missing == "error":
        check_complete(inputs, source.title)
    encoder = Encoder.of(inputs, options.missing)
    most = _most_rows(len(encoder.columns), len(np.unique(labels)))
    if len(labels) > most:
        kept = subset(len(labels), labels, most, options.seed)
        streamed = streams
        if not streamed:
            notes.append(
                f"{len(kept):,} of {len(labels):,} rows are used, which is what "
                f"{len(encoder.columns)} encoded columns and {len(np.unique(labels))} classes "
                "leave room for in memory"
            )
        inputs, labels = inputs.take(kept), labels[kept]
        groups = None if groups is None else groups[kept]
    encoder.check(inputs, source.title)
    return Prepared(
        source, target, encoder, inputs, labels, table.total, tuple(notes), tuple(left), groups,
        streamed,
    )  # fmt: skip


def prepare_test(data: str, like: Prepared, options: TableOptions) -> tuple[Table, NDArray[Any]]:
    """The rows of another file, as the first was read."""
    source = open_source(data, options.header)
    if like.target not in source.names:
        raise ValueError(
            f"{source.title} has no column {like.target!r}, the target; its columns are "
            f"{listed(source.names)}"
        )
    like.encoder.match(source.names, source.title, source.sparse)
    most = _most_rows(len(like.encoder.columns), 2)
    tables, labels, before = [], [], 0
    for frame in source.frames():
        table = like.encoder.read(frame, source, before)
        if options.missing == "error":
            check_complete(table, source.title)
        like.encoder.check(table, source.title)
        tables.append(table)
        labels.append(labels_of(frame[like.target].tolist()))
        before += len(frame)
        if before > most:
            raise ValueError(
                f"{source.title} has more than {most:,} rows, too many to test on in memory; "
                "fit without --test and let svmselect predict tell the error"
            )
    y = np.concatenate(labels) if labels else np.empty(0, dtype=object)
    if not len(y):
        raise ValueError(f"{source.title} has no rows; give at least some to test on")
    known = np.array([label is not None for label in y], dtype=np.bool_)
    strange = sorted(set(y[known]) - set(like.y))
    if strange:
        raise ValueError(
            f"{source.title} has the class {strange[0]!r}, which {like.source.title} has not; "
            "correct it, or train on rows of that class too"
        )
    return joined(tables)[known], y[known].astype(str)


def subset(n: int, y: NDArray[Any], size: int, seed: int) -> NDArray[np.intp]:
    """About ``size`` of n rows, in proportion from every class, at least two of each."""
    if n <= size:
        return np.arange(n)
    rng = np.random.default_rng(seed)
    drawn = []
    for label in np.unique(y):
        members = np.flatnonzero(y == label)
        wanted = min(len(members), max(2, round(size * len(members) / n)))
        drawn.append(rng.choice(members, wanted, replace=False))
    return np.sort(np.concatenate(drawn))


def groups_of(table: Table, name: str, target: str, source: Source) -> NDArray[Any]:
    """The group of each row; refuses the target, gaps, and a single group."""
    if name == target:
        raise ValueError(f"--groups {name}: this is the target; groups are what rows belong to")
    column = table.columns[name]
    gaps = missing_in(column)
    if gaps.any():
        raise ValueError(
            f"--groups {name}: row {table.rows[int(np.argmax(gaps))]} of {source.title} has no "
            "value, so it is not known which group it belongs to; fill it in, or remove the row"
        )
    words = column.astype(str) if column.dtype == object else column
    found = np.unique(words, return_inverse=True)[1].ravel()
    if found.max() == 0:
        raise ValueError(f"--groups {name}: all rows of {source.title} are of one group")
    return found


def split(
    y: NDArray[Any], part: float, seed: int, groups: NDArray[Any] | None = None
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows to train on and rows held apart, in proportion from every class.

    Two rows of a class stay in the first: one to train on where the other is held out by a fold.
    Rows of one group stay together.
    """
    if groups is not None:
        apart = np.sort(stratified_folds(y, max(2, round(1.0 / part)), seed, groups)[0])
        return np.setdiff1d(np.arange(len(y)), apart), apart
    rng = np.random.default_rng(seed)
    held = []
    for label in np.unique(y):
        members = rng.permutation(np.flatnonzero(y == label))
        held.append(members[: min(round(part * len(members)), max(len(members) - 2, 0))])
    apart = np.sort(np.concatenate(held))
    rest = np.setdiff1d(np.arange(len(y)), apart)
    if not len(apart) or len(np.unique(y[rest])) < 2:
        raise ValueError(
            f"{len(y)} rows are too few to hold {part:g} of them apart; leave --holdout out"
        )
    return rest, apart


def _most_rows(width: int, classes: int) -> int:
    """Rows whose inputs, and whose coefficients in every pair of classes, fit in memory."""
    return max(100, _ROOM // max(width, classes * (classes - 1) // 2))


def _labelled(
    table: Table, target: str, source: Source, leave: bool, notes: list[str]
) -> tuple[Table, NDArray[Any]]:
    """Rows with a label, and the labels; refuses what is no classification."""
    labels = labels_of(table.columns[target])
    known = np.array([label is not None for label in labels], dtype=np.bool_)
    gaps = int((~known).sum())
    if gaps and not leave:
        raise ValueError(
            f"the target {target!r} of {source.title} has {gaps} missing values, the first in row "
            f"{table.rows[int(np.argmin(known))]}; fill them in, remove the rows, or say "
            "--missing auto, which leaves these rows out"
        )
    if gaps:
        notes.append(f"{count(gaps, 'row')} without a value of {target!r} left out")
        table, labels = table.take(known), labels[known]
    counts = Counter(labels.tolist())
    _check_classes(counts, target, source)
    return table, labels.astype(str)


def _check_classes(counts: Counter[str], target: str, source: Source) -> None:
    n = counts.total()
    if len(counts) < 2:
        held = f"one class only, {next(iter(counts))!r}" if counts else "no values"
        raise ValueError(
            f"the target {target!r} of {source.title} has {held}; a classifier needs rows of two "
            "classes or more"
        )
    if len(counts) > max(20, 0.2 * n) or len(counts) > _MOST_CLASSES:
        numbers = _all_numbers(list(counts))
        advice = "a number to be predicted is a task of regression" if numbers else "is it a name?"
        raise ValueError(
            f"the target {target!r} of {source.title} has {len(counts)} different values in {n} "
            f"rows, too many for classes: {advice}; give another --target or group its values"
        )
    if counts.most_common()[0][1] < 2:
        raise ValueError(
            f"the target {target!r} of {source.title} has no class of more than one row; "
            "a classifier needs several rows of a class"
        )


def _all_numbers(labels: Sequence[str]) -> bool:
    from svmselect.tables.cells import number

    return all(number(label, ".") is not None for label in labels)
