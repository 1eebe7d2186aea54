"""Probabilities of several classes from held-out decision values."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax
from sklearn.exceptions import ConvergenceWarning

from svmselect.probability import sigmoid_probability
from svmselect.probability import softmax as module
from svmselect.probability.sigmoid import sigmoid_likelihood
from svmselect.probability.softmax import fit_softmax

rng = np.random.default_rng(0)


def test_finds_scale_and_shifts_again():
    f = rng.normal(size=(40_000, 3)) * 5.0
    p = softmax(0.4 * f + [0.0, 1.0, -1.0], axis=1)
    codes = (p.cumsum(axis=1) < rng.random((len(f), 1))).sum(axis=1)
    found = fit_softmax(f, codes, np.ones(len(f)), 3)
    assert found.scale == pytest.approx(0.4, rel=0.05)
    np.testing.assert_allclose(np.diff(found.shifts), [1.0, -2.0], atol=0.1)
    np.testing.assert_allclose(np.exp(found.logs(f)), p, atol=0.03)
    # no other scale or shift is likelier, up to the weak prior
    weights = np.ones(len(f))
    best = weights @ found.logs(f)[np.arange(len(f)), codes]
    for change in (0.9, 1.1):
        other = type(found)(change * found.scale, found.shifts)
        assert weights @ other.logs(f)[np.arange(len(f)), codes] < best


def test_weights_are_copies():
    f, codes = rng.normal(size=(60, 3)), rng.integers(0, 3, 60)
    w = rng.integers(1, 4, 60)
    one = fit_softmax(f, codes, w.astype(float), 3)
    two = fit_softmax(np.repeat(f, w, axis=0), np.repeat(codes, w), np.ones(w.sum()), 3)
    assert one.scale == pytest.approx(two.scale, rel=0.05)  # the spread is of rows, as they come
    np.testing.assert_allclose(one.logs(f), two.logs(f), atol=0.02)


def test_two_classes_are_the_sigmoid():
    f, codes = rng.normal(size=200), rng.integers(0, 2, 200)
    f += codes
    w = np.ones(200)
    fit = sigmoid_likelihood(f, np.where(codes == 1, 1.0, -1.0), w, "platt", one_sided=True)
    found = fit_softmax(f[:, None], codes, w, 2)
    later = sigmoid_probability(f, fit.slope, fit.offset)
    np.testing.assert_allclose(np.exp(found.logs(f[:, None]))[:, 1], later, rtol=1e-12)


SHAPES = {
    "apart": lambda own: own + 1e-3 * rng.normal(size=own.shape),
    "overlapping": lambda own: own + rng.normal(size=own.shape),
    "noise": lambda own: rng.normal(size=own.shape),
    "wild": lambda own: own + rng.standard_t(1, own.shape),
    "the wrong way": lambda own: 0.1 * rng.normal(size=own.shape) - own,
    "constant": lambda own: np.full(own.shape, 0.7),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("factor", [1.0, 1e-6, 1e6])
def test_no_softmax_is_better(shape: str, factor: float) -> None:
    for n, k, spread in ((3, 3, 0.0), (100, 3, 3.0), (100, 7, 0.0), (1000, 7, 3.0)):
        codes = rng.integers(0, k, n)
        own = SHAPES[shape](np.eye(k)[codes])
        weights, rows = 10.0 ** rng.uniform(-spread, spread, n), np.arange(n)
        unit = own - own.mean(axis=1, keepdims=True)
        size = unit.std() if unit.std() > 1e-9 else 1.0
        unit = unit / size if size != 1.0 else np.zeros_like(unit)

        def loss(x, unit=unit, codes=codes, weights=weights, rows=rows):
            logs = log_softmax(np.exp(x[0]) * unit + x[1:], axis=1)[rows, codes]
            return (0.5 * x @ x - weights @ logs) / weights.sum()

        found = fit_softmax(factor * own, codes, weights, k)
        here = np.concatenate([[np.log(found.scale * factor * size)], found.shifts])
        if shape == "constant":
            here[0] = 0.0  # a scale that nothing depends on
        for begin in (np.zeros(k + 1), np.eye(k + 1)[0]):
            assert loss(here) <= minimize(loss, begin, method="BFGS").fun + 1e-8


def test_a_fit_that_does_not_converge_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def halted(fun, start, jac, method, options):
        return minimize(fun, start, jac=jac, method=method, options={"maxiter": 1})

    monkeypatch.setattr(module, "minimize", halted)
    f, codes = rng.normal(size=(60, 3)), rng.integers(0, 3, 60)
    with pytest.warns(ConvergenceWarning, match="not at their maximum"):
        fit_softmax(f + 3.0 * np.eye(3)[codes], codes, np.ones(60), 3)
