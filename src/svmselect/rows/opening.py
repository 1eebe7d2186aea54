"""What ``fit`` may be given beside arrays, as rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from scipy import sparse

from svmselect.rows.base import Rows
from svmselect.rows.local import ArrayRows, spooled


def elsewhere(X: Any) -> bool:
    """Whether these are rows that need not be in memory at once: a memory map, or chunks."""
    if isinstance(X, np.memmap):
        return X.ndim == 2
    if isinstance(X, np.ndarray | str | bytes | list | tuple) or sparse.issparse(X):
        return False
    array = hasattr(X, "__array__") or hasattr(X, "shape") or hasattr(X, "columns")
    return isinstance(X, Iterable) and not array


@contextmanager
def rows_of(X: Any, y: Any, weights: Any, workers: int | None = None) -> Iterator[Rows]:
    """Rows that can be read again and again."""
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
