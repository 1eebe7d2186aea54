"""Files that grow line by line: a line that a kill has torn is dropped, never continued."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from svmselect.files.whole import naming

_BLOCK = 2**16


def append_line(path: Path, line: str) -> None:
    """Add one line; a torn one at the end is cut off first.

    It survives the end of this process from here on. Where there is no room for all of it, the file
    is left as it was.
    """
    with naming(path), path.open("r+b" if path.exists() else "w+b", buffering=0) as file:
        whole = _whole(file.fileno())
        file.truncate(whole)
        file.seek(whole)
        left = memoryview(line.encode())
        try:
            while left:
                left = left[file.write(left) or 0 :]
        except OSError:
            with suppress(OSError):
                file.truncate(whole)
            raise


def whole_lines(content: bytes) -> list[bytes]:
    """The lines that have an end, without it."""
    return content.split(b"\n")[:-1]


def torn_beginning(content: bytes, beginning: str) -> bool:
    """Whether a file without any line end may be one of ours, torn in its first line."""
    mark = beginning.encode()
    return content.startswith(mark) or mark.startswith(content)


def _whole(opened: int) -> int:
    """How many bytes of a file are whole lines."""
    end = os.lseek(opened, 0, os.SEEK_END)
    while end:
        start = max(0, end - _BLOCK)
        os.lseek(opened, start, os.SEEK_SET)
        at = os.read(opened, end - start).rfind(b"\n")
        if at >= 0:
            return start + at + 1
        end = start
    return 0
