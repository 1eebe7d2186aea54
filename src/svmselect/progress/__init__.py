"""Following long work: a bar in a terminal or a notebook, and Ctrl-C that keeps the best so far."""

from svmselect.progress.bar import Bar, notebook, terminal
from svmselect.progress.interrupt import EndNow, Stopper
from svmselect.progress.passes import Passes

__all__ = ["Bar", "EndNow", "Passes", "Stopper", "notebook", "terminal"]
