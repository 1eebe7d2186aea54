"""The course of a search, drawn."""

from __future__ import annotations

from typing import Any

import numpy as np

from svmselect.plots.canvas import CYCLE, QUIET, axes_of, tidy, words
from svmselect.plots.data.refit import criterion_of
from svmselect.plots.data.trace import TraceData, trace_data
from svmselect.search.trace import Trace


class TraceDisplay:
    """Every evaluation of a search in order, and the best so far of each run.

    Make one with ``from_estimator`` or ``from_selection``.

    Parameters
    ----------
    data : TraceData
        What to draw.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
        The axes, after ``plot``.
    figure_ : matplotlib.figure.Figure
        Their figure, after ``plot``.
    lines_ : list of artists
        The best so far of each run, after ``plot``.
    """

    def __init__(self, data: TraceData) -> None:
        self.data = data

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> TraceDisplay:
        """Draw the search of a fitted classifier.

        Parameters
        ----------
        estimator : AutoSVC or AutoKLR
            The fitted classifier.
        ax : matplotlib.axes.Axes, optional
            The axes to draw on; new ones if None.

        Returns
        -------
        TraceDisplay
            The display, drawn.
        """
        return cls(trace_data(tuple(estimator.trace_), *criterion_of(estimator))).plot(ax)

    @classmethod
    def from_selection(cls, selection: Any, *, ax: Any = None) -> TraceDisplay:
        """Draw the search that ``select`` carried out.

        Parameters
        ----------
        selection : Selection
            What ``select`` returned.
        ax : matplotlib.axes.Axes, optional
            The axes to draw on; new ones if None.

        Returns
        -------
        TraceDisplay
            The display, drawn.
        """
        judge = selection.posterior.objective.criterion
        made = trace_data(tuple(selection.trace), judge.name, judge.greater_is_better)
        return cls(made).plot(ax)

    @classmethod
    def from_trace(
        cls,
        trace: Trace,
        criterion: str = "value",
        greater_is_better: bool = True,
        *,
        ax: Any = None,
    ) -> TraceDisplay:
        """Draw a trace, such as one that was loaded from a file.

        Parameters
        ----------
        trace : Trace
            The trace.
        criterion : str, default "value"
            What the vertical axis is called.
        greater_is_better : bool, default True
            Which way the criterion is better.
        ax : matplotlib.axes.Axes, optional
            The axes to draw on; new ones if None.

        Returns
        -------
        TraceDisplay
            The display, drawn.
        """
        return cls(trace_data(tuple(trace), criterion, greater_is_better)).plot(ax)

    def plot(self, ax: Any = None) -> TraceDisplay:
        """Draw on the axes given, or on new ones.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            The axes to draw on; new ones if None.

        Returns
        -------
        TraceDisplay
            The display, drawn.
        """
        self.ax_, self.figure_ = axes_of(ax)
        data, self.lines_ = self.data, []
        number = np.arange(1, len(data.value) + 1)
        for run, name in enumerate(data.runs):
            colour = CYCLE[run % len(CYCLE)]
            for rough in (0, 1):
                at = np.flatnonzero((data.run == run) & (data.rough == rough))
                if not len(at):
                    continue
                shade = QUIET if rough else colour
                face = "none" if rough else colour
                self.ax_.scatter(
                    number[at], data.value[at], s=12, edgecolors=shade, facecolors=face
                )
                label = "rough, on fewer folds" if rough else f"run {words(name)}"
                style = "--" if rough else "-"
                self.lines_ += self.ax_.step(
                    number[at], data.best[at], style, color=shade, where="post", label=label, lw=1.5
                )
        if 1 < len(self.lines_) <= 8:
            self.ax_.legend(frameon=False, fontsize="small")
        better = "higher" if data.greater_is_better else "lower"
        self.ax_.set(xlabel="evaluation", ylabel=f"{data.criterion} ({better} is better)")
        tidy(self.ax_)
        return self
