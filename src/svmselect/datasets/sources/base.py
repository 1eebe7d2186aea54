"""What every source of data can do."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from svmselect.data import Seed
from svmselect.datasets.record import Raw


@dataclass(frozen=True)
class Places:
    """Where a source may look: a folder, a cache, the network if ``download``; and a seed."""

    data_dir: Path | None = None
    cache: Path | None = None
    download: bool = False
    random_state: Seed = 0


class Source(Protocol):
    """One way to a data set."""

    @property
    def kind(self) -> str:
        """The sort of source, in a word or two."""

    def at_hand(self, places: Places) -> bool:
        """Tell whether ``read`` would find it without fetching anything."""

    def read(self, places: Places) -> Raw | None:
        """Read the data set, or None where this source is not at hand."""

    def way(self) -> str:
        """Say how to get the data set from here, after "you can"."""
