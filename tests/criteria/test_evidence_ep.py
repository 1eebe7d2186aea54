"""The criterion evidence-ep: units, gradient, copies, options and refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.integrate import trapezoid

from svmselect import score
from svmselect.criteria import get_criterion
from svmselect.criteria.evidence_ep import distinct
from svmselect.data import Dataset
from svmselect.kernels import RBF, Constant
from svmselect.posterior import expectation_propagation
from svmselect.selection.objective import Objective

KERNEL = Constant(2.0) * RBF([1.0, 2.0]) + Constant(0.2)


def data(n: int = 30) -> tuple[Any, Any]:
    rng = np.random.default_rng(1)
    y = np.where(np.arange(n) % 2, 1, -1)
    return rng.normal(size=(n, 2)) + 0.6 * y[:, None], y


@pytest.mark.parametrize("normalised", [False, True])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
def test_value_is_the_mean_log_evidence(loss: str, normalised: bool) -> None:
    X, y = data()
    r = score(
        X, y, "evidence-ep", C=1.5, kernel=KERNEL, loss=loss, fit_intercept=False, gradient=True,
        normalised=normalised,
    )  # fmt: skip
    ep = expectation_propagation(KERNEL(X), y, 1.5, loss, normalised=normalised)
    assert r.value == pytest.approx(ep.log_evidence / 30, abs=1e-12)
    assert r.greater_is_better
    assert r.status.ok
    assert r.details["log_evidence"] == pytest.approx(ep.log_evidence)
    assert r.names == ("log C", *KERNEL.names)
    want = np.append(ep.sensitivity.log_C, KERNEL.pullback(X, ep.sensitivity.gram)) / 30
    np.testing.assert_allclose(r.gradient, want, atol=1e-10)


def test_two_points_by_quadrature() -> None:
    """Far apart in the kernel, two points are two one-dimensional integrals."""
    X, y = np.array([[0.0], [100.0]]), np.array([0, 1])
    r = score(X, y, "evidence-ep", C=1.0, kernel=Constant(2.0) * RBF(1.0), fit_intercept=False)
    theta = np.linspace(-15, 15, 300001)
    density = np.exp(-0.25 * theta**2) / np.sqrt(4 * np.pi)
    Q = trapezoid(np.exp(-np.maximum(1 - theta, 0)) * density, theta)
    assert r.value == pytest.approx(np.log(Q) - np.log1p(np.exp(-2.0)), abs=1e-9)


@pytest.mark.parametrize("rank", [None, 20])
def test_copies_and_weights_are_one_exact_factor(rank: int | None) -> None:
    X, y = data()
    weights = np.random.default_rng(0).integers(0, 4, size=30)
    twice = np.repeat(np.arange(30), weights)
    arguments: dict[str, Any] = {
        "C": 1.5, "kernel": KERNEL, "fit_intercept": False, "gradient": True, "rank": rank,
    }  # fmt: skip
    one = score(X, y, "evidence-ep", weights=weights, **arguments)
    two = score(X[twice], y[twice], "evidence-ep", **arguments)
    assert one.value == pytest.approx(two.value, abs=1e-10)
    np.testing.assert_allclose(one.gradient, two.gradient, atol=1e-9)


def test_distinct_rows() -> None:
    X = np.array([[1.0, 0.0], [2.0, 0.0], [1.0, -0.0], [1.0, 0.0], [3.0, 1.0]])
    rows, counts, group = distinct(X, np.array([1.0, 1, 1, -1, 1]), np.array([1.0, 2, 0.5, 1, 0]))
    np.testing.assert_array_equal(rows, [0, 1, 3])
    np.testing.assert_array_equal(counts, [1.5, 2.0, 1.0])
    np.testing.assert_array_equal(group, [0, 1, 0, 2, 0])


def test_warm_start_through_the_objective() -> None:
    X, y = data()
    X = np.vstack([X, X[:3]])  # with copies, whose posterior is kept for every row
    y = np.append(y, y[:3])
    objective = Objective(Dataset.of(X, y), KERNEL, get_criterion("evidence-ep"), "hinge", False)
    near, trained = objective.score(1.6, KERNEL)
    assert len(trained["ep"].shift) == 33
    cold, _ = objective.score(1.5, KERNEL)
    warm, _ = objective.score(1.5, KERNEL, start=trained)
    assert warm.value == pytest.approx(cold.value, abs=1e-10)
    assert warm.details["sweeps"] < cold.details["sweeps"]
    assert near.value != warm.value


def test_normalising_stops_the_waste() -> None:
    """The unnormalised evidence can prefer to predict one class; normalised it cannot gain by it.

    With labels that are noise, a flat function has evidence -ln 2 a point in the normalised model,
    whatever C; unnormalised it is below that at every C where points fall inside the margin.
    """
    X, y = data()
    flat = Constant(1e-6) * RBF([1.0, 2.0]) + Constant(1e-6)
    for C in (0.5, 3.0):
        arguments: dict[str, Any] = {"C": C, "kernel": flat, "fit_intercept": False}
        proper = score(X, y, "evidence-ep", normalised=True, **arguments).value
        wasted = score(X, y, "evidence-ep", **arguments).value
        assert proper == pytest.approx(-np.log(2), abs=1e-4)
        assert wasted == pytest.approx(-C - np.log1p(np.exp(-2 * C)), abs=1e-4)
        assert wasted < proper


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
def test_an_intercept_is_refused(loss: str) -> None:
    X, y = data()
    with pytest.raises(ValueError, match="no proper prior"):
        score(X, y, "evidence-ep", kernel=KERNEL, loss=loss)


@pytest.mark.parametrize(
    ("options", "message"), [({"rank": 0}, "rank"), ({"device": "abacus"}, "device")]
)
def test_senseless_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        get_criterion("evidence-ep", **options)


@pytest.mark.torch
def test_torch() -> None:
    X, y = data()
    arguments: dict[str, Any] = {
        "C": 1.5, "kernel": KERNEL, "fit_intercept": False, "gradient": True,
    }  # fmt: skip
    one = score(X, y, "evidence-ep", **arguments)
    two = score(X, y, "evidence-ep", device="torch-cpu", **arguments)
    assert two.value == pytest.approx(one.value, abs=1e-10)
    np.testing.assert_allclose(two.gradient, one.gradient, atol=1e-9)
