"""What all readers of tables are held to: a table, or one sentence that names the file."""

from __future__ import annotations

import tempfile
import warnings
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from svmselect.cli.prepare import TableOptions, prepare
from svmselect.tables import gather, open_source

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {
        "size": RNG.normal(size=24).round(3),
        "place": RNG.choice(["Bern", "Zug, ZG", "Chur"], 24),
        "count": RNG.integers(0, 9, 24),
        "class": RNG.choice(["yes", "no"], 24),
    }
)
"""A small table of all kinds of columns."""


@cache
def folder() -> Path:
    """Where the files are written."""
    return Path(tempfile.mkdtemp(prefix="svmselect-fuzz-"))


def check(data: bytes, name: str) -> None:
    """Read a file with this content as `svmselect fit` does, and every column of it."""
    path = folder() / name
    path.write_bytes(data)
    for action in (
        lambda: gather(open_source(path)),
        lambda: prepare(str(path), TableOptions(target="-1")),
    ):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                action()
        except ValueError as error:
            said = str(error)
            if isinstance(error, UnicodeError) or "\n" in said or name not in said:
                raise AssertionError(f"no sentence for the user: {said!r}") from error
