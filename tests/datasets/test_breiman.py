"""Breiman's problems against their definitions, and against the benchmark files."""

import math

import numpy as np
import pytest

from svmselect import datasets
from svmselect.datasets.breiman import ringnorm, twonorm, waveform


def test_twonorm_error_of_the_best_rule():
    X, y = twonorm(200_000, 0)
    error = np.mean(np.sign(X.sum(axis=1)) != y)
    best = 0.5 * math.erfc(2 / math.sqrt(2))
    assert error == pytest.approx(best, abs=4 * math.sqrt(best / 2e5))


def test_ringnorm_moments():
    X, y = ringnorm(100_000, 0)
    assert X[y > 0].std() == pytest.approx(2.0, rel=0.01)
    assert X[y > 0].mean() == pytest.approx(0.0, abs=0.01)
    assert X[y < 0].std() == pytest.approx(1.0, rel=0.01)
    assert X[y < 0].mean() == pytest.approx(2 / math.sqrt(20), rel=0.02)


def test_waveform_has_the_triangles_of_class_1():
    X, y = waveform(60_000, 0)
    t = np.arange(1, 22)
    triangles = [np.maximum(6.0 - abs(t - peak), 0) for peak in (7, 15, 11)]
    assert X[y > 0].mean(axis=0) == pytest.approx((triangles[0] + triangles[2]) / 2, abs=0.05)
    assert np.mean(y > 0) == pytest.approx(1 / 3, abs=0.01)


@pytest.mark.parametrize("name", ["twonorm", "ringnorm", "waveform"])
def test_generated_like_the_benchmark_file(name, data_dir):
    """Means and spreads of each class, over the sampling error, in the file's own scaling."""
    file, drawn = datasets.load(name, data_dir), datasets.load(name)
    assert (file.generated, drawn.generated) == (False, True)
    for label in (-1, 1):
        a, b = file.X[file.y == label], drawn.X[drawn.y == label]
        noise = np.hypot(a.std(axis=0) / math.sqrt(len(a)), b.std(axis=0) / math.sqrt(len(b)))
        assert np.all(abs(a.mean(axis=0) - b.mean(axis=0)) < 5 * noise)
        assert a.std(axis=0) == pytest.approx(b.std(axis=0), rel=0.12)


def test_draws_follow_the_seed():
    first, second = datasets.load("twonorm"), datasets.load("twonorm", random_state=1)
    assert np.array_equal(first.X, datasets.load("twonorm").X)
    assert not np.array_equal(first.X, second.X)
