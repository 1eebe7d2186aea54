"""The i-th split of a data set."""

from __future__ import annotations

import numpy as np

from svmselect.datasets.record import Loaded
from svmselect.types import IntArray


def partition(
    data: Loaded, index: int, train_size: int, seed: int = 0
) -> tuple[IntArray, IntArray, bool]:
    """Split a data set into training and test rows.

    Parameters
    ----------
    data : Loaded
        The data set.
    index : int
        Which split, from 0: the source's own where it has that many of this training size, beyond
        that a random one determined by the name of the set, ``seed`` and ``index``.
    train_size : int
        The number of training rows.
    seed : int, default 0
        Seed of the random ones.

    Returns
    -------
    train : ndarray of int
        The training rows.
    test : ndarray of int
        The test rows.
    original : bool
        Whether the split is the source's own.
    """
    if not 0 < train_size < data.n:
        raise ValueError(
            f"train_size={train_size} of {data.name}: choose between 1 and {data.n - 1}"
        )
    if data.train is not None and data.test is not None:
        own = index < data.partitions and data.train.shape[1] == train_size
        if own:
            return data.train[index], data.test[index], True
    spell = int.from_bytes(data.name.encode(), "little")
    order = np.random.default_rng([spell, seed, index]).permutation(data.n)
    return np.sort(order[:train_size]), np.sort(order[train_size:]), False
