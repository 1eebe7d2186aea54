"""The file of trials: written line by line as they arrive, read back to go on."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from svmselect import __version__
from svmselect.experiments.reproduction.outcomes import Outcome
from svmselect.experiments.reproduction.paper import Task
from svmselect.files.lines import append_line, torn_beginning, whole_lines
from svmselect.files.lock import Lock

FORMAT = 1


class TrialFile:
    """JSON lines: a header that names the paper, then one line a trial with its settings.

    With ``resume`` an existing file is read back and gone on with: ``known`` are its trials by key.
    A torn last line is cut off, a file of another paper is refused, and so is one whose trials
    were run with other settings than ``tasks`` ask for. Without it an existing file is kept under
    another name.
    """

    def __init__(self, path: Path, paper: str, tasks: Iterable[Task], resume: bool) -> None:
        self.path = path
        self.known: dict[str, Outcome] = {}
        path.parent.mkdir(parents=True, exist_ok=True)
        self._lock = Lock(path, "give another output folder")
        begun = False
        if path.exists() and resume:
            self.known, begun = _read(path, paper)
            _compare(self.known, tasks, path)
        elif path.exists():
            path.rename(_free_name(path))
        if not begun:
            header = {"svmselect": "trials", "format": FORMAT, "paper": paper}
            self._write(header | {"version": __version__})

    def append(self, outcome: Outcome) -> None:
        """Write a trial that was done; one counted already is not counted twice."""
        if outcome.state != "done" or outcome.key in self.known:
            return
        self.known[outcome.key] = outcome
        self._write(
            {
                "name": list(outcome.name),
                "trial": outcome.trial,
                "settings": dict(outcome.settings),
                "values": dict(outcome.values),
                "seconds": round(outcome.seconds, 3),
            }
        )

    def _write(self, fields: Mapping[str, Any]) -> None:
        append_line(self.path, json.dumps(fields) + "\n")


def _read(path: Path, paper: str) -> tuple[dict[str, Outcome], bool]:
    """The trials of a file, and whether it has been begun; a torn last line is left out."""
    content = path.read_bytes()
    lines = whole_lines(content)
    remedy = "give another output folder"
    if not lines and torn_beginning(content, '{"svmselect": "trials"'):
        return {}, False
    try:
        header = json.loads(lines[0])
        kind = header["svmselect"], header["format"], header["paper"]
    except (ValueError, KeyError, TypeError, IndexError, RecursionError):
        raise ValueError(f"{path} is not a file of trials of svmselect; {remedy}") from None
    if kind != ("trials", FORMAT, paper):
        raise ValueError(
            f"{path} holds {kind[0]} of {kind[2]!r} in format {kind[1]}, not trials of {paper!r} "
            f"in format {FORMAT}; {remedy}"
        )
    known: dict[str, Outcome] = {}
    for number, line in enumerate(lines[1:], start=2):
        try:
            f = json.loads(line)
            outcome = Outcome(
                tuple(f["name"]), int(f["trial"]), f["settings"], f["values"], float(f["seconds"])
            )
            if not isinstance(f["settings"], dict) or not isinstance(f["values"], dict):
                raise TypeError("settings and values are names with what they are")
            known.setdefault(outcome.key, outcome)
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
            raise ValueError(
                f"line {number} of {path} cannot be read ({type(error).__name__}: {error}); remove "
                "the line, and its trial is run again"
            ) from None
    return known, True


def _compare(known: Mapping[str, Outcome], tasks: Iterable[Task], path: Path) -> None:
    """Refuse to mix trials of different settings."""
    for task in tasks:
        old = known.get(task.key)
        if old is None:
            continue
        # through JSON, so that a tuple equals the list it comes back as
        new = json.loads(json.dumps({**task.settings, "seed": task.seed}))
        if dict(old.settings) != new:
            keys = sorted({**old.settings, **new})
            shown = "; ".join(
                f"{k} was {old.settings.get(k)}, now {new.get(k)}"
                for k in keys
                if old.settings.get(k) != new.get(k)
            )
            raise ValueError(
                f"{path} has trials of other settings ({task.key}: {shown}); give another output "
                "folder, or ask for the same (one trial runs reduced settings, more run full ones)"
            )


def _free_name(path: Path) -> Path:
    number = 1
    while (other := path.with_name(f"{path.stem}-{number}{path.suffix}")).exists():
        number += 1
    return other
