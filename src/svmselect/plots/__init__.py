"""Plots for notebooks, in scikit-learn's Display convention; data apart from drawing.

``XxxDisplay.from_estimator(...)`` and ``.from_selection(...)`` compute and draw, ``.plot(ax)``
draws again; ``svmselect.plots.data`` computes without drawing. Matplotlib is loaded when something
is drawn.
"""

from svmselect.plots.boundary import DecisionBoundaryDisplay
from svmselect.plots.calibration import CalibrationDisplay
from svmselect.plots.criteria import CriteriaDisplay
from svmselect.plots.landscape import LandscapeDisplay
from svmselect.plots.length_scale import LengthScaleDisplay
from svmselect.plots.trace import TraceDisplay

__all__ = [
    "CalibrationDisplay",
    "CriteriaDisplay",
    "DecisionBoundaryDisplay",
    "LandscapeDisplay",
    "LengthScaleDisplay",
    "TraceDisplay",
]
