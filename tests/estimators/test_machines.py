"""Pairwise machines: packing as scikit-learn does, blocks, sigmoids that point the right way."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.svm import SVC

from svmselect.estimators import machines as module
from svmselect.estimators.machines import (
    Machines,
    class_probabilities,
    from_dual_coef,
    to_dual_coef,
)
from svmselect.kernels import RBF
from svmselect.probability.calibration import upright


@pytest.mark.parametrize("k", [2, 3, 5])
def test_packing_is_that_of_scikit_learn(k):
    rng = np.random.default_rng(k)
    X, y = rng.normal(size=(60, 3)), np.arange(60) % k
    svc = SVC(gamma=0.5, decision_function_shape="ovo").fit(X, y)
    member = np.repeat(np.arange(k), svc.n_support_)
    coefficients = from_dual_coef(svc.dual_coef_, member, k)
    sign = 1.0 if k == 2 else -1.0
    pairs = k * (k - 1) // 2
    ours = Machines(
        (RBF(1.0),),
        svc.support_vectors_,
        coefficients,
        sign * svc.intercept_,
        np.full(pairs, -1.0),
        k,
    )
    Z = rng.normal(size=(20, 3))
    theirs = svc.decision_function(Z).reshape(20, pairs)
    np.testing.assert_allclose(sign * ours.decisions(Z), theirs, atol=1e-10)
    np.testing.assert_array_equal(to_dual_coef(coefficients, member, k), svc.dual_coef_)


@pytest.fixture
def two() -> Machines:
    rng = np.random.default_rng(0)
    return Machines(
        (RBF(0.7), RBF([1.0, 2.0]), RBF(2.0)),
        rng.normal(size=(9, 2)),
        np.where(rng.random((9, 3)) < 0.3, 0.0, rng.normal(size=(9, 3))),
        rng.normal(size=3),
        np.array([-1.0, -2.0, -3.0]),
        3,
    )


def test_a_kernel_for_each_pair(two):
    X = np.random.default_rng(1).normal(size=(5, 2))
    wanted = [
        kernel(X, two.vectors) @ two.coefficients[:, p] + two.intercepts[p]
        for p, kernel in enumerate(two.kernels)
    ]
    np.testing.assert_allclose(two.decisions(X), np.transpose(wanted), rtol=1e-12)


def test_blocks_bound_memory_and_change_nothing(two, monkeypatch):
    X = np.random.default_rng(1).normal(size=(50, 2))
    sizes = []

    def scaled(block):
        sizes.append(len(block))
        return block

    whole = two.in_blocks(X, scaled)
    assert sizes == [50]
    monkeypatch.setattr(module, "BLOCK", 21)  # seven rows of three decisions
    np.testing.assert_allclose(two.in_blocks(X, scaled), whole, rtol=1e-13)
    assert max(sizes[1:]) == 7
    np.testing.assert_array_equal(
        two.in_blocks(X, scaled, n_jobs=3), two.in_blocks(X, scaled, n_jobs=1)
    )


@pytest.mark.parametrize(
    ("X", "sound"),
    [
        (np.ones((3, 2)), True),
        (np.ones((3, 2), order="F"), True),
        (np.ones((3, 3)), False),
        (np.ones((0, 2)), False),
        (np.ones(2), False),
        (np.ones((3, 2), dtype=np.float32), False),
        (np.array([[1.0, np.nan]]), False),
        (np.array([[1.0, np.inf]]), False),
        ([[1.0, 2.0]], False),
        (np.ma.masked_equal(np.ones((3, 2)), 2.0), False),
    ],
)
def test_what_needs_no_check(X, sound):
    assert module.ready(X, 2) is sound


def test_decisions_that_cannot_move_a_probability_are_zero():
    one = Machines(
        (RBF(1.0),), np.zeros((1, 1)), np.ones((1, 1)), np.array([-1.0]), np.array([-1.0]), 2
    )
    tiny = one.decisions(np.array([[0.0], [1e-9], [0.1]]))
    assert tiny[0, 0] == 0.0
    assert tiny[1, 0] == 0.0
    assert tiny[2, 0] < 0
    np.testing.assert_array_equal(one.probabilities(tiny)[:2], 0.5)


def test_a_sound_sigmoid_is_kept():
    f, y = np.array([-1.0, 0.5, 2.0]), np.array([-1.0, -1.0, 1.0])
    s = upright(-2.0, 1.0, f, y, np.ones(3))
    np.testing.assert_allclose(expit(-s.slope * (f + s.shift)), expit(2.0 * f - 1.0))


@pytest.mark.parametrize("slope", [0.0, 3.0, -1e-12, np.nan])
def test_a_reversed_or_flat_sigmoid_becomes_the_share_of_the_class(slope):
    rng = np.random.default_rng(0)
    f, y, w = rng.normal(size=40), np.where(np.arange(40) < 10, 1.0, -1.0), rng.integers(1, 4, 40)
    s = upright(slope, 0.3, f, y, w.astype(float))
    p = expit(-s.slope * (f + s.shift))
    assert s.slope < 0
    np.testing.assert_allclose(p, w[y > 0].sum() / w.sum(), atol=1e-5)
    np.testing.assert_array_equal(np.argsort(p), np.argsort(f))


def test_one_class_alone_says_nothing():
    f, y = np.array([1.0, np.nan, 2.0, np.nan]), np.array([1.0, -1.0, 1.0, 1.0])
    s = upright(-2.0, 0.0, f, y, np.ones(4))
    assert 1.0 / (1.0 + np.exp(s.slope * (1.5 + s.shift))) == pytest.approx(0.75)


def test_a_constant_decision_value_has_a_sigmoid():
    y = np.array([-1.0, 1.0, 1.0])
    s = upright(0.0, 0.0, np.zeros(3), y, np.ones(3))
    np.testing.assert_allclose(expit(-s.slope * s.shift), 2 / 3)


def test_pieces_of_the_coupling_make_the_whole(monkeypatch):
    decisions = np.random.default_rng(0).normal(size=(50, 6))
    whole = class_probabilities(decisions, np.full(6, -1.5), 4)
    monkeypatch.setattr(module, "TABLES", 7 * 16)
    np.testing.assert_array_equal(class_probabilities(decisions, np.full(6, -1.5), 4), whole)
