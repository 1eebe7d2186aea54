"""The p-values of Kobayashi & Komaki's tables: as they were computed, and as they are described."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import ndtr, stdtr


def p_from_moments(mean: float, sd: float, other_mean: float, other_sd: float) -> float:
    """Phi(-|difference of means| / (sum of standard deviations)).

    The text says "paired t-test", but this is what 59 of the 60 printed p-values of errors are, to
    their last digits. It does not use the number of splits.
    """
    total = sd + other_sd
    return 0.5 if total == 0 else float(ndtr(-abs(mean - other_mean) / total))


def p_as_printed(base: Sequence[float], other: Sequence[float]) -> float:
    """``p_from_moments`` of two columns of errors."""
    a, b = np.asarray(base), np.asarray(other)
    return p_from_moments(
        float(a.mean()), float(a.std(ddof=1)), float(b.mean()), float(b.std(ddof=1))
    )


def p_paired(base: Sequence[float], other: Sequence[float]) -> float:
    """One-sided p-value of the paired t-test; splits overlap, so it is too optimistic."""
    difference = np.asarray(other) - np.asarray(base)
    spread = float(difference.std(ddof=1))
    if spread == 0:
        return 0.5 if difference[0] == 0 else 0.0
    t = abs(float(difference.mean())) / (spread / np.sqrt(len(difference)))
    return float(stdtr(len(difference) - 1, -t))
