"""A simpler prior to begin at: its algebra against the dense one's, and what it saves."""

import numpy as np
import pytest

from svmselect.kernels import RBF, Constant
from svmselect.posterior import landmark_start
from svmselect.posterior.backend import get_backend
from svmselect.posterior.ep import propagate
from svmselect.posterior.landmark_start import SparsePrior, begin
from svmselect.posterior.latent import DensePrior
from svmselect.posterior.on_device import evidence_on

DEVICES = ["cpu", pytest.param("torch-cpu", marks=pytest.mark.torch)]
rng = np.random.default_rng(0)
X = rng.normal(size=(200, 4))
y = np.where(X[:, 0] * X[:, 1] + X[:, 2] + 0.5 * rng.normal(size=200) > 0, 1.0, -1.0)
kernel, ones = Constant(4.0) * RBF(2.0) + Constant(0.1), np.ones(200)


@pytest.mark.parametrize("device", DEVICES)
def test_the_prior_is_the_matrix_that_it_stands_for(device):
    on = get_backend(device)
    F, rest = rng.normal(size=(30, 4)), rng.random(30)
    whole = F @ F.T + np.diag(rest)
    tau = np.where(np.arange(30) % 5 == 0, 0.0, 3.0 * rng.random(30))
    v = rng.normal(size=30)
    prior = SparsePrior(on.put(F), rest, whole.diagonal(), on)
    dense = DensePrior.of(whole, get_backend("cpu"))
    np.testing.assert_allclose(prior.apply(v), whole @ v)
    found, wanted = prior.condition(tau), dense.condition(tau)
    assert found.logdet == pytest.approx(wanted.logdet)
    sigma = np.linalg.inv(np.linalg.inv(whole) + np.diag(tau))
    np.testing.assert_allclose(found.variance, sigma.diagonal())
    np.testing.assert_allclose(found.retained, wanted.retained)
    np.testing.assert_allclose(found.solve(v), wanted.solve(v))
    off = sigma**2 - np.diag(sigma.diagonal() ** 2)
    np.testing.assert_allclose(found.spread(v), off @ v)
    inner = np.diag(tau) - tau[:, None] * sigma * tau
    np.testing.assert_allclose(on.get(found.inner()), inner, atol=1e-12)
    np.testing.assert_allclose(on.get(found.inner(on.put(v[:, None])))[:, 0], inner @ v, atol=1e-12)
    assert prior.condition(-tau) is None


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
@pytest.mark.parametrize("device", DEVICES)
def test_the_same_answer_in_fewer_sweeps(monkeypatch, loss, device):
    gram = kernel(X)
    cold = propagate(gram, y, 2.0, loss, ones)
    monkeypatch.setattr(landmark_start, "SEVERAL", 100)
    warm = propagate(gram, y, 2.0, loss, ones)
    assert warm.sweeps < cold.sweeps
    assert warm.log_evidence == pytest.approx(cold.log_evidence, rel=1e-9)
    np.testing.assert_allclose(warm.dual, cold.dual, rtol=1e-4, atol=1e-6)
    there = evidence_on(device, kernel, X, y, 2.0, loss, ones)
    assert there.sweeps == warm.sweeps
    assert there.log_evidence == pytest.approx(cold.log_evidence, rel=1e-9)


def test_what_begins_at_the_prior(monkeypatch):
    prior = DensePrior.of(kernel(X), get_backend("cpu"))
    assert begin(prior, y, 2.0, "hinge", ones) is None  # few
    monkeypatch.setattr(landmark_start, "SEVERAL", 100)
    assert begin(prior, y, 2.0, "hinge", ones) is not None
    monkeypatch.setattr(landmark_start, "_SWEEPS", 1)
    assert begin(prior, y, 2.0, "hinge", ones) is None  # not found
    never = DensePrior.of(-np.eye(200), get_backend("cpu"))
    assert begin(never, y, 2.0, "hinge", ones) is None
