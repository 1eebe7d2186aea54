"""A folder of ``.npz`` files, one a data set.

Each file has ``X`` (n x d), ``y`` (-1 or +1) and, where there are partitions, ``train`` and
``test``: matrices of 0-based row numbers, one row a partition, each pair covering every row once.
``feature`` holds the names of the inputs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from svmselect.datasets.record import Raw
from svmselect.datasets.sources.base import Places


@dataclass(frozen=True)
class Folder:
    """The file ``<file>.npz`` of the folder the user names; ``change`` treats what is read."""

    file: str
    change: Callable[[Raw], Raw] | None = None
    label: tuple[str, tuple[int, ...], tuple[int, ...]] | None = None
    """Another array of labels than ``y``, which of its values are +1 and which -1; others go."""
    kind = "folder"

    def at_hand(self, places: Places) -> bool:
        return places.data_dir is not None and (places.data_dir / f"{self.file}.npz").is_file()

    def read(self, places: Places) -> Raw | None:
        if places.data_dir is None or not self.at_hand(places):
            return None
        path = places.data_dir / f"{self.file}.npz"
        with np.load(path, allow_pickle=False) as held:
            missing = {"X", "y"} - set(held.files)
            if missing:
                raise ValueError(f"{path} has no array {' and no '.join(sorted(missing))}")
            names = tuple(str(name) for name in held["feature"]) if "feature" in held else ()
            X = np.asarray(held["X"], dtype=float)
            if self.label is not None:
                array, plus, minus = self.label
                rows = np.isin(held[array], plus + minus)
                raw = Raw(X[rows], np.where(np.isin(held[array][rows], plus), 1.0, -1.0), names)
            else:
                train = held["train"].astype(np.intp) if "train" in held else None
                test = held["test"].astype(np.intp) if "test" in held else None
                raw = Raw(X, np.asarray(held["y"], dtype=float), names, train, test)
        return raw if self.change is None else self.change(raw)

    def way(self) -> str:
        return f"put {self.file}.npz (arrays X and y) in a folder and name it as data_dir"
