"""Ctrl-C as a wish to end with the best so far; the second one ends at once."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Any, ClassVar, Self

SOON = 3.0
"""Seconds within which a Ctrl-C is the second one, though it comes in the next fit of a loop."""


class EndNow(BaseException):
    """The second Ctrl-C: unlike the first it is no reason to go on with the best so far."""


class Stopper:
    """Makes of Ctrl-C a wish: ``asked`` becomes true, ``tell`` is told. The second ends at once.

    Elsewhere than in the main thread, where signals do not arrive, it changes nothing.
    """

    _last: ClassVar[float] = float("-inf")

    def __init__(self, tell: Callable[[str], None]) -> None:
        self.tell = tell
        self.asked = False
        self._before: Any = None

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._interrupt)
        return self

    def __exit__(self, *ending: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        if self.asked or now - Stopper._last < SOON:
            raise EndNow
        self.asked, Stopper._last = True, now
        self.tell("stopping with the best so far; Ctrl-C again ends at once")
