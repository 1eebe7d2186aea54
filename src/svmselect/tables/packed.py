"""Compressed files, read as they are unpacked: bounded, and one that is damaged is said to be."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zlib
from pathlib import Path
from typing import IO, Any, cast

from svmselect.files.unpacked import limit, too_large

_OPENERS: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}


def is_packed(path: Path) -> bool:
    """Whether the name of a file says that it is compressed."""
    return path.suffix.lower() in _OPENERS


def open_bytes(path: Path) -> IO[bytes]:
    """Open a file for reading, unpacked."""
    if not is_packed(path):
        return path.open("rb")
    return cast("IO[bytes]", io.BufferedReader(_Unpacked(path), 2**16))


class _Unpacked(io.RawIOBase):
    """What is in a compressed file; too much of it, and what cannot be unpacked, is an error."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.most = limit(path.stat().st_size)
        self._file = _OPENERS[path.suffix.lower()](path, "rb")

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer)
        try:
            content = self._file.read(len(view))
        except (EOFError, zlib.error, lzma.LZMAError, OSError) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise  # of the disk, not of what is on it
            raise ValueError(
                f"{self.path.name} is damaged, cut short or no {self.path.suffix} file "
                f"({error}); copy it again, or pack it again"
            ) from None
        view[: len(content)] = content
        if self._file.tell() > self.most:
            raise too_large(self.path.name, self.most)
        return len(content)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return int(self._file.seek(offset, whence))

    def tell(self) -> int:
        return int(self._file.tell())

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()
