"""The record of a trained machine."""

from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError, fields

import numpy as np
import pytest

from machine.exactness import judge
from machine.problems import LOSSES, cloud
from svmselect.kernels import RBF
from svmselect.machine import Solution, solve
from svmselect.machine.solution import describe
from svmselect.machine.train import train
from svmselect.types import Status

X, Y = cloud(30, seed=30)
K = RBF(1.0)(X)


@pytest.fixture(params=LOSSES)
def solution(request: pytest.FixtureRequest) -> Solution:
    weights = np.where(np.arange(30) % 7 == 3, 0.0, 1.5)
    return solve(K, Y, 2.0, request.param, weights=weights)


def test_it_is_frozen(solution: Solution) -> None:
    for name in (f.name for f in fields(solution)):
        with pytest.raises(FrozenInstanceError):
            setattr(solution, name, None)


def test_its_arrays_are_read_only(solution: Solution) -> None:
    arrays = {k: v for k, v in vars(solution).items() if isinstance(v, np.ndarray)}
    assert len(arrays) == 8
    for name, array in arrays.items():
        assert not array.flags.writeable, name
        with pytest.raises(ValueError, match="read-only"):
            array[:] = 0


def test_the_callers_arrays_stay_writeable() -> None:
    y, w = Y.copy(), np.ones(30)
    train(K, y, 1.0, "hinge", True, w)
    assert y.flags.writeable
    assert w.flags.writeable


def test_it_survives_pickling(solution: Solution) -> None:
    copy = pickle.loads(pickle.dumps(solution))
    for name, value in vars(solution).items():
        np.testing.assert_array_equal(vars(copy)[name], value)
    assert copy.status == solution.status == Status("ok")


def test_its_parts_agree(solution: Solution) -> None:
    s = solution
    np.testing.assert_allclose(s.decision, K @ s.beta + s.intercept, atol=1e-12)
    np.testing.assert_array_equal(s.alpha, s.y * s.beta)
    np.testing.assert_array_equal(s.margin, s.y * s.decision)
    np.testing.assert_array_equal(s.support, np.flatnonzero(s.beta))
    loss = {
        "hinge": np.maximum(1 - s.margin, 0),
        "squared_hinge": np.maximum(1 - s.margin, 0) ** 2 / 2,
        "logistic": np.log1p(np.exp(-s.margin)),
    }[s.loss]
    expected = s.beta @ K @ s.beta / 2 + s.C * s.weights @ loss
    assert s.objective == pytest.approx(expected, rel=1e-12)
    assert s.gap <= 1e-12
    assert s.kkt <= 1e-12
    assert 0 < s.rounding < 1e-12
    assert np.all(s.weights[s.free] > 0)
    assert np.all(s.alpha[s.bound] == s.C * s.weights[s.bound])
    assert (len(s.bound) > 0) == (s.loss == "hinge")


def test_without_an_intercept_there_is_none() -> None:
    for loss in LOSSES:
        s = solve(K, Y, 2.0, loss, fit_intercept=False)
        assert s.intercept == 0.0
        assert s.ends == ()
        assert not s.fit_intercept


def test_dependent_points_are_named_and_the_choice_is_repeatable() -> None:
    twins = np.vstack([X, X])
    G, y = RBF(1.0)(twins), np.append(Y, Y)
    one, two = solve(G, y, 5.0), solve(G, y, 5.0)
    np.testing.assert_array_equal(one.beta, two.beta)
    single = solve(K, Y, 10.0)  # two copies: twice the penalty
    np.testing.assert_allclose(one.decision[:30], single.decision, atol=1e-9)
    # of each pair at most one is free and not dependent: K of the others is regular
    core = np.setdiff1d(one.free, one.dependent)
    assert len(np.unique(core % 30)) == len(core)
    assert np.linalg.matrix_rank(G[np.ix_(core, core)]) == len(core)


def test_a_hard_margin_leaves_no_point_inside() -> None:
    # at C = 1e8 a margin of 1 - 1e-16 would cost more than the norm is worth
    X, y = cloud(40, seed=31, shift=3.0)
    for G in (X @ X.T, RBF(2.0)(X)):
        s = solve(G, y, 1e8)
        assert s.margin.min() >= 1.0
        assert s.objective == pytest.approx(s.beta @ G @ s.beta / 2, rel=1e-12)


def test_the_record_judges_for_itself() -> None:
    # whatever the solver thought of its answer, the residuals decide
    s = solve(K, Y, 2.0)
    sets = (s.free.copy(), s.bound.copy(), s.dependent.copy(), s.ends)
    head = (K, Y, np.ones(30), 2.0, "hinge", True)

    def judged(beta: np.ndarray, status: Status) -> Status:
        decision = K @ beta + s.intercept
        return describe(*head, beta.copy(), s.intercept, decision, *sets, status).status

    assert judged(s.beta, Status("max-iterations", "?")) == Status("ok")
    off = judged(s.beta * (1 - 1e-6), Status("ok"))
    assert off.name == "inexact"
    assert "residual" in off.advice
    assert judged(s.beta * (1 - 1e-6), Status("max-iterations", "?")).name == "max-iterations"


def test_a_gap_of_rounding_errors_is_no_gap() -> None:
    # K beta is a difference of numbers of 1e18; in double precision gap and residual come out zero
    K = 1e10 * np.ones((3, 3))
    s = solve(K, [1, -1, 1], 1e8)
    assert s.status.name == "inexact"
    assert "lower C" in s.status.advice
    found = judge(K, s)
    assert s.gap == pytest.approx(found.gap)
    assert s.kkt == pytest.approx(found.kkt)
    assert solve(K, [1, -1, 1], 1e-8).status.ok


def test_a_copy_of_a_support_vector_counts_in_the_rounding() -> None:
    X, y = cloud(12, seed=5, shift=0.1)
    idle = 0
    for i in range(12):
        rows = np.r_[0:12, i]
        weights = np.where(np.arange(13) == 12, 1e12, 1.0)
        s = solve(RBF(1.0)(X[rows]), y[rows], 1.0, weights=weights)
        if s.alpha[12] == 0.0 and abs(s.margin[12] - 1.0) < 1e-12:  # the other one carries it
            idle += 1
            assert s.rounding * s.objective > 1e12 * np.finfo(float).eps
    assert idle > 0
