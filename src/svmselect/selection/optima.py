"""Which of the places that searches ended in are different local optima."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from svmselect.parallel import single_threaded
from svmselect.search.run import Function
from svmselect.search.trace import Record

_NEAR = 0.02  # ends closer than this in every coordinate are one: 2 % in the parameters


def distinct(
    ends: Sequence[Record], function: Function, between: int = 5, rise: float = 1e-6
) -> tuple[Record, ...]:
    """Ends that are separated from every better one by a rise of the loss, best first.

    The loss is evaluated at ``between`` points of the line from the better end to the worse; if it
    nowhere exceeds that of the worse end by ``rise``, the two lie in one basin (or the worse had
    not converged), and the worse is dropped. GS section 5.2.
    """
    kept: list[Record] = []
    for end in sorted(ends, key=lambda record: record.loss):
        if all(_apart(better, end, function, between, rise) for better in kept):
            kept.append(end)
    return tuple(kept)


def _apart(better: Record, worse: Record, function: Function, between: int, rise: float) -> bool:
    step = worse.point - better.point
    if np.all(np.abs(step) < _NEAR):
        return False
    warm = None
    for share in np.arange(1, between + 1) / (between + 1):
        point = better.point + share * step
        answer, warm = single_threaded(function, point, False, warm)
        if not answer.value <= worse.loss + rise:
            return True
    return False
