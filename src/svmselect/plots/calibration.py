"""Predicted probabilities against observed frequencies, drawn."""

from __future__ import annotations

from typing import Any

import numpy as np

from svmselect.plots.canvas import ACCENT, QUIET, axes_of, tidy, words
from svmselect.plots.data.calibration import CalibrationData, of_rows
from svmselect.plots.data.refit import Refit


class CalibrationDisplay:
    """Predicted probabilities against observed frequencies, with 95 % intervals.

    Make one with ``from_estimator`` or ``from_folds``.

    Parameters
    ----------
    data : CalibrationData
        What to draw.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
        The axes, after ``plot``.
    figure_ : matplotlib.figure.Figure
        Their figure, after ``plot``.
    line_ : artist
        The points, after ``plot``.

    Notes
    -----
    With two classes it shows the probability of the second; with more, that of the predicted class.
    """

    def __init__(self, data: CalibrationData) -> None:
        self.data = data

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, bins: int = 10, ax: Any = None
    ) -> CalibrationDisplay:
        """Draw the calibration for rows that the classifier has not seen.

        Parameters
        ----------
        estimator : AutoSVC or AutoKLR
            The fitted classifier.
        X : array-like of shape (n, d)
            Rows that it was not fitted to.
        y : array-like of shape (n,)
            Their labels.
        bins : int, default 10
            Into how many groups the rows are put.
        ax : matplotlib.axes.Axes, optional
            The axes to draw on; new ones if None.

        Returns
        -------
        CalibrationDisplay
            The display, drawn.
        """
        return cls(of_rows(estimator, X, y, bins)).plot(ax)

    @classmethod
    def from_folds(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        sample_weight: Any = None,
        groups: Any = None,
        bins: int = 10,
        ax: Any = None,
    ) -> CalibrationDisplay:
        """Draw the calibration for the rows of the fit, each held out in turn by the same folds.

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
        bins : int, default 10
            Into how many groups the rows are put.
        ax : matplotlib.axes.Axes, optional
            The axes to draw on; new ones if None.

        Returns
        -------
        CalibrationDisplay
            The display, drawn.
        """
        refit = Refit.of(estimator, X, y, sample_weight, groups)
        return cls(refit.calibration(bins)).plot(ax)

    def plot(self, ax: Any = None) -> CalibrationDisplay:
        """Draw on the axes given, or on new ones.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            The axes to draw on; new ones if None.

        Returns
        -------
        CalibrationDisplay
            The display, drawn.
        """
        self.ax_, self.figure_ = axes_of(ax, (4.8, 4.6))
        data = self.data
        spread = np.maximum([data.observed - data.low, data.high - data.observed], 0.0)
        self.ax_.plot([0, 1], [0, 1], "--", color=QUIET, lw=1.0)
        self.line_ = self.ax_.errorbar(
            data.predicted, data.observed, spread, fmt="o-", color=ACCENT, ecolor="#8fbcc5", ms=5
        )
        self.ax_.set(
            xlabel=f"predicted probability of {words(data.label)}",
            ylabel="share observed",
            aspect="equal",
        )
        self.ax_.set_title(
            f"log loss {data.log_loss:.3f}, {words(data.source)}", fontsize="small", loc="left"
        )
        tidy(self.ax_)
        return self
