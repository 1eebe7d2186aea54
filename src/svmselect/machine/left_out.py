"""What a machine would say of its own points, had it not been trained on them; many at once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from svmselect.machine.losses import Logistic, Loss, get_loss
from svmselect.machine.removal import margins_without
from svmselect.machine.removal_logistic import signs_without
from svmselect.machine.solution import Solution
from svmselect.types import Array, IntArray

_OTHERS: dict[type[Loss], Callable[[Array, Solution, IntArray], Array]] = {Logistic: signs_without}
"""How the losses are followed whose dual is no quadratic program."""


def left_out(K: Array, solution: Solution, rows: IntArray) -> Array:
    """A number with the sign of y_i f(x_i) by the machine trained without row i, for i in ``rows``.

    For rows of weight at most one. NaN where only a training of its own can tell: everywhere, for
    a loss that nothing is known of here.
    """
    rule = get_loss(solution.loss)
    follow = margins_without if rule.quadratic else _OTHERS.get(type(rule))
    return np.full(len(rows), np.nan) if follow is None else follow(K, solution, rows)
