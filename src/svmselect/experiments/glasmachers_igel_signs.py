"""The signs in Glasmachers & Igel's tables: paired Wilcoxon tests of one method against another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np


def sign(ours: Sequence[float], other: Sequence[float]) -> str:
    """ "<" or "<<" where the first is better at 0.01 or 0.001, ">" or ">>" where it is worse.

    Wilcoxon's signed rank test over the partitions, as if they were independent; equal pairs are
    left out.
    """
    from scipy.stats import wilcoxon

    difference = np.asarray(ours) - np.asarray(other)
    difference = difference[difference != 0]
    if len(difference) < 5:
        return ""
    p = float(wilcoxon(difference).pvalue)
    mark = "<" if np.median(difference) < 0 else ">"
    return mark * (2 if p < 0.001 else 1 if p < 0.01 else 0)


def signs(method: str, errors: Mapping[str, Sequence[float]]) -> list[str]:
    """The method's signs against all others that have the same partitions."""
    found = []
    for other, theirs in errors.items():
        if other != method and len(theirs) == len(errors[method]):
            mark = sign(errors[method], theirs)
            found += [f"{mark} {other}"] if mark else []
    return found
