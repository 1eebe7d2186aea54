"""How far a fitted model's answers move when one input is shuffled."""

from __future__ import annotations

from typing import Any

import numpy as np

from svmselect.estimators.given import dense, encoded
from svmselect.estimators.predictor import of_encoded
from svmselect.types import Array

_WORK = 2e10  # multiplications to spend
_ROWS = (40, 400)


def influence(model: Any, X: Any, random_state: int = 0) -> Array:
    """The mean change of the probabilities when an input's values are shuffled among the rows.

    1/n sum_i 1/2 sum_c |p_ic - p_ic'|: 0 for an input the machine does not look at, 1 at most. It
    asks of the machine, not of the labels, so inputs that say the same share what they say. Of many
    rows a sample is taken; not a number where there are too many inputs even so.
    """
    rows = dense(encoded(model, X))
    n, d = len(rows), model.n_features_in_
    vectors = len(model.support_vectors_)
    most = int(min(n, _ROWS[1], _WORK / (d * d * max(vectors, 1))))
    if most < min(n, _ROWS[0]):
        return np.full(d, np.nan)
    rng = np.random.default_rng(random_state)
    kept = np.sort(rng.permutation(n)[:most])
    table = rows[kept]
    owners = np.arange(d) if model.encoder_ is None else model.encoder_.owners
    before = of_encoded(model, table)
    moved = np.empty(d)
    for a in range(d):
        changed, own = table.copy(), owners == a
        changed[:, own] = rng.permutation(table[:, own])
        after = of_encoded(model, changed)
        moved[a] = 0.5 * float(np.abs(after - before).sum(axis=1).mean())
    return moved
