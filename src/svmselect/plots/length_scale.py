"""Which inputs count, drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from svmselect.plots.canvas import ACCENT, axes_of, tidy, words
from svmselect.plots.data import scales
from svmselect.plots.data.scales import ScaleData

KINDS = {
    "relevance": "share of relevance",
    "length_scale": "length scale (short ones matter most)",
    "influence": "mean change of the probabilities when shuffled",
}


class LengthScaleDisplay:
    """Length scales of the inputs, the most relevant on top; short ones matter most.

    Make one with ``from_estimator`` or ``from_selection``.

    Parameters
    ----------
    data : ScaleData
        What to draw.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
        The axes, after ``plot``.
    figure_ : matplotlib.figure.Figure
        Their figure, after ``plot``.
    bars_ : artist
        The bars, after ``plot``.
    """

    def __init__(self, data: ScaleData) -> None:
        self.data = data

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        X: Any = None,
        names: Sequence[str] | None = None,
        kind: str = "relevance",
        most: int = 20,
        ax: Any = None,
    ) -> LengthScaleDisplay:
        """Draw the inputs of a fitted classifier.

        Parameters
        ----------
        estimator : AutoSVC or AutoKLR
            The fitted classifier.
        X : array-like of shape (n, d), optional
            Rows, which kind="influence" needs.
        names : sequence of str, optional
            The names of the inputs.
        kind : {"relevance", "length_scale", "influence"}, default "relevance"
            What to draw: shares of relevance, the length scales themselves, or how far the answers
            move when an input is shuffled.
        most : int, default 20
            Draw no more inputs than that.
        ax : matplotlib.axes.Axes, optional
            The axes to draw on; new ones if None.

        Returns
        -------
        LengthScaleDisplay
            The display, drawn.
        """
        return cls(scales.of_estimator(estimator, names, X)).plot(ax, kind=kind, most=most)

    @classmethod
    def from_selection(
        cls,
        selection: Any,
        *,
        names: Sequence[str] | None = None,
        kind: str = "relevance",
        most: int = 20,
        ax: Any = None,
    ) -> LengthScaleDisplay:
        """Draw the inputs of a selection.

        Parameters
        ----------
        selection : Selection
            What ``select`` returned.
        names : sequence of str, optional
            The names of the inputs.
        kind : {"relevance", "length_scale", "influence"}, default "relevance"
            What to draw: shares of relevance, the length scales themselves, or how far the answers
            move when an input is shuffled.
        most : int, default 20
            Draw no more inputs than that.
        ax : matplotlib.axes.Axes, optional
            The axes to draw on; new ones if None.

        Returns
        -------
        LengthScaleDisplay
            The display, drawn.
        """
        return cls(scales.of_selection(selection, names)).plot(ax, kind=kind, most=most)

    def plot(
        self, ax: Any = None, *, kind: str = "relevance", most: int = 20
    ) -> LengthScaleDisplay:
        """Draw on the axes given, or on new ones.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            The axes to draw on; new ones if None.
        kind : {"relevance", "length_scale", "influence"}, default "relevance"
            What to draw: shares of relevance, the length scales themselves, or how far the answers
            move when an input is shuffled.
        most : int, default 20
            Draw no more inputs than that.

        Returns
        -------
        LengthScaleDisplay
            The display, drawn.
        """
        if kind not in KINDS:
            raise ValueError(f"kind={kind!r} is not one of {', '.join(map(repr, KINDS))}")
        data = self.data
        height = data.influence if kind == "influence" else data.relevance
        if kind != "relevance" and np.isnan(getattr(data, kind)).all():
            remedy = "give X" if kind == "influence" else "the kernel has none; use 'relevance'"
            raise ValueError(f"there is no {kind} to draw: {remedy}")
        order = np.argsort(-height, kind="stable")[:most][::-1]
        self.ax_, self.figure_ = axes_of(ax, (6.0, 1.0 + 0.26 * len(order)))
        names = [words(_short(data.names[a])) for a in order]
        place = np.arange(len(order))
        if kind == "length_scale":
            self.bars_ = self.ax_.plot(data.length_scale[order], place, "o", color=ACCENT)
            self.ax_.set_xscale("log")
        else:
            self.bars_ = self.ax_.barh(place, height[order], color=ACCENT, height=0.65)
        self.ax_.set_xlabel(KINDS[kind])
        self.ax_.set_yticks(place, names)
        hidden = len(data.names) - len(order)
        if hidden:
            self.ax_.set_title(f"and {hidden} inputs more", fontsize="small", loc="left")
        tidy(self.ax_)
        self.ax_.grid(False, axis="y")
        return self


def _short(name: str, most: int = 40) -> str:
    return name if len(name) <= most else f"{name[: most - 1]}…"
