"""JSON lines."""

import gzip
import json

from fuzz.tables import FRAME
from fuzz.tables import check as _check

TOKENS = (
    b'{"size": 1}', b'"class"', b"null", b"true", b"NaN", b"-Infinity", b"[1]", b"{}", b'"\\ud800"',
    b'"\\u0000"', b"1e999", b'"2020-01-01"', b"[" * 2000, b'{"a":' * 500,
)  # fmt: skip


def seeds() -> list[bytes]:
    """All keys in every line, and some in some."""
    lines = FRAME.to_json(orient="records", lines=True)
    odd = [{"size": i, "when": f"2020-01-0{i}", "class": i % 2 > 0} for i in range(1, 10)]
    odd += [{"class": None, "size": 1e-9}, {"size": 2**60, "class": "x"}, {}]
    mixed = "\n".join(json.dumps(one) for one in odd)
    return [lines.encode(), mixed.encode(), gzip.compress(lines.encode(), mtime=0)]


def check(data: bytes) -> None:
    """Read it."""
    _check(data, "d.jsonl")
