"""The smoothed cross-validation error: its formula, its limit and its gradient."""

from __future__ import annotations

import numpy as np
import pytest

from criteria.resampled_cases import (
    KERNEL,
    MACHINES,
    assert_gradient,
    brute,
    cloud,
    objective,
    splits,
)
from svmselect import score
from svmselect.criteria.smoothed_cv import SmoothedCV
from svmselect.kernels import RBF
from svmselect.testing import REGIMES, compare, make_case


@pytest.mark.parametrize(("loss", "intercept"), MACHINES)
def test_by_brute_force(loss: str, intercept: bool) -> None:
    X, y = cloud()
    pairs = splits(len(y))
    o = objective(X, y, "smoothed-cv", loss=loss, intercept=intercept, cv=pairs)
    r = o.score(2.0, KERNEL)[0]
    rows, f = brute(X, y, KERNEL, 2.0, loss, intercept, pairs)
    assert r.value == pytest.approx(np.mean(1 / (1 + np.exp(10 / f.std() * y[rows] * f))))
    assert r.details["slope"] == pytest.approx(10 / f.std())


def test_a_steep_slope_counts_errors() -> None:
    X, y = cloud(shift=0.3)
    errors = score(X, y, "cv-error", kernel=KERNEL).value
    steep = score(X, y, "smoothed-cv", kernel=KERNEL, slope=1e7).value
    flat = score(X, y, "smoothed-cv", kernel=KERNEL, slope=1e-9).value
    assert steep == pytest.approx(errors, abs=1e-9)
    assert flat == pytest.approx(0.5)


@pytest.mark.parametrize("slope", [None, 3.0])
@pytest.mark.parametrize(("loss", "intercept"), MACHINES)
def test_gradient(loss: str, intercept: bool, slope: float | None) -> None:
    X, y = cloud()
    o = objective(X, y, "smoothed-cv", loss=loss, intercept=intercept, slope=slope, cv=4)
    assert_gradient(o, 1.3)


@pytest.mark.parametrize("slope", [None, 3.0])
@pytest.mark.parametrize("regime", REGIMES)
def test_gradient_in_every_regime(regime: str, slope: float | None) -> None:
    p = make_case(regime)
    result = compare(
        p.objective(SmoothedCV(slope=slope)), np.concatenate([[np.log(p.C)], p.kernel.theta])
    )
    assert result.crossed or result.error < 1e-6
    assert not result.crossed or regime not in ("mixed", "none free")


def test_the_default_slope_moves_and_the_gradient_knows() -> None:
    X, y = cloud()
    o = objective(X, y, "smoothed-cv", cv=4)
    here = o.score(1.0, KERNEL, True)[0]
    held = objective(X, y, "smoothed-cv", cv=4, slope=here.details["slope"])
    fixed = held.score(1.0, KERNEL, True)[0]
    assert fixed.value == pytest.approx(here.value, rel=1e-12)
    assert np.abs(fixed.gradient - here.gradient).max() > 0.01 * np.abs(here.gradient).max()


def test_a_machine_that_says_the_same_everywhere() -> None:
    X, y = np.arange(12.0)[:, None], np.tile([-1.0, 1.0], 6)
    o = objective(X, y, "smoothed-cv", RBF(1e-3), intercept=False, cv=3)
    r = o.score(1.0, RBF(1e-3), True)[0]
    assert r.value == 0.5
    np.testing.assert_array_equal(r.gradient, 0.0)
    assert r.status.name == "undefined"
    assert "length scale" in r.status.advice


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
@pytest.mark.parametrize(("width", "size"), [(0.03, 1e-17), (0.01, 1e-160)])
def test_decisions_whose_squares_vanish_have_a_scale(width: float, size: float, loss: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=30) > 0, 1, -1)
    kernel = RBF(width)
    o = objective(X, y, "smoothed-cv", kernel, loss=loss, intercept=False)
    r = o.score(1.0, kernel, True)[0]
    largest = np.abs(r.details["decision"]).max()
    assert 1e-290 < largest < size
    assert r.status.ok
    spread = np.std(r.details["decision"] / largest)
    assert r.details["slope"] * largest * spread == pytest.approx(10.0)
    step = 1e-6
    up, down = (o.score(1.0, RBF(width * np.exp(s)), False)[0].value for s in (step, -step))
    assert r.gradient[1] == pytest.approx((up - down) / (2 * step), rel=1e-5, abs=1e-9)


@pytest.mark.parametrize("slope", [0.0, -1.0, np.inf, np.nan])
def test_slopes_that_are_none(slope: float) -> None:
    with pytest.raises(ValueError, match="slope"):
        SmoothedCV(slope=slope)
