"""One writer at a time: a lock of the operating system, which ends with the process at the latest.

A lock is a small file with the number of the process that holds it. The file is removed with the
lock; one that a kill has left behind locks nothing. Within a process a lock can be taken again, so
that a search which was interrupted at a prompt can be gone on with there.
"""

from __future__ import annotations

import errno
import os
import threading
import weakref
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

FOLDER = ".svmselect-lock"
_BUSY = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)


class Lock:
    """The right to write a file, or in a folder, until ``release`` or the end of a block.

    Taken at once; where another process has it, an error says which, and ``remedy`` what to do.
    """

    def __init__(self, path: str | os.PathLike[str], remedy: str) -> None:
        target = Path(os.path.realpath(path))
        place = target / FOLDER if target.is_dir() else target.with_name(f"{target.name}.lock")
        _take(place, os.fspath(path), remedy)
        self.release = weakref.finalize(self, _give_back, place)

    def __enter__(self) -> Lock:
        return self

    def __exit__(self, *ending: object) -> None:
        self.release()


@dataclass
class _Held:
    """An open lock file; ``opened`` is None where the file system knows no locks."""

    opened: int | None
    process: int
    times: int = 1


_GUARD = threading.RLock()  # a finaliser may run anywhere, also in the thread that has it
_HELD: dict[Path, _Held] = {}


def _take(place: Path, name: str, remedy: str) -> None:
    with _GUARD:
        held = _HELD.get(place)
        if held is not None and held.process == os.getpid():
            held.times += 1
            return
        _HELD[place] = _Held(_locked(place, name, remedy), os.getpid())


def _give_back(place: Path) -> None:
    with _GUARD:
        held = _HELD.get(place)
        if held is None or held.process != os.getpid():
            return  # of the process this one was forked from
        held.times -= 1
        if held.times:
            return
        del _HELD[place]
        if held.opened is None:
            return
        if os.name != "nt":  # while it is locked, so that nobody locks a file that is going
            with suppress(OSError):
                place.unlink()
        os.close(held.opened)
        if os.name == "nt":  # there a file that anybody has open stays
            with suppress(OSError):
                place.unlink()


def _locked(place: Path, name: str, remedy: str) -> int | None:
    """The lock file, open and locked."""
    while True:
        opened = os.open(place, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            _lock(opened)
        except OSError as error:
            who = _reader(opened)
            os.close(opened)
            if error.errno not in _BUSY:
                return None
            raise ValueError(
                f"{name} is being written by another process{who}; wait until that has ended, "
                f"or {remedy}"
            ) from None
        if os.name == "nt" or _is(opened, place):
            break
        os.close(opened)  # its holder has just removed it
    os.truncate(opened, 0)
    os.lseek(opened, 0, os.SEEK_SET)
    with suppress(OSError):  # the number is for people
        os.write(opened, f"{os.getpid()}\n".encode())
    return opened


def _is(opened: int, place: Path) -> bool:
    """Whether an open file is still the one of that name."""
    try:
        return os.path.samestat(os.fstat(opened), place.stat())
    except FileNotFoundError:
        return False


def _reader(opened: int) -> str:
    """Who has it, as far as the file says."""
    try:
        os.lseek(opened, 0, os.SEEK_SET)
        said = os.read(opened, 20).strip()
    except OSError:  # Windows lets nobody read what is locked
        return ""
    return f" (number {said.decode()})" if said.isdigit() else ""


if os.name == "nt":
    import msvcrt

    def _lock(opened: int) -> None:
        """Lock a byte far behind the number, so that this can be read."""
        os.lseek(opened, 2**20, os.SEEK_SET)
        msvcrt.locking(opened, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]

else:
    import fcntl

    def _lock(opened: int) -> None:
        """Lock the file for this process; a child that it forks does not inherit it."""
        fcntl.lockf(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
