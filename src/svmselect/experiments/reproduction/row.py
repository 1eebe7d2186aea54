"""A published number beside ours, and a verdict that a reader can check."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

ROUNDING = 1e-9  # a value on the edge of an interval is inside it

FOLDS: dict[str, Callable[[tuple[float, ...]], float]] = {
    "mean": np.mean,
    "median": np.median,
    "min": np.min,
    "max": np.max,
}


@dataclass(frozen=True)
class Published:
    """A number as printed, with whatever the paper says about its spread.

    sd : standard deviation over trials; low, high : quartiles; tolerance : what counts as equal
        where the paper gives no spread (the row's note says why so much).
    """

    value: float
    sd: float | None = None
    low: float | None = None
    high: float | None = None
    tolerance: float | None = None

    @property
    def interval(self) -> tuple[float, float, str] | None:
        """Where ours must lie to agree, and what that interval is called."""
        if self.low is not None and self.high is not None:
            return self.low, self.high, "within the quartiles"
        if self.sd is not None:
            return self.value - 2 * self.sd, self.value + 2 * self.sd, "within 2 sd"
        if self.tolerance is not None:
            low, high = self.value - self.tolerance, self.value + self.tolerance
            return low, high, f"within {self.tolerance:g}"
        return None

    @property
    def spread(self) -> str:
        """The spread in the paper's terms."""
        if self.low is not None and self.high is not None:
            return f"{self.low:g} to {self.high:g}"
        return "" if self.sd is None else f"{self.sd:g}"


@dataclass(frozen=True)
class Row:
    """One cell of a table: its row and column, what the paper printed, and our trials.

    better : which direction is good; "neither" for numbers that are only equal or different.
    fold : how trials make one number. best : the best number the paper prints for this row of the
        table; ours is marked where it beats that. missing : why a cell has no (or fewer) trials.
    time : a duration on another machine: there is a ratio to tell, but nothing to agree with.
    """

    row: str
    column: str
    quantity: str
    ours: tuple[float, ...]
    published: Published | None = None
    better: Literal["lower", "higher", "neither"] = "lower"
    fold: Literal["mean", "median", "min", "max"] = "mean"
    best: float | None = None
    missing: str = ""
    note: str = ""
    time: bool = False

    @property
    def value(self) -> float | None:
        """Our trials as one number."""
        return float(FOLDS[self.fold](self.ours)) if self.ours else None

    @property
    def sd(self) -> float | None:
        """Standard deviation over our trials."""
        return float(np.std(self.ours, ddof=1)) if len(self.ours) > 1 else None

    @property
    def beats_best(self) -> bool:
        """Whether ours is better than the best the paper prints."""
        if self.best is None or self.value is None or self.better == "neither":
            return False
        return self.value < self.best if self.better == "lower" else self.value > self.best

    @property
    def verdict(self) -> str:
        """What the comparison says, in a word or two.

        "within 2 sd", "within the quartiles" or "within <tolerance>" of the published number;
        else "ours better", "ours worse", or "ours higher"/"ours lower" where neither is good.
        Without any spread in the paper, twice our own spread decides.
        """
        if self.value is None:
            return f"not run: {self.missing}" if self.missing else "not run"
        if self.published is None:
            return "ours alone"
        if self.time:
            ratio = self.published.value / self.value
            return f"faster: {ratio:.3g} times" if ratio > 1 else f"slower: {1 / ratio:.3g} times"
        interval = self.published.interval
        gap = self.value - self.published.value
        if interval is None:
            reach = 2 * (self.sd or 0.0)
            if abs(gap) <= reach + ROUNDING:
                return "within 2 sd of ours" if reach else "equal"
        elif interval[0] - ROUNDING <= self.value <= interval[1] + ROUNDING:
            return interval[2]
        if self.better == "neither":
            return "ours higher" if gap > 0 else "ours lower"
        return "ours better" if (gap < 0) == (self.better == "lower") else "ours worse"

    @property
    def agrees(self) -> bool | None:
        """Whether ours lies where the paper says; None where there is nothing to compare."""
        if self.value is None or self.published is None or self.time:
            return None
        return self.verdict.startswith(("within", "equal"))
