"""Sums over chunks: their value, gradient and curvature, however the rows are cut and added."""

from dataclasses import replace

import numpy as np
import pytest

from svmselect.kernels import RBF
from svmselect.machine.features import basis_of
from svmselect.machine.losses import get_loss
from svmselect.machine.sums import Design, Pass, decisions, terms
from svmselect.rows import ArrayRows
from svmselect.rows.base import keys

rng = np.random.default_rng(0)
N = 300
X = rng.normal(size=(N, 3)) * 2.0 + 5.0
first = np.sin(X[:, 0]) + 0.3 * rng.normal(size=N) > 0
y = np.array(list("abc"))[first.astype(int) + (X[:, 1] > 5.5)]
w = rng.integers(0, 3, N).astype(float)
C = 1.7


def standard(X):
    return (X - 5.0) / 2.0


def design(**changes):
    kernel, vectors = RBF([1.0, 2.0, 3.0]), standard(X[:20])
    basis = basis_of(kernel, vectors)
    classes = np.array(list("abc"))
    signs = 2.0 * np.eye(3) - 1.0
    signs[2, 0] = 0.0  # the third class takes no part in the first machine
    factors = np.array([1.0, 2.0, 0.5])
    return replace(Design(kernel, vectors, basis, classes, signs, factors, standard), **changes)


THETA = rng.normal(size=(len(design().basis.T), 3))
B = np.array([0.1, -0.2, 0.3])


def look(theta=THETA, b=B, rule="logistic", stride=0, rows=None, **changes):
    rows = ArrayRows(X, y, w, workers=1) if rows is None else rows
    curve = get_loss(rule) if isinstance(rule, str) else rule
    return rows.total(terms, Pass(design(**changes), theta, b, C, curve, stride))


def brute(theta, b, rule, members):
    """The same sum, row by row, without blocks."""
    d = design()
    Phi = d.kernel(standard(X), d.vectors) @ d.basis
    codes = np.searchsorted(d.classes, y)
    signs = d.signs[codes] * members[:, None]
    cost = C * (w * d.factors[codes])[:, None] * np.abs(signs)
    z = signs * (Phi @ theta + b)
    curved = cost * rule.curvature(z)
    H = np.einsum("nj,na,nb->jab", curved, Phi, Phi)
    return np.sum(cost * rule.value(z), axis=0), H, curved.T @ Phi, curved.sum(axis=0)


@pytest.mark.parametrize("rule", ["logistic", "squared_hinge", get_loss("hinge").rounded(0.4)])
def test_value_gradient_and_curvature(rule):
    found = look(rule=rule, stride=1)
    curve = get_loss(rule) if isinstance(rule, str) else rule
    value, H, border, mass = brute(THETA, B, curve, np.ones(N))
    np.testing.assert_allclose(found.value, value, rtol=1e-12)
    np.testing.assert_allclose(found.curvature, H, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(found.border, border, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(found.mass, mass, rtol=1e-12)
    h = 1e-6
    for j in range(3):
        for a in range(0, len(THETA), 5):
            step = np.zeros_like(THETA)
            step[a, j] = h
            up, down = (look(THETA + s * step, rule=rule).value[j] for s in (1, -1))
            assert (down - up) / (2 * h) == pytest.approx(found.pull[a, j], rel=1e-5, abs=1e-5)
        up, down = (look(b=B + s * h * np.eye(3)[j], rule=rule).value[j] for s in (1, -1))
        assert (down - up) / (2 * h) == pytest.approx(found.pull_b[j], rel=1e-5, abs=1e-5)


def test_the_same_however_rows_are_cut_and_whoever_adds():
    whole = look(stride=3)
    for rows in (
        ArrayRows(X, y, w, workers=1, size=37),
        ArrayRows(X, y, w, workers=3, size=11),
        ArrayRows(X.astype(np.float32), y.astype(object), w, workers=2),
    ):
        cut = look(rows=rows, stride=3)
        for name in ("value", "pull", "pull_b", "curvature", "border", "mass"):
            a, b = getattr(whole, name), getattr(cut, name)
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)
        np.testing.assert_array_equal(whole.active, cut.active)


def test_rows_held_out_by_their_keys_take_no_part():
    members = keys(np.arange(N), 5) >= 0.3
    found = look(part=(0.3, 1.0), seed=5, stride=1)
    value, H, _, _ = brute(THETA, B, get_loss("logistic"), members.astype(float))
    np.testing.assert_allclose(found.value, value, rtol=1e-12)
    np.testing.assert_allclose(found.curvature, H, rtol=1e-9, atol=1e-10)
    assert 0.2 < 1.0 - members.mean() < 0.4


def test_a_share_of_the_rows_tells_the_curvature_without_bias():
    whole = look(stride=1).curvature
    shares = [look(stride=4, seed=seed).curvature for seed in range(60)]
    error = np.abs(np.mean(shares, axis=0) - whole).max() / np.abs(whole).max()
    assert error < 0.1
    assert np.abs(shares[0] - whole).max() > 0.02 * np.abs(whole).max()


@pytest.mark.torch
@pytest.mark.parametrize("single", [False, True])
def test_torch_says_the_same(single):
    here, there = (look(stride=2, device=device, single=single) for device in ("cpu", "torch-cpu"))
    tolerance = 1e-4 if single else 1e-10
    for name in ("value", "pull", "pull_b", "curvature", "border", "mass"):
        a, b = getattr(here, name), getattr(there, name)
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance * np.abs(a).max())
    f = [decisions(X, design(device=d), THETA, B) for d in ("cpu", "torch-cpu")]
    np.testing.assert_allclose(*f, rtol=1e-10, atol=1e-10)


def test_a_label_that_was_not_there():
    with pytest.raises(ValueError, match="label 'd' was not there"):
        look(rows=ArrayRows(X, np.where(np.arange(N) == 7, "d", y), w, workers=1))
