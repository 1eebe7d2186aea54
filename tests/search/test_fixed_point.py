"""Kwok's re-estimation on maps of C whose fixed points and cycles are known."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

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
