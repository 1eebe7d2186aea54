"""Archives as a list of their members, so that changes reach what is packed in them."""

from __future__ import annotations

import io
import struct
import warnings
import zipfile
from zipfile import ZIP_DEFLATED, ZipFile

PACKED = b"PACKED"  # how an input begins that is a list of members


def joined(members: dict[str, bytes]) -> bytes:
    """Members one after another, each with its name and length before it."""
    made = PACKED
    for name, content in members.items():
        made += struct.pack("<HI", len(name.encode()), len(content)) + name.encode() + content
    return made


def packed(data: bytes) -> bytes:
    """The archive of a list of members, as far as it goes."""
    stream = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # two members of one name
        with ZipFile(stream, "w", ZIP_DEFLATED) as archive:
            for name, content in _split(data).items():
                archive.writestr(zipfile.ZipInfo(name or "x"), content)
    return stream.getvalue()


def _split(data: bytes) -> dict[str, bytes]:
    members, at = dict[str, bytes](), len(PACKED)
    while at + 6 <= len(data):
        name, content = struct.unpack_from("<HI", data, at)
        at += 6 + name
        members[data[at - name : at].decode("latin-1")] = data[at : at + content]
        at += content
    return members
