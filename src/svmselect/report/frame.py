"""The frame of a figure: scales, ticks, grid lines and labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from svmselect.report.svg import element, group, text
from svmselect.report.words import number
from svmselect.types import Array


@dataclass(frozen=True)
class Axis:
    """A range and its ticks; ``log`` says that coordinates are natural logarithms."""

    low: float
    high: float
    label: str
    log: bool = False
    ticks: tuple[tuple[float, str], ...] = ()

    @classmethod
    def of(cls, low: float, high: float, label: str, log: bool = False, most: int = 5) -> Axis:
        """An axis with a handful of round ticks."""
        if not high > low:
            pad = 0.05 * abs(low) or 1.0
            low, high = low - pad, high + pad
        found = log_ticks(low, high, most) if log else linear_ticks(low, high, most)
        return cls(low, high, label, log, tuple(found))

    @property
    def room(self) -> float:
        """The margin that a vertical axis needs: its label, and the longest of its ticks."""
        return 28.0 + 8.4 * max((len(name) for _, name in self.ticks), default=0)


def linear_ticks(low: float, high: float, most: int) -> list[tuple[float, str]]:
    """Round numbers between, at most so many."""
    rough = (high - low) / most
    power = 10.0 ** np.floor(np.log10(rough))
    step = next(s * power for s in (1, 2, 5, 10) if s * power >= rough * (1 - 1e-9))
    places = np.arange(np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9) + 0.5) * step
    decimals = max(0, -int(np.floor(np.log10(step))))
    if decimals > 4 or abs(high) >= 1e5 or abs(low) >= 1e5:
        return [(float(v), number(float(v), trim=True)) for v in places]
    return [(float(v), f"{v:.{decimals}f}".replace("-", "−")) for v in places + 0.0]


def log_ticks(low: float, high: float, most: int) -> list[tuple[float, str]]:
    """Powers of ten between two logarithms, or 1, 2, 5 of each where the range is short."""
    first, last = int(np.floor(low / np.log(10.0))), int(np.ceil(high / np.log(10.0)))
    for marks in ((1.0, 2.0, 5.0), (1.0, 3.0), (1.0,)):
        values = [m * 10.0**k for k in range(first, last + 1) for m in marks]
        inside = [v for v in values if low - 1e-9 <= np.log(v) <= high + 1e-9]
        if len(inside) <= most + 1:
            break
    if len(inside) < 2:
        between = linear_ticks(float(np.exp(low)), float(np.exp(high)), most)
        return [(float(np.log(v)), number(v, trim=True)) for v, _ in between if v > 0]
    every = -(-len(inside) // (most + 1))
    return [(float(np.log(v)), number(v, trim=True)) for v in inside[::every]]


@dataclass(frozen=True)
class Frame:
    """A drawing area in a view box, and the way from data to it."""

    x: Axis
    y: Axis
    width: float = 440.0
    height: float = 300.0
    left: float = 56.0
    right: float = 14.0
    top: float = 14.0
    bottom: float = 46.0

    def at_x(self, value: float) -> float:
        """The horizontal place of a value."""
        span = self.width - self.left - self.right
        return self.left + span * (value - self.x.low) / (self.x.high - self.x.low)

    def at_y(self, value: float) -> float:
        """The vertical place of a value."""
        span = self.height - self.top - self.bottom
        return self.height - self.bottom - span * (value - self.y.low) / (self.y.high - self.y.low)

    def points(self, xs: Sequence[float] | Array, ys: Sequence[float] | Array) -> Array:
        """Places of several points, (n, 2)."""
        return np.array([(self.at_x(x), self.at_y(y)) for x, y in zip(xs, ys, strict=True)])

    def inside(self, x: float, y: float) -> bool:
        """Whether a point lies in the area."""
        return self.x.low <= x <= self.x.high and self.y.low <= y <= self.y.high

    def grid(self) -> Markup:
        """Thin lines at the ticks, drawn below everything else."""
        left, right = self.left, self.width - self.right
        top, bottom = self.top, self.height - self.bottom
        across = [
            element("line", x1=left, x2=right, y1=self.at_y(v), y2=self.at_y(v))
            for v, _ in self.y.ticks
        ]
        along = [
            element("line", x1=self.at_x(v), x2=self.at_x(v), y1=top, y2=bottom)
            for v, _ in self.x.ticks
        ]
        return group(*across, *along, class_="grid")

    def axes(self) -> Markup:
        """Tick labels and axis labels."""
        bottom = self.height - self.bottom
        xs = [text(self.at_x(v), bottom + 17, name, "tick", "middle") for v, name in self.x.ticks]
        ys = [
            text(self.left - 7, self.at_y(v) + 4, name, "tick", "end") for v, name in self.y.ticks
        ]
        middle_x = (self.left + self.width - self.right) / 2
        middle_y = (self.top + bottom) / 2
        side = element(
            "text",
            self.y.label,
            x=13.0,
            y=middle_y,
            class_="label",
            text_anchor="middle",
            transform=f"rotate(-90 13 {middle_y:.1f})",
        )
        below = text(middle_x, self.height - 8, self.x.label, "label", "middle")
        return group(*xs, *ys, below, side, class_="axes")

    def svg(self, name: str, *children: str, kind: str = "") -> Markup:
        """The whole figure; ``name`` is read out where it cannot be seen."""
        return element(
            "svg",
            *children,
            viewBox=f"0 0 {self.width:g} {self.height:g}",
            role="img",
            aria_label=name,
            tabindex="0",
            class_=f"figure {kind}".strip(),
        )
