"""What ``verbose`` and Ctrl-C do during ``fit``: a bar, lines, and an end with the best so far."""

from __future__ import annotations

import math
import multiprocessing
import sys
import warnings
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace
from typing import Any

from svmselect.estimators.by_default import MANY
from svmselect.estimators.callbacks import logged
from svmselect.estimators.options import averages, is_default
from svmselect.progress import Bar, EndNow, Passes, Stopper, notebook, terminal
from svmselect.selection.result import Selection
from svmselect.types import Evaluation, Note, Status


class Following(AbstractContextManager["Following"]):
    """Listens to one fit: draws what ``verbose`` asks for, and stops it after Ctrl-C.

    ``verbose`` 1 is a bar where there is a screen, and the result in words; 2 also a line for each
    evaluation. Where logging is set up for them, the words go there instead.
    """

    def __init__(self, estimator: Any, rows: int) -> None:
        self.estimator = estimator
        self.talks = bool(estimator.verbose) and not logged()
        alone = multiprocessing.current_process().name == "MainProcess"
        shown = bool(estimator.verbose) and alone and (terminal() or notebook())
        name = type(estimator).__name__
        self.bar = Bar(name, expected_evaluations(estimator, rows), shown, estimator.max_time)
        self.stopper = Stopper(lambda text: self.bar.say(f"{name}: {text}"))
        self.passing = Passes(self.bar, self.stopper)
        self.count, self.best = 0, math.inf
        self._open = ExitStack()

    def __enter__(self) -> Following:
        self._open.enter_context(self.bar)
        self._open.enter_context(self.stopper)
        return self

    def __exit__(self, *ending: Any) -> None:
        self._open.__exit__(*ending)
        if ending[0] is EndNow:
            raise KeyboardInterrupt from None

    def __call__(self, evaluation: Evaluation) -> bool:
        """Take in an evaluation; whether to stop."""
        self.count += 1
        self.best = min(self.best, evaluation.value)
        self.bar.text = f"{type(self.estimator).__name__}: {self.count} evaluations"
        self.bar.step()
        if self.talks and self.estimator.verbose > 1:
            self.bar.say(line(self.count, evaluation))
        return self.stopper.asked

    def end(self) -> None:
        """Say what was chosen."""
        if self.talks:
            stream = sys.stdout if notebook() else sys.stderr
            stream.write(f"{self.estimator.explain()}\n")


def interrupted(selection: Selection) -> Selection:
    """The best so far, after Ctrl-C, with a note and a warning."""
    said = f"interrupted after {selection.evaluations} evaluations: this is the best so far"
    warnings.warn(f"the search was {said}", UserWarning, stacklevel=3)
    others = tuple(n for n in selection.notes if n.kind not in ("early", "callback"))
    return replace(
        selection,
        status=Status("interrupted", said),
        notes=(*others, Note("interrupted", said)),
    )


def line(count: int, evaluation: Evaluation) -> str:
    """One evaluation in a line: the criterion's value, what is minimised, C, the folds."""
    value = evaluation.details.get("value", math.nan)
    folds = evaluation.details.get("folds")
    seen = "" if folds is None else f", {folds:.0f} folds"
    C = math.exp(float(evaluation.point[0]))
    return f"{count:4d}  {value:.5g} (loss {evaluation.value:.5g}) at C = {C:.4g}{seen}"


def expected_evaluations(model: Any, rows: int) -> int:
    """About how many evaluations the search takes, for a bar."""
    if not is_default(model):
        return 150
    if rows > MANY:
        return 200
    return 150 if averages(model) else 60
