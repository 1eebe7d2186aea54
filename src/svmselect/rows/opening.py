"""What ``fit`` may be given beside arrays and frames, as rows."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from scipy import sparse

from svmselect.rows.base import Rows
from svmselect.rows.local import ArrayRows, spooled


def are_files(X: Any) -> bool:
    """Whether these are names of files: one, a folder, a pattern, or a list of them."""
    one = isinstance(X, str | os.PathLike)
    several = isinstance(X, list | tuple) and bool(X)
    return one or (several and all(isinstance(name, str | os.PathLike) for name in X))


def on_dask(X: Any) -> bool:
    """Whether this is a collection of Dask's."""
    return hasattr(type(X), "__dask_graph__") and hasattr(type(X), "to_delayed")


def elsewhere(X: Any) -> bool:
    """Whether these are rows that need not be in memory at once: see ``rows_of``, and files."""
    if isinstance(X, np.memmap):
        return X.ndim == 2
    if are_files(X) or on_dask(X):
        return True
    if isinstance(X, np.ndarray | str | bytes | list | tuple) or sparse.issparse(X):
        return False
    array = hasattr(X, "__array__") or hasattr(X, "shape") or hasattr(X, "columns")
    return isinstance(X, Iterable) and not array


@contextmanager
def rows_of(X: Any, y: Any, weights: Any, workers: int | None = None) -> Iterator[Rows]:
    """Rows of a memory map or of chunks, that can be read again and again."""
    if isinstance(X, np.ndarray):
        labels = np.asarray(y)
        w = None if weights is None else np.asarray(weights, dtype=np.float64)
        if labels.shape != X.shape[:1] or (w is not None and w.shape != X.shape[:1]):
            raise ValueError(f"X has {len(X)} rows; y and sample_weight must have one entry a row")
        yield ArrayRows(X, labels, w, workers)
        return
    if y is not None or weights is not None:
        raise ValueError("an iterator of chunks has the labels in it: yield (X, y), and give no y")
    with spooled(X, workers) as rows:
        yield rows
