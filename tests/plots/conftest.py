"""Fitted models and selections to draw, small ones."""

from __future__ import annotations

import warnings
from typing import Any

import matplotlib
import numpy as np
import pytest

from svmselect import AutoKLR, AutoSVC, select
from svmselect.kernels import RBF

matplotlib.use("Agg")


def two_classes(n: int = 60, d: int = 3) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    return X, np.where(X[:, 0] + 0.5 * X[:, 1] + 0.4 * rng.normal(size=n) > 0, "yes", "no")


def three_classes(n: int = 25) -> tuple[Any, Any]:
    rng = np.random.default_rng(1)
    centres = np.repeat([[0.0, 0.0], [2.5, 0.0], [0.0, 2.5]], n, axis=0)
    return rng.normal(size=(3 * n, 2)) + centres, np.repeat([3, 1, 2], n)


@pytest.fixture(scope="session")
def fits() -> dict[str, tuple[Any, Any, Any]]:
    """(model, X, y) by name: two and three classes, both estimators, by default and by name."""
    two, three = two_classes(), three_classes()
    models = {
        "two": (AutoSVC(), two),  # no seed: the folds must be found again all the same
        "ard": (AutoSVC(random_state=1, ard="yes", class_weight="balanced"), two),
        "logistic": (AutoKLR(random_state=0, ard="no"), two),
        "three": (AutoSVC(random_state=0), three),
        "separate": (AutoSVC(random_state=0, multi_class="ovo-separate"), three),
        "gacv": (AutoSVC(random_state=0, criterion="gacv", search="grid"), two),
        "evidence": (AutoSVC(random_state=0, criterion="laplace", search="lbfgs"), two),
        "linear": (AutoSVC("linear", random_state=0, criterion="likelihood"), two),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # some end on the edge of their box
        return {name: (model.fit(X, y), X, y) for name, (model, (X, y)) in models.items()}


@pytest.fixture(scope="session")
def selection() -> Any:
    """Two starts, a length scale for each of three inputs."""
    X, y = two_classes()
    return select(X, y, kernel=RBF([1.0, 1.0, 1.0]), n_starts=2, budget=30, random_state=0)
