"""Clean data: classes far apart, where every row of whatever sample is easy to tell."""

import numpy as np
import pytest
from scipy.stats import entropy
from sklearn.metrics import log_loss

from svmselect import AutoClassifier, AutoKLR, AutoSVC


def blobs(n: int, d: int, classes: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """So many rows a class, around corners that are five and more standard deviations apart."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(classes), n)
    X = rng.normal(size=(len(y), d))
    X[:, 0] += 5.0 * (d == 1) * y
    if d > 1:
        X[:, 0] += 10.0 * np.cos(2 * np.pi * y / classes)
        X[:, 1] += 10.0 * np.sin(2 * np.pi * y / classes)
    return X, y


@pytest.mark.parametrize("cls", [AutoSVC, AutoKLR])
@pytest.mark.parametrize("d", [1, 2, 4, 10])
@pytest.mark.parametrize("n", [20, 50, 100, 113, 200])
def test_two_classes(cls, n: int, d: int) -> None:
    for seed in range(2):
        model = cls(random_state=seed).fit(*blobs(n, d, 2, seed))
        X, y = blobs(300, d, 2, seed + 100)
        assert model.score(X, y) > 0.99
        assert log_loss(y, model.predict_proba(X)) < 0.1
        # what its targets, (n + 1) of n + 2, allow at most
        assert -model.best_score_ < 1.3 * entropy([1.0 / (n + 2), (n + 1.0) / (n + 2)]) + 0.02


@pytest.mark.parametrize("cls", [AutoSVC, AutoKLR])
@pytest.mark.parametrize(
    ("criterion", "loss"), [("likelihood", 0.1), ("cv-error", 0.1), ("gacv", 0.1)]
)
# clean data want the greatest C that there is, and the fit says so
@pytest.mark.filterwarnings("ignore:the result lies on the upper edge:UserWarning")
def test_two_classes_by_a_named_criterion(cls, criterion: str, loss: float) -> None:
    model = cls(criterion=criterion, random_state=0).fit(*blobs(113, 4, 2, 2))
    X, y = blobs(300, 4, 2, 100)
    assert log_loss(y, model.predict_proba(X)) < loss


@pytest.mark.parametrize("cls", [AutoSVC, AutoKLR, AutoClassifier])
@pytest.mark.parametrize(
    ("classes", "n", "d"), [(3, 20, 2), (3, 20, 10), (3, 113, 4), (4, 50, 4), (7, 20, 10)]
)
def test_several_classes(cls, classes: int, n: int, d: int) -> None:
    """Coupled from pairs, each of which allows for errors, probabilities would be too timid."""
    model = cls(random_state=0).fit(*blobs(n, d, classes, 0))
    X, y = blobs(100, d, classes, 100)
    assert model.score(X, y) > 0.99
    assert log_loss(y, model.predict_proba(X)) < 0.1


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("n", [20, 113])
def test_what_serves_held_out_rows_better(n: int, classes: int) -> None:
    """Averages over a posterior are timid here, so they do not get to speak."""
    model = AutoSVC(probability="auto", random_state=0).fit(*blobs(n, 4, classes, 0))
    X, y = blobs(100, 4, classes, 100)
    assert model.score(X, y) > 0.99
    assert log_loss(y, model.predict_proba(X)) < 0.1


def test_scales_of_their_own() -> None:
    """Tempered sigmoids."""
    model = AutoSVC(ard="yes", random_state=0).fit(*blobs(113, 4, 2, 0))
    X, y = blobs(300, 4, 2, 100)
    assert log_loss(y, model.predict_proba(X)) < 0.1
