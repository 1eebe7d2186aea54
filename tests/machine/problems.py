"""Training problems by name: the easy, and every regime that breaks a careless solver."""

from __future__ import annotations

import os

import numpy as np
import pytest

from svmselect.kernels import RBF

# Seconds within which a small problem is solved, however odd; several times that where every access
# is watched (`make sanitize`).
PATIENCE = 10.0 if os.environ.get("SVMSELECT_WATCHED") else 2.0
LOSSES = ("hinge", "squared_hinge", "logistic")
# from far below to far above where data and kernel balance; 10^7.5 is Kobayashi & Komaki's last
PENALTIES = (1e-6, 1e-3, 0.1, 1.0, 10.0, 1e3, 10**5.5, 10**7.5, 1e8)


def cloud(n: int, seed: int = 0, shift: float = 0.7) -> tuple[np.ndarray, np.ndarray]:
    """Two overlapping Gaussian clouds in three dimensions, labels -1 and +1."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    return rng.normal(size=(n, 3)) + shift * y[:, None], y


def _rbf(X: np.ndarray, width: float) -> np.ndarray:
    return np.asarray(RBF(width)(X))


def regimes(n: int = 30, seed: int = 0) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """(K, y) by name."""
    X, y = cloud(n, seed)
    far, _ = cloud(n, seed, shift=5.0)
    unit = X / np.linalg.norm(X, axis=0)  # columns of norm one: tiny inputs
    twice, alternate = np.repeat(X, 2, axis=0)[:n], np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    same = np.repeat(y, 2)[:n]
    two, one = -np.ones(n), -np.ones(n)
    two[[0, n // 2]], one[n // 3] = 1.0, 1.0
    K, grid = _rbf(X, 1.0), np.round(X)
    return {
        "gaussian": (K, y),
        "wide gaussian": (_rbf(X, 10.0), y),
        "unit columns, sigma 10": (_rbf(unit, 10.0), y),
        "unit columns, sigma 100": (_rbf(unit, 100.0), y),
        "duplicates, equal labels": (_rbf(twice, 1.0), same),
        "duplicates, opposite labels": (_rbf(twice, 1.0), alternate),
        "wide duplicates, opposite labels": (_rbf(twice, 30.0), alternate),
        "singular linear": (X @ X.T, y),
        "rank one": (X[:, :1] @ X[:, :1].T, y),
        "integers": (grid @ grid.T, y),
        "separable linear": (far @ far.T, y),
        "separable gaussian": (_rbf(far, 1.0), y),
        "identity": (np.eye(n), y),
        "half identity, half ones": (0.5 * np.eye(n) + 0.5, y),
        "ones": (np.ones((n, n)), y),
        "zeros": (np.zeros((n, n)), y),
        "polynomial of degree 5": ((1.0 + X @ X.T) ** 5, y),
        "polynomial of degree 9": ((1.0 + X @ X.T) ** 9, y),
        "a class of two": (K, two),
        "a class of one": (K, one),
        "tiny kernel": (1e-12 * K, y),
        "huge kernel": (1e12 * K, y),
    }


def weightings(y: np.ndarray, seed: int = 0) -> dict[str, np.ndarray]:
    """Weights by name; each class keeps some."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 4, len(y)).astype(float)
    counts[[np.argmax(y > 0), np.argmax(y < 0)]] = 1.0
    return {"equal": np.ones(len(y)), "counts": counts, "uneven": rng.exponential(size=len(y))}


def leave_to_python(patch: pytest.MonkeyPatch) -> None:
    """Let the compiled batch train nothing, so that the steps in Python are what is tested."""
    patch.setattr(
        "svmselect.machine.train.train_compiled",
        lambda K, groups, *settings: [[None] * len(group.weights) for group in groups],
    )
