"""Chains in the frame of expectation propagation, against quadrature and against one another."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from posterior.panels import exact
from svmselect.kernels import RBF, Constant
from svmselect.posterior import expectation_propagation
from svmselect.posterior.backend import get_backend
from svmselect.posterior.diagnostics import mean_ess, rhat
from svmselect.posterior.frame import Frame
from svmselect.posterior.hmc import State, Stepper, run
from svmselect.posterior.importance import annealed_importance
from svmselect.posterior.noise import get_noise
from svmselect.posterior.tuning import settled, tune

K = np.array([[6.0, 4.5], [4.5, 5.0]])
Y = np.array([1.0, -1.0])
CPU = get_backend("cpu")
CASES = [
    ("hinge", False, 2.0),
    ("squared_hinge", False, 2.0),
    ("logistic", False, 2.0),
    ("hinge", True, 2.0),
    ("squared_hinge", True, 2.0),
    ("hinge", False, 20.0),
]


def cloud(n: int = 40, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    return rng.normal(size=(n, 3)) + 0.6 * y[:, None], y


def frame_of(k0: float, C: float, device: str = "cpu") -> Frame:
    X, y = cloud()
    gram = (Constant(k0) * RBF(1.7) + Constant(0.1))(X)
    return Frame.of(expectation_propagation(gram, y, C), get_backend(device))


def sample(frame: Frame, seed: int, chains: int, iterations: int) -> tuple[Any, list[Any]]:
    noise = get_noise(seed, frame.backend)
    stepper, accept = tune(frame, noise)
    start = annealed_importance(stepper, noise, chains)[1]
    state = settled(stepper, noise, start, accept)
    draws: list[Any] = []
    _, trace = run(stepper, state, noise, iterations, draws.append)
    return trace, draws


@pytest.mark.parametrize(
    ("loss", "normalised", "C", "device"),
    [
        *(pytest.param(*case, "cpu", id="-".join(map(str, case))) for case in CASES),
        pytest.param("hinge", False, 2.0, "torch-cpu", marks=pytest.mark.torch),
        pytest.param("hinge", True, 2.0, "torch-cpu", marks=pytest.mark.torch),
    ],
)
def test_moments_of_two_latent_values(loss: str, normalised: bool, C: float, device: str) -> None:
    truth = exact(K, Y, C, loss, normalised)
    ep = expectation_propagation(K, Y, C, loss, normalised=normalised)
    on = get_backend(device)
    frame = Frame.of(ep, on)
    trace, draws = sample(frame, 0, 512, 60)
    theta = Y[:, None, None] * (on.get(frame.mean)[..., None] + np.array([on.get(d) for d in draws])
                                .transpose(1, 0, 2))  # fmt: skip
    for f in (lambda t: t[0], lambda t: t[1], lambda t: t[0] * t[1], lambda t: t[0] ** 2):
        values = f(theta)
        error = values.std() / np.sqrt(mean_ess(values))
        assert abs(values.mean() - truth.mean(f(truth.theta))) < 4.5 * error
    below = (Y[:, None] * truth.theta < 1.0).mean(axis=0)
    sampled = (Y[:, None, None] * theta < 1.0).mean(axis=0)
    error = sampled.std() / np.sqrt(mean_ess(sampled))
    assert abs(sampled.mean() - truth.mean(below)) < 4.5 * error
    assert rhat(trace.potential) < 1.03
    assert trace.divergent == 0


def test_trajectory_is_reversible_and_its_energy_is_tracked() -> None:
    """The energy error that a transition uses is that of explicit positions and velocities."""
    frame = frame_of(5.0, 1.5)
    stepper = Stepper.of(frame, 5)
    n, chains = len(frame), 6
    rng = np.random.default_rng(0)
    delta, xi = frame.factor @ rng.normal(size=(n, chains)), rng.normal(size=(n, chains))
    state = stepper.state(delta)

    class Fixed:
        """The velocities are given, the jitter is none, and everything is accepted."""

        def __init__(self) -> None:
            self.uniforms = [np.full(chains, 0.5), np.zeros(chains)]

        def normal(self, rows: int, columns: int) -> np.ndarray:
            return xi

        def uniform(self, size: int) -> np.ndarray:
            return self.uniforms.pop(0)

    moved, info = stepper.move(state, Fixed())
    # the same by kicks and rotations
    precision, t = np.linalg.inv(frame.covariance), stepper.turn / stepper.steps

    def trajectory(x: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        for _ in range(stepper.steps):
            v = v - 0.5 * t * frame.covariance @ stepper.force(x)
            x, v = np.cos(t) * x + np.sin(t) * v, np.cos(t) * v - np.sin(t) * x
            v = v - 0.5 * t * frame.covariance @ stepper.force(x)
        return x, v

    def energy(x: np.ndarray, v: np.ndarray) -> np.ndarray:
        kinetic = 0.5 * np.einsum("ic,ij,jc->c", v, precision, v)
        return kinetic + 0.5 * np.einsum("ic,ij,jc->c", x, precision, x) + frame.residual(x)[0]

    v = frame.factor @ xi
    x1, v1 = trajectory(delta, v)
    np.testing.assert_allclose(moved.delta, x1, atol=1e-9)
    change = energy(x1, v1) - energy(delta, v)
    np.testing.assert_allclose(info.accept, np.exp(-np.maximum(change, 0.0)), rtol=1e-6)
    back, turned = trajectory(x1, -v1)
    np.testing.assert_allclose(back, delta, atol=1e-9)
    np.testing.assert_allclose(turned, -v, atol=1e-9)


def test_without_residual_everything_is_accepted() -> None:
    frame = frame_of(5.0, 1.5)
    stepper = Stepper.of(frame, 3, heat=0.0)
    noise = get_noise(0, CPU)
    state, info = stepper.move(stepper.state(stepper.fresh(noise, 16)), noise)
    assert (info.accept == 1.0).all()
    np.testing.assert_allclose(state.R, frame.residual(state.delta)[0])


def test_chains_that_diverge_are_rejected_and_counted() -> None:
    frame = frame_of(1e4, 1e4)
    stepper = Stepper.of(frame, 2)
    noise = get_noise(0, CPU)
    start = stepper.state(stepper.fresh(noise, 8))
    broken = State(start.delta, start.R, start.V, start.force * 1e200, start.push * 1e200)
    state, info = stepper.move(broken, noise)
    assert info.divergent == 8
    np.testing.assert_array_equal(state.delta, start.delta)


def test_harder_posteriors_get_more_steps() -> None:
    easy, _ = tune(frame_of(1.0, 0.5), get_noise(0, CPU))
    hard, accept = tune(frame_of(200.0, 5.0), get_noise(0, CPU))
    assert easy.steps <= 3
    assert hard.steps >= 6
    assert accept > 0.4
    wall, accept = tune(frame_of(1e3, 1e3), get_noise(0, CPU))
    assert wall.turn < easy.turn
    assert accept > 0.2


@pytest.mark.parametrize("device", ["cpu", pytest.param("torch-cpu", marks=pytest.mark.torch)])
def test_a_seed_decides_the_draws(device: str) -> None:
    frame = frame_of(2.0, 1.0, device)
    one, two, other = (sample(frame, seed, 4, 10)[0].potential for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, two)
    assert not np.array_equal(one, other)


def test_draws_are_worth_most_of_their_number() -> None:
    """What whitening by expectation propagation is for: nearly independent draws."""
    trace, _ = sample(frame_of(1.0, 1.0), 0, 64, 60)
    assert mean_ess(trace.potential) > 0.5 * trace.potential.size
    assert min(mean_ess(x) for x in trace.latents) > 0.5 * trace.potential.size
