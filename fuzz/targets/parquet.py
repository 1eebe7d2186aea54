"""Parquet, columns of every kind in every encoding."""

import datetime
import io
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from fuzz.tables import check as _check

N = 12
DAY = datetime.datetime(2020, 1, 1, 12)


def _table() -> pa.Table:
    rng = np.random.default_rng(0)
    days = [DAY + datetime.timedelta(days=i) for i in range(N)]
    return pa.table(
        {
            "double": rng.normal(size=N),
            "float": rng.normal(size=N).astype("f4"),
            "half": np.arange(N).astype("f2"),
            "small": np.arange(N).astype("i1"),
            "large": np.arange(N).astype("u8"),
            "text": pa.array(["a", "b", None] * (N // 3)),
            "dictionary": pa.array(["x", "y"] * (N // 2)).dictionary_encode(),
            "truth": pa.array([True, False] * (N // 2)),
            "time": pa.array(days),
            "zone": pa.array(days, pa.timestamp("us", "Europe/Berlin")),
            "day": pa.array([day.date() for day in days]),
            "hour": pa.array([day.time() for day in days]),
            "span": pa.array([datetime.timedelta(seconds=i) for i in range(N)]),
            "decimal": pa.array([Decimal(i) / 4 for i in range(N)]),
            "bytes": pa.array([b"ab", b"cd"] * (N // 2)),
            "class": pa.array(["yes", "no"] * (N // 2)),
        }
    )


def seeds() -> list[bytes]:
    """Codecs and encodings."""
    deltas = {
        "small": "DELTA_BINARY_PACKED",
        "text": "DELTA_BYTE_ARRAY",
        "class": "DELTA_LENGTH_BYTE_ARRAY",
        "double": "BYTE_STREAM_SPLIT",
    }
    ways: list[dict[str, object]] = [
        {},
        {"compression": "none", "use_dictionary": False, "data_page_version": "2.0"},
        {"compression": "gzip", "write_page_checksum": True},
        {"compression": "zstd", "store_schema": False},
        {"compression": "none", "use_dictionary": False, "column_encoding": deltas},
    ]
    made = []
    for way in ways:
        stream = io.BytesIO()
        table = _table().select(list(deltas)) if "column_encoding" in way else _table()
        pq.write_table(table, stream, **way)
        made.append(stream.getvalue())
    return made


def check(data: bytes) -> None:
    """Read it."""
    _check(data, "d.parquet")
