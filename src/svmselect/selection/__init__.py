"""``score`` and ``select``: criterion, kernel, machine, prior and search put together."""

from svmselect.selection.api import score, select
from svmselect.selection.result import Selection

__all__ = ["Selection", "score", "select"]
