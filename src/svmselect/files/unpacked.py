"""How much a compressed file may unpack to: small files that swell to gigabytes are refused."""

from __future__ import annotations

import os
import re
import struct
import zlib
from zipfile import BadZipFile

FLOOR = 2**28
"""Bytes that any file may unpack to: 256 MiB."""
RATIO = 100
"""Times its own size that a larger one may unpack to, which tables and models stay well below."""
VARIABLE = "SVMSELECT_MAX_UNPACKED"

DAMAGE = (
    BadZipFile, zlib.error, OSError, EOFError, ValueError, RuntimeError, OverflowError, IndexError,
    struct.error,
)  # fmt: skip
"""What zipfile ends in where the bytes are not what they should be."""

_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


def limit(packed: int) -> int:
    """Bytes that a file of ``packed`` bytes may unpack to; $SVMSELECT_MAX_UNPACKED overrules it."""
    said = os.environ.get(VARIABLE, "").strip()
    if not said:
        return max(FLOOR, RATIO * packed)
    found = re.fullmatch(r"([0-9]{1,15})([KMGT]?)", said.upper())
    if found is None:
        raise ValueError(
            f"the environment variable {VARIABLE} is {said!r}; give it bytes, as 8G or 500M"
        )
    return int(found.group(1)) * _UNITS[found.group(2)]


def too_large(title: object, most: int) -> ValueError:
    """What is said of a file that unpacks to more."""
    return ValueError(
        f"{title} unpacks to more than {_size(most)}, which is refused as an attack on the memory; "
        f"if it is what you expect, allow more by the environment variable {VARIABLE}, e.g. "
        f"{VARIABLE}={_more(most)}"
    )


def _size(count: int) -> str:
    """Bytes as people read them."""
    value = float(count)
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if value < 1024.0:
            return f"{value:.4g} {unit}"
        value /= 1024.0
    return f"{value:.4g} TiB"


def _more(count: int) -> str:
    """A bound that is about four times as large, as the variable takes it."""
    power = 2 ** max(0, (4 * count - 1).bit_length())
    for unit, size in reversed(_UNITS.items()):
        if power >= size:
            return f"{power // size}{unit}"
    return str(power)
