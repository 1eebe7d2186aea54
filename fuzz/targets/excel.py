"""Workbooks, as bytes, and as members that are packed again, where most changes would not get."""

import io
from functools import cache
from zipfile import ZipFile

import pandas as pd

from fuzz.members import PACKED, joined, packed
from fuzz.tables import FRAME
from fuzz.tables import check as _check

TOKENS = (
    b"<c ", b"</c>", b"<v>", b"</v>", b' r="A1"', b' r="XFD1048576"', b' r="A0"', b' t="s"',
    b' t="inlineStr"', b' t="e"', b' t="d"', b' t="b"', b' t="str"', b' s="99"', b"#REF!", b"&lt;",
    b"<row>", b'<dimension ref="A1:B2"/>', b"<!DOCTYPE x [<!ENTITY a 'b'>]>", b"&a;", b"<f>1+1</f>",
    b"<mergeCell ref='A1:B3'/>", b'numFmtId="14"', b"xl/worksheets/sheet1.xml",
)  # fmt: skip


@cache
def _book() -> bytes:
    stream = io.BytesIO()
    frame = FRAME.head(8).assign(when=pd.Timestamp("2020-01-31 12:00"), truth=True, gap=None)
    frame.to_excel(stream, index=False)
    return stream.getvalue()


def seeds() -> list[bytes]:
    """A file, its members, and those without which there is no table alone."""
    with ZipFile(io.BytesIO(_book())) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    needed = {
        name: data for name, data in members.items() if not name.startswith(("docP", "xl/th"))
    }
    return [_book(), joined(members), joined(needed)]


def check(data: bytes) -> None:
    """Read it."""
    _check(packed(data) if data.startswith(PACKED) else data, "d.xlsx")
