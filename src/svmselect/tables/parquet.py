"""Parquet files, through pyarrow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from svmselect.tables.source import Source, unique_names

_INDEX = "__index_level_"


@dataclass(frozen=True)
class Parquet:
    """Typed columns."""

    path: Path
    names: tuple[str, ...]
    stored: tuple[str, ...]

    def frames(self, rows: int) -> Iterator[Any]:
        """Data frames with the types of the file."""
        seen = 0
        with _arrow().ParquetFile(self.path) as file:
            for batch in file.iter_batches(batch_size=rows, columns=list(self.stored)):
                frame = batch.to_pandas(ignore_metadata=True)
                frame.columns = list(self.names)
                frame.index = range(seen, seen + len(frame))
                seen += len(frame)
                yield frame


def parquet_source(path: Path, title: str) -> Source:
    """Read the schema; the index a data frame was saved with is left out."""
    arrow = _arrow()
    try:
        with arrow.ParquetFile(path) as file:
            fields = [one for one in file.schema_arrow if not one.name.startswith(_INDEX)]
    except (OSError, ValueError) as error:
        raise ValueError(f"{title} is no complete Parquet file: {error}") from None
    stored = [one.name for one in fields]
    if len(stored) < 2:
        raise ValueError(f"{title} has one column only; a table needs the target and an input")
    names = unique_names(stored)
    words = [name for name, one in zip(names, fields, strict=True) if _is_words(one.type)]
    reader = Parquet(path, names, tuple(stored))
    return Source(path, title, "Parquet", names, reader, nominal=frozenset(words))


def _is_words(kind: Any) -> bool:
    """Whether a column is categories by its type, however its values look."""
    from pyarrow import types

    return bool(types.is_dictionary(kind) or types.is_boolean(kind) or types.is_temporal(kind))


def _arrow() -> Any:
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise ValueError(
            f"Parquet files need the package pyarrow ({error}): pip install 'svmselect[parquet]', "
            "or save the table as CSV"
        ) from None
    return pyarrow.parquet
