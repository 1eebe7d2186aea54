"""CSV and its kin, compressed or not."""

import bz2
import gzip
import lzma

from fuzz.tables import FRAME
from fuzz.tables import check as _check

TOKENS = (
    b",",
    b";",
    b"\t",
    b"|",
    b'""',
    b"\r\n",
    b"1.234,5",
    b"NA",
    b"size",
    b"class",
    b"\x1f\x8b",
)


def seeds() -> list[bytes]:
    """One of each dialect."""
    text = FRAME.to_csv(index=False)
    comma = FRAME.to_csv(index=False, sep=";", decimal=",")
    made = [
        text,
        comma,
        FRAME.to_csv(index=False, sep="\t"),
        FRAME.to_csv(index=False, header=False),
    ]
    raw = [one.encode() for one in made]
    packed = [gzip.compress(raw[0], mtime=0), bz2.compress(raw[0]), lzma.compress(raw[0])]
    return [*raw, text.encode("utf-16"), text.encode("utf-8-sig"), *packed]


def check(data: bytes) -> None:
    """Read it."""
    _check(data, "d.csv")
