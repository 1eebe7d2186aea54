"""The file that passes over many rows are resumed from: trained machines, step by step."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np

from svmselect.files.whole import write_whole
from svmselect.machine.passes import Machines
from svmselect.types import OK


class PassJournal:
    """Machines by the name of their training, complete ones and the one that is under way.

    The file, if there is one, is written anew after each step; a kill loses the pass since. One
    that was written for other data or settings, by its ``digest``, is refused.
    """

    def __init__(self, path: Path | None = None, digest: str = "") -> None:
        self.path, self.digest = path, digest
        self._known: dict[str, tuple[Machines, bool]] = {}
        if path is not None and path.exists():
            self._known = _read(path, digest)

    def finished(self, label: str) -> Machines | None:
        """The machines of a training that is complete."""
        machines, done = self._known.get(label, (None, False))
        return machines if done else None

    def begun(self, label: str) -> Machines | None:
        """Where a training that was cut off had come to."""
        return self._known.get(label, (None, False))[0]

    def keep(self, label: str, machines: Machines, done: bool) -> None:
        """Remember machines, in the file too."""
        if self.path is None:
            return
        self._known[label] = machines, done
        arrays: dict[str, Any] = {}
        for i, (one, _) in enumerate(self._known.values()):
            arrays |= {f"theta{i}": one.theta, f"b{i}": one.intercept, f"value{i}": one.objective}
        said = {
            "digest": self.digest,
            "labels": list(self._known),
            "done": [complete for _, complete in self._known.values()],
        }
        buffer = io.BytesIO()
        np.savez(buffer, header=np.array(json.dumps(said)), **arrays)
        write_whole(self.path, buffer.getvalue())


def passes_file(trace: Path) -> Path:
    """The journal's file beside the trace of a search."""
    return trace.with_suffix(".passes.npz")


def _read(path: Path, digest: str) -> dict[str, tuple[Machines, bool]]:
    with np.load(path, allow_pickle=False) as file:
        said = json.loads(str(file["header"]))
        if said["digest"] != digest:
            raise ValueError(
                f"the passes in {path} were made for other data or settings; give another file, "
                "or delete this one to begin anew"
            )
        return {
            label: (Machines(file[f"theta{i}"], file[f"b{i}"], file[f"value{i}"], OK, 0), done)
            for i, (label, done) in enumerate(zip(said["labels"], said["done"], strict=True))
        }
