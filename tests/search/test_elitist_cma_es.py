"""The (1+1)-CMA-ES: the kit's checks, and functions it must solve."""

import numpy as np
import pytest

from svmselect.search.base import Space
from svmselect.search.elitist_cma_es import ElitistCMA
from svmselect.types import Evaluation


def minimise(search, function, start, seed=0):
    k = len(start)
    space = Space(tuple("abcdefgh"[:k]), np.full(k, -20.0), np.full(k, 20.0))
    state = search.start(np.asarray(start, float), space, seed)
    losses = []
    while search.stop(state) is None:
        (point,) = search.ask(state)
        losses.append(function(point))
        state = search.tell(state, [Evaluation(point, losses[-1], None)])
    return state, losses


def test_ill_conditioned_quadratic():
    weights = 10.0 ** np.linspace(0, 3, 4)
    state, losses = minimise(
        ElitistCMA(patience=10**6, iterations=3000),
        lambda x: float(weights @ (x - 1) ** 2),
        [0.0] * 4,
    )
    assert state.loss == min(losses)
    assert state.loss < 1e-8


def test_stops_on_a_plateau_after_its_patience():
    state, losses = minimise(ElitistCMA(patience=20), lambda x: 0.3, [0.0, 0.0])
    assert len(losses) == 21
    # equals replace their parent, so it has drifted
    assert np.any(state.point != 0)


def test_units_and_determinism():
    search = ElitistCMA(units=(1.0, 1e-6), patience=200, iterations=3)
    first, _ = minimise(search, lambda x: 0.0, [0.0, 0.0], seed=3)
    second, _ = minimise(search, lambda x: 0.0, [0.0, 0.0], seed=3)
    other, _ = minimise(search, lambda x: 0.0, [0.0, 0.0], seed=4)
    assert np.array_equal(first.point, second.point)
    assert not np.array_equal(first.point, other.point)
    assert abs(first.point[1]) < 1e-4 * abs(first.point[0])


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_child_without_a_value_is_not_taken(bad):
    values = iter([1.0, *[bad] * 30])
    state, _ = minimise(ElitistCMA(patience=20), lambda x: next(values), [0.5, 0.5])
    assert state.point.tolist() == [0.5, 0.5]
