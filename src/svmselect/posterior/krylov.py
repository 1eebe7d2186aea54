"""A small GMRES: a few products solve the Newton equations of expectation propagation."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from svmselect.types import Array


def gmres(
    apply: Callable[[Array], Array], rhs: Array, tolerance: float, limit: int = 30
) -> tuple[Array, int]:
    """Solve A x = rhs to a relative residual; also the number of products taken.

    The operators here are the identity plus a contraction, so a handful of products do; when the
    limit is met the least-squares answer so far is given.
    """
    size = float(np.linalg.norm(rhs))
    if size == 0.0:
        return np.zeros_like(rhs), 0
    basis = [rhs / size]
    H = np.zeros((limit + 1, limit))
    target = np.zeros(limit + 1)
    target[0] = size
    y: Array = np.zeros(0)
    for k in range(limit):
        w = apply(basis[k])
        for _ in range(2):  # orthogonalise twice: once is not enough in floating point
            for j, direction in enumerate(basis):
                part = float(direction @ w)
                H[j, k] += part
                w = w - part * direction
        H[k + 1, k] = np.linalg.norm(w)
        block = H[: k + 2, : k + 1]
        y = np.asarray(np.linalg.lstsq(block, target[: k + 2], rcond=None)[0], dtype=np.float64)
        left = float(np.linalg.norm(block @ y - target[: k + 2]))
        if left <= tolerance * size or H[k + 1, k] <= 1e-14 * size:
            break
        basis.append(w / H[k + 1, k])
    return np.array(basis[: len(y)]).T @ y, len(y)
