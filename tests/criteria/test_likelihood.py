"""The cross-validated likelihood: by brute force, its gradient, and the corner of tiny C."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

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
from svmselect.criteria.likelihood import Likelihood
from svmselect.kernels import RBF, Constant
from svmselect.probability import fit_sigmoid
from svmselect.testing import REGIMES, compare, make_case


@pytest.mark.parametrize(("loss", "intercept"), MACHINES)
def test_by_brute_force(loss: str, intercept: bool) -> None:
    X, y = cloud()
    pairs = splits(len(y))
    o = objective(X, y, "likelihood", loss=loss, intercept=intercept, cv=pairs)
    r = o.score(2.0, KERNEL)[0]
    rows, f = brute(X, y, KERNEL, 2.0, loss, intercept, pairs)

    def loss_of(p: np.ndarray) -> float:  # GI section 4.1, to be minimised
        return float(np.mean(np.logaddexp(0.0, y[rows] * (p[0] * f + p[1]))))

    found = minimize(loss_of, np.zeros(2), method="Nelder-Mead", options={"xatol": 1e-8})
    assert r.value == pytest.approx(-found.fun, rel=1e-8)
    parameters = r.details["sigmoid_slope"], r.details["sigmoid_offset"]
    np.testing.assert_allclose(parameters, found.x, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(parameters, fit_sigmoid(f, y[rows]), rtol=1e-7)


@pytest.mark.parametrize("options", [{}, {"targets": "platt"}, {"max_slope": 0.5}], ids=str)
@pytest.mark.parametrize(("loss", "intercept"), MACHINES)
def test_gradient(loss: str, intercept: bool, options: dict) -> None:
    X, y = cloud()
    o = objective(X, y, "likelihood", loss=loss, intercept=intercept, cv=4, **options)
    assert_gradient(o, 1.3)


def test_gradient_with_weights() -> None:
    X, y = cloud()
    weights = np.random.default_rng(0).uniform(0.2, 3.0, len(y))
    assert_gradient(objective(X, y, "likelihood", weights=weights, cv=4), 0.7)


@pytest.mark.parametrize("regime", REGIMES)
def test_gradient_in_every_regime(regime: str) -> None:
    p = make_case(regime)
    # a low bound on the slope: small cases that are apart would be flat otherwise
    o = p.objective(Likelihood(max_slope=4.0))
    result = compare(o, np.concatenate([[np.log(p.C)], p.kernel.theta]))
    assert result.crossed or result.error < 1e-6
    assert not result.crossed or regime not in ("mixed", "none free")


def corner(positive: int = 27, seed: int = 3) -> tuple[np.ndarray, np.ndarray, RBF]:
    """Sixty points and a wide kernel: at small C nearly all support vectors are at their bound."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(60) < positive, 1.0, -1.0)
    X = rng.normal(size=(60, 4)) + 0.5 * y[:, None]
    return X, y, RBF([6.0, 7.0, 8.0, 9.0])


def test_the_corner_of_tiny_penalty_and_large_width() -> None:
    X, y, kernel = corner()
    o = objective(X, y, "likelihood", kernel)
    r, trained = o.score(1e-3, kernel)
    folds = [machine for key, machine in trained.items() if key[0] == "fold"]
    assert sum(len(machine.ends) == 2 and not len(machine.free) for machine in folds) == 4
    # the intercepts differ by as much as the decisions of one machine do
    assert np.ptp([machine.intercept for machine in folds]) > 0.3 * np.std(folds[0].decision)
    assert r.status.ok
    assert -0.69 < r.value < -0.2
    assert np.isfinite([r.details["sigmoid_slope"], r.details["sigmoid_offset"]]).all()
    assert_gradient(o, 1e-3, h=2e-5)


def test_the_corner_where_the_folds_disagree() -> None:
    # With one class all at its bound and some of the other at zero, the larger one is at margin 1.
    X, y, kernel = corner(30)
    fold = np.concatenate([np.repeat([0, 1, 2], (11, 10, 9)), np.repeat([0, 1, 2], (9, 10, 11))])
    pairs = [(np.flatnonzero(fold != j), np.flatnonzero(fold == j)) for j in range(3)]
    o = objective(X, y, "likelihood", kernel, cv=pairs)
    r, trained = o.score(1e-3, kernel)
    intercepts = [trained["fold", j].intercept for j in range(3)]
    np.testing.assert_allclose(intercepts, [-1.0, 0.0, 1.0], atol=0.05)
    assert r.status.ok
    assert np.isfinite(r.value)
    assert r.value > -np.log(2.0) - 1e-9  # no worse than knowing nothing
    assert_gradient(o, 1e-3, h=2e-5)


@pytest.mark.parametrize("seed", range(6))
def test_in_the_corner_it_does_not_matter_where_one_comes_from(seed: int) -> None:
    X, y, kernel = corner(27 + seed % 2 * 3, seed)
    o = objective(X, y, "likelihood", kernel)
    for C in (1e-4, 1e-3, 1e-2):
        cold = o.score(C, kernel)[0]
        for there in (0.5 * C, 1.5 * C, 30 * C):
            _, trained = o.score(there, kernel.at(kernel.theta + 0.1))
            warm = o.score(C, kernel, start=trained)[0]
            assert warm.value == pytest.approx(cold.value, rel=1e-9)


def test_classes_that_come_apart() -> None:
    X, y = cloud(shift=4.0)
    r = score(X, y, "likelihood", C=10.0, kernel=RBF(3.0), gradient=True)
    assert r.details["error"] == 0.0
    assert -1e-6 < r.value <= 0.0
    assert np.isfinite(r.gradient).all()
    assert -np.inf < r.details["sigmoid_slope"] < 0


def test_a_machine_that_says_the_same_everywhere() -> None:
    X, y = np.arange(18.0)[:, None], np.tile([-1.0, 1.0, 1.0], 6)
    o = objective(X, y, "likelihood", Constant(1.0) * RBF(1e-3), intercept=False, cv=3)
    r = o.score(1.0, o.kernel, True)[0]
    assert r.value == pytest.approx(np.log(1 / 3) / 3 + np.log(2 / 3) * 2 / 3)
    np.testing.assert_array_equal(r.gradient, 0.0)


def test_a_held_out_part_of_one_class_is_refused() -> None:
    X, y = cloud()
    up = np.flatnonzero(y > 0)[:2]
    with pytest.raises(ValueError, match="one class only"):
        score(X, y, "likelihood", cv=[(np.setdiff1d(np.arange(len(y)), up), up)])


@pytest.mark.parametrize("options", [{"targets": "soft"}, {"max_slope": np.nan}], ids=str)
def test_options_that_mean_nothing(options: dict) -> None:
    with pytest.raises(ValueError, match=next(iter(options))):
        Likelihood(**options)
