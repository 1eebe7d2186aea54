"""Until when there is time: long work looks at the clock by itself, and is cut where that is over.

The moment is a context variable, so two fits in two threads have a limit each. Work that is cut
raises ``OutOfTimeError``, which only the code that set the limit catches.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_END: ContextVar[float | None] = ContextVar("end", default=None)


class OutOfTimeError(Exception):
    """Raised where work looks at the clock and its time is over."""


def now() -> float:
    """Seconds on a clock that only goes forward."""
    return time.monotonic()


def allowance(max_time: float) -> float:
    """Seconds that what has to be done at the end may take beyond the limit."""
    return max(0.1 * max_time, 2.0)


@contextmanager
def until(end: float | None) -> Iterator[None]:
    """Limit the work inside to this moment, or to an earlier one that holds already."""
    known = _END.get()
    both = [moment for moment in (end, known) if moment is not None]
    token = _END.set(min(both, default=None))
    try:
        yield
    finally:
        _END.reset(token)


def look() -> None:
    """Raise ``OutOfTimeError`` if the time is over."""
    end = _END.get()
    if end is not None and now() > end:
        raise OutOfTimeError
