"""What users of SVC reported to scikit-learn: fits without end, probabilities that contradict."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, make_blobs
from sklearn.utils import shuffle

from machine.exactness import judge
from svmselect import AutoKLR, AutoSVC
from svmselect.kernels import RBF, Linear, Polynomial
from svmselect.machine import solve
from svmselect.types import Array

# Fits that do not end. They would not end here either, so no clock is needed.

# the rows of #13075
SIX = np.array(
    [
        [0, 0, 0.3, 0, 0, 1, 0.625, 0, 0, 0.31865753, 0, 0, 0],
        [0, 0, 0, 0, 0, 0.33333333, 0.61538462, 0, 0, 0.59230137, 1, 0, 1],
        [0, 0, 0, 0, 0, 0, 0, 0, 0, 0.31778082, 1, 0, 0],
        [0.66666667, 0, 0, 0.5, 1, 0.8, 0, 1, 0.5625, 0.36430137, 0, 0, 0],
        [0, 0, 0, 0, 0, 0, 0, 0, 0, 0.33638356, 1, 0, 0],
        [0, 0, 0.3, 0, 0, 1, 0.625, 0, 0, 0.31843836, 0, 0, 0],
    ]
)
SIX_LABELS = np.array([-1.0, 1.0, 1.0, -1.0, 1.0, -1.0])
IRIS, SPECIES = load_iris(return_X_y=True)
CANCER, MALIGNANT = load_breast_cancer(return_X_y=True)
TWO = np.array([[1.0, 99999.0], [2.0, 99999.0]])


def unscaled(kernel: str) -> tuple[Array, Array]:
    """#30353, #11020: inputs of all sizes as they come, and a C far too large for them."""
    X, y = CANCER[:200], np.where(MALIGNANT[:200] > 0, 1.0, -1.0)
    return {"linear": Linear()(X), "cubic": Polynomial(3)(X)}[kernel], y


def iris_powers(C: float, degree: int, gamma: float) -> tuple[Array, Array, float]:
    """#13557: kernels of the seventh power with gamma in the thousands."""
    rows = SPECIES > 0
    K = (gamma * IRIS[rows] @ IRIS[rows].T) ** degree
    return K, np.where(SPECIES[rows] > 1, 1.0, -1.0), C


HARD = {
    "30353 linear": (*unscaled("linear"), 1e4),
    "11020 cubic": (*unscaled("cubic"), 1.0),
    "4648": ((0.5 * TWO @ TWO.T) ** 2, np.array([-1.0, 1.0]), 1.0),
    "13075": (Polynomial(3, scale=1 / 13, coef0=10.0)(SIX), SIX_LABELS, 1e3),
    "13557 a": iris_powers(0.6653, 7, 4178.386),
    "13557 b": iris_powers(1.2347, 7, 4317.581),
    "13557 c": iris_powers(0.8157, 8, 864.158),
}


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("name", HARD)
def test_it_ends_exactly_or_says_so(name: str, loss: str) -> None:
    K, y, C = HARD[name]
    s = solve(K, y, C, loss)
    assert s.status.advice if not s.status.ok else judge(K, s).exact


def test_six_rows_are_exact() -> None:
    K, y, C = HARD["13075"]
    assert solve(K, y, C).status.ok


def test_a_fit_of_unscaled_rows_ends_and_is_good() -> None:
    """#30353: scaled or not, for the inputs are scaled within."""
    sizes = 10.0 ** np.linspace(-8, 8, CANCER.shape[1])
    model = AutoSVC(ard="no", random_state=0).fit(CANCER[:150] * sizes, MALIGNANT[:150])
    assert model.score(CANCER[150:] * sizes, MALIGNANT[150:]) > 0.93


# Probabilities that contradict the labels: #13211, and #4800, #5215, #13662, #14100 before it.


def few_flowers() -> tuple[Array, Array]:
    X, y = shuffle(IRIS, SPECIES, random_state=57)  # of #14100
    return X[:30], y[:30]


def blobs() -> tuple[Array, Array]:
    X, y = make_blobs(n_samples=120, random_state=0)  # of #5215
    return shuffle(X, y, random_state=7)  # type: ignore[no-any-return]


def truths() -> tuple[Array, Array]:
    """#4800: truth values only, and a class that has more than half of the rows."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (90, 6)).astype(float)
    return X, np.where(rng.random(90) < 0.56, 1, rng.integers(0, 4, 90))


CONTRADICTIONS = {"14100": few_flowers, "5215": blobs, "4800": truths}


@pytest.mark.filterwarnings("ignore:the result lies on the .* edge:UserWarning")
@pytest.mark.parametrize("options", [{}, {"class_weight": "balanced"}], ids=["plain", "balanced"])
@pytest.mark.parametrize("cls", [AutoSVC, AutoKLR])
@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_labels_are_the_most_probable(name: str, cls: type[AutoSVC], options: dict) -> None:
    X, y = CONTRADICTIONS[name]()
    model = cls(criterion="gacv", search="grid", random_state=0, **options).fit(X, y)
    p = model.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(X))


@pytest.mark.filterwarnings("ignore::UserWarning")  # so few rows are remarked upon
def test_probabilities_of_two_classes_are_not_turned_round() -> None:
    """#13662: two rows a class, far apart."""
    X = np.array([[-1.0, -1.0], [-1.1, -1.0], [1.0, 1.0], [1.1, 1.0]])
    model = AutoSVC(random_state=0).fit(X, [0, 0, 1, 1])
    p = model.predict_proba(X)[:, 1]
    assert model.predict(X).tolist() == [0, 0, 1, 1]
    assert np.all(p[:2] < 0.5)
    assert np.all(p[2:] > 0.5)


def test_probabilities_depend_on_the_seed_alone() -> None:
    """#32050: those of SVC, now deprecated, drew from one generator for all threads."""
    X, y = few_flowers()
    together = Barrier(3)

    def probabilities(_: int) -> Array:
        together.wait(timeout=60)
        model = AutoSVC(criterion="gacv", search="grid", random_state=0).fit(X, y)
        return model.predict_proba(IRIS)

    with ThreadPoolExecutor(3) as pool:
        first, *others = pool.map(probabilities, range(3))
    for other in others:
        np.testing.assert_array_equal(first, other)


def test_a_wide_kernel_at_a_huge_penalty_ends() -> None:
    """#11020, as the comments there have it: nothing but ones, nearly, and C without bound."""
    X, y = CANCER[:150] / CANCER.max(axis=0), np.where(MALIGNANT[:150] > 0, 1.0, -1.0)
    K = RBF(1e3)(X)
    s = solve(K, y, 1e10)
    assert s.status.advice if not s.status.ok else judge(K, s).exact
