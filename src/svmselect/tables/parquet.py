"""Parquet files, through pyarrow."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from svmselect.files.unpacked import limit, too_large
from svmselect.tables.source import Source, renamed, unique_names

_INDEX = "__index_level_"
_CHECKED = {"page_checksum_verification": True}  # where the file has any


@dataclass(frozen=True)
class Parquet:
    """Typed columns."""

    path: Path
    title: str
    names: tuple[str, ...]
    stored: tuple[str, ...]

    def frames(self, rows: int) -> Iterator[Any]:
        """Data frames with the types of the file."""
        seen = 0
        with _told(self.title), _arrow().ParquetFile(self.path, **_CHECKED) as file:
            for batch in file.iter_batches(batch_size=rows, columns=list(self.stored)):
                batch.validate(full=True)  # its texts, for one, which are looked at only later
                frame = batch.to_pandas(ignore_metadata=True)
                frame.columns = list(self.names)
                frame.index = range(seen, seen + len(frame))
                seen += len(frame)
                yield frame


def parquet_source(path: Path, title: str) -> Source:
    """Read the schema; the index a data frame was saved with is left out."""
    arrow = _arrow()
    with _told(title), arrow.ParquetFile(path) as file:
        fields = [one for one in file.schema_arrow if not one.name.startswith(_INDEX)]
        _check_size(file.metadata, path, title)
    for one in fields:
        if _is_nested(one.type):
            raise ValueError(
                f"column {one.name!r} of {title} is nested ({str(one.type)[:40]}); a table has one "
                "value in a cell, so flatten the column or save the file without it"
            )
    stored = [one.name for one in fields]
    if len(stored) < 2:
        raise ValueError(f"{title} has one column only; a table needs the target and an input")
    if len(set(stored)) < len(stored):
        again = next(name for name in stored if stored.count(name) > 1)
        raise ValueError(f"{title} has two columns {again!r}; save it with a name for each")
    names = unique_names(stored)
    words = [name for name, one in zip(names, fields, strict=True) if _is_words(one.type)]
    reader = Parquet(path, title, names, tuple(stored))
    return Source(
        path, title, "Parquet", names, reader, nominal=frozenset(words),
        notes=renamed(stored, names), parquet=(path.absolute(),), stored=tuple(stored),
    )  # fmt: skip


def _check_size(metadata: Any, path: Path, title: str) -> None:
    """Refuse a file whose columns unpack to far more than it has."""
    groups = (metadata.row_group(i) for i in range(metadata.num_row_groups))
    most = limit(path.stat().st_size)
    if sum(max(0, one.total_byte_size) for one in groups) > most:
        raise too_large(title, most)


@contextmanager
def _told(title: str) -> Iterator[None]:
    """What pyarrow says of a file that it cannot read, in a sentence that names the file."""
    from pyarrow import ArrowException

    try:
        yield
    except (ArrowException, OSError, ValueError, TypeError, KeyError, OverflowError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # of the disk, not of what is on it
        if type(error) is ValueError and title in str(error):
            raise  # a sentence of ours
        raise ValueError(
            f"{title} is no complete Parquet file, or damaged: {' '.join(str(error).split())[:200]}"
            "; copy it or save it again"
        ) from None


def _is_nested(kind: Any) -> bool:
    from pyarrow import types

    return bool(types.is_nested(kind))


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
