"""GACV against hand-worked cases, and brute-force derivatives by the label."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from criteria.machine_cases import (
    KK_COSTS,
    assert_invariant,
    two_classes,
    unit_columns,
    without,
)
from svmselect import score
from svmselect.criteria.gckl import gckl
from svmselect.kernels import RBF, Constant, Linear
from svmselect.machine import solve


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(
    ("C", "expected"),
    [
        (2.0, 0.5),  # alpha = 1/2, f = x, both margins one: 0 + 1/2
        (0.25, 0.75),  # alpha = C, f = x/2, both losses 1/2: 1/2 + 1/4
    ],
)
def test_two_points_by_hand(C: float, expected: float, fit_intercept: bool) -> None:
    r = score(
        [[-1.0], [1.0]], [-1, 1], "gacv", C=C, kernel=Linear(1.0), fit_intercept=fit_intercept
    )
    np.testing.assert_allclose(r.value, expected, rtol=1e-12)
    assert r.details["intercept_determined"] == (C == 2.0 or not fit_intercept)


def test_a_margin_below_minus_one_counts_twice() -> None:
    # all at C = 0.8: f(x) = x (3 C - 2 C); losses 0.2, 0.2, 0.2, 2.6; alpha K = 0.8 x^2
    r = score(
        [[1.0], [1.0], [1.0], [2.0]], [1, 1, 1, -1], "gacv",
        C=0.8, kernel=Linear(1.0), fit_intercept=False,
    )  # fmt: skip
    np.testing.assert_allclose(r.value, (0.6 + 2.6 + 2.4 + 2 * 3.2) / 4, rtol=1e-12)
    np.testing.assert_allclose(r.details["fit"], 3.2 / 4, rtol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_free_vectors_count_whatever_their_round_off(seed: int) -> None:
    X, y = two_classes(seed=seed)
    kernel = RBF(1.0)
    s = solve(kernel(X), y, 20.0)
    assert len(s.free) > 5
    factor = np.where(s.margin < -1, 2.0, np.where(s.alpha > 0, 1.0, 0.0))
    expected = (np.maximum(1 - s.margin, 0) + s.alpha * factor).mean()
    assert score(X, y, "gacv", C=20.0, kernel=kernel).value == pytest.approx(expected, rel=1e-9)


def with_label(K: np.ndarray, s: object, i: int, label: float) -> float:
    """f_i where one copy of i has a label between -1 and 1, as two rows that share its weight."""
    rows = np.append(np.arange(len(K)), [i, i])
    weights = np.append(s.weights, [(1 + label) / 2, (1 - label) / 2])
    weights[i] -= 1
    signs = np.append(s.y, [1, -1])
    t = solve(K[np.ix_(rows, rows)], signs, s.C, "logistic", s.fit_intercept, weights)
    return float(t.decision[i])


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("C", [0.1, 3.0, 100.0])
def test_logistic_by_brute_force(C: float, weighted: bool, fit_intercept: bool) -> None:
    X, y = two_classes(14)
    w = np.random.default_rng(0).choice([1.0, 2.0, 3.0], len(y)) if weighted else np.ones(len(y))
    kernel = RBF(1.2)
    K = kernel(X)
    s = solve(K, y, C, "logistic", fit_intercept, w)
    total = 0.0
    for i in range(len(y)):
        # one-sided, as labels end at one: Richardson's extrapolation
        steps = 0.02 * 0.5 ** np.arange(6)
        table = [(s.decision[i] - with_label(K, s, i, y[i] * (1 - t))) / (y[i] * t) for t in steps]
        for order in range(1, 5):
            near, far = np.array(table[1:]), np.array(table[:-1])
            table = list((2**order * near - far) / (2**order - 1))
        slope = -y[i] / (1 + np.exp(s.margin[i]))
        mu = np.tanh(s.decision[i] / 2)  # WLZ eq. 24
        total += w[i] * (np.log1p(np.exp(-s.margin[i])) - slope * table[-1] * (y[i] - mu))
    r = score(
        X, y, "gacv", C=C, kernel=kernel, loss="logistic", fit_intercept=fit_intercept, weights=w
    )
    np.testing.assert_allclose(r.value, total / w.sum(), rtol=1e-9)


def test_the_label_mu_stands_for_absence() -> None:
    """Why the logistic loss is continued linearly in the label: the lemma behind WLZ eq. 26."""
    X, y = two_classes(14)
    K = RBF(1.2)(X)
    s = solve(K, y, 3.0, "logistic")
    for i in range(len(y)):
        left_out = without(K, s, i).decision[i]
        np.testing.assert_allclose(with_label(K, s, i, np.tanh(left_out / 2)), left_out, atol=1e-12)


def test_logistic_is_close_to_leaving_out() -> None:
    X, y = two_classes(40)
    K = RBF(1.0)(X)
    s = solve(K, y, 0.5, "logistic")
    loo = np.mean([np.log1p(np.exp(-y[i] * without(K, s, i).decision[i])) for i in range(len(y))])
    r = score(X, y, "gacv", C=0.5, kernel=RBF(1.0), loss="logistic")
    assert abs(r.value - loo) < 0.2 * abs(r.details["fit"] - loo)


def test_a_constant_in_the_kernel() -> None:
    X, y = two_classes()
    with pytest.raises(ValueError, match=r"constant added to the kernel.*fit_intercept=False"):
        score(X, y, "gacv", kernel=RBF(1.0) + 0.5)
    amplitude = score(X, y, "gacv", kernel=Constant(2.0) * RBF(1.0))
    assert np.isfinite(amplitude.value)
    assert np.isfinite(score(X, y, "gacv", kernel=RBF(1.0) + 0.5, fit_intercept=False).value)
    # the logistic form sees no difference
    values = [
        score(X, y, "gacv", kernel=k, loss="logistic").value for k in (RBF(1.0), RBF(1.0) + 5.0)
    ]
    np.testing.assert_allclose(*values, rtol=1e-9)


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_weights_are_copies(loss: str, fit_intercept: bool) -> None:
    X, y = two_classes(24)
    w = np.random.default_rng(2).integers(0, 4, len(y))
    rest = {"C": 2.0, "kernel": RBF(1.0), "loss": loss, "fit_intercept": fit_intercept}
    weighted = score(X, y, "gacv", weights=w, **rest).value
    repeated = score(np.repeat(X, w, axis=0), np.repeat(y, w), "gacv", **rest).value
    np.testing.assert_allclose(weighted, repeated, rtol=1e-9)


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_invariances(loss: str, fit_intercept: bool) -> None:
    X, y = two_classes()
    kernels = Constant(2.0) * RBF(1.0), Constant(0.5) * RBF(1.0)
    assert_invariant(X, y, "gacv", 1.5, *kernels, 4.0, loss=loss, fit_intercept=fit_intercept)


def test_no_gradient_and_it_says_so() -> None:
    X, y = two_classes()
    r = score(X, y, "gacv", gradient=True)
    assert r.gradient is None
    assert r.details["discontinuous"] is True
    assert "margin passes -1" in r.details["gradient"]
    assert not r.greater_is_better
    with pytest.raises(ValueError, match="squared_hinge"):
        score(X, y, "gacv", loss="squared_hinge")


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_a_nearly_constant_gram_matrix(loss: str, fit_intercept: bool) -> None:
    X, y = unit_columns()
    for C in KK_COSTS:
        r = score(X, y, "gacv", C=C, kernel=RBF(10.0), loss=loss, fit_intercept=fit_intercept)
        assert r.status.ok
        assert 0 < r.details["optimism"] < np.inf


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_a_point_far_on_the_wrong_side(fit_intercept: bool) -> None:
    """A probability that rounds to one; the inverse Hessian from the two primal coefficients."""
    X = np.array([[1.0], [1.1], [1.2], [-1.0], [-1.1], [900.0]])
    y = np.array([1.0, 1.0, 1.0, -1.0, -1.0, -1.0])
    w = np.array([40.0, 40.0, 40.0, 40.0, 40.0, 1e-3])
    s = solve(Linear(0.01)(X), y, 1.0, "logistic", fit_intercept, w)
    q = s.alpha / w
    assert q[-1] == 1.0
    design = np.hstack([X, np.ones_like(X)])[:, : 2 if fit_intercept else 1]
    hessian = (design.T * (w * q * (1 - q))) @ design
    hessian[0, 0] += 1 / 0.01
    variance = np.einsum("ij,jk,ik->i", design, np.linalg.inv(hessian), design)
    rest = {"C": 1.0, "kernel": Linear(0.01), "loss": "logistic", "weights": w}
    r = score(X, y, "gacv", fit_intercept=fit_intercept, **rest)
    np.testing.assert_allclose(r.details["optimism"], w @ (q**2 * variance) / w.sum(), rtol=1e-8)


def test_gckl_is_the_expectation_over_labels() -> None:
    p, f = np.array([0.2, 0.5, 0.9]), np.array([-1.5, 0.3, 2.0])
    for loss, rule in (
        ("hinge", lambda z: np.maximum(1 - z, 0)),
        ("squared_hinge", lambda z: 0.5 * np.maximum(1 - z, 0) ** 2),
        ("logistic", lambda z: np.log1p(np.exp(-z))),
    ):
        expected = 0.0
        for labels in product([1, -1], repeat=3):
            y = np.array(labels)
            expected += np.prod(np.where(y > 0, p, 1 - p)) * rule(y * f).mean()
        np.testing.assert_allclose(gckl(p, f, loss), expected, rtol=1e-12)


def test_gckl_by_hand_and_its_errors() -> None:
    # WLZ eqs 15-17: p (1 - f), 1 + (1 - 2 p) f, (1 - p)(1 + f)
    np.testing.assert_allclose(gckl([0.2], [-3.0]), 0.8)
    np.testing.assert_allclose(gckl([0.2], [0.5]), 1.3)
    np.testing.assert_allclose(gckl([0.2], [3.0]), 3.2)
    # eqs 12-14: the expected error rate; a mute machine is wrong half of the time
    np.testing.assert_allclose(gckl([0.2, 0.2, 0.2], [-3.0, 0.5, 0.0], "zero-one"), 1.5 / 3)
    rng = np.random.default_rng(0)
    p, f = rng.random(50), rng.normal(size=50)
    assert gckl(p, f, "zero-one") <= gckl(p, f)
    with pytest.raises(ValueError, match=r"p\[1\] is 1.5"):
        gckl([0.5, 1.5], [0.0, 0.0])
    with pytest.raises(ValueError, match="one probability"):
        gckl([0.5, 0.5], [0.0])
    with pytest.raises(ValueError, match=r"decision\[0\]"):
        gckl([0.5], [np.nan])
