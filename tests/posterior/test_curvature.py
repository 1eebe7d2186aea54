"""Second derivatives of the evidence against differences of its gradient."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from svmselect.kernels import RBF, Constant, Linear
from svmselect.posterior import expectation_propagation
from svmselect.posterior.curvature import evidence_hessian

KERNELS = {
    "ard": Constant(3.0) * RBF([1.5, 2.0, 3.0]) + Constant(0.3),
    "linear": Constant(0.5) * Linear() + Constant(1.0),
}


def data(n: int = 40) -> tuple[Any, Any]:
    rng = np.random.default_rng(3)
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    X = rng.normal(size=(n, 3)) + 0.6 * y[:, None]
    return X, np.where(rng.random(n) < 0.1, -y, y)


@pytest.mark.parametrize(
    ("loss", "normalised", "C", "name"),
    [
        ("hinge", False, 1.3, "ard"),
        ("hinge", False, 30.0, "ard"),
        ("hinge", False, 0.05, "ard"),
        ("hinge", False, 1.3, "linear"),
        ("squared_hinge", False, 1.3, "ard"),
        ("logistic", False, 1.3, "ard"),
        ("hinge", True, 1.3, "ard"),
        ("squared_hinge", True, 0.2, "ard"),
    ],
)
def test_hessian(loss: str, normalised: bool, C: float, name: str) -> None:
    X, y = data()
    kernel, weights = KERNELS[name], np.where(np.arange(40) == 7, 2.0, 1.0)

    def gradient(point: Any, start: Any = None) -> tuple[Any, Any]:
        here = kernel.at(point[1:])
        ep = expectation_propagation(
            here(X), y, np.exp(point[0]), loss, weights, normalised, start=start, tol=1e-12
        )
        slopes = here.pullback(X, ep.sensitivity.gram)
        return np.concatenate([[ep.sensitivity.log_C], slopes]), ep

    point = np.concatenate([[np.log(C)], kernel.theta])
    _, ep = gradient(point)
    H = evidence_hessian(ep, X, kernel)
    h, rows = 1e-4, []
    for axis in h * np.eye(len(point)):
        ends = [gradient(point + k * axis, ep)[0] for k in (1, -1, 2, -2)]
        rows.append((8 * (ends[0] - ends[1]) - (ends[2] - ends[3])) / (12 * h))
    np.testing.assert_allclose(H, rows, rtol=1e-6, atol=1e-7 * np.abs(H).max())
    np.testing.assert_array_equal(H, H.T)


def test_low_rank_is_refused() -> None:
    X, y = data()
    kernel = KERNELS["ard"]
    ep = expectation_propagation(kernel(X), y, 1.0, rank=10)
    with pytest.raises(ValueError, match="without rank"):
        evidence_hessian(ep, X, kernel)
