"""A bar with the time left: in a terminal or a notebook, and nowhere else."""

from __future__ import annotations

import html
import sys
import threading
import time
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Any, Protocol, Self

PATIENCE = 2.0
"""Seconds before a bar appears in a terminal."""


def terminal() -> bool:
    """Whether standard error is a terminal, where progress may be drawn."""
    return sys.stderr is not None and sys.stderr.isatty()


def notebook() -> bool:
    """Whether this runs in a notebook, which shows HTML."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return getattr(shell, "kernel", None) is not None


class Drawn(Protocol):
    """A bar on some screen."""

    def draw(self, text: str, share: float | None, left: str) -> None:
        """Show so much; ``share`` is None where it is not known how much there is to do."""

    def say(self, line: str) -> None:
        """Write a line above the bar."""

    def stop(self) -> None:
        """Take it away."""


class InTerminal:
    """Drawn by rich on standard error."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        self.bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=30),
            TextColumn("{task.fields[left]}", markup=False),
            console=Console(stderr=True),
            transient=True,
        )
        self.task = self.bar.add_task("", total=None, left="")
        self.bar.start()

    def draw(self, text: str, share: float | None, left: str) -> None:
        """Move the bar; it goes to and fro where nothing is known."""
        if share is None:
            self.bar.update(self.task, description=text, left=left)
        else:
            self.bar.update(self.task, description=text, total=1.0, completed=share, left=left)

    def say(self, line: str) -> None:
        """Above the bar, as it is."""
        self.bar.console.print(line, markup=False, highlight=False, soft_wrap=True)

    def stop(self) -> None:
        """The line is empty again."""
        self.bar.stop()


class InNotebook:
    """An HTML progress element, which needs no widgets."""

    def __init__(self) -> None:
        from IPython.display import HTML, display  # type: ignore[import-not-found, unused-ignore]

        self.html = HTML
        self.handle: Any = display(HTML(""), display_id=True)
        self.drawn = -1.0

    def draw(self, text: str, share: float | None, left: str) -> None:
        """At most ten times a second."""
        now = time.monotonic()
        if now - self.drawn < 0.1:
            return
        self.drawn = now
        value = "" if share is None else f' value="{share:.3f}"'
        bar = f'<progress max="1"{value} style="vertical-align: middle"></progress>'
        self.handle.update(self.html(f"{html.escape(text)} {bar} {html.escape(left)}"))

    def say(self, line: str) -> None:
        """Below the bar, which keeps its place."""
        sys.stdout.write(line + "\n")

    def stop(self) -> None:
        """The place is empty again."""
        self.handle.update(self.html(""))


class Bar(AbstractContextManager["Bar"]):
    """A bar with an estimate of the time left, drawn only if ``shown`` and if it takes a while.

    ``total`` steps are expected; where there are more, the bar grows. ``limit`` are seconds.
    """

    def __init__(
        self, text: str, total: int | None, shown: bool, limit: float | None = None
    ) -> None:
        self.text, self.total, self.limit = text, total, limit
        self.steps = 0
        self.began = time.monotonic()
        self.shown = shown
        self._lock = threading.RLock()
        self._timer: threading.Timer | None = None
        self._drawn: Drawn | None = None

    def __enter__(self) -> Self:
        if self.shown and notebook():
            self._show(InNotebook)
        elif self.shown:
            self._timer = threading.Timer(PATIENCE, self._show, (InTerminal,))
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
            self.shown = False
            if self._drawn is not None:
                self._drawn.stop()
                self._drawn = None

    def restart(self, text: str) -> None:
        """What was done is over; something else begins, which has no limit."""
        with self._lock:
            self.text, self.limit, self.steps = text, None, 0
            self.began = time.monotonic()

    def step(self, steps: int = 1) -> None:
        """So much more is done."""
        self.reach(self.steps + steps, self.total)

    def reach(self, steps: int, total: int | None) -> None:
        """So much is done, of so much."""
        with self._lock:
            self.steps, self.total = steps, total
            self._draw()

    def say(self, line: str) -> None:
        """Write a line that stays: above the bar, or where the bar would be."""
        with self._lock:
            if self._drawn is not None:
                self._drawn.say(line)
            else:
                (sys.stdout if notebook() else sys.stderr).write(line + "\n")

    def _show(self, kind: type[InTerminal] | type[InNotebook]) -> None:
        with self._lock:
            if self.shown:
                self._drawn = kind()
                self._draw()

    def _draw(self) -> None:
        if self._drawn is None:
            return
        spent = time.monotonic() - self.began
        if self.total is None:
            self._drawn.draw(self.text, None, f"{self.steps:,}" if self.steps else "")
            return
        share = min(self.steps / max(self.total, 1.1 * self.steps, 1.0), 1.0)
        left = spent * (1.0 - share) / share if share > 0.0 else None
        if self.limit is not None:
            left = self.limit - spent if left is None else min(left, self.limit - spent)
            share = max(share, min(spent / self.limit, 1.0))
        said = "" if left is None else f"about {max(left, 1.0):.0f} s left"
        self._drawn.draw(self.text, share, said)
