"""scikit-learn's callbacks (1.9 and later), where they are present; else nothing."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from svmselect.types import Evaluation

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands in for scikit-learn's, which has ``set_callbacks``."""

    def with_callbacks(method: Any) -> Any:
        """Leave the method as it is."""
        return method


__all__ = ["CallbackSupportMixin", "Reporter", "Watch", "with_callbacks"]

logger = logging.getLogger("svmselect")


@dataclass(frozen=True)
class Watch:
    """Who follows one fit: ``listener`` sees every evaluation and returns True to stop.

    ``checkpoint`` is the file that a search writes to and resumes from. ``passing`` is told, during
    passes over many rows, how many are done, of how many, and the number of the pass.
    """

    listener: Callable[[Evaluation], bool] | None = None
    checkpoint: Path | None = None
    passing: Callable[[int, int, int], bool] | None = None


def logged() -> bool:
    """Whether someone has set up logging so that what ``verbose`` says arrives there."""
    return logger.isEnabledFor(logging.INFO) and logger.hasHandlers()


class Reporter:
    """Tells callbacks and the log of every evaluation; a callback that returns True stops.

    ``verbose`` 1 logs the result, 2 every evaluation, at level INFO of the logger "svmselect";
    ``following`` writes them where nobody has set up logging.
    """

    def __init__(
        self, estimator: Any, X: Any, y: Any, metadata: Any, verbose: int, watch: Watch
    ) -> None:
        self.estimator, self.verbose, self.listener = estimator, verbose, watch.listener
        self.data = {"X": X, "y": y, "metadata": metadata}
        self.count = 0
        self.context: Any = None
        begin = getattr(estimator, "_init_callback_context", None)
        if begin is not None:
            # how many evaluations a search takes is not known before
            self.context = begin(max_subtasks=None)
            self.context.call_on_fit_task_begin(estimator=estimator, **self.data)

    def __call__(self, evaluation: Evaluation) -> bool:
        self.count += 1
        if self.verbose > 1:
            logger.info("evaluation %d: %.6g", self.count, evaluation.value)
        if self.listener is not None and self.listener(evaluation):
            return True
        if self.context is None:
            return False
        task = self.context.subcontext(task_name="evaluation")
        task.call_on_fit_task_begin(estimator=self.estimator, **self.data)
        return bool(task.call_on_fit_task_end(estimator=self.estimator, **self.data))

    def end(self, summary: str) -> None:
        """The fit is complete."""
        if self.verbose:
            logger.info("%s", summary)
        if self.context is not None:
            self.context.call_on_fit_task_end(
                estimator=self.estimator, reconstruction_attributes={}, **self.data
            )
