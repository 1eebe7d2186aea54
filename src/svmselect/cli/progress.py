"""Long work on the command line: a bar, Ctrl-C, and a listener of fits that serves both."""

from __future__ import annotations

from svmselect import progress
from svmselect.cli.console import Output
from svmselect.types import Evaluation


class Bar(progress.Bar):
    """A bar where people read along at a terminal."""

    def __init__(
        self, text: str, total: int | None, output: Output, limit: float | None = None
    ) -> None:
        super().__init__(text, total, output.talks and progress.terminal(), limit)


class Stopper(progress.Stopper):
    """Ctrl-C as a wish, told as a note."""

    def __init__(self, output: Output) -> None:
        super().__init__(output.note)


class Watcher:
    """Listens to a fit: moves the bar, and stops the fit after Ctrl-C."""

    def __init__(self, bar: Bar, stopper: Stopper) -> None:
        self.bar, self.stopper = bar, stopper

    def __call__(self, evaluation: Evaluation) -> bool:
        self.bar.step()
        return self.stopper.asked
