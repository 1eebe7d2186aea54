"""What ``fit`` and ``predict`` may be given instead of rows in memory, opened for reading."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Any

import numpy as np

from svmselect.estimators.by_rows import Many, look, refusal
from svmselect.parallel import Dask, Halted
from svmselect.rows.base import Rows, Told
from svmselect.rows.cluster import parquet_rows
from svmselect.rows.opening import are_files, elsewhere, on_dask, rows_of
from svmselect.rows.tables import TableChunks, TableRows
from svmselect.tables import Encoder, Source, gather, open_source
from svmselect.tables.roles import unused
from svmselect.types import Note

_PIECE = 2**16  # rows of an array that are predicted at a time


@contextmanager
def opened(
    model: Any, X: Any, y: Any, weights: Any, told: Told | None = None
) -> Iterator[tuple[Any, Any, Any]]:
    """What ``fit`` was given: arrays as they are, all else as rows that come in chunks."""
    if not elsewhere(X):
        yield X, y, weights
        return
    said = refusal(model, None)
    if said is not None:
        raise ValueError(f"{type(model).__name__} cannot read rows in chunks here: {said}")
    seed = model._seed(model._checkpoint)
    try:
        if are_files(X):
            yield _of_files(model, X, y, weights, seed, told), None, None
        elif on_dask(X):
            from svmselect.estimators.on_dask import of_collections

            yield of_collections(model, X, y, weights, seed, told), None, None
        else:
            with rows_of(X, y, weights) as rows:
                yield look(rows, seed, told), None, None
    except Halted:  # in the first pass, of which nothing is left
        raise KeyboardInterrupt from None


def rows_in(X: Any) -> int:
    """How many rows these are, 0 where that is not known without reading them."""
    return 0 if elsewhere(X) else int(getattr(X, "shape", (0,))[0])


def _of_files(model: Any, X: Any, y: Any, weights: Any, seed: int, told: Told | None) -> Many:
    """The rows of files, ``y`` being the name of the target."""
    if not isinstance(y, str):
        raise ValueError("of files give y as the name of the column that is to be predicted")
    if weights is not None:
        raise ValueError("sample_weight is for arrays; the rows of files count once each")
    source = open_source(X)
    target = source.column(y)
    table = gather(source, target, None, seed)
    left = unused(table, target)
    inputs = table.without([target, *(one.name for one in left)])
    encoder = Encoder.of(inputs, model.missing)
    if not encoder.columns:
        raise ValueError(f"{source.title} has no input left besides the target {target!r}")
    notes = [Note("course", f"column {one.name!r} is left out: {one.reason}") for one in left]
    return many_of_table(TableChunks(source, encoder, target, texts=False), seed, told, notes)


def many_of_table(
    make: TableChunks,
    seed: int,
    told: Told | None = None,
    notes: Sequence[Note] = (),
    cluster: Dask | None = None,
) -> Many:
    """The rows of a table that was looked at, after the first pass over them.

    Parquet files are read by the workers of a ``cluster``, if there is one.
    """
    rows: Rows = TableRows(make)
    if cluster is not None:
        rows = parquet_rows(make, make.source.parquet, cluster)
    return look(rows, seed, told, make.encoder, tuple(notes))


def taken(model: Any, encoder: Encoder) -> None:
    """Let a model know the inputs that rows in chunks were encoded from."""
    model.encoder_ = encoder
    model.n_features_in_ = len(encoder.inputs)
    model.feature_names_in_ = np.array(list(encoder.names), dtype=object)


def by_piece(method: Callable[..., Any]) -> Callable[..., Any]:
    """Let a method of rows in memory take what need not be: piece by piece, or lazily on Dask."""

    @wraps(method)
    def anywhere(self: Any, X: Any, *rest: Any, **named: Any) -> Any:
        if not elsewhere(X):
            return method(self, X, *rest, **named)
        if on_dask(X):
            from svmselect.estimators.on_dask import lazily

            return lazily(method, self, X, *rest, **named)
        parts = [method(self, piece, *rest, **named) for piece in _pieces(self, X)]
        if not parts:
            raise ValueError("there are no rows; give at least one")
        return np.concatenate(parts)

    return anywhere


def _pieces(model: Any, X: Any) -> Iterator[Any]:
    """Arrays, frames or tables that are in memory one at a time."""
    if isinstance(X, np.ndarray):
        for first in range(0, len(X), _PIECE):
            yield np.asarray(X[first : first + _PIECE])
    elif are_files(X):
        yield from _tables(vars(model).get("encoder_"), open_source(X))
    else:
        for piece in X:
            yield piece[0] if isinstance(piece, tuple) else piece


def _tables(encoder: Any, source: Source) -> Iterator[Any]:
    if not isinstance(encoder, Encoder):
        raise ValueError(
            f"the model was fitted to arrays, and {source.title} has named columns; fit to a "
            "table, or give an array"
        )
    encoder.match(source.names, source.title, source.sparse)
    before = 0
    for frame in source.frames():
        yield encoder.read(frame, source, before)
        before += len(frame)
