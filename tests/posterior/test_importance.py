"""The value of the evidence against quadrature, and importance sampling against annealing."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from posterior.panels import exact
from svmselect.kernels import RBF, Constant
from svmselect.posterior import expectation_propagation
from svmselect.posterior.backend import get_backend
from svmselect.posterior.frame import Frame
from svmselect.posterior.hmc import Stepper
from svmselect.posterior.importance import (
    annealed_importance,
    importance_sampling,
    log_evidence,
)
from svmselect.posterior.kappa import log_kappa
from svmselect.posterior.noise import get_noise
from svmselect.posterior.tuning import tune

CPU = get_backend("cpu")
X = np.array([[0.0], [1.2], [2.6]])
Y = np.array([1.0, -1.0, 1.0])
CASES = [
    ("hinge", False, 1.0),
    ("hinge", False, 8.0),
    ("squared_hinge", False, 1.0),
    ("logistic", False, 2.0),
    ("hinge", True, 3.0),
]


@cache
def problem(n: int, loss: str, normalised: bool, C: float) -> tuple[Frame, float]:
    """The frame and ln Q without kappa."""
    K = (Constant(4.0) * RBF(1.0) + Constant(0.3))(X[:n])
    truth = exact(K, Y[:n], C, loss, normalised).log_evidence
    kappa = 0.0 if normalised else n * log_kappa(loss, C)[0]
    ep = expectation_propagation(K, Y[:n], C, loss, normalised=normalised)
    return Frame.of(ep, CPU), truth - kappa


@pytest.mark.parametrize(("loss", "normalised", "C"), CASES)
@pytest.mark.parametrize("n", [2, 3])
def test_value_by_importance_sampling(n: int, loss: str, normalised: bool, C: float) -> None:
    frame, truth = problem(n, loss, normalised, C)
    found = importance_sampling(frame, get_noise(0, CPU), 20_000)
    assert found.draws == 20_000
    assert found.stderr < 0.02
    assert abs(found.log_value - truth) < 4 * found.stderr


@pytest.mark.parametrize(("loss", "normalised", "C"), CASES)
def test_value_by_annealing(loss: str, normalised: bool, C: float) -> None:
    frame, truth = problem(2, loss, normalised, C)
    found, delta = annealed_importance(Stepper.of(frame, 4), get_noise(0, CPU), 2000, keep=0.98)
    assert found.heats > 1 or found.share > 0.98
    assert found.stderr < 0.02
    assert abs(found.log_value - truth) < 4 * found.stderr
    assert delta.shape == (2, 2000)


def test_the_standard_error_is_the_spread_of_repetitions() -> None:
    frame, truth = problem(2, "hinge", False, 8.0)
    found = [importance_sampling(frame, get_noise(seed, CPU), 500) for seed in range(60)]
    spread = np.std([f.log_value for f in found], ddof=1)
    assert np.mean([f.stderr for f in found]) == pytest.approx(spread, rel=0.35)
    assert np.mean([f.log_value for f in found]) == pytest.approx(truth, abs=5 * spread / 60**0.5)


def hard() -> Frame:
    """A posterior far from Gaussian, where weights of the Gaussian's draws do not do."""
    rng = np.random.default_rng(0)
    y = np.where(np.arange(60) % 2, 1.0, -1.0)
    points = rng.normal(size=(60, 4)) + 0.8 * y[:, None]
    K = (Constant(180.0) * RBF(2.0) + Constant(0.1))(points)
    return Frame.of(expectation_propagation(K, y, 2.0), CPU)


def test_annealing_takes_over_where_weights_are_uneven() -> None:
    frame = hard()
    poor = importance_sampling(frame, get_noise(0, CPU))
    assert not poor.reliable
    stepper = tune(frame, get_noise(0, CPU))[0]
    found = log_evidence(frame, get_noise(0, CPU), lambda: stepper, 96, target=0.25)
    assert found.method == "annealed importance sampling"
    assert found.reliable
    assert found.stderr <= 0.25
    slow = annealed_importance(stepper, get_noise(1, CPU), 96, keep=0.97)[0]
    assert abs(found.log_value - slow.log_value) < 4 * np.hypot(found.stderr, slow.stderr)


def test_no_chains_are_asked_for_where_importance_sampling_does() -> None:
    frame, _ = problem(3, "hinge", False, 1.0)

    def never() -> Stepper:
        raise AssertionError("not needed")

    found = log_evidence(frame, get_noise(0, CPU), never, 64, target=0.02)
    assert found.method == "importance sampling"
    assert found.reliable
    assert found.stderr <= 0.02


def test_repeatable() -> None:
    frame, _ = problem(3, "hinge", False, 1.0)
    one, two = (importance_sampling(frame, get_noise(7, CPU)) for _ in range(2))
    assert one.log_value == two.log_value
