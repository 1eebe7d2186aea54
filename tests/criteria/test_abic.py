"""ABIC is the logistic Laplace evidence and a count."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from criteria.machine_cases import assert_gradient, two_classes
from svmselect import score
from svmselect.criteria.abic import ABIC
from svmselect.kernels import RBF, Constant, Kernel

COMPOSED = Constant(1.6) * RBF([0.9, 1.4]) + Constant(0.3)


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(("kernel", "number"), [(RBF(1.0), 2), (COMPOSED, 5)])
@pytest.mark.parametrize(
    "options", [{}, {"eta": 2.0, "variant": "printed"}, {"nystrom": (9, 4), "random_state": 3}]
)
def test_value_and_gradient(
    options: dict[str, Any], kernel: Kernel, number: int, fit_intercept: bool, loss: str
) -> None:
    X, y = two_classes()
    rest = {"C": 2.0, "kernel": kernel, "loss": loss, "fit_intercept": fit_intercept, **options}
    evidence = score(X, y, "logistic-laplace", gradient=True, **rest)
    r = score(X, y, "abic", gradient=True, **rest)
    np.testing.assert_allclose(r.value, -2 * evidence.value + 2 * number, rtol=1e-13)
    np.testing.assert_allclose(r.gradient, -2 * evidence.gradient, rtol=1e-10)
    assert r.details["hyperparameters"] == number
    assert r.details["log_evidence"] == evidence.value
    assert not r.greater_is_better


def test_a_parameter_that_does_nothing_costs_two() -> None:
    X, y = two_classes()
    plain = score(X, y, "abic", kernel=RBF(1.0)).value
    more = score(X, y, "abic", kernel=Constant(1.0) * RBF(1.0)).value
    np.testing.assert_allclose(more - plain, 2.0, rtol=1e-9)


def test_gradient() -> None:
    X, y = two_classes(26, seed=1)
    assert_gradient(X, y, "abic", 1.7, COMPOSED, loss="logistic", fit_intercept=False)


def test_weights_are_copies() -> None:
    X, y = two_classes(24)
    w = np.random.default_rng(2).integers(0, 4, len(y))
    one = score(X, y, "abic", weights=w).value
    two = score(np.repeat(X, w, axis=0), np.repeat(y, w), "abic").value
    np.testing.assert_allclose(one, two, rtol=1e-10)


def test_options() -> None:
    for bad in ({"variant": "kk"}, {"eta": 0.0}, {"nystrom": (4, 9)}):
        with pytest.raises(ValueError, match=next(iter(bad))):
            ABIC(**bad)  # type: ignore[arg-type]
