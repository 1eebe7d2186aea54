"""Pruning: what is dropped, what it costs, and the fit without it."""

from __future__ import annotations

import numpy as np
import pytest

from svmselect import select
from svmselect.kernels import RBF, Constant, Matern
from svmselect.priors import Shrinkage
from svmselect.selection.prune import on_inputs, prune, reduced, relevance

RNG = np.random.default_rng(3)
X = RNG.standard_normal((100, 4)) * [1.0, 1.0, 20.0, 1.0]
Y = np.where(np.abs(X[:, 0]) + 0.3 * RNG.standard_normal(100) < 0.7, "in", "out")
START = [0.0, 0.0, 4.0, 6.5, 3.5]


def test_kernels_lose_inputs() -> None:
    kernel = Constant(2.0) * RBF([1.0, 2.0, 3.0]) + Matern([4.0, 5.0, 6.0]) + RBF(7.0)
    kept = on_inputs(kernel, np.array([0, 2]))
    expected = Constant(2.0) * RBF([1.0, 3.0]) + Matern([4.0, 6.0]) + RBF(7.0)
    np.testing.assert_allclose(kept.theta, expected.theta)
    assert kept.names == expected.names


def test_irrelevant_inputs_go_and_the_rest_is_fitted_again() -> None:
    found = select(X, Y, "likelihood", "irprop", RBF([1.0] * 4), start=START, random_state=0,
                   budget=40)  # fmt: skip
    assert relevance(found).argmax() == 0
    cut = prune(found)
    assert 0 in cut.kept
    assert len(cut.dropped) >= 1
    assert sorted([*cut.kept, *cut.dropped]) == [0, 1, 2, 3]
    assert cut.cost <= len(cut.dropped)
    # the cost is that of the same parameters on fewer inputs
    function, point = reduced(found.posterior, found.point, cut.kept)
    there = function(point, False, None)[0].value
    assert cut.cost == pytest.approx(100 * (there - found.record.loss))
    # what stays is searched again from there, so it ends no worse
    assert cut.selection.record.loss <= there + 1e-12
    np.testing.assert_allclose(
        cut.decision_function(X), cut.selection.decision_function(X[:, cut.kept])
    )
    assert set(cut.predict(X)) == {"in", "out"}


def test_a_length_scale_beyond_all_distances_is_as_good_as_no_input() -> None:
    found = select(X, Y, "likelihood", "irprop", RBF([1.0] * 4), random_state=0, budget=1,
                   start=[0.0, 0.0, 9.0, 9.0, 9.0])  # fmt: skip
    function, point = reduced(found.posterior, found.point, np.array([0]))
    assert function(point, False, None)[0].value == pytest.approx(found.record.loss, abs=1e-4)


def test_nothing_is_dropped_that_costs() -> None:
    found = select(X[:, :2], Y, "likelihood", "irprop", RBF([1.0] * 2), budget=1, random_state=0,
                   start=[1.0, 0.0, 0.0], prior=Shrinkage(1.0))  # fmt: skip
    cut = prune(found, allowance=-1e3)
    assert cut.dropped.tolist() == []
    assert cut.selection is found


def test_a_kernel_that_does_not_tell_inputs_apart_is_refused() -> None:
    found = select(X, Y, budget=2)
    with pytest.raises(ValueError, match="has no length scale for each input"):
        prune(found)


def test_columns_of_one_variable_go_and_stay_together() -> None:
    kernel = RBF([1.0, 2.0, 3.0], [0, 0, 1, 2, 2]) + RBF(7.0, [0, 0, 1, 2, 2])
    kept = on_inputs(kernel, np.array([0, 1, 3, 4]))
    assert kept == RBF([1.0, 3.0], [0, 0, 1, 1]) + RBF(7.0, [0, 0, 1, 1])
    member = [0, 1, 1, 0]
    found = select(X, Y, "likelihood", "irprop", RBF([1.0, 1.0], member), random_state=0, budget=20)
    cut = prune(found, allowance=1e9)
    assert cut.kept.tolist() == [0, 3]
    assert cut.dropped.tolist() == [1, 2]
    assert cut.selection.kernel.variables == (0, 0)
