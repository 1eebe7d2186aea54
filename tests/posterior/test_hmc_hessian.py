"""Sampled second derivatives against quadrature and against expectation propagation's."""

from __future__ import annotations

import numpy as np
import pytest

from posterior.panels import exact, slope
from svmselect.kernels import RBF, Constant
from svmselect.posterior import expectation_propagation
from svmselect.posterior.curvature import evidence_hessian as by_propagation
from svmselect.posterior.hmc_hessian import evidence_hessian

X = np.array([[0.0], [0.9]])
Y = np.array([1.0, -1.0])
KERNEL = Constant(6.0) * RBF(1.1) + Constant(0.4)
CASES = [("hinge", False), ("squared_hinge", False), ("logistic", False), ("hinge", True)]


@pytest.mark.parametrize(("loss", "normalised"), CASES)
def test_two_latent_values(loss: str, normalised: bool) -> None:
    def log_evidence(point: np.ndarray) -> float:
        gram = KERNEL.at(point[1:])(X)
        return exact(gram, Y, float(np.exp(point[0])), loss, normalised, False).log_evidence / 2.0

    here = np.array([np.log(2.0), *KERNEL.theta])
    expected = slope(lambda p: slope(log_evidence, p, 0.02), here, 0.02)
    found = evidence_hessian(
        X, Y, 2.0, KERNEL, loss, normalised=normalised, draws=60_000, chains=1024, random_state=1
    )
    assert found.names == ("log C", *KERNEL.names)
    assert (np.abs(found.matrix - expected) < 6.0 * found.stderr + 2e-5).all()
    assert found.stderr.max() < 0.03
    np.testing.assert_array_equal(found.matrix, found.matrix.T)


@pytest.mark.parametrize(("loss", "normalised"), CASES[:2])
@pytest.mark.parametrize("k0", [1.0, 60.0])
def test_many_latent_values(loss: str, normalised: bool, k0: float) -> None:
    """Expectation propagation is all but exact here: errors of a few thousandths."""
    rng = np.random.default_rng(1)
    y = np.where(np.arange(40) % 2, 1.0, -1.0)
    points = rng.normal(size=(40, 2)) + 0.7 * y[:, None]
    kernel = Constant(k0) * RBF([1.2, 1.8]) + Constant(0.2)
    weights = 1.0 + (np.arange(40) % 3 == 0)
    weights[5] = 0.0
    gram = kernel(points)
    ep = expectation_propagation(gram, y, 1.4, loss, weights, normalised)
    expected = by_propagation(ep, points, kernel) / weights.sum()
    found = evidence_hessian(points, y, 1.4, kernel, loss, weights, normalised, draws=6400)
    assert (np.abs(found.matrix - expected) < 5.0 * found.stderr + 0.006).all()
    assert found.stderr.max() < 0.03


def test_too_few_draws_are_refused() -> None:
    with pytest.raises(ValueError, match="16 chains"):
        evidence_hessian(X, Y, 1.0, KERNEL, draws=100, chains=8)
