"""Published experiments, run again: the paper's numbers beside ours.

``reproduce("gold-sollich", trials=25, n_jobs=2, data_dir=..., output=...)`` runs the trials, keeps
each as it arrives, and writes a CSV file, a Markdown page and pictures. ``available()`` lists the
papers: a file added to this folder is found.

How a paper's file is written. ``<paper>.py`` holds one ``Paper`` at its top level, conventionally
``PAPER``, and stands on four things of ``svmselect.experiments.reproduction``:

1. *Tasks.* A ``Task`` is one trial of one cell: ``Task(("crabs", "gacv"), trial, seed, settings)``.
   Its settings (JSON: numbers, strings, lists, dicts) and seed decide its numbers, nothing else
   does; they are kept with the result, and a file with other ones is not gone on with. Use
   ``seed_of("split", data, trial)`` for what columns share and the trial's seed for the rest.
   ``tasks(trials, reduced)`` lists them; ``reduced`` is True for a single trial: then everything
   together must end within four minutes on two cores, so cut budgets in the settings and say so in
   ``Paper.notes``. Exhibits that list the same task share its run.
2. *Running one.* ``run(task, data_dir) -> dict`` at the top level of the module (workers import
   it): load with ``svmselect.datasets.load(name, data_dir=data_dir)`` inside, return a few numbers
   or short lists of them. A ``DatasetMissing`` it raises becomes "not run: data missing" with the
   way to get the data; any other error is kept too, and the rest goes on. Both are tried again on
   the next ``resume``.
3. *Published numbers.* ``<paper>_<what>.csv`` beside the module; ``read_published(file)`` gives
   its rows as dicts of strings.
4. *Rows.* An ``Exhibit("table", 3, title, tasks, rows, draw)``; ``rows(outcomes)`` gives ``Row``s,
   one a cell: ``Row("crabs", "gacv", "test error (%)", outcomes.values("crabs", "gacv",
   of="error"), Published(13.0, sd=1.8), missing=outcomes.problem("crabs", "gacv"))``. The
   verdict follows: within 2 sd, within the quartiles, within a tolerance, ours better, ours worse,
   not run. ``best`` is the best number the paper has in that row: ours is marked where it beats
   it. ``draw(outcomes, figure)`` draws on an empty ``matplotlib.figure.Figure``.

Every paper has a smoke run of seconds in tests/experiments.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

from svmselect.experiments.reproduction.outcomes import Outcome, Outcomes
from svmselect.experiments.reproduction.paper import Exhibit, Paper, Task, seed_of
from svmselect.experiments.reproduction.published import read_published
from svmselect.experiments.reproduction.result import Result
from svmselect.experiments.reproduction.row import Published, Row
from svmselect.experiments.reproduction.run import Progress, run

__all__ = [
    "Exhibit",
    "Outcome",
    "Outcomes",
    "Paper",
    "Progress",
    "Published",
    "Result",
    "Row",
    "Task",
    "available",
    "read_published",
    "reproduce",
    "seed_of",
]


@cache
def available() -> dict[str, Paper]:
    """Papers by name, found by listing this folder."""
    found: dict[str, Paper] = {}
    for entry in iter_modules(__path__):
        if not entry.ispkg:
            module = import_module(f"{__name__}.{entry.name}")
            papers = [value for value in vars(module).values() if isinstance(value, Paper)]
            found.update((paper.name, paper) for paper in papers)
    return dict(sorted(found.items()))


def reproduce(
    paper: str | Paper,
    *,
    table: int | None = None,
    figure: int | None = None,
    trials: int = 1,
    n_jobs: int | None = None,
    dask: str | None = None,
    data_dir: str | os.PathLike[str] | None = None,
    output: str | os.PathLike[str] | None = None,
    resume: bool = False,
    callback: Callable[[Progress], Any] | None = None,
) -> Result:
    """Run a paper's experiments and set the published numbers beside ours.

    table, figure : only this one; else all.
    trials : how many a cell; a single one runs reduced settings, four minutes at most.
    n_jobs, dask : workers as joblib counts them, or the address of a Dask scheduler. Numbers do not
        depend on who works.
    data_dir : a folder of ``.npz`` data sets; what cannot be had is named and the rest goes on.
    output : the folder for trials.jsonl, <paper>.csv, <paper>.md and pictures; by default
        reproduced/<paper>.
    resume : go on with the trials in that folder; otherwise an older trials.jsonl is renamed.
    callback : called with a ``Progress`` after each trial; True stops, with what there is.
    """
    if isinstance(paper, str):
        known = available()
        if paper not in known:
            raise ValueError(f"paper {paper!r} is not one of {', '.join(map(repr, known))}")
        paper = known[paper]
    if n_jobs not in (None, 1) and dask is not None:
        raise ValueError("n_jobs and dask are two ways to spread the work; give one of them")
    folder = Path("reproduced") / paper.name if output is None else Path(output)
    data = None if data_dir is None else Path(data_dir).resolve()
    return run(
        paper, table, figure, trials, n_jobs, dask, data, folder, resume, callback
    )  # fmt: skip
