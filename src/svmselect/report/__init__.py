"""The report page: one self-contained HTML file on what was chosen, why, and how well it works."""

from svmselect.report.file import append, write
from svmselect.report.fitted import of_fit
from svmselect.report.page import render
from svmselect.report.record import Report, Rival
from svmselect.report.rival import plain_grid
from svmselect.report.traced import of_trace

__all__ = ["Report", "Rival", "append", "of_fit", "of_trace", "plain_grid", "render", "write"]
