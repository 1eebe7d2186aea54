"""Kwok's re-estimation on maps of C whose fixed points and cycles are known."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from sklearn.datasets import make_moons

from svmselect import score
from svmselect.search.base import Space
from svmselect.search.fixed_point import FixedPoint, FixedPointState
from svmselect.types import Evaluation

SPACE = Space(("log C", "rbf.length_scale"), np.array([-9.0, -3.0]), np.array([9.0, 3.0]))


def iterate(following: Callable[[float], float], loss: Callable[[float], float]) -> FixedPointState:
    """Run the search on log C -> following(log C) until it stops."""
    search = FixedPoint()
    state = search.start(np.array([0.5, 0.0]), SPACE, 0)
    while state.stopped is None:
        answers = []
        for point in state.pending:
            details = {
                "effective_parameters": 1.0, "next_C": float(np.exp(following(point[0]))), "n": 10.0
            }  # fmt: skip
            answers.append(Evaluation(point, loss(point[0]), None, 0.0, details=details))
        state = search.tell(state, answers)
    return state


def test_it_goes_to_the_fixed_point() -> None:
    state = iterate(lambda x: 0.5 * x + 1.0, lambda x: (x - 2.0) ** 2)
    assert state.stopped.name == "converged"
    assert state.points[0, 0] == pytest.approx(2.0, abs=5e-3)


@pytest.mark.parametrize("better", [1.0, 3.0])
def test_of_two_values_that_lead_to_each_other_the_better_stands(better: float) -> None:
    state = iterate(lambda x: 3.0 if x < 2.0 else 1.0, lambda x: abs(x - better))
    assert state.stopped.name == "converged"
    assert state.iteration < 6
    assert state.points[0, 0] == better


def test_a_longer_cycle_ends_after_all_iterations() -> None:
    state = iterate(lambda x: {0.5: 1.0, 1.0: 2.0, 2.0: 3.0, 3.0: 1.0}[round(x, 1)], lambda x: x)
    assert state.stopped.name == "iterations"
    assert state.iteration == FixedPoint().iterations


@pytest.mark.parametrize("level", [2, 3])
def test_half_log_gamma_is_taken_once(level: int) -> None:
    """Two kernels that have settled are ranked by the model evidence, whichever level is given."""
    search = FixedPoint(size=2, reach=1.0)
    state = search.start(np.array([0.5, 0.0]), SPACE, 0)
    answers = []
    for point, evidence, gamma in zip(state.pending, (-3.0, -3.2), (9.0, 5.0), strict=True):
        value = evidence - 0.5 * np.log(gamma) * (level == 3)
        details = {
            "effective_parameters": gamma, "next_C": float(np.exp(0.5)), "n": 10.0,
            "level": float(level),
        }  # fmt: skip
        answers.append(Evaluation(point, -value / 10.0, None, 0.0, details=details))
    state = search.tell(state, answers)
    expected = np.array([3.0 + 0.5 * np.log(9.0), 3.2 + 0.5 * np.log(5.0)]) / 10.0
    np.testing.assert_allclose(state.ranks, expected, rtol=1e-14)
    # by level 2 alone, or with half log gamma taken twice, the ranks would differ; here they decide
    assert np.argmin(state.ranks) == 1
    assert np.array_equal(search.choice(state), state.points[1])


def test_kwok_says_which_level_it_gives() -> None:
    X, y = make_moons(40, noise=0.3, random_state=0)
    levels = [score(X, y, "kwok", level=level) for level in (2, 3)]
    assert [r.details["level"] for r in levels] == [2, 3]
    gamma = levels[0].details["effective_parameters"]
    assert levels[1].value == pytest.approx(levels[0].value - 0.5 * np.log(gamma), rel=1e-12)
