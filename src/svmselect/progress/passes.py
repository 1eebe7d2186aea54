"""Passes over many rows, as a bar shows them."""

from __future__ import annotations

import time

from svmselect.progress.bar import Bar
from svmselect.progress.interrupt import Stopper


class Passes:
    """Moves a bar from the beginning to the end of each pass, and stops it after Ctrl-C."""

    def __init__(self, bar: Bar, stopper: Stopper) -> None:
        self.bar, self.stopper = bar, stopper
        self._number = -1
        self._began = 0.0

    def first(self, done: int) -> bool:
        """So many rows of the first pass are done, before anybody knows how many there are."""
        return self(done, None, 0)

    def __call__(self, done: int, rows: int | None, number: int) -> bool:
        """So many rows of a pass are done, of so many; whether to stop."""
        now = time.monotonic()
        if number != self._number:
            self._number, self._began = number, now
            self.bar.restart("reading" if rows is None else f"pass {number} over {rows:,} rows")
        elif now > self._began:
            what = "reading" if rows is None else f"pass {number}"
            self.bar.text = f"{what}, {done / (now - self._began):,.0f} rows a second"
        self.bar.reach(done, rows)
        return self.stopper.asked
