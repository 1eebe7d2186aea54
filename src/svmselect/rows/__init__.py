"""Rows that need not be in memory: they come in chunks, and what is asked of them is a sum.

``Rows.total(function, *arguments)`` is the sum of ``function(chunk, *arguments)`` over all chunks.
Who carries it out is all that a kind of rows decides: this process, its threads, or the workers of
a Dask cluster, where the chunks stay.
"""

from svmselect.rows.base import Chunk, Rows
from svmselect.rows.local import ArrayRows, LocalRows, spooled

__all__ = ["ArrayRows", "Chunk", "LocalRows", "Rows", "spooled"]
