"""Long work: a bar on a terminal after two seconds, and Ctrl-C that keeps the best so far."""

from __future__ import annotations

import signal
import threading
import time
from contextlib import AbstractContextManager
from types import FrameType, TracebackType
from typing import Any

from svmselect.cli.console import EndNow, Output, terminal
from svmselect.types import Evaluation

PATIENCE = 2.0
"""Seconds before a bar appears."""


class Bar(AbstractContextManager["Bar"]):
    """A bar with an estimate of the time left, drawn only on a terminal and only if it takes long.

    ``total`` steps are expected; where there are more, the bar grows. ``limit`` are seconds.
    """

    def __init__(
        self, text: str, total: int | None, output: Output, limit: float | None = None
    ) -> None:
        self.text, self.total, self.limit = text, total, limit
        self.steps = 0
        self.began = time.monotonic()
        self.wanted = output.talks and terminal()
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Bar:
        if self.wanted:
            self._timer = threading.Timer(PATIENCE, self._show)
            self._timer.daemon = True
            self._timer.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._timer is not None:
            self._timer.cancel()
        with self._lock:
            self.wanted = False
            if self._bar is not None:
                self._bar.stop()

    def step(self, steps: int = 1) -> None:
        """So much more is done."""
        self.reach(self.steps + steps, self.total)

    def reach(self, steps: int, total: int | None) -> None:
        """So much is done, of so much."""
        with self._lock:
            self.steps, self.total = steps, total
            self._draw()

    def _show(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        with self._lock:
            if not self.wanted:
                return
            self._bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(bar_width=30),
                TextColumn("{task.fields[left]}"),
                console=Console(stderr=True),
                transient=True,
            )
            self._task = self._bar.add_task(self.text, total=None, left="")
            self._bar.start()
            self._draw()

    def _draw(self) -> None:
        if self._bar is None:
            return
        spent = time.monotonic() - self.began
        if self.total is None:
            self._bar.update(
                self._task, description=self.text, left=f"{self.steps:,}" if self.steps else ""
            )
            return
        share = min(self.steps / max(self.total, 1.1 * self.steps, 1.0), 1.0)
        left = spent * (1.0 - share) / share if share > 0.0 else None
        if self.limit is not None:
            left = self.limit - spent if left is None else min(left, self.limit - spent)
            share = max(share, min(spent / self.limit, 1.0))
        text = "" if left is None else f"about {max(left, 1.0):.0f} s left"
        self._bar.update(self._task, description=self.text, total=1.0, completed=share, left=text)


class Stopper:
    """Ctrl-C as a wish: ``asked`` becomes true. The second one ends at once."""

    def __init__(self, output: Output) -> None:
        self.output = output
        self.asked = False
        self._before: Any = None

    def __enter__(self) -> Stopper:
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._interrupt)
        return self

    def __exit__(self, *ending: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        if self.asked:
            raise EndNow
        self.asked = True
        self.output.note("stopping with the best so far; Ctrl-C again ends at once")


class Watcher:
    """Listens to a fit: moves the bar, and stops the fit after Ctrl-C."""

    def __init__(self, bar: Bar, stopper: Stopper) -> None:
        self.bar, self.stopper = bar, stopper

    def __call__(self, evaluation: Evaluation) -> bool:
        self.bar.step()
        return self.stopper.asked
