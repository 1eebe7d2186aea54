"""A published number beside ours, and a verdict that a reader can check."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt
from typing import Literal

import numpy as np

ROUNDING = 1e-9  # a value on the edge of an interval is inside it

FOLDS: dict[str, Callable[[tuple[float, ...]], float]] = {
    "mean": np.mean,
    "median": np.median,
    "min": np.min,
    "max": np.max,
}


MEDIAN = 1.2533
"""The standard error of a median over that of the mean, for normal errors."""
QUARTILES = 1.349
"""The distance of the quartiles of a normal distribution, in standard deviations."""


@dataclass(frozen=True)
class Published:
    """A number as printed, with whatever the paper says about its spread.

    sd : standard deviation over trials; low, high : quartiles; tolerance : what counts as equal
        where the paper gives no spread (the row's note says why so much). trials : over how many
        trials the paper took it, for its standard error; one is a single draw, whose spread, where
        the paper gives none, is taken to be that of ours. rounding : half a unit of its last digit.
    """

    value: float
    sd: float | None = None
    low: float | None = None
    high: float | None = None
    tolerance: float | None = None
    trials: int | None = None
    rounding: float = 0.0
    whose: str = ""
    """Where the spread is from, if the paper does not print one there."""

    def error(self, other: float | None) -> float | None:
        """Its standard error; ``other`` is the spread of our single trials."""
        if self.trials is None:
            return None
        if self.low is not None and self.high is not None:
            return MEDIAN * (self.high - self.low) / QUARTILES / sqrt(self.trials)
        spread = self.sd if self.sd is not None else (other or 0.0)
        if self.trials == 1 and other is not None:
            spread = max(spread, other)  # the spread of counting is not all of a draw's
        return spread / sqrt(self.trials)

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
class Summary:
    """What is left of trials that were not kept one by one: their fold, spread and number."""

    value: float
    sd: float | None
    trials: int


@dataclass(frozen=True)
class Row:
    """One cell of a table: its row and column, what the paper printed, and our trials.

    better : which direction is good; "neither" for numbers that are only equal or different.
    fold : how trials make one number. best : the best number the paper prints for this row of the
        table; ours is marked where it beats that. missing : why a cell has no (or fewer) trials.
    time : a duration on another machine: there is a ratio to tell, but nothing to agree with.
    uncounted : why this row proves nothing even if it agrees, and is left out of the counts.
    earlier : a longer run of the same, of which only this is left; it stands in for ``ours``.
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
    uncounted: str = ""
    earlier: Summary | None = None

    @property
    def value(self) -> float | None:
        """Our trials as one number."""
        if self.earlier is not None:
            return self.earlier.value
        return float(FOLDS[self.fold](self.ours)) if self.ours else None

    @property
    def trials(self) -> int:
        """How many trials that number is of."""
        return len(self.ours) if self.earlier is None else self.earlier.trials

    @property
    def sd(self) -> float | None:
        """Standard deviation over our trials."""
        if self.earlier is not None:
            return self.earlier.sd
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
        """Whether ours lies where single trials of the paper lie; None: nothing to compare."""
        if self.value is None or self.published is None or self.time or self.uncounted:
            return None
        return self.verdict.startswith(("within", "equal"))

    @property
    def error(self) -> float | None:
        """The standard error of the difference from the published number, if it can be had."""
        if self.published is None or self.value is None or self.fold not in ("mean", "median"):
            return None
        sd = self.sd
        printed = self.published.error(sd)
        if printed is None:
            return None
        if sd is None and self.published.low is not None and self.published.high is not None:
            sd = (self.published.high - self.published.low) / QUARTILES  # ours were not kept
        own = (sd or 0.0) / sqrt(max(self.trials, 1)) * (MEDIAN if self.fold == "median" else 1.0)
        return float(np.hypot(own, printed))

    @property
    def apart(self) -> float | None:
        """The distance from the published number in standard errors of the difference."""
        error = self.error
        if not error or self.published is None or self.value is None:
            return None
        return (self.value - self.published.value) / error

    @property
    def agrees_in_mean(self) -> bool | None:
        """Whether the difference is within two of its standard errors; None: it cannot be told."""
        error = self.error
        if self.agrees is None or error is None or self.published is None or self.value is None:
            return None
        reach = 2.0 * error + self.published.rounding + ROUNDING
        return bool(abs(self.value - self.published.value) <= reach)
