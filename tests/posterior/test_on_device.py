"""The evidence with every matrix on the device: what the matrix from the host gives."""

import numpy as np
import pytest

from svmselect import score, select
from svmselect.kernels import RBF, Constant
from svmselect.posterior.ep import propagate
from svmselect.posterior.on_device import evidence_on

rng = np.random.default_rng(0)
N = 60
X = rng.normal(size=(N, 3))
y = np.where(X[:, 0] + 0.5 * rng.normal(size=N) > 0, 1.0, -1.0)
kernel = Constant(1.5) * RBF([1.0, 2.0, 3.0]) + Constant(0.2)
weights = rng.integers(1, 3, N).astype(float)
DEVICES = ["cpu", pytest.param("torch-cpu", marks=pytest.mark.torch)]


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
@pytest.mark.parametrize("normalised", [False, True])
@pytest.mark.parametrize("device", DEVICES)
def test_as_with_a_matrix_from_the_host(loss, normalised, device):
    ep = propagate(kernel(X), y, 2.0, loss, weights, normalised)
    expected = kernel.pullback(X, ep.sensitivity)
    for start in (None, ep.start):
        found = evidence_on(device, kernel, X, y, 2.0, loss, weights, normalised, start)
        assert found.status.ok
        assert found.log_evidence == pytest.approx(ep.log_evidence, rel=1e-9)
        assert found.gradient[0] == pytest.approx(ep.slope_log_C, rel=1e-6)
        np.testing.assert_allclose(found.gradient[1:], expected, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(found.start.dual, ep.start.dual, rtol=1e-5, atol=1e-8)
    assert evidence_on(device, kernel, X, y, 2.0, loss, weights, gradient=False).gradient is None


@pytest.mark.torch
def test_the_criterion_takes_it():
    again = np.r_[0:N, 0:5]  # some rows twice
    for device in ("cpu", "torch-cpu"):
        r = score(
            X[again], y[again], "evidence-ep", 2.0, kernel, fit_intercept=False, gradient=True,
            device=device,
        )  # fmt: skip
        if device == "cpu":
            expected = r
    assert r.value == pytest.approx(expected.value, rel=1e-9)
    np.testing.assert_allclose(r.gradient, expected.gradient, rtol=1e-6, atol=1e-9)
    found = [
        select(X, y, "evidence-ep", kernel=kernel, fit_intercept=False, budget=6, device=device)
        for device in ("cpu", "torch-cpu")
    ]
    assert pytest.approx(found[0].C, rel=1e-6) == found[1].C


def test_a_device_that_the_criterion_has_not():
    with pytest.raises(ValueError, match="device"):
        select(X, y, "likelihood", budget=2, device="cuda")
    with pytest.raises(ValueError, match='not one of "cpu"'):
        select(X, y, "evidence-ep", fit_intercept=False, budget=2, device="tpu")
