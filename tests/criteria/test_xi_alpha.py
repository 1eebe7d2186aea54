"""The xi-alpha estimate: by hand, and as the bound it is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from criteria.machine_cases import KK_COSTS, assert_invariant, two_classes, unit_columns, without
from svmselect import score
from svmselect.kernels import RBF, Constant, Linear
from svmselect.machine import solve

BOTH = pytest.mark.parametrize("fit_intercept", [True, False])


@pytest.mark.parametrize(
    ("C", "variant", "errors"),
    [
        (2.0, "joachims", 2),  # alpha = 1/2, R = 1, xi = 0: 2 alpha R^2 = 1, not below one
        (0.25, "joachims", 2),  # alpha = 1/4, f = x/2: 1/2 + 1/2
        (0.2, "joachims", 2),  # alpha = 0.2, xi = 0.6: 0.4 + 0.6
        (0.25, "kk", 0),
        (2.0, "kk", 2),
    ],
)
def test_two_points_by_hand(C: float, variant: str, errors: int) -> None:
    r = score([[-1.0], [1.0]], [-1, 1], "xi-alpha", C=C, kernel=Linear(1.0), variant=variant)
    assert r.details["errors"] == errors
    assert r.value == errors / 2
    assert r.details["radius2"] == 1.0


@BOTH
@pytest.mark.parametrize("C", [0.2, 1.0, 30.0])
def test_formula(C: float, fit_intercept: bool) -> None:
    X, y = two_classes(40, seed=3)
    kernel = 0.4 * RBF(1.0)
    s = solve(kernel(X), y, C, fit_intercept=fit_intercept)
    xi = np.where(s.alpha >= C, 1 - s.margin, 0.0)
    rest: dict[str, Any] = {"C": C, "kernel": kernel, "fit_intercept": fit_intercept}
    with_xi = score(X, y, "xi-alpha", **rest)
    assert with_xi.value == np.mean(2 * s.alpha * 0.4 + xi >= 1)
    assert score(X, y, "xi-alpha", rho=1.0, **rest).value == np.mean(s.alpha * 0.4 + xi >= 1)
    printed = score(X, y, "xi-alpha", variant="kk", **rest)
    assert printed.value == np.mean(2 * s.alpha * 0.4 >= 1)
    assert printed.value <= with_xi.value


@pytest.mark.parametrize(("fit_intercept", "rho"), [(True, 2.0), (False, 2.0), (False, 1.0)])
def test_bounds_the_leave_one_out_error(fit_intercept: bool, rho: float) -> None:
    tight = 0
    for seed, C in ((0, 0.5), (1, 1.0), (2, 10.0), (3, 1.0)):
        X, y = two_classes(24, shift=1.0, seed=seed)
        K = RBF(1.0)(X)
        s = solve(K, y, C, fit_intercept=fit_intercept)
        wrong = {p for p in range(len(y)) if y[p] * without(K, s, p).decision[p] <= 0}
        rest = {"kernel": RBF(1.0), "fit_intercept": fit_intercept, "rho": rho}
        r = score(X, y, "xi-alpha", C=C, **rest)
        assert r.details["intercept_determined"]
        suspects = set(r.details["suspects"].tolist())
        assert wrong <= suspects
        tight += len(suspects) < len(y)
    assert tight


def test_it_says_where_the_bound_does_not_hold() -> None:
    """Balanced classes at a small C: every point left out goes to the other class."""
    X, y = two_classes(24, shift=1.0)
    K = RBF(1.0)(X)
    s = solve(K, y, 0.1)
    assert all(y[p] * without(K, s, p).decision[p] <= 0 for p in range(len(y)))
    r = score(X, y, "xi-alpha", C=0.1, kernel=RBF(1.0))
    assert r.value < 1
    assert r.details["intercept_determined"] is False


@BOTH
def test_weights_are_copies(fit_intercept: bool) -> None:
    X, y = two_classes(24)
    w = np.tile([1, 1, 3, 3, 0, 0], 4)
    # all at their bounds, so that repeated rows have one solution only
    rest = {"C": 0.01, "kernel": 2.0 * RBF(1.0), "fit_intercept": fit_intercept}
    s = solve(2.0 * RBF(1.0)(X), y, 0.01, fit_intercept=fit_intercept, weights=w)
    assert len(s.free) == 0
    weighted = score(X, y, "xi-alpha", weights=w, **rest)
    repeated = score(np.repeat(X, w, axis=0), np.repeat(y, w), "xi-alpha", **rest)
    assert weighted.value == pytest.approx(repeated.value, rel=1e-12)
    assert 0 < weighted.value < 1


def test_an_absent_row_has_no_radius() -> None:
    X, y = two_classes(20)
    X[0] *= 100
    w = np.ones(20)
    w[0] = 0
    r = score(X, y, "xi-alpha", kernel=Linear(1.0), weights=w)
    assert r.details["radius2"] == (X[1:] ** 2).sum(axis=1).max()


@BOTH
@pytest.mark.parametrize("variant", ["joachims", "kk"])
def test_invariances(fit_intercept: bool, variant: str) -> None:
    X, y = two_classes()
    kernels = Constant(2.0) * RBF(1.0), Constant(0.5) * RBF(1.0)
    rest = {"fit_intercept": fit_intercept, "variant": variant}
    assert_invariant(X, y, "xi-alpha", 0.3, *kernels, 4.0, **rest)


def test_refusals_and_details() -> None:
    X, y = two_classes()
    r = score(X, y, "xi-alpha", gradient=True)
    assert r.gradient is None
    assert r.details["discontinuous"] is True
    assert not r.greater_is_better
    with pytest.raises(ValueError, match="variant='none'"):
        score(X, y, "xi-alpha", variant="none")
    with pytest.raises(ValueError, match="rho"):
        score(X, y, "xi-alpha", rho=0.0)
    with pytest.raises(ValueError, match="hinge with an intercept"):
        score(X, y, "xi-alpha", loss="squared_hinge")


@BOTH
def test_a_nearly_constant_gram_matrix(fit_intercept: bool) -> None:
    X, y = unit_columns()
    for C in KK_COSTS:
        r = score(X, y, "xi-alpha", C=C, kernel=RBF(10.0), fit_intercept=fit_intercept)
        assert r.status.ok
        assert 0 < r.value <= 1
