"""The papers' toy problems."""

from __future__ import annotations

import numpy as np

from svmselect.types import Array

BAYES_ERROR = 0.13177
"""Of ``half_relevant``: Phi(-sqrt(5)/2)."""


def half_relevant(
    n: int, random_state: int | np.random.Generator | None = None
) -> tuple[Array, Array]:
    """Ten inputs of which the first five matter, alike (Glasmachers & Igel 2010, section 5).

    y is -1 or +1 with equal probability; x_i = y/2 + z_i for i = 1..5 and x_i = z_i for
    i = 6..10, z standard normal. The Bayes error is 13.18 %.
    """
    rng = np.random.default_rng(random_state)
    y = np.where(rng.random(n) < 0.5, -1.0, 1.0)
    X = rng.standard_normal((n, 10))
    X[:, :5] += 0.5 * y[:, None]
    return X, y
