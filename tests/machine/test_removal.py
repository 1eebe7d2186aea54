"""Machines without one of their points: margins and signs by updates, against training afresh."""

from __future__ import annotations

import numpy as np
import pytest

from machine.problems import regimes
from svmselect.machine import solve
from svmselect.machine.removal import margins_without
from svmselect.machine.removal_logistic import signs_without

NAMES = [name for name in regimes() if name != "a class of one"]


def without(K: np.ndarray, y: np.ndarray, i: int, *rest: object) -> float:
    weights = np.ones(len(y))
    weights[i] = 0.0
    return float(solve(K, y, *rest, weights=weights).margin[i])


@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("name", NAMES)
def test_margins(name: str, C: float) -> None:
    K, y = regimes(20)[name]
    for loss in ("hinge", "squared_hinge"):
        for intercept in (True, False):
            s = solve(K, y, C, loss, intercept)
            rows = np.flatnonzero(s.alpha > 0)[::3]
            margins = margins_without(K, s, rows)
            for i, margin in zip(rows, margins, strict=True):
                if not np.isnan(margin):
                    expected = without(K, y, i, C, loss, intercept)
                    assert margin == pytest.approx(expected, rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("name", NAMES)
def test_signs(name: str, C: float) -> None:
    K, y = regimes(20)[name]
    for intercept in (True, False):
        s = solve(K, y, C, "logistic", intercept)
        rows = np.arange(len(y))[::3]
        for i, sign in zip(rows, signs_without(K, s, rows), strict=True):
            expected = without(K, y, i, C, "logistic", intercept)
            if not np.isnan(sign):
                assert np.sign(sign) == np.sign(expected)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
def test_ordinary_problems_are_settled(loss: str, intercept: bool) -> None:
    K, y = regimes(30)["gaussian"]
    follow = signs_without if loss == "logistic" else margins_without
    for C in (1e-3, 0.03, 1.0, 30.0):
        s = solve(K, y, C, loss, intercept)
        assert not np.isnan(follow(K, s, s.support)).any()


def test_many_at_once_or_few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    K, y = regimes(30)["gaussian"]
    for loss, follow, module in (
        ("hinge", margins_without, "removal"),
        ("logistic", signs_without, "removal_logistic"),
    ):
        s = solve(K, y, 1.0, loss)
        together = follow(K, s, s.support)
        monkeypatch.setattr(f"svmselect.machine.{module}._BATCH", 90)
        np.testing.assert_allclose(follow(K, s, s.support), together, rtol=1e-9)


def test_nothing_to_do() -> None:
    K, y = regimes(20)["gaussian"]
    none = np.empty(0, dtype=np.intp)
    assert len(margins_without(K, solve(K, y, 1.0), none)) == 0
    assert len(signs_without(K, solve(K, y, 1.0, "logistic"), none)) == 0
