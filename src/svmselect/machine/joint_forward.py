"""``forward.py`` for machines trained side by side (``joint.py``), by conjugate gradients too."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from svmselect.clock import look
from svmselect.machine.batch import Asked, Moving
from svmselect.machine.conjugate import (
    Preconditioner,
    columns_of,
    conjugate_gradients,
    products,
)
from svmselect.machine.joint import columns_for, serves
from svmselect.machine.losses import get_loss
from svmselect.types import Array

_ROWS_EACH = 250  # for each parameter: many parameters are better served by one factorisation
_GAIN = 1e-10
_PRODUCTS = 60


def jacobians_jointly(
    K: Array, asked: Sequence[Asked], tangents: Sequence[Moving], fit_intercept: bool
) -> list[Array | None]:
    """d decision/d(log C, parameters) at the rows asked, machine by machine; None: left undone."""
    found: list[Array | None] = [None] * len(asked)
    terms = [tangent.arrays() for tangent in tangents]
    if not all(term is not None and len(term) == 3 for term in terms):
        return found  # length scales of their own
    groups: dict[int, list[int]] = {}
    for i, a in enumerate(asked):
        n = len(a.solution.y)
        if serves(a.solution.loss, n) and (1 + len(terms)) * _ROWS_EACH <= n:
            groups.setdefault(id(a.rows), []).append(i)
    moved: list[Array] | None = None
    for at in groups.values():
        rows = asked[at[0]].rows
        look()
        if moved is None:
            moved = [
                scale * (matrix if other is None else matrix * other)
                for matrix, other, scale in (term for term in terms if term is not None)
            ]
        whole = [K, *moved] if rows is None else [M[np.ix_(rows, rows)] for M in (K, *moved)]
        made = _together(whole[0], whole[1:], [asked[i] for i in at], fit_intercept)
        for i, J in zip(at, made, strict=True):
            found[i] = J
    return found


def _together(
    K: Array, moved: Sequence[Array], asked: Sequence[Asked], border: bool
) -> Sequence[Array | None]:
    """With g the columns (dK/dparameter) beta, and -D beta for log C: g - K x - shift."""
    beta = np.array([a.solution.beta for a in asked])
    cost = np.array([a.solution.C * a.solution.weights for a in asked])
    ridge = get_loss(asked[0].solution.loss).ridge(cost, np.abs(beta))
    W = np.where(cost > 0, 1.0 / ridge, 0.0)
    own = np.where(cost > 0, -ridge * beta, 0.0)
    g = np.stack([own, *(products(M, beta) for M in moved)], axis=1)
    L, left = columns_of(K, W.max(axis=0), columns_for(len(K)))
    try:
        by = Preconditioner(L, left, W, border)
    except FloatingPointError:
        return [None] * len(asked)
    led = conjugate_gradients(K, W, g, by, np.arange(len(asked)), _GAIN, _PRODUCTS)
    if led is None:
        return [None] * len(asked)
    J = g - led[1] - led[2][..., None]
    return [np.ascontiguousarray(one[:, a.held].T) for one, a in zip(J, asked, strict=True)]
