"""max_time is kept by every step of a fit, wherever it strikes, with the best so far."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from svmselect import AutoClassifier, AutoKLR, AutoSVC, clock, select
from svmselect.estimators import by_default
from svmselect.types import Array


class Strikes:
    """A clock that stands still until it has been read so often, and then runs very fast."""

    def __init__(self, after: int) -> None:
        self.left, self.looks = after, 0

    def __call__(self) -> float:
        self.left -= 1
        self.looks += self.left < 0
        return 1e3 * self.looks


def rows(k: int = 2, n: int = 60, d: int = 2) -> tuple[Array, Array]:
    rng = np.random.default_rng(0)
    y = np.arange(n) % k
    return rng.normal(size=(n, d)) + 2.0 * np.eye(k, d)[y], y


WAYS: dict[str, tuple[type, int, dict[str, Any]]] = {
    "default": (AutoSVC, 2, {}),
    "logistic": (AutoKLR, 2, {}),
    "classes": (AutoSVC, 3, {}),
    "pairs apart": (AutoSVC, 3, {"multi_class": "ovo-separate"}),
    "criterion": (AutoSVC, 2, {"criterion": "kwok"}),
    "classes by a criterion": (AutoSVC, 3, {"criterion": "cv-error"}),
    "tied length scales": (AutoSVC, 2, {"prior": "hierarchical"}),
    "evidence": (AutoSVC, 2, {"criterion": "evidence-ep"}),
    "scoring": (AutoSVC, 2, {"scoring": "roc_auc"}),
    "posterior": (AutoSVC, 2, {"probability": "posterior"}),
    "length scales": (AutoSVC, 2, {"ard": "yes"}),
}


@pytest.mark.parametrize("after", [1, 3, 10, 40, 150, 600])
@pytest.mark.parametrize("way", WAYS)
def test_a_fit_ends_wherever_the_clock_strikes(
    monkeypatch: pytest.MonkeyPatch, way: str, after: int
) -> None:
    cls, k, options = WAYS[way]
    X, y = rows(k)
    strikes = Strikes(after)
    monkeypatch.setattr(clock, "now", strikes)
    model = cls(max_time=5.0, random_state=0, **options).fit(X, y)
    monkeypatch.undo()
    # what is left to do does not go on looking
    assert strikes.looks < 400
    assert np.isfinite(model.decision_function(X)).all()
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    assert model.score(X, y) > 1.2 / k
    if strikes.looks:
        assert model.selection_.status.name != "ok" or way in ("scoring", "posterior")


@pytest.mark.parametrize(("k", "each"), [(3, 2), (5, 3), (26, 3)])
@pytest.mark.parametrize("cls", [AutoSVC, AutoKLR, AutoClassifier])
def test_classes_of_few_rows_where_the_clock_strikes(
    monkeypatch: pytest.MonkeyPatch, cls: type, k: int, each: int
) -> None:
    """The first two folds may hold out nothing of one of the classes of a pair."""
    X, codes = rows(k, k * each, k)
    y = np.array([f"class {code}" for code in codes])
    monkeypatch.setattr(clock, "now", Strikes(3))
    model = cls(max_time=5.0, random_state=0).fit(X, y)
    monkeypatch.undo()
    assert model.selection_.status.name == "early"
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    assert model.score(X, y) > 1.2 / k


@pytest.mark.parametrize("after", [1, 2, 5, 20, 100])
@pytest.mark.parametrize("criterion", ["likelihood", "kwok", "evidence-ep", "evidence-hmc", "span"])
def test_a_selection_ends_wherever_the_clock_strikes(
    monkeypatch: pytest.MonkeyPatch, criterion: str, after: int
) -> None:
    X, y = rows(n=40)
    monkeypatch.setattr(clock, "now", Strikes(after))
    penalised = criterion.startswith("evidence")
    found = select(
        X, y, criterion, "random-walk", fit_intercept=not penalised, max_time=5.0, random_state=0
    )
    monkeypatch.undo()
    assert found.status.name in ("time", "converged", "iterations")
    assert np.isfinite(found.decision_function(X)).all()
    if not len(found.trace):
        assert np.isnan(found.value)
        assert "before anything was evaluated" in str(found.status)
    else:
        assert found.value == found.trace.best().value


def test_pairs_apart_share_what_time_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each had an equal share, however long those before it had taken."""
    at = iter((0.0, 1.0, 9.0, 20.0))
    monkeypatch.setattr(clock, "now", lambda: next(at))
    limits = by_default.Limits(12.0, None, 0, None)
    seconds = [by_default._seconds(limits, 3, left) for left in (3, 2, 1)]
    assert seconds == [pytest.approx(11.0 / 3.0), 1.5, by_default._LEAST]
    assert by_default._seconds(by_default.Limits(None, None, 0, None, began=0.0), 3, 3) is None
