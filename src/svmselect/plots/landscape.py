"""The criterion around its optimum, drawn."""

from __future__ import annotations

from typing import Any

import numpy as np

from svmselect.plots.canvas import ACCENT, MARK, axes_of, even, natural, ramp, tidy, words
from svmselect.plots.data.landscape import ROWS, LandscapeData, landscape_data
from svmselect.plots.data.levels import Levels, smoothed
from svmselect.plots.data.refit import Refit
from svmselect.plots.data.source import of_refit, of_selection


class LandscapeDisplay:
    """Contours of the criterion in C and the width, with the way the search took.

    Make one with ``from_estimator`` or ``from_selection``.

    Parameters
    ----------
    data : LandscapeData
        What to draw.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
        The axes, after ``plot``.
    figure_ : matplotlib.figure.Figure
        Their figure, after ``plot``.
    contours_ : artist or None
        The contours, after ``plot``; None where the kernel has no width.
    """

    def __init__(self, data: LandscapeData) -> None:
        self.data = data

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        sample_weight: Any = None,
        groups: Any = None,
        pair: int = 0,
        size: int | None = None,
        ax: Any = None,
    ) -> LandscapeDisplay:
        """Draw the criterion of a fitted classifier; give it what ``fit`` was given.

        Parameters
        ----------
        estimator : AutoSVC or AutoKLR
            The fitted classifier.
        X : array-like of shape (n, d)
            The rows it was fitted to.
        y : array-like of shape (n,)
            Their labels.
        sample_weight : array-like of shape (n,), optional
            The weights that ``fit`` was given.
        groups : array-like of shape (n,), optional
            The groups that ``fit`` was given.
        pair : int, default 0
            Which pair of classes, where each has a choice of its own.
        size : int, optional
            Points of the grid, each way; fewer the more rows there are if None.
        ax : matplotlib.axes.Axes, optional
            The axes to draw on; new ones if None.

        Returns
        -------
        LandscapeDisplay
            The display, drawn.
        """
        source = of_refit(Refit.of(estimator, X, y, sample_weight, groups, ROWS), pair)
        return cls(landscape_data(source, size)).plot(ax)

    @classmethod
    def from_selection(
        cls, selection: Any, *, size: int | None = None, ax: Any = None
    ) -> LandscapeDisplay:
        """Draw the criterion of a selection.

        Parameters
        ----------
        selection : Selection
            What ``select`` returned.
        size : int, optional
            Points of the grid, each way; fewer the more rows there are if None.
        ax : matplotlib.axes.Axes, optional
            The axes to draw on; new ones if None.

        Returns
        -------
        LandscapeDisplay
            The display, drawn.
        """
        return cls(landscape_data(of_selection(selection), size)).plot(ax)

    def plot(self, ax: Any = None) -> LandscapeDisplay:
        """Draw on the axes given, or on new ones.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            The axes to draw on; new ones if None.

        Returns
        -------
        LandscapeDisplay
            The display, drawn.
        """
        self.ax_, self.figure_ = axes_of(ax, (6.0, 4.8))
        data = self.data
        if not len(data.log_width):
            self.contours_ = None
            self.ax_.semilogx(natural(data.log_C), data.values[0], color=ACCENT)
            self.ax_.plot(np.exp(data.at[0]), data.best, "o", color=MARK)
            self.ax_.set(xlabel="C", ylabel=data.criterion)
            tidy(self.ax_)
            return self
        levels = Levels.of(np.append(data.values, data.best), data.greater_is_better)
        gaps = np.minimum(levels.gaps(data.values), 2.0 * levels.edges[-1])
        x, y, z = smoothed(data.log_C, data.log_width, gaps)
        edges = [*levels.edges, 2.0 * levels.edges[-1] * (1 + 1e-9)]
        self.contours_ = self.ax_.contourf(
            natural(x), natural(y), z, edges, cmap=ramp().reversed(), norm=even(edges)
        )
        bar = self.figure_.colorbar(
            self.contours_, ax=self.ax_, ticks=levels.edges[::3], format="%.2g"
        )
        sign = "below" if data.greater_is_better else "above"
        bar.set_label(f"{data.criterion}: how far {sign} the best")
        self._ways()
        for log_C, log_width, _ in data.hills:
            self.ax_.plot(np.exp(log_C), np.exp(log_width), "o", mfc="none", mec=MARK, ms=9)
        self.ax_.plot(*np.exp(data.at), "o", color=MARK, mec="white", ms=9, label="chosen")
        self.ax_.set(
            xscale="log",
            yscale="log",
            xlabel="C",
            ylabel=words(data.width),
            xlim=np.exp(data.log_C[[0, -1]]),
            ylim=np.exp(data.log_width[[0, -1]]),
        )
        return self

    def _ways(self) -> None:
        for way in self.data.paths[:8]:
            led = way.leading > 0
            x, y = natural(way.log_C), natural(way.log_width)
            self.ax_.scatter(x[~led], y[~led], s=9, facecolors="none", edgecolors="#0f2f38", lw=0.6)
            self.ax_.plot(x[led], y[led], ".-", color="#0f2f38", lw=1.1, ms=4)

    def plot_slices(self) -> Any:
        """Draw the criterion along each other parameter, in a new figure.

        Returns
        -------
        matplotlib.figure.Figure
            The figure.
        """
        from matplotlib import pyplot

        slices = self.data.slices
        if not slices:
            raise ValueError("there is no parameter but C and the width, so no slice to draw")
        columns = min(4, len(slices))
        rows = -(-len(slices) // columns)
        figure, axes = pyplot.subplots(
            rows,
            columns,
            sharey=True,
            squeeze=False,
            figsize=(2.4 * columns, 1.9 * rows),
            layout="constrained",
        )
        for ax, one in zip(axes.flat, slices, strict=False):
            ax.semilogx(natural(one.log_value), one.value, color=ACCENT)
            ax.plot(np.exp(one.at), self.data.best, "o", color=MARK, ms=5)
            ax.set_title(words(one.name), fontsize="small")
            tidy(ax)
        for ax in axes.flat[len(slices) :]:
            ax.set_visible(False)
        axes[0, 0].set_ylabel(self.data.criterion)
        return figure
