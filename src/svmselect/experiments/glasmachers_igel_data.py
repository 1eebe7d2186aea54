"""The 28 data sets of Glasmachers & Igel: our names, training sizes, and why those.

The 13 sets of Raetsch's benchmark have published sizes, and so has the toy. The other partitions
were in a supplement we do not have. Quartiles of test errors are multiples of 1/(4 n), which gives
the test size n away where it is small (the same reasoning finds the known sizes of heart,
breast-cancer and flare-solar): these are "inferred". Where it does not, 500 rows are "assumed".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from svmselect.datasets import Loaded, partition, standardised
from svmselect.types import Array


@dataclass(frozen=True)
class Benchmark:
    """A data set of the tables: its name there and here, training rows, and how we know them."""

    title: str
    name: str
    train: int
    known: str = "published"


BENCHMARKS = (
    Benchmark("artificial toy problem", "half-relevant", 500),
    Benchmark("balance-scale", "balance-scale", 298, "inferred"),
    Benchmark("banana", "banana", 400),
    Benchmark("cylinder bands", "cylinder-bands", 195, "inferred"),
    Benchmark("breast cancer", "breast-cancer", 200),
    Benchmark("car evaluation", "car", 500, "assumed"),
    Benchmark("connect-4", "connect-4", 500, "assumed"),
    Benchmark("diabetis", "diabetis", 468),
    Benchmark("diagnosis", "diagnosis", 90, "inferred"),
    Benchmark("flare solar", "flare-solar", 666),
    Benchmark("german", "german", 700),
    Benchmark("heart", "heart", 170),
    Benchmark("image", "image", 1300),
    Benchmark("ionosphere", "ionosphere", 151, "inferred"),
    Benchmark("king rook vs. king", "king-rook-king", 500, "assumed"),
    Benchmark("king rook vs. king pawn", "king-rook-king-pawn", 500, "assumed"),
    Benchmark("magic gamma telescope", "magic", 500, "assumed"),
    Benchmark("mammographic mass", "mammographic", 430, "assumed"),
    Benchmark("ringnorm", "ringnorm", 400),
    Benchmark("sonar (mines vs. rocks)", "sonar", 100, "inferred"),
    Benchmark("spambase", "spambase", 500, "assumed"),
    Benchmark("splice", "splice", 1000),
    Benchmark("thyroid", "thyroid", 140),
    Benchmark("tic-tac-toe", "tic-tac-toe", 400, "inferred"),
    Benchmark("titanic", "titanic", 150),
    Benchmark("blood transfusion", "transfusion", 348, "inferred"),
    Benchmark("twonorm", "twonorm", 400),
    Benchmark("waveform", "waveform", 400),
)
TABLE_1 = 20
"""How many of them are in Table 1; the others are in Table 2."""

MOST_TEST = 10_000
"""Test rows at most: connect-4, king-rook-king and magic have more."""


@dataclass(frozen=True, eq=False)
class Split:
    """One partition, the inputs standardised over all rows."""

    X: Array
    y: Array
    X_test: Array
    y_test: Array
    original: bool


def split(data: Loaded, trial: int, train: int, most_train: int) -> Split:
    """The trial's partition, with at most ``most_train`` training and ``MOST_TEST`` test rows."""
    X = standardised(data.X)
    rows, test, original = partition(data, trial, train)
    rng = np.random.default_rng(trial)  # files may be sorted by class: what is cut is drawn
    if len(rows) > most_train:
        rows = rng.permutation(rows)[:most_train]
    if len(test) > MOST_TEST:
        test = rng.permutation(test)[:MOST_TEST]
    return Split(X[rows], data.y[rows], X[test], data.y[test], original)
