"""What a machine demands of its arguments; each error says what, where and what to do.

Whether K is positive semi-definite is judged without O(n^3) work: every 2 x 2 minor, and a Cholesky
factorisation of a principal block of at most 128 rows spread over the matrix.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import lapack

from svmselect.machine.box_qp import backend
from svmselect.types import Array

_TOLERANCE = 1e-8
_SAMPLE = 128
# Of K and of C w: squares, reciprocals and products of these must be numbers.
_SMALLEST, _LARGEST = 1e-100, 1e100
_FAINTEST = 1e-200  # the largest entry of a K that is not zero


def check_gram(K: ArrayLike) -> Array:
    """Give K as a float64 matrix: square, finite, symmetric and not clearly indefinite."""
    gram = _real(K, "K")
    if gram.ndim != 2 or gram.shape[0] != gram.shape[1]:
        raise ValueError(f"K must be a square matrix, got shape {gram.shape}")
    fault, i, j = backend().inspect(gram, _TOLERANCE)
    if fault == 3:
        i, j = (i, j) if not np.isfinite(gram[i, j]) else (j, i)
        raise ValueError(f"K[{i}, {j}] is {gram[i, j]}; check rows {i} and {j} of the inputs")
    if fault == 1:
        raise ValueError(
            f"K is not symmetric: K[{i}, {j}] = {gram[i, j]:.6g}, K[{j}, {i}] = {gram[j, i]:.6g};"
            " pass the Gram matrix of the training points with themselves"
        )
    if fault == 2:
        raise ValueError(
            f"K is not positive semi-definite: K[{i}, {i}] = {gram[i, i]:.6g}, "
            f"K[{j}, {j}] = {gram[j, j]:.6g}, K[{i}, {j}] = {gram[i, j]:.6g}; {_REMEDY}"
        )
    check_scale(gram)
    n = len(gram)
    rows = np.unique(np.linspace(0, n - 1, min(n, _SAMPLE)).astype(int)) if n else np.arange(0)
    block = gram[np.ix_(rows, rows)]
    lift = _TOLERANCE * float(np.trace(block)) + 1e-300
    _, info = lapack.dpotrf(block + lift * np.eye(len(rows)), lower=1)
    if info > 0:
        raise ValueError(
            "K is not positive semi-definite: its block of rows "
            f"{rows[0]} to {rows[info - 1]} has a negative eigenvalue, about "
            f"{np.linalg.eigvalsh(block)[0]:.3g}; {_REMEDY}"
        )
    return gram


def check_scale(K: Array) -> None:
    """Refuse a Gram matrix whose products overflow, or vanish though it is not zero.

    The diagonal tells, as |K_ij|^2 <= K_ii K_jj.
    """
    diagonal = K.diagonal()
    largest = diagonal.max(initial=0.0)
    if not (_FAINTEST <= largest <= _LARGEST or largest == 0.0):
        i = int(np.argmax(~(diagonal <= _LARGEST) | (diagonal == largest)))
        raise ValueError(f"K[{i}, {i}] is {diagonal[i]:.6g}; rescale the inputs")


_REMEDY = "use a positive definite kernel (tanh is not one)"


def _real(values: ArrayLike, name: str) -> Array:
    array = np.asarray(values)
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{name} must be an array of real numbers, got {array.dtype} entries")
    return np.ascontiguousarray(array, dtype=np.float64)


def check_signs(y: ArrayLike, n: int) -> Array:
    """Give y as floats, -1 and +1, both present; a copy, as what is kept must not change."""
    signs = np.asarray(y)
    if signs.shape != (n,):
        raise ValueError(
            f"y must have one label for each of the {n} rows of K, got shape {signs.shape}"
        )
    values = sorted(set(signs.tolist()), key=repr)
    if len(values) != 2:
        found = ", ".join(map(repr, values[:5]))
        raise ValueError(f"y must hold two classes, -1 and +1; it holds {len(values)}: {found}")
    if signs.dtype.kind not in "iuf" or set(values) != {-1, 1}:
        low, high = values
        raise ValueError(
            f"y must hold -1 and +1, it holds {low!r} and {high!r}; "
            f"pass numpy.where(y == {high!r}, 1, -1)"
        )
    return np.array(signs, dtype=np.float64)


def check_weights(weights: ArrayLike | None, y: Array) -> Array:
    """Give one finite non-negative weight a point, some of it in each class; a copy."""
    if weights is None:
        return np.ones(len(y))
    w = _real(weights, "weights").copy()
    if w.shape != y.shape:
        raise ValueError(
            f"weights must have one entry for each of the {len(y)} points, got shape {w.shape}"
        )
    bad = np.flatnonzero(~(np.isfinite(w) & (w >= 0)))
    if len(bad):
        raise ValueError(
            f"weights[{bad[0]}] is {w[bad[0]]}; weights must be finite and not negative"
        )
    for sign in (-1, 1):
        if not np.any(w[y == sign] > 0):
            raise ValueError(
                f"every point of class {sign:+d} has weight zero; a machine needs both classes"
            )
    return w


def check_penalty(C: float, weights: Array) -> float:
    """Give C as a positive float that leaves C w within what can be squared and inverted."""
    a_float = type(C) is float  # as a rule, and cheaply seen
    number = a_float or (np.ndim(C) == 0 and np.asarray(C).dtype.kind in "iuf")
    if not number or not 0.0 < C < np.inf:
        raise ValueError(f"C must be a positive finite number, got {C!r}")
    C, least, largest = float(C), float(weights.min()), float(weights.max())
    if not C * largest <= _LARGEST:
        raise ValueError(f"C times the largest weight is {C * largest:.3g}; lower one of them")
    if least == 0.0:
        least = float(weights[weights > 0].min(initial=largest))
    if not C * least >= _SMALLEST:
        raise ValueError(
            f"C times the smallest weight above zero is {C * least:.3g}; raise one of them "
            "(a weight of zero leaves its row out)"
        )
    return C
