"""Files written whole: beside the old one first, then in its place, so that none is ever half."""

from __future__ import annotations

import errno
import io
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

NO_ROOM = (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC), errno.EFBIG)
"""What the system says where a file has no room."""


def write_whole(path: str | os.PathLike[str], content: bytes | str) -> None:
    """Write a file, text as UTF-8; where that fails, what was there before is still there."""
    with replacing(path) as file:
        file.write(content if isinstance(content, bytes) else content.encode())


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A file to write that takes the place of ``path`` when the block ends without an error.

    It lies in the same folder until then, and reaches the disk before it is renamed: after a crash
    there is the old file or the new one. What is no regular file, such as /dev/null or a pipe, is
    written to directly.
    """
    target = Path(os.path.realpath(path))  # a link stays one
    with naming(path):
        there = target.stat() if target.exists() else None
        if there is not None and not stat.S_ISREG(there.st_mode):
            with target.open("wb") as file:
                yield file
            return
        half = target.with_name(f".svmselect-{secrets.token_hex(6)}.part")
        # with the permissions that the user's mask gives a new file, or with those of the old one
        opened = os.open(half, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, 0o666)
        try:
            with os.fdopen(opened, "wb") as file:
                yield file
                file.flush()
                _sync(file.fileno())
            if there is not None:
                half.chmod(stat.S_IMODE(there.st_mode))
            half.replace(target)
        except BaseException:
            with suppress(OSError):
                half.unlink()
            raise
        _sync_folder(target.parent)


@contextmanager
def replacing_text(path: str | os.PathLike[str]) -> Iterator[IO[str]]:
    """The same for text in UTF-8, line ends as they are written."""
    with replacing(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="")
        yield text
        text.detach()


@contextmanager
def naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Errors of writing say which file it is, which the system leaves out once it is open."""
    try:
        yield
    except OSError as error:
        beside = error.filename is not None and str(error.filename).endswith(".part")
        if error.errno is None or (error.filename is not None and not beside):
            raise
        raise OSError(error.errno, os.strerror(error.errno), os.fspath(path)) from error


_BINARY: int = getattr(os, "O_BINARY", 0)  # of Windows


def _sync(opened: int) -> None:
    try:
        os.fsync(opened)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.ENOSYS):
            raise  # else the file system knows of no such thing


def _sync_folder(folder: Path) -> None:
    """The new name on the disk too, where folders can be opened."""
    flag: Any = getattr(os, "O_DIRECTORY", None)
    if flag is None:
        return
    with suppress(OSError):
        opened = os.open(folder, os.O_RDONLY | flag)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)
