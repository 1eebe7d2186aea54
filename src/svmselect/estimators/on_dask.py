"""Collections of Dask's: fitted to where they are, predicted lazily."""

from __future__ import annotations

from typing import Any

import numpy as np

from svmselect.estimators.by_rows import Many, look
from svmselect.estimators.strategies.grown import SAMPLE_CELLS
from svmselect.parallel import Dask
from svmselect.rows.base import Told
from svmselect.rows.cluster import (
    ClusterRows,
    array_chunk,
    bare,
    encoded,
    sizes_of,
    some,
    split,
)
from svmselect.rows.opening import on_dask
from svmselect.tables import Encoder
from svmselect.tables.dataframe import table_of
from svmselect.tables.gather import ROWS


def of_collections(
    model: Any, X: Any, y: Any, weights: Any, seed: int, told: Told | None = None
) -> Many:
    """The rows of an array or a data frame of Dask's, after the first pass over them."""
    cluster = Dask.running()
    blocks: list[tuple[Any, ...]] = [(one,) for one in _blocks(X)]
    known = None if _is_frame(X) else X.chunks[0]
    if known is None or any(np.isnan(size) for size in known):
        known = sizes_of(blocks, cluster)
    sizes = tuple(int(size) for size in known)
    for name, part in (("y", y), ("sample_weight", weights)):
        if part is None and name == "y":
            raise ValueError("y is None; give the labels, as a collection of Dask's or an array")
        if part is not None:
            blocks = [(*b, p) for b, p in zip(blocks, _alike(name, part, sizes), strict=True)]
    if not _is_frame(X):
        width = int(X.shape[1])
        rows = ClusterRows("X", width, tuple(blocks), sizes, array_chunk, cluster)
        return look(rows, seed, told)
    raw = ClusterRows("X", 0, tuple(b[:1] for b in blocks), sizes, bare, cluster)
    most = min(ROWS, max(1, SAMPLE_CELLS // max(1, len(X.columns))))
    sample = raw.total(some, seed, most, told=told).cut().frame
    encoder = Encoder.of(table_of(sample), model.missing)
    if not encoder.columns:
        raise ValueError("no column of X can be used; give one that varies")
    width = len(encoder.columns)
    rows = ClusterRows("X", width, tuple(blocks), sizes, encoded(encoder), cluster)
    return look(rows, seed, told, encoder)


def lazily(method: Any, model: Any, X: Any, *rest: Any, **named: Any) -> Any:
    """What a method says of the blocks, as an array of Dask's that is computed when asked for."""
    first = np.zeros((1, model.n_features_in_))
    given = (model, method.__name__, rest, named)
    if _is_frame(X):
        shape = _called(X._meta_nonempty, *given)
        return X.map_partitions(_called, *given, meta=shape[:0])
    like = _called(first, *given)
    whole = X.rechunk({1: -1})
    if like.ndim == 1:
        return whole.map_blocks(_called, *given, drop_axis=1, dtype=like.dtype)
    return whole.map_blocks(
        _called, *given, chunks=(whole.chunks[0], (like.shape[1],)), dtype=like.dtype
    )


def _called(piece: Any, model: Any, name: str, rest: Any, named: Any) -> Any:
    return np.asarray(getattr(model, name)(piece, *rest, **named))


def _is_frame(X: Any) -> bool:
    return hasattr(X, "columns")


def _blocks(part: Any) -> list[Any]:
    """The pieces of a collection, rows only."""
    if hasattr(part, "chunks"):
        part = part.rechunk({1: -1}) if part.ndim == 2 else part
        return list(np.asarray(part.to_delayed(), dtype=object).ravel())
    # only the columns that are needed are read, but partitions stay as they are: to optimise would
    # join them where few columns are left, and those of y would not be those of X
    simplify = getattr(part, "simplify", None)
    return list((part if simplify is None else simplify()).to_delayed(optimize_graph=False))


def _alike(name: str, part: Any, sizes: tuple[int, ...]) -> list[Any]:
    """Labels or weights in the blocks that the inputs have."""
    if not on_dask(part):
        if len(part) != sum(sizes):
            raise ValueError(f"X has {sum(sizes):,} rows and {name} {len(part):,} entries")
        return list(split(np.asarray(part), sizes))
    chunks = getattr(part, "chunks", None)
    if chunks is not None and not any(np.isnan(size) for size in chunks[0]):
        if sum(chunks[0]) != sum(sizes):
            raise ValueError(f"X has {sum(sizes):,} rows and {name} {sum(chunks[0]):,} entries")
        part = part.rechunk((sizes,))
    blocks = _blocks(part)
    if len(blocks) != len(sizes):
        raise ValueError(
            f"X has {len(sizes)} partitions and {name} {len(blocks)}; partition them alike"
        )
    return blocks
