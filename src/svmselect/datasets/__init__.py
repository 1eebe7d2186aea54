"""Data sets: generators, the papers' toys, and loaders.

``load(name, data_dir=None)`` gives a ``Loaded``: ``X``, ``y`` in {-1, +1}, ``names``, ``source``,
and ``train``, ``test`` (matrices of row numbers, one row a partition) where the source has
partitions. ``available(data_dir=None)`` lists them all. A set that cannot be had raises
``DatasetMissing``, which says how to get it. ``partition(data, i, train_size)`` gives the i-th
pair of training and test rows: an original one while there are any, else a seeded random one.
"""

from svmselect.datasets.loading import Listed, available, catalogue, load
from svmselect.datasets.partitions import partition
from svmselect.datasets.record import DatasetMissing, Loaded, standardised
from svmselect.datasets.toys import circles, five_gaussians, half_relevant, sines

__all__ = [
    "DatasetMissing",
    "Listed",
    "Loaded",
    "available",
    "catalogue",
    "circles",
    "five_gaussians",
    "half_relevant",
    "load",
    "partition",
    "sines",
    "standardised",
]
