"""Until when there is time: limits nest, reach threads, and end long work."""

from __future__ import annotations

import numpy as np
import pytest

from svmselect import clock
from svmselect.clock import OutOfTimeError, allowance, look, until
from svmselect.kernels import RBF
from svmselect.machine import box_qp, solve
from svmselect.parallel import on_threads
from svmselect.posterior import expectation_propagation


@pytest.fixture
def hands(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A clock that shows what the test says."""
    time = [0.0]
    monkeypatch.setattr(clock, "now", lambda: time[0])
    return time


def test_without_a_limit_nothing_ends(hands: list[float]) -> None:
    hands[0] = 1e9
    look()
    with until(None):
        look()


def test_the_earlier_of_two_limits_holds(hands: list[float]) -> None:
    with until(5.0):
        hands[0] = 4.0
        with until(9.0):
            look()
            hands[0] = 6.0
            with pytest.raises(OutOfTimeError):
                look()
        hands[0] = 4.0
        with until(3.0), pytest.raises(OutOfTimeError):
            look()
        look()
    hands[0] = 1e9
    look()


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_limit_holds_in_threads(hands: list[float], n_jobs: int) -> None:
    hands[0] = 2.0
    with until(1.0), pytest.raises(OutOfTimeError):
        on_threads(lambda _: look(), [1, 2, 3], n_jobs)
    on_threads(lambda _: look(), [1, 2, 3], n_jobs)


@pytest.mark.parametrize(("max_time", "beyond"), [(0.1, 2.0), (20.0, 2.0), (100.0, 10.0)])
def test_what_is_allowed_beyond(max_time: float, beyond: float) -> None:
    assert allowance(max_time) == pytest.approx(beyond)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
def test_machines_are_not_trained_when_the_time_is_over(hands: list[float], loss: str) -> None:
    K, y = np.eye(4), np.array([1.0, -1.0, 1.0, -1.0])
    hands[0] = 2.0
    with until(1.0):
        with pytest.raises(OutOfTimeError):
            solve(K, y, 1.0, loss)
        with pytest.raises(OutOfTimeError):
            expectation_propagation(K, y, 1.0, loss)
    assert solve(K, y, 1.0, loss).status.ok


def test_compiled_loops_end(hands: list[float]) -> None:
    pytest.importorskip("svmselect.machine._native", reason="the extension did not build")
    rng = np.random.default_rng(0)
    n, C = 400, 1e5
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    K = RBF(2.0)(rng.normal(size=(n, 5)))
    qp = box_qp.BoxQP(K, np.zeros(n), y, np.where(y < 0, -C, 0), np.where(y > 0, C, 0), 0.0)
    hands[0] = 2.0
    with until(1.0), pytest.raises(OutOfTimeError):  # so many steps would take minutes
        box_qp.backend().decompose(*qp.arguments(), 0.0 * y, y.copy(), -1.0, 10**9)
