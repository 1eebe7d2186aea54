"""What a loader hands over, and the error where it cannot."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from svmselect.types import Array, IntArray


class DatasetMissing(ValueError):  # noqa: N818 - what happened, as a name
    """A data set that is nowhere to be found; the message says how to get it."""


@dataclass(frozen=True, eq=False)
class Loaded:
    """One data set with two classes.

    Attributes
    ----------
    name : str
        Its name.
    X : ndarray of shape (n, d)
        The inputs.
    y : ndarray of shape (n,)
        The labels, -1 and +1.
    names : tuple of str
        The names of the inputs.
    source : str
        Where the numbers come from.
    train, test : ndarray of int or None
        Row numbers, one row a partition, where the source has partitions; else None.
    generated : bool
        Whether the numbers were drawn here.
    """

    name: str
    X: Array
    y: Array
    names: tuple[str, ...]
    source: str
    train: IntArray | None = None
    test: IntArray | None = None
    generated: bool = False

    @property
    def n(self) -> int:
        """The number of rows."""
        return int(self.X.shape[0])

    @property
    def d(self) -> int:
        """The number of inputs."""
        return int(self.X.shape[1])

    @property
    def partitions(self) -> int:
        """The number of partitions that the source has."""
        return 0 if self.train is None else int(self.train.shape[0])


@dataclass(frozen=True, eq=False)
class Raw:
    """What a source read, before it is checked: as ``Loaded``, with any number for a label."""

    X: Array
    y: Array
    names: tuple[str, ...] = ()
    train: IntArray | None = None
    test: IntArray | None = None


def column_names(d: int) -> tuple[str, ...]:
    """x1, ..., xd, for sources that have no names."""
    return tuple(f"x{j + 1}" for j in range(d))


def standardised(X: Array) -> Array:
    """Scale every column to zero mean and unit variance over all rows.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The inputs.

    Returns
    -------
    ndarray of shape (n, d)
        The scaled inputs; a constant column becomes zero.
    """
    centred = X - X.mean(axis=0)
    spread = centred.std(axis=0)
    return np.asarray(centred / np.where(spread > 1e-12 * np.abs(X).max(axis=0), spread, 1.0))
