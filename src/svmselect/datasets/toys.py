"""The papers' toy problems."""

from __future__ import annotations

import numpy as np

from svmselect.types import Array

BAYES_ERROR = 0.13177
"""Of ``half_relevant``: Phi(-sqrt(5)/2)."""


def half_relevant(
    n: int, random_state: int | np.random.Generator | None = None
) -> tuple[Array, Array]:
    """Draw ten inputs of which the first five matter, all alike.

    Parameters
    ----------
    n : int
        The number of rows.
    random_state : int, Generator or None, default None
        Seed.

    Returns
    -------
    X : ndarray of shape (n, 10)
        The inputs.
    y : ndarray of shape (n,)
        The labels, -1 and +1.

    Notes
    -----
    y is -1 or +1 with equal probability; x_i = y/2 + z_i for i = 1..5 and x_i = z_i for i = 6..10,
    z standard normal. The Bayes error is 13.18 %.

    References
    ----------
    Glasmachers & Igel 2010, section 5.
    """
    rng = np.random.default_rng(random_state)
    y = np.where(rng.random(n) < 0.5, -1.0, 1.0)
    X = rng.standard_normal((n, 10))
    X[:, :5] += 0.5 * y[:, None]
    return X, y


def circles(n: int, random_state: int | np.random.Generator | None = None) -> tuple[Array, Array]:
    """Draw noisy labels in three rings of a square.

    Parameters
    ----------
    n : int
        The number of rows.
    random_state : int, Generator or None, default None
        Seed.

    Returns
    -------
    X : ndarray of shape (n, 2)
        The inputs.
    y : ndarray of shape (n,)
        The labels, -1 and +1.

    Notes
    -----
    x is uniform on [0, 1]^2; P(y = +1) is 0.05 within 0.2 of the centre, 0.5 up to 0.35 and 0.95
    beyond. The paper's radii are only in a figure; these are ours.

    References
    ----------
    Wahba, Lin & Zhang 1999, their first example.
    """
    rng = np.random.default_rng(random_state)
    X = rng.uniform(size=(n, 2))
    radius = np.hypot(X[:, 0] - 0.5, X[:, 1] - 0.5)
    chance = np.select([radius < 0.2, radius < 0.35], [0.05, 0.5], 0.95)
    return X, np.where(rng.random(n) < chance, 1.0, -1.0)


def sines(n: int, random_state: int | np.random.Generator | None = None) -> tuple[Array, Array]:
    """Draw noisy labels in three bands of a square.

    Parameters
    ----------
    n : int
        The number of rows.
    random_state : int, Generator or None, default None
        Seed.

    Returns
    -------
    X : ndarray of shape (n, 2)
        The inputs.
    y : ndarray of shape (n,)
        The labels, -1 and +1.

    Notes
    -----
    x is uniform on [0, 1]^2; P(y = +1) is 0.95, 0.5 and 0.05 from the top, with borders
    x_2 = 0.5 + 0.2 sin(2 pi x_1) +- 0.1. The paper's borders are only in a figure; these are ours.

    References
    ----------
    Wahba, Lin & Zhang 1999, their second example.
    """
    rng = np.random.default_rng(random_state)
    X = rng.uniform(size=(n, 2))
    height = X[:, 1] - 0.5 - 0.2 * np.sin(2.0 * np.pi * X[:, 0])
    chance = np.select([height > 0.1, height > -0.1], [0.95, 0.5], 0.05)
    return X, np.where(rng.random(n) < chance, 1.0, -1.0)


def five_gaussians(
    n: int, random_state: int | np.random.Generator | None = None
) -> tuple[Array, Array]:
    """Draw five normals in the plane, two of class +1 and three of class -1.

    Parameters
    ----------
    n : int
        The number of rows.
    random_state : int, Generator or None, default None
        Seed.

    Returns
    -------
    X : ndarray of shape (n, 2)
        The inputs.
    y : ndarray of shape (n,)
        The labels, -1 and +1.

    Notes
    -----
    Means (-2, 0), (2, 0) for +1 and (-4, 0), (0, 0), (4, 0) for -1, bent by y' = y + x^2/8, with
    standard deviation 0.75, each class equally likely. The paper's are only in a figure; these are
    ours, with the text's property that no cubic separates them, and about its error of 11 %.

    References
    ----------
    Kwok 2000, Fig. 3.
    """
    rng = np.random.default_rng(random_state)
    y = np.where(rng.random(n) < 0.5, -1.0, 1.0)
    plus = np.array([-2.0, 2.0])[rng.integers(2, size=n)]
    minus = np.array([-4.0, 0.0, 4.0])[rng.integers(3, size=n)]
    centre = np.where(y > 0, plus, minus)
    X = np.column_stack([centre, centre**2 / 8.0]) + 0.75 * rng.standard_normal((n, 2))
    return X, y
