"""Several criteria along one parameter, drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from svmselect.criteria import Criterion
from svmselect.plots.canvas import CYCLE, QUIET, axes_of, natural, tidy, words
from svmselect.plots.data.criteria import DEFAULT, CriteriaData, criteria_data
from svmselect.plots.data.landscape import ROWS
from svmselect.plots.data.refit import Refit
from svmselect.plots.data.source import of_refit, of_selection


class CriteriaDisplay:
    """Several criteria along C or the width, each scaled from its worst to its best.

    Make one with ``from_estimator`` or ``from_selection``.

    Parameters
    ----------
    data : CriteriaData
        What to draw.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
        The axes, after ``plot``.
    figure_ : matplotlib.figure.Figure
        Their figure, after ``plot``.
    lines_ : list of artists
        The curves, after ``plot``.

    Notes
    -----
    A dot is where a criterion would have the parameter, the dashed line what was chosen.
    """

    def __init__(self, data: CriteriaData) -> None:
        self.data = data

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        criteria: Sequence[str | Criterion] = DEFAULT,
        parameter: str = "C",
        ax: Any = None,
    ) -> CriteriaDisplay:
        """Compare criteria around the choice of a fitted classifier.

        Parameters
        ----------
        estimator : AutoSVC or AutoKLR
            The fitted classifier.
        X : array-like of shape (n, d)
            The rows it was fitted to.
        y : array-like of shape (n,)
            Their labels.
        criteria : sequence of str or Criterion
            The criteria to compare.
        parameter : {"C", "width"}, default "C"
            The parameter that varies, all else being as chosen.
        ax : matplotlib.axes.Axes, optional
            The axes to draw on; new ones if None.

        Returns
        -------
        CriteriaDisplay
            The display, drawn.
        """
        source = of_refit(Refit.of(estimator, X, y, most=ROWS))
        return cls(criteria_data(source, criteria, parameter)).plot(ax)

    @classmethod
    def from_selection(
        cls,
        selection: Any,
        *,
        criteria: Sequence[str | Criterion] = DEFAULT,
        parameter: str = "C",
        ax: Any = None,
    ) -> CriteriaDisplay:
        """Compare criteria around the choice of ``select``.

        Parameters
        ----------
        selection : Selection
            What ``select`` returned.
        criteria : sequence of str or Criterion
            The criteria to compare.
        parameter : {"C", "width"}, default "C"
            The parameter that varies, all else being as chosen.
        ax : matplotlib.axes.Axes, optional
            The axes to draw on; new ones if None.

        Returns
        -------
        CriteriaDisplay
            The display, drawn.
        """
        return cls(criteria_data(of_selection(selection), criteria, parameter)).plot(ax)

    def plot(self, ax: Any = None) -> CriteriaDisplay:
        """Draw on the axes given, or on new ones.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            The axes to draw on; new ones if None.

        Returns
        -------
        CriteriaDisplay
            The display, drawn.
        """
        self.ax_, self.figure_ = axes_of(ax)
        data, self.lines_ = self.data, []
        where = natural(data.log_value)
        for i, curve in enumerate(data.curves):
            colour = CYCLE[i % len(CYCLE)]
            style = "-" if i < len(CYCLE) else "--"
            self.lines_ += self.ax_.plot(
                where, curve.merit, style, color=colour, label=curve.name, lw=1.6
            )
            top = np.interp(curve.best, data.log_value, curve.merit)
            self.ax_.plot(np.exp(curve.best), top, "o", color=colour, mec="white", ms=7)
        self.ax_.axvline(np.exp(data.at), color=QUIET, ls="--", lw=1.0)
        self.ax_.set(xscale="log", xlabel=words(data.parameter), ylabel="from worst to best")
        self.ax_.set_yticks([0.0, 1.0], ["worst", "best"])
        self.ax_.legend(frameon=False, fontsize="small", loc="center left", bbox_to_anchor=(1, 0.5))
        tidy(self.ax_)
        return self
