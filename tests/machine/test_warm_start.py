"""A warm start changes the time, never the answer."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from machine.exactness import judge
from machine.problems import LOSSES, cloud, leave_to_python, regimes, weightings
from svmselect.kernels import RBF
from svmselect.machine import Solution, box_qp, solve

X, Y = cloud(60, seed=20, shift=0.4)
K = RBF(1.0)(X)


def starts(loss: str, fit_intercept: bool) -> Iterator[tuple[str, Solution]]:
    weights = weightings(Y)
    for C in (1e-4, 1.9, 2.1, 1e6):
        yield f"C = {C}", solve(K, Y, C, loss, fit_intercept)
    for width in (0.05, 0.95, 1.05, 30.0):
        yield f"width = {width}", solve(RBF(width)(X), Y, 2.0, loss, fit_intercept)
    for kind in ("counts", "uneven"):
        yield f"{kind} weights", solve(K, Y, 2.0, loss, fit_intercept, weights[kind])
    for other in LOSSES:
        yield f"{other} loss", solve(K, Y, 2.0, other, fit_intercept)
    yield "the other offset", solve(K, Y, 2.0, loss, not fit_intercept)
    yield "opposite labels", solve(K, -Y, 2.0, loss, fit_intercept)
    yield "itself", solve(K, Y, 2.0, loss, fit_intercept)


@pytest.mark.parametrize("weighting", ["equal", "counts", "uneven"])
@pytest.mark.parametrize("fit_intercept", [True, False], ids=["intercept", "no intercept"])
@pytest.mark.parametrize("loss", LOSSES)
def test_the_answer_is_that_of_a_cold_start(loss: str, fit_intercept: bool, weighting: str) -> None:
    weights = weightings(Y, seed=1)[weighting]
    cold = solve(K, Y, 2.0, loss, fit_intercept, weights)
    for name, start in starts(loss, fit_intercept):
        warm = solve(K, Y, 2.0, loss, fit_intercept, weights, start)
        assert warm.status.ok, name
        assert judge(K, warm).exact, name
        np.testing.assert_allclose(warm.decision, cold.decision, atol=1e-9, err_msg=name)
        np.testing.assert_allclose(warm.beta, cold.beta, atol=1e-8, err_msg=name)
        np.testing.assert_array_equal(warm.free, cold.free, err_msg=name)
        np.testing.assert_array_equal(warm.bound, cold.bound, err_msg=name)
        assert warm.ends == cold.ends, name


@pytest.mark.parametrize("name", regimes(4))
def test_along_a_path_of_penalties_in_every_regime(name: str) -> None:
    K, y = regimes(24, seed=5)[name]
    for loss in LOSSES:
        for fit_intercept in (True, False):
            start = None
            for C in (1e-6, 1e-3, 1.0, 1e3, 1e8, 10.0, 1e-4):
                start = solve(K, y, C, loss, fit_intercept, start=start)
                assert start.status.ok, (loss, fit_intercept, C)
                assert judge(K, start).exact, (loss, fit_intercept, C)


def test_a_held_out_row_that_comes_back_is_judged_by_its_margin() -> None:
    weights = np.ones(60)
    weights[:15] = 0.0
    fold = solve(K, Y, 2.0, weights=weights)
    whole = solve(K, Y, 2.0, start=fold)
    np.testing.assert_allclose(whole.decision, solve(K, Y, 2.0).decision, atol=1e-9)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_a_small_change_needs_no_descent(loss: str, monkeypatch: pytest.MonkeyPatch) -> None:
    here = solve(K, Y, 2.0, loss)
    monkeypatch.setattr(box_qp._Work, "descend", None)
    leave_to_python(monkeypatch)
    for C, width in ((2.1, 1.0), (2.0, 1.05)):
        assert solve(RBF(width)(X), Y, C, loss, start=here).status.ok
    with pytest.raises(TypeError):
        solve(K, Y, 2.0, loss)


def test_a_start_is_not_changed() -> None:
    start = solve(K, Y, 1.0)
    before = {k: np.copy(v) for k, v in vars(start).items() if isinstance(v, np.ndarray)}
    solve(K, Y, 50.0, start=start)
    for name, value in before.items():
        np.testing.assert_array_equal(vars(start)[name], value)


def test_a_start_for_other_points_is_refused() -> None:
    with pytest.raises(ValueError, match=r"start was trained on 60 points, this problem has 59"):
        solve(K[:59, :59], Y[:59], 1.0, start=solve(K, Y, 1.0))
