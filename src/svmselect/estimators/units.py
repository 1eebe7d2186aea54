"""Whether columns that share a unit keep it, or each is divided by its own spread.

Pixels, spectra, shares and counts of words share a unit: a column that hardly varies says little
there, and to blow it up to the spread of the others is to add noise. Columns of different units
have nothing in common but their spread. Where the ranges of the columns are alike and their
spreads are not, both ways are looked at on the coarse path of the default strategy, and the one
that promises more of the held-out rows is taken; standardising, if in doubt.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from svmselect.data import stratified_folds
from svmselect.estimators.problem import Problem
from svmselect.estimators.scaling import Scaling
from svmselect.estimators.strategies.default import promises_more
from svmselect.kernels import Kernel
from svmselect.search.run import Session
from svmselect.types import Array, Note

ALIKE = 4.0
"""How many times the median range the largest may be, for columns that share a unit."""
UNLIKE = 1.5
"""By how much spreads have to differ for it to make a difference."""
WORTH = 2.0
"""Gain in log-likelihood that the common unit has to promise."""
ROWS = 1000
"""Rows, about, that are looked at."""
FEWEST = 5
"""Folds of these, and so rows of a class."""


def share_a_unit(X: Array, spans: Array | None) -> bool:
    """Whether columns may well be of one unit and spreads that differ.

    ``spans`` are what columns are divided by in any case, else NaN.
    """
    own = np.ones(X.shape[1], dtype=np.bool_) if spans is None else np.isnan(spans)
    with np.errstate(over="ignore"):
        ranges = X.max(axis=0) - X.min(axis=0)
    varying = own & (ranges > 0)
    if np.count_nonzero(varying) < 2:
        return False
    ranges = ranges[varying]
    if not ranges.max() <= ALIKE * np.median(ranges):
        return False
    spreads = X[:, varying].std(axis=0)
    return bool(spreads.max() > UNLIKE * spreads.min())


def in_best_units(
    problem: Problem,
    X: Array,
    spans: Array | None,
    kernel: Kernel,
    loss: str,
    session: Session,
    seed: int,
) -> Problem:
    """The problem with its columns in a common unit, where that promises more; X are the rows."""
    rows = X[problem.first]
    if not share_a_unit(rows, spans):
        return problem
    common = Scaling.of(rows, problem.counts, True, spans=spans, common=True)
    other = problem.scaled(X, common)
    looked = _sample(problem, rows, spans, seed) if len(problem) > ROWS else problem
    again = looked.scaled(rows, common) if looked is not problem else other
    inputs = looked.X, again.X
    gain, walked = promises_more(inputs, looked.pairs(), kernel, loss, session, seed)
    keeps = gain > WORTH
    if walked and looked is problem:  # what the choice would begin with
        problem = replace(problem, coarse=walked[0])
        other = replace(other, coarse=walked[1])
    if not keeps:
        return problem
    said = f"the inputs keep their common unit: it promised {gain:.1f} more of log-likelihood"
    return replace(other, notes=(*other.notes, Note("unit", said)))


def _sample(problem: Problem, rows: Array, spans: Array | None, seed: int) -> Problem:
    """Some of its rows, of the classes of which there are enough; ``first`` counts ``rows``."""
    chosen = np.sort(stratified_folds(problem.codes, -(-len(problem) // ROWS), seed)[0])
    often = np.bincount(problem.codes[chosen], minlength=len(problem.classes)) >= FEWEST
    chosen = chosen[often[problem.codes[chosen]]]
    made = Problem.of(
        rows[chosen], problem.codes[chosen], None, None, FEWEST, None, True, seed, True, spans
    )
    return replace(made, first=chosen[made.first])
