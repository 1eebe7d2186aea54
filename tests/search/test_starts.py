"""Starts and boxes."""

from __future__ import annotations

import numpy as np
import pytest

from svmselect.data import Dataset
from svmselect.kernels import RBF, Constant, Kernel, Linear, Matern, Polynomial
from svmselect.machine import solve
from svmselect.priors.typical import from_data, least_C
from svmselect.search.starts import (
    C_MOST,
    around,
    gold_sollich,
    make_space,
    make_starts,
)

RNG = np.random.default_rng(0)
X = RNG.standard_normal((150, 6)) * [1.0, 2.0, 5.0, 0.1, 1.0, 1.0] + 3.0
Y = np.where(np.arange(150) % 2, 1.0, -1.0)
DATA = Dataset.of(X, Y)


def test_length_scales_follow_the_data() -> None:
    scaled = Dataset.of((X - X.mean(axis=0)) / X.std(axis=0), Y)
    point = from_data(scaled, RBF(1.0))
    assert np.exp(point[1]) == pytest.approx(np.sqrt(6), rel=0.05)
    assert 0.5 < np.exp(point[0]) < 4.0
    ard = from_data(DATA, RBF([1.0] * 6))
    np.testing.assert_allclose(np.exp(ard[1:]) / X.std(axis=0), np.sqrt(6), rtol=0.05)
    # the same kernel values, so the same C, whatever the units
    assert ard[0] == pytest.approx(from_data(scaled, RBF([1.0] * 6))[0], abs=1e-9)
    other = from_data(Dataset.of(1e4 * X, Y), RBF([1.0] * 6))
    np.testing.assert_allclose(other, ard + np.log([1.0, *[1e4] * 6]), atol=1e-9)


def test_a_rare_class_gets_a_larger_C() -> None:
    rare = Dataset.of(X, np.where(np.arange(150) < 15, 1.0, -1.0))
    ratio = np.exp(from_data(rare, RBF(1.0))[0] - from_data(DATA, RBF(1.0))[0])
    assert ratio == pytest.approx(5.0)


@pytest.mark.parametrize(
    "kernel",
    [Linear(), Polynomial(3), Constant(2.0) * RBF(1.0) + Constant(0.1), Matern([1.0] * 6)],
    ids=repr,
)
def test_C_times_the_variance_is_one(kernel: Kernel) -> None:
    point = from_data(DATA, kernel)
    K = kernel.at(point[1:])(X)
    variance = K.diagonal().mean() - K.mean()
    assert np.exp(point[0]) * variance == pytest.approx(1.0)


def test_constant_and_repeated_rows_do_no_harm() -> None:
    odd = np.column_stack([np.zeros(40), np.repeat(RNG.standard_normal(4), 10)])
    point = from_data(Dataset.of(odd, Y[:40]), RBF([1.0, 1.0]))
    assert np.isfinite(point).all()
    weights = np.where(np.arange(150) < 100, 1.0, 0.0)
    absent = from_data(Dataset.of(X, Y, weights), RBF([1.0] * 6))
    np.testing.assert_allclose(absent, from_data(Dataset.of(X[:100], Y[:100]), RBF([1.0] * 6)))


def test_gold_and_sollichs_ranges() -> None:
    kernel = Constant(1.0) * RBF([1.0, 1.0]) + Constant(0.1)
    names = ("log C", *kernel.names)
    points = np.array([gold_sollich(names, np.random.default_rng(i)) for i in range(200)])
    low, high = points.min(axis=0), points.max(axis=0)
    np.testing.assert_allclose(low, [np.log(0.4), -1, -1, -1, -2], atol=0.05)
    np.testing.assert_allclose(high, [np.log(0.8), 1, 2, 2, -1], atol=0.05)


def test_starts_are_spread_evenly_in_C() -> None:
    names = ("log C", "rbf.length_scale")
    points = around(np.array([1.0, 2.0]), names, 8, np.random.default_rng(0))
    C = np.sort([p[0] for p in points])
    assert all(-2.0 + k <= c <= -1.0 + k for k, c in enumerate(C))


def test_what_a_start_can_be() -> None:
    kernel = RBF(2.0)
    assert make_starts(None, DATA, kernel, 1, False, 0)[0].tolist() == [0.0, np.log(2.0)]
    named = make_starts(None, DATA, kernel, 1, True, 0)[0]
    np.testing.assert_array_equal(named, from_data(DATA, kernel))
    mixed = make_starts({"C": 10.0}, DATA, kernel, 1, True, 0)[0]
    np.testing.assert_allclose(mixed, [np.log(10.0), named[1]])
    given = make_starts([[0.0, 1.0], [1.0, 0.0]], DATA, kernel, 1, True, 0)
    assert [p.tolist() for p in given] == [[0.0, 1.0], [1.0, 0.0]]
    several = make_starts("data", DATA, kernel, 5, True, 0)
    assert len(several) == 5
    np.testing.assert_array_equal(several[0], named)
    again = make_starts("data", DATA, kernel, 5, True, 0)
    np.testing.assert_array_equal(several, again)
    assert not np.array_equal(several[1], make_starts("data", DATA, kernel, 5, True, 1)[1])


def test_the_box_has_room_around_every_start() -> None:
    space = make_space(DATA, RBF(1.0), None, [np.array([0.0, 0.0])])
    least = least_C(DATA, RBF(1.0), from_data(DATA, RBF(1.0)))
    assert np.exp(space.lower[0]) == pytest.approx(least)
    assert np.exp(space.upper[0]) == pytest.approx(C_MOST)
    np.testing.assert_allclose([space.lower[1], space.upper[1]], RBF(1.0).bounds[0])
    far = make_space(DATA, RBF(1.0), None, [np.array([0.0, np.log(1e5)])])
    assert np.exp(far.upper[1]) == pytest.approx(1e8)
    bounds = {"C": (0.1, 1), "rbf.length_scale": (2, 3)}
    own = make_space(DATA, RBF([1.0] * 6), bounds, [np.zeros(7)])
    np.testing.assert_allclose(np.exp(own.lower), [0.1, *[2] * 6])
    np.testing.assert_allclose(np.exp(own.upper), [1, *[3] * 6])
    with pytest.raises(ValueError, match="has 2 entries but the data have 6 columns"):
        from_data(DATA, RBF([1.0, 1.0]))
    array = make_space(DATA, RBF(1.0), [[-1, 1], [-2, 2]], [np.zeros(2)])
    np.testing.assert_allclose(array.lower, [-1, -2])


def test_below_the_least_C_every_vector_is_at_its_bound() -> None:
    """With the usual spread of rows; that is why nothing is looked for there."""
    start = from_data(DATA, RBF(1.0))
    K = RBF(1.0).at(start[1:])(X)
    least = least_C(DATA, RBF(1.0), start)
    below, above = (solve(K, Y, C) for C in (least / 2, 100 * least))
    assert len(below.free) == 0
    assert len(below.bound) == len(Y)
    assert len(above.free) > 5
