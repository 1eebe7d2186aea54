"""The decision over two inputs, drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from svmselect.plots.canvas import CYCLE, axes_of, words
from svmselect.plots.data import boundary
from svmselect.plots.data.boundary import BoundaryData


class DecisionBoundaryDisplay:
    """Classes over two inputs, all others at their medians; stronger where more certain.

    Make one with ``from_estimator`` or ``from_selection``.

    Parameters
    ----------
    data : BoundaryData
        What to draw.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
        The axes, after ``plot``.
    figure_ : matplotlib.figure.Figure
        Their figure, after ``plot``.
    points_ : artist
        The rows, after ``plot``.

    Notes
    -----
    Rows are drawn with their own values of the other inputs, so some may seem to be on the wrong
    side.
    """

    def __init__(self, data: BoundaryData) -> None:
        self.data = data

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        inputs: Sequence[int | str] = (0, 1),
        names: Sequence[str] | None = None,
        size: int = 100,
        ax: Any = None,
    ) -> DecisionBoundaryDisplay:
        """Draw a fitted classifier over two inputs.

        Parameters
        ----------
        estimator : AutoSVC or AutoKLR
            The fitted classifier.
        X : array-like of shape (n, d)
            Rows to draw.
        y : array-like of shape (n,), optional
            Their labels. If None the rows have the colours of what is predicted for them.
        inputs : sequence of int or str, default (0, 1)
            The two inputs, by name or number.
        names : sequence of str, optional
            The names of all inputs.
        size : int, default 100
            Points of the grid, each way.
        ax : matplotlib.axes.Axes, optional
            The axes to draw on; new ones if None.

        Returns
        -------
        DecisionBoundaryDisplay
            The display, drawn.
        """
        return cls(boundary.of_estimator(estimator, X, y, inputs, names, size)).plot(ax)

    @classmethod
    def from_selection(
        cls,
        selection: Any,
        *,
        inputs: Sequence[int | str] = (0, 1),
        names: Sequence[str] | None = None,
        size: int = 100,
        ax: Any = None,
    ) -> DecisionBoundaryDisplay:
        """Draw the machine of a selection, on its own data.

        Parameters
        ----------
        selection : Selection
            What ``select`` returned.
        inputs : sequence of int or str, default (0, 1)
            The two inputs, by name or number.
        names : sequence of str, optional
            The names of all inputs.
        size : int, default 100
            Points of the grid, each way.
        ax : matplotlib.axes.Axes, optional
            The axes to draw on; new ones if None.

        Returns
        -------
        DecisionBoundaryDisplay
            The display, drawn.
        """
        return cls(boundary.of_selection(selection, inputs, names, size)).plot(ax)

    def plot(self, ax: Any = None) -> DecisionBoundaryDisplay:
        """Draw on the axes given, or on new ones.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            The axes to draw on; new ones if None.

        Returns
        -------
        DecisionBoundaryDisplay
            The display, drawn.
        """
        self.ax_, self.figure_ = axes_of(ax, (6.0, 4.8))
        data = self.data
        colours = _colours(len(data.classes))
        extent = (data.x[0], data.x[-1], data.y[0], data.y[-1])
        self.ax_.imshow(
            _shades(data, colours), extent=extent, origin="lower", aspect="auto", alpha=0.55
        )
        self._lines()
        self.points_ = [
            self.ax_.scatter(
                *data.rows[data.codes == code].T,
                s=18,
                color=colours[code],
                edgecolors="white",
                linewidths=0.5,
                label=words(str(label)),
            )
            for code, label in enumerate(data.classes.tolist())
        ]
        self.ax_.set(xlabel=words(data.names[0]), ylabel=words(data.names[1]))
        self.ax_.set(xlim=extent[:2], ylim=extent[2:])
        if len(data.classes) <= 10:
            self.ax_.legend(fontsize="small", framealpha=0.8)
        return self

    def _lines(self) -> None:
        """Where one class takes over from another."""
        data = self.data
        if len(data.classes) == 2:
            level = 0.5 if data.probabilities else 0.0
            heights = data.values[:, :, -1]
            if heights.min() < level < heights.max():
                self.ax_.contour(data.x, data.y, heights, [level], colors="#1d2930", linewidths=1.2)
            return
        winner = data.values.argmax(axis=2)
        for code in np.unique(winner):
            mine = data.values[:, :, code]
            lead = mine - np.delete(data.values, code, axis=2).max(axis=2)
            if lead.min() < 0 < lead.max():
                self.ax_.contour(data.x, data.y, lead, [0.0], colors="#1d2930", linewidths=1.0)


def _colours(k: int) -> Any:
    from matplotlib.colors import to_rgb

    if k <= len(CYCLE):
        return np.array([to_rgb(colour) for colour in CYCLE[:k]])
    from matplotlib import colormaps

    return colormaps["turbo"](np.linspace(0.05, 0.95, k))[:, :3]


def _shades(data: BoundaryData, colours: Any) -> Any:
    """White where nothing is certain, a class's colour where it is."""
    if data.probabilities:
        p = data.values
    else:
        # decision values: one is the margin
        half = 0.5 + 0.5 * np.clip(data.values[:, :, 0], -1.0, 1.0)
        p = np.stack([1.0 - half, half], axis=2)
    k = p.shape[2]
    sure = (p.max(axis=2) - 1.0 / k) / (1.0 - 1.0 / k)
    return 1.0 - sure[:, :, None] * (1.0 - colours[p.argmax(axis=2)])
