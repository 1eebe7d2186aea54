"""Breiman's simulated problems: Twonorm, Ringnorm and Waveform."""

from __future__ import annotations

import numpy as np

from svmselect.data import Seed
from svmselect.types import Array


def twonorm(n: int, random_state: Seed = None) -> tuple[Array, Array]:
    """Two normals in 20 dimensions with unit covariance and means +a and -a, a_j = 2/sqrt(20).

    The classes are equally likely; the best error is Phi(-2) = 2.28 %. (Breiman 1996, "Bias,
    variance, and arcing classifiers".)
    """
    rng = np.random.default_rng(random_state)
    y = _labels(n, rng)
    return rng.standard_normal((n, 20)) + y[:, None] * 2.0 / np.sqrt(20.0), y


def ringnorm(n: int, random_state: Seed = None) -> tuple[Array, Array]:
    """A wide normal, N(0, 4 I), of class +1 around a narrow one, N(a, I), a_j = 2/sqrt(20).

    20 dimensions, equally likely classes; the best error is about 1.3 %. (Breiman 1996.)
    """
    rng = np.random.default_rng(random_state)
    y = _labels(n, rng)
    z = rng.standard_normal((n, 20))
    return np.where(y[:, None] > 0, 2.0 * z, z + 2.0 / np.sqrt(20.0)), y


def waveform(n: int, random_state: Seed = None) -> tuple[Array, Array]:
    """21 inputs along a random mixture of two of three triangular waves, plus noise.

    h_1(t) = (6 - |t - 7|)_+, h_2(t) = (6 - |t - 15|)_+, h_3(t) = (6 - |t - 11|)_+ for t = 1..21;
    x = u h_a + (1 - u) h_b + z, u uniform, z standard normal; (a, b) is (1, 2), (1, 3) or (2, 3),
    equally likely. +1 is (1, 3), UCI's class 1, as in Raetsch's benchmark. (Breiman et al. 1984.)
    """
    rng = np.random.default_rng(random_state)
    t = np.arange(1, 22)
    h = np.array([np.maximum(6.0 - np.abs(t - peak), 0.0) for peak in (7, 15, 11)])
    kind = rng.integers(3, size=n)
    first, second = np.array([0, 0, 1])[kind], np.array([1, 2, 2])[kind]
    u = rng.random((n, 1))
    X = u * h[first] + (1.0 - u) * h[second] + rng.standard_normal((n, 21))
    return X, np.where(kind == 1, 1.0, -1.0)


def _labels(n: int, rng: np.random.Generator) -> Array:
    return np.where(rng.random(n) < 0.5, -1.0, 1.0)
