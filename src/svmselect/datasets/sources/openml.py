"""OpenML, for a user with a network: fetched once on request, then read from a cache.

scikit-learn checks the download against OpenML's own checksum. What was made of it is kept as
``<name>.npz`` beside ``<name>.npz.sha256``, and a file that no longer matches its checksum is
refused.
"""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from svmselect.datasets.record import Raw
from svmselect.datasets.sources.base import Places
from svmselect.datasets.sources.nominal import Coding, encode
from svmselect.files.whole import write_whole


@dataclass(frozen=True)
class OpenML:
    """The data set of number ``data_id``, kept under ``name``."""

    name: str
    data_id: int
    coding: Coding
    change: Callable[[Raw], Raw] | None = None
    kind = "OpenML"

    def at_hand(self, places: Places) -> bool:
        return self._file(places).is_file()

    def _file(self, places: Places) -> Path:
        folder = places.cache if places.cache is not None else default_cache()
        return folder / f"{self.name}.npz"

    def read(self, places: Places) -> Raw | None:
        path = self._file(places)
        if not path.is_file():
            if not places.download:
                return None
            path.parent.mkdir(parents=True, exist_ok=True)
            _keep(path, self._fetch())
        return _kept(path)

    def _fetch(self) -> Raw:
        from sklearn.datasets import fetch_openml

        held = fetch_openml(data_id=self.data_id, as_frame=True, parser="pandas")
        frame = held.frame
        names = [str(name) for name in frame.columns]
        target = self.coding.target or str(held.target_names[0])
        order = [name for name in names if name != target] + [target]
        rows = [[str(value) for value in row] for row in frame[order].itertuples(index=False)]
        raw = encode(order, rows, self.coding)
        return raw if self.change is None else self.change(raw)

    def way(self) -> str:
        return (
            f'with a network, svmselect.datasets.load("{self.name}", download=True) once '
            f"(OpenML data set {self.data_id}; kept in {default_cache()})"
        )


def default_cache() -> Path:
    """$SVMSELECT_CACHE, else a folder of the user's cache."""
    named = os.environ.get("SVMSELECT_CACHE")
    if named:
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "svmselect"


def _keep(path: Path, raw: Raw) -> None:
    """Write the arrays and their checksum, the file last so that a broken write leaves none."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, X=raw.X, y=raw.y, feature=np.array(raw.names))
    content = buffer.getvalue()
    write_whole(path.with_name(path.name + ".sha256"), hashlib.sha256(content).hexdigest())
    write_whole(path, content)


def _kept(path: Path) -> Raw:
    """Read what was kept, if it is still what it was."""
    content = path.read_bytes()
    sidecar = path.with_name(path.name + ".sha256")
    expected = sidecar.read_text().strip() if sidecar.is_file() else "none recorded"
    found = hashlib.sha256(content).hexdigest()
    if found != expected:
        raise ValueError(
            f"{path} has checksum {found}, but {expected} was recorded when it was fetched; "
            "remove it and fetch it again with download=True"
        )
    with np.load(io.BytesIO(content), allow_pickle=False) as held:
        return Raw(held["X"], held["y"], tuple(str(name) for name in held["feature"]))
