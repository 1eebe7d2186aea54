"""The potential against its definition and differences."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from svmselect.machine.losses import available, get_loss
from svmselect.posterior.backend import get_backend
from svmselect.posterior.potential import Potential

W = np.array([1.0, 2.0, 0.5, 1.0])
Z = np.array([-2.3, -0.4, 0.7, 1.9])[:, None] + np.array([0.0, 0.05, -0.31])
CASES = [(loss, normalised) for loss in available() for normalised in (False, True)]


def potential(loss: str, normalised: bool, C: float = 1.7) -> Potential:
    return Potential.of(C, loss, normalised, W, get_backend("cpu"))


@pytest.mark.parametrize(("loss", "normalised"), CASES)
def test_value_is_minus_the_log_likelihood(loss: str, normalised: bool) -> None:
    rule, C = get_loss(loss), 1.7
    q = np.exp(-C * rule.value(Z))
    likelihood = q / (q + np.exp(-C * rule.value(-Z))) if normalised else q
    np.testing.assert_allclose(potential(loss, normalised).value(Z), -W @ np.log(likelihood))


@pytest.mark.parametrize(("loss", "normalised"), CASES)
def test_derivatives(loss: str, normalised: bool) -> None:
    V, h = potential(loss, normalised), 1e-6
    for i in range(len(Z)):
        step = np.zeros((len(Z), 1))
        step[i] = h
        difference = (V.value(Z + step) - V.value(Z - step)) / (2 * h)
        np.testing.assert_allclose(V.slope(Z)[i], difference, rtol=1e-7, atol=1e-8)
    up, down = replace(V, C=V.C * np.exp(h)), replace(V, C=V.C * np.exp(-h))
    pairs = ((V.value, V.by_log_C), (V.by_log_C, V.by_log_C_twice), (V.slope, V.slope_by_log_C))
    for below, above in pairs:
        name = below.__name__
        difference = (getattr(up, name)(Z) - getattr(down, name)(Z)) / (2 * h)
        np.testing.assert_allclose(above(Z), difference, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize(("loss", "normalised"), CASES)
def test_force_is_the_slope_for_narrow_averages(loss: str, normalised: bool) -> None:
    V = potential(loss, normalised)
    mean = np.zeros((4, 1))
    force = V.force(mean, 0.9, np.full((4, 1), 1e-9))
    np.testing.assert_allclose(force(Z), V.slope(0.9 * Z), rtol=1e-12, atol=1e-14)


def test_force_of_the_hinge_is_its_average_over_the_width() -> None:
    V, width = potential("hinge", False), 0.8
    force = V.force(np.zeros((4, 1)), 1.0, np.full((4, 1), width))
    around = np.linspace(-width, width, 200_001)
    for z in (-0.5, 0.6, 1.2, 2.1):
        column = np.full((4, 1), z)
        average = V.slope(z + np.tile(around, (4, 1))).mean(axis=1)
        np.testing.assert_allclose(force(column)[:, 0], average, atol=1e-4)


def test_no_overflow_far_out() -> None:
    z = np.array([[-1e4], [1e4], [0.0], [1.0]])
    for loss, normalised in CASES:
        V = potential(loss, normalised, C=100.0)
        for f in (V.value, V.slope, V.by_log_C, V.by_log_C_twice, V.slope_by_log_C):
            assert np.isfinite(f(z)).all(), (loss, normalised, f.__name__)
