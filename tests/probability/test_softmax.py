"""Probabilities of several classes from held-out decision values."""

import numpy as np
import pytest
from scipy.special import softmax

from svmselect.probability import sigmoid_probability
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
