"""More trials beside kept ones: of chosen cells, as many as there is time for."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from pathlib import Path

from svmselect.experiments.reproduction.kept import keep, kept_trials, settings_of
from svmselect.experiments.reproduction.paper import Paper
from svmselect.experiments.reproduction.run import attempt

_OFTEN = 60.0
"""Seconds after which what is new is written, so that an interruption loses little."""


def more(
    paper: Paper,
    path: Path,
    cells: str,
    trials: int,
    seconds: float = float("inf"),
    data_dir: Path | None = None,
    left_out: Iterable[str] = (),
) -> tuple[int, int]:
    """Run trials that ``path`` lacks, first trials first; how many were done, and are to do.

    ``cells`` is a regular expression for whole names such as "heart/likelihood"; no trial is begun
    after ``seconds``. One that fails is left for the next time.
    """
    wanted = re.compile(cells)
    tasks = {t.key: t for e in paper.exhibits for t in e.tasks(trials, False)}
    chosen = [t for t in tasks.values() if wanted.fullmatch("/".join(t.name))]
    known = {o.key: o for o in kept_trials(path, settings_of(paper)).all} if path.exists() else {}
    todo = sorted((t for t in chosen if t.key not in known), key=lambda t: t.trial)
    begun = written = time.monotonic()
    done = 0
    try:
        for task in todo:
            if time.monotonic() - begun >= seconds:
                break
            outcome = attempt(paper.run, task, data_dir)
            if outcome.state != "done":
                continue
            known[outcome.key] = outcome
            done += 1
            if time.monotonic() - written > _OFTEN:
                keep(known.values(), path, left_out)
                written = time.monotonic()
    finally:
        if done:
            keep(known.values(), path, left_out)
    return done, len(todo) - done
