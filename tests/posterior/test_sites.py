"""Tilted moments against adaptive quadrature, and their identities where quadrature fails."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad

from svmselect.machine.losses import get_loss
from svmselect.posterior.factors import get_sites
from svmselect.posterior.half_normal import half_normal

MODELS = [(loss, norm) for loss in ("hinge", "squared_hinge", "logistic") for norm in (False, True)]


def log_factor(z: float, loss: str, normalised: bool, C: float, w: float) -> float:
    value = get_loss(loss).value
    here, there = (float(value(np.array(v))) for v in (z, -z))
    return -w * float(np.logaddexp(0.0, C * (here - there))) if normalised else -C * w * here


def integrals(loss: str, normalised: bool, C: float, w: float, m: float, s: float) -> list[float]:
    """ln Z, tilted mean and variance: every panel between kinks and levels by adaptive rules."""

    def height(z: float) -> float:
        return log_factor(z, loss, normalised, C, w) - 0.5 * ((z - m) / s) ** 2

    wide = [m + k * s for k in (-9, -6, -3, -1, 0, 1, 3, 6, 9)]
    wide += [m + C * w * s * s + k * s for k in (-9, -3, 0, 3, 9)]
    wide += [k / C for k in (-30, -8, -2, -0.5, 0.5, 2, 8, 30)] + [-1, 0, 1, -0.3, 0.3, -3, 3]
    wide += [math.log(C * w) + k for k in (-2, 0, 2, 6)]
    edges = sorted(set(wide))
    top = max(height(z) for z in np.linspace(edges[0], edges[-1], 20001))
    top = max([top, *map(height, edges)])

    def total(power: int, centre: float) -> float:
        parts = [
            quad(lambda z: (z - centre) ** power * math.exp(height(z) - top), a, b, epsrel=1e-12)[0]
            for a, b in pairwise(edges)
            if max(height(a), height(b), height(0.5 * (a + b))) > top - 60
        ]
        return math.fsum(parts)

    mass = total(0, 0.0)
    mean = m + total(1, m) / mass
    return [math.log(mass) + top - 0.5 * math.log(2 * math.pi * s * s), mean, total(2, mean) / mass]


@pytest.mark.parametrize(("loss", "normalised"), MODELS)
def test_moments_by_quadrature(loss: str, normalised: bool) -> None:
    for C, w in ((0.3, 1.0), (1.0, 2.5), (40.0, 1.0)):
        for m, s in ((-2.5, 0.7), (0.2, 0.1), (0.9, 3.0), (4.0, 1.0)):
            sites = get_sites(loss, C, np.array([w]), normalised)
            t = sites(np.array([m]), np.array([s * s]))
            log_Z, mean, variance = integrals(loss, normalised, C, w, m, s)
            assert t.log_Z[0] == pytest.approx(log_Z, rel=1e-9, abs=1e-11)
            assert t.slope[0] * s == pytest.approx((mean - m) / s, rel=1e-8, abs=1e-10)
            assert t.shrink[0] == pytest.approx(variance / s**2, rel=1e-8)
            assert t.curvature[0] * s**2 == pytest.approx(1 - variance / s**2, rel=1e-7, abs=1e-9)


@pytest.mark.parametrize(("loss", "normalised"), MODELS)
def test_slope_in_log_C_by_differences(loss: str, normalised: bool) -> None:
    m, s2, w = np.array([-2.5, 0.2, 0.9, 4.0]), np.array([0.5, 0.01, 9.0, 1.0]), np.full(4, 1.5)
    for C in (0.3, 1.0, 40.0):
        up, down = (get_sites(loss, C * math.exp(t), w, normalised) for t in (1e-5, -1e-5))
        slope = (up(m, s2).log_Z - down(m, s2).log_Z) / 2e-5
        exact = get_sites(loss, C, w, normalised)(m, s2).log_C
        np.testing.assert_allclose(exact, slope, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize(("loss", "normalised"), MODELS)
@pytest.mark.parametrize("C", [1e-6, 1.0, 1e4, 1e8])
def test_extreme_cavities(loss: str, normalised: bool, C: float) -> None:
    """Finite everywhere; curvature and shrinkage, computed apart, add up to one."""
    m, s = (a.ravel() for a in np.meshgrid([-1e3, -30, -1, 0.99, 1, 7, 1e3], [0.01, 1, 20, 300]))
    s2 = s**2
    t = get_sites(loss, C, np.ones_like(m), normalised)(m, s2)
    for part in (t.log_Z, t.slope, t.curvature, t.shrink, t.log_C, t.precision):
        assert np.isfinite(part).all()
    assert (t.log_Z <= 1e-12).all()
    assert (t.slope >= 0).all()
    assert (t.shrink > 0).all()
    np.testing.assert_allclose(t.shrink + t.curvature * s2, 1.0, rtol=0, atol=2e-8)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_closed_forms_keep_their_digits(loss: str) -> None:
    """Differences of ln Z and of its slope agree with the next derivative, hard cuts included."""
    for C, m, s in ((1e4, -1e3, 1.0), (1e4, 0.0, 300.0), (1e4, 300.0, 100.0), (50.0, -40.0, 3.0)):
        sites = get_sites(loss, C, np.ones(1))
        cavity, h = np.array([s * s]), 1e-4 * s
        t = sites(np.array([m]), cavity)
        right, left = sites(np.array([m + h]), cavity), sites(np.array([m - h]), cavity)
        assert t.curvature[0] == pytest.approx((left.slope - right.slope)[0] / (2 * h), rel=1e-6)
        rise = (right.log_Z - left.log_Z)[0] / (2 * h)
        rounding = 4e-16 * abs(t.log_Z[0]) / h
        assert t.slope[0] == pytest.approx(rise, rel=1e-6, abs=rounding)


def test_hinge_and_squared_hinge_are_log_concave() -> None:
    m, s2 = np.linspace(-60, 60, 241), np.full(241, 4.0)
    for loss in ("hinge", "squared_hinge", "logistic"):
        assert (get_sites(loss, 3.0, np.ones(241))(m, s2).precision >= 0).all()


def test_normalised_hinge_is_not_log_concave() -> None:
    """The slope of ln t jumps from C to 2 C at z = -1: a cavity there gains variance."""
    t = get_sites("hinge", 3.0, np.ones(1), True)(np.array([-1.4]), np.array([0.05]))
    assert t.precision[0] < 0
    assert t.shrink[0] > 1


def test_weight_zero_is_no_factor() -> None:
    for loss, normalised in MODELS:
        t = get_sites(loss, 2.0, np.zeros(2), normalised)(np.array([-3.0, 0.5]), np.array([1.0, 9]))
        for part in (t.log_Z, t.slope, t.curvature, t.log_C):
            np.testing.assert_allclose(part, 0.0, atol=1e-13)
        np.testing.assert_allclose(t.shrink, 1.0, atol=1e-12)


def test_half_normal_by_quadrature() -> None:
    for x in (-6.0, -1.0, 0.0, 0.5, 3.9, 4.1, 9.0, 25.0):
        scale = 1.0 / (1.0 + max(x, 0.0))

        def moment(k: int, x: float = x, scale: float = scale) -> float:
            def f(u: float) -> float:
                return (u * scale) ** k * math.exp(-0.5 * (u * scale) ** 2 - x * u * scale)

            ends = np.linspace(0.0, max(40.0, 40.0 * scale * max(-x, 1.0)), 9)
            parts = [quad(f, a, b, epsrel=1e-13)[0] for a, b in pairwise(ends)]
            return scale * math.fsum(parts)

        r, t, p = (moment(k) for k in range(3))
        log_r, mean, variance = (part[0] for part in half_normal(np.array([x])))
        assert log_r == pytest.approx(math.log(r), rel=1e-11, abs=1e-11)
        assert mean == pytest.approx(t / r, rel=1e-10)
        assert variance == pytest.approx(p / r - (t / r) ** 2, rel=1e-8)


def test_half_normal_far_out() -> None:
    """Asymptotically 1/x - 2/x^3 + 10/x^5 and 1/x^2 - 6/x^4 + 50/x^6."""
    x = np.array([1e2, 1e4, 1e8, 1e150])
    _, mean, variance = half_normal(x)
    u = 1.0 / x**2
    np.testing.assert_allclose(mean * x, 1 - 2 * u + 10 * u**2, rtol=1e-10)
    np.testing.assert_allclose(variance * x * x, 1 - 6 * u + 50 * u**2, rtol=1e-9)
