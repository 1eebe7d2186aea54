"""The numbers of the default strategy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Constants:
    """What the default was decided with, by measurement (``benchmarks/auto.py``)."""

    C_spread: float = 2.0
    """Standard deviation of log C about 0 in the prior."""
    width_spread: float = 0.5
    """That of the mean log length scale about the median distance between rows."""
    other_spread: float = 2.0
    """That of the logarithm of any other parameter about the value given."""
    C_range: tuple[float, float] = (1e-4, 1e6)
    width_range: float = 50.0
    """How many times wider or narrower than the median distance is looked at."""
    ard_room: tuple[float, float] = (1.0, 3.0)
    """By how much more, in logarithms, single length scales may be shorter and longer."""
    narrower: tuple[float, ...] = (0.5, 0.25, 0.125)
    wider: tuple[float, ...] = (1.0, 2.0, 4.0)
    """Widths of the coarse path, in median distances, walked outward."""
    penalties: tuple[float, ...] = tuple(2.0 ** np.arange(-3.0, 12.5, 2.5))
    falls: int = 2
    """A path, and a side of widths, is left when it has become worse that often in a row."""
    coarse_folds: int = 2
    close: float = 3.0
    """In log-likelihood: how near to the best a cell of another width is judged on all folds."""
    gain: float = 0.02
    """In log-likelihood: a step that gains less is the last."""
    rough_gain: float = 0.1
    ard_gain: float = 0.05
    glance_gain: float = 0.5
    """The same on one round of folds, for separate length scales, and for a look ahead."""
    steps: int = 10
    ard_steps: int = 8
    attempts: int = 3
    taus: tuple[float, ...] = (0.125, 0.25, 0.5, 1.0)
    """Spreads of log length scales about their mean that are compared."""
    worth: float = 2.0
    """Gain in log marginal likelihood that pays for separate length scales."""
    promise: float = 0.5
    """Of ``worth``: what another spread has to promise beyond the one that was tried."""
    near: float = 1.5
    """Factors of two between spreads that are tried one after the other, at most."""
    hope: float = 3.0
    """A look ahead ends where it lacks more than so many times its last gain."""
    fewest_inputs: int = 3
    """Inputs from which on it is thought of that few of them may matter."""
    narrow: float = 0.4
    """Of the median distance: from where few inputs that matter would show."""
    weightier: float = 2.0
    """By how much the length scales of categories are shorter at a start of their own."""
    grace: float = 0.5
    """Seconds that judging the choice on all folds may take when the time is over."""
    overtime: float = 0.1
    """The same as a share of the time there was, if that is more."""
    most_inputs: int = 1000
    """Inputs up to which separate length scales are thought of: their Hessian is as large as its
    square. ``ard="yes"`` insists."""


CONSTANTS = Constants()

STEPS = np.array([[np.log(4.0), 0.0], [0.0, -0.5 * np.log(2.0)]])
"""Of log C, and of the log length scales, by which what few rows chose is adjusted on many."""
