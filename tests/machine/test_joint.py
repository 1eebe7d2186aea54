"""Machines side by side by conjugate gradients: those that a factorisation gives, or none."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from machine.exactness import judge
from machine.problems import cloud, regimes, weightings
from svmselect import clock
from svmselect.kernels import RBF, Kernel, Matern
from svmselect.machine import ActiveSystem, Solution, joint, solve
from svmselect.machine import train as training
from svmselect.machine.batch import Asked, Group
from svmselect.machine.conjugate import (
    Preconditioner,
    columns_of,
    conjugate_gradients,
    products,
)
from svmselect.machine.forward import decision_jacobian
from svmselect.machine.joint import train_jointly
from svmselect.machine.joint_forward import jacobians_jointly
from svmselect.machine.losses import get_loss
from svmselect.machine.newton import newton
from svmselect.machine.train import train_together

REGIMES = regimes(60)
X, Y = cloud(120, seed=3)
BORDER = pytest.mark.parametrize("fit_intercept", [True, False], ids=["intercept", "no intercept"])


@pytest.fixture(autouse=True)
def _few_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joint, "FEWEST", 1)


def folds(y: np.ndarray, k: int = 3) -> np.ndarray:
    weights = np.ones((k, len(y)))
    for i in range(k):
        weights[i, i::k] = 0.0
    return weights


def dense(K: np.ndarray, y: np.ndarray, cost: np.ndarray, border: bool) -> np.ndarray:
    """Decision values by factorising."""
    none = np.zeros(len(y))
    return newton(K, y, cost, get_loss("logistic"), border, none, 0.0)[2]


@BORDER
@pytest.mark.parametrize("name", REGIMES)
def test_all_regimes_as_exact_as_one_by_one_or_left_undone(name: str, fit_intercept: bool) -> None:
    K, y = REGIMES[name]
    weights = np.vstack([folds(y), weightings(y)["uneven"], np.ones(len(y))])
    begin: Sequence[Solution | None] = [None] * len(weights)
    made = 0
    for C in (1e-6, 1e-2, 1.0, 1.5, 1e3, 1e8):
        found = train_jointly(K, y, weights, C, "logistic", fit_intercept, begin)
        for s, w in zip(found, weights, strict=True):
            if s is None:
                continue
            made += 1
            assert s.status.ok
            assert judge(K, s).exact
            expected = dense(K, y, C * w, fit_intercept)
            scale = 1.0 + np.abs(expected).max()
            trained = w > 0
            np.testing.assert_allclose(s.decision[trained], expected[trained], atol=1e-7 * scale)
            assert not np.any(s.beta[w == 0])
    assert made >= 4 * len(weights) or name != "gaussian"


@BORDER
@pytest.mark.parametrize("kernel", [RBF(1.0), Matern(0.7, 1.5)], ids=["rbf", "matern"])
def test_folds_from_a_neighbour_and_from_nothing(kernel: Kernel, fit_intercept: bool) -> None:
    K, weights = kernel(X), folds(Y, 5)
    starts: Sequence[Solution | None] = [None] * 5
    for C in (0.5, 2.0, 30.0, 1.0):
        found = train_jointly(K, Y, weights, C, "logistic", fit_intercept, starts)
        for s, w in zip(found, weights, strict=True):
            assert s is not None
            expected = dense(K, Y, C * w, fit_intercept)
            np.testing.assert_allclose(s.decision, expected, atol=1e-9)
            np.testing.assert_allclose(s.decision, K @ s.beta + s.intercept, atol=1e-12)
            assert s.gap < 1e-9
            assert s.kkt < 1e-9
            assert fit_intercept or s.intercept == 0.0
        # the next ones start from the first alone
        starts = [found[0], None, None, None, None]


def test_a_start_that_leads_astray_is_not_followed() -> None:
    K, weights = RBF(1.0)(X), folds(Y)
    wrong = solve(K, -Y, 1e4, "logistic")
    found = train_jointly(K, Y, weights, 1.0, "logistic", True, [wrong, None, None])
    for s, w in zip(found, weights, strict=True):
        assert s is None or np.allclose(s.decision, dense(K, Y, w, True), atol=1e-9)


def test_it_is_what_trains_many_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    K, weights = RBF(1.0)(X), folds(Y)
    rows = np.arange(0, 120, 2)
    groups = [
        Group(None, Y, weights, (None,) * 3),
        Group(rows, Y[rows], folds(Y[rows]), (None,) * 3),
    ]
    monkeypatch.setattr(training, "train_compiled", lambda *_: pytest.fail("not asked for"))
    first, second = train_together(K, groups, 1.0, "logistic", True)
    np.testing.assert_allclose(first[2].decision, dense(K, Y, weights[2], True), atol=1e-9)
    part = dense(K[np.ix_(rows, rows)], Y[rows], folds(Y[rows])[1], True)
    np.testing.assert_allclose(second[1].decision, part, atol=1e-9)
    monkeypatch.undo()
    assert not joint.serves("logistic", joint.FEWEST - 1)
    assert not joint.serves("hinge", joint.FEWEST)
    assert not joint.serves("squared_hinge", joint.FEWEST)


def test_what_is_left_undone_is_factorised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joint, "_PRODUCTS", 1)
    K, weights = RBF(1.0)(X), folds(Y)
    assert train_jointly(K, Y, weights, 1.0, "logistic", True, (None,) * 3) == [None] * 3
    ((s, *_),) = train_together(K, [Group(None, Y, weights, (None,) * 3)], 1.0, "logistic", True)
    np.testing.assert_allclose(s.decision, dense(K, Y, weights[0], True), atol=1e-9)


def test_the_clock_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = []
    monkeypatch.setattr("svmselect.machine.conjugate.look", lambda: looks.append(clock.now()))
    train_jointly(RBF(1.0)(X), Y, folds(Y), 1.0, "logistic", True, (None,) * 3)
    assert len(looks) > 5


@pytest.mark.parametrize("most", [5, 200])
def test_columns_stand_for_the_matrix(most: int) -> None:
    K = RBF(8.0)(X)
    L, left = columns_of(K, np.full(120, 100.0), most)
    rest = K - L @ L.T
    assert L.shape[1] <= most
    np.testing.assert_allclose(rest.diagonal(), left, atol=1e-12)
    assert np.linalg.eigvalsh(rest).min() > -1e-10
    assert most < 100 or 100.0 * left.sum() <= 0.3
    assert L.shape[1] < 100


def test_columns_of_nothing() -> None:
    L, left = columns_of(np.zeros((4, 4)), np.ones(4), 3)
    assert L.shape == (4, 0)
    np.testing.assert_array_equal(left, 0.0)


@BORDER
def test_the_preconditioner_solves_what_its_columns_say(fit_intercept: bool) -> None:
    rng = np.random.default_rng(0)
    L, left = rng.normal(size=(12, 3)), rng.exponential(size=12)
    W = rng.exponential(size=(2, 12))
    W[1, :4] = 0.0
    R = rng.normal(size=(2, 3, 12))
    by = Preconditioner(L, left, W, fit_intercept)
    x, shift = by.solve(R, np.arange(2))
    for i in range(2):
        there = W[i] > 0
        A = (L @ L.T + np.diag(0.5 * left))[np.ix_(there, there)] + np.diag(1.0 / W[i, there])
        for j in range(3):
            found = A @ x[i, j, there] + shift[i, j]
            np.testing.assert_allclose(found, R[i, j, there], atol=1e-10)
            assert not fit_intercept or abs(x[i, j].sum()) < 1e-12
            assert not np.any(x[i, j, ~there])


@BORDER
def test_conjugate_gradients_solve_bordered_systems(fit_intercept: bool) -> None:
    rng = np.random.default_rng(1)
    K, W = RBF(0.5)(X), rng.exponential(size=(3, 120))
    W[0, ::4] = 0.0
    R = rng.normal(size=(3, 2, 120))
    by = Preconditioner(*columns_of(K, W.max(axis=0), 20), W, fit_intercept)
    led = conjugate_gradients(K, W, R, by, np.arange(3), 1e-12, 200)
    assert led is not None
    x, Kx, shift = led
    np.testing.assert_allclose(Kx, products(K, x), atol=1e-10)
    for i in range(3):
        there = W[i] > 0
        found = (Kx[i] + x[i] / np.where(there, W[i], 1.0) + shift[i][:, None])[:, there]
        np.testing.assert_allclose(found, R[i][:, there], atol=1e-8)
    assert not fit_intercept or np.abs(x.sum(axis=-1)).max() < 1e-10
    assert conjugate_gradients(K, W, R, by, np.arange(3), 1e-12, 2) is None


@BORDER
@pytest.mark.parametrize("kernel", [RBF(1.0), 2.0 * Matern(0.7, 1.5) + 0.1], ids=["rbf", "sum"])
def test_jacobians_are_those_of_the_reference(
    kernel: Kernel, fit_intercept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("svmselect.machine.joint_forward._ROWS_EACH", 1)
    K, tangents = kernel(X), kernel.tangents(X, kernel(X), {})
    some = np.arange(0, 120, 2)
    asked = []
    for rows in (None, some):
        y = Y if rows is None else Y[rows]
        block = K if rows is None else K[np.ix_(rows, rows)]
        for w in folds(y):
            s = solve(block, y, 3.0, "logistic", fit_intercept, w)
            asked.append(Asked(rows, s, np.flatnonzero(w == 0)))
    found = jacobians_jointly(K, asked, tangents, fit_intercept)
    for a, J in zip(asked, found, strict=True):
        block = K if a.rows is None else K[np.ix_(a.rows, a.rows)]
        moved = [
            t.along(np.arange(120), np.arange(120) if a.rows is None else a.rows, a.solution.beta)
            for t in tangents
        ]
        table = np.hstack(moved)
        table = table if a.rows is None else table[a.rows]
        expected = decision_jacobian(ActiveSystem.of(block, a.solution), a.held, table)
        assert J is not None
        np.testing.assert_allclose(J, expected, atol=1e-7 * np.abs(expected).max())


def test_many_parameters_are_left_to_one_factorisation() -> None:
    kernel = RBF([1.0] * X.shape[1])
    s = solve(kernel(X), Y, 3.0, "logistic")
    asked = [Asked(None, s, np.arange(3))]
    assert jacobians_jointly(kernel(X), asked, kernel.tangents(X, kernel(X), {}), True) == [None]
    assert jacobians_jointly(kernel(X), asked, RBF(1.0).tangents(X, RBF(1.0)(X), {}), True) == [
        None
    ]  # few rows


def test_time_that_is_over_ends_it() -> None:
    with pytest.raises(clock.OutOfTimeError), clock.until(clock.now() - 1.0):
        train_jointly(RBF(1.0)(X), Y, folds(Y), 1.0, "logistic", True, (None,) * 3)


@pytest.mark.parametrize("fails", ["gradients", "columns"])
def test_jacobians_that_are_left_undone(fails: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("svmselect.machine.joint_forward._ROWS_EACH", 1)
    if fails == "gradients":
        monkeypatch.setattr("svmselect.machine.joint_forward._PRODUCTS", 1)
    else:

        def refused(*_: object) -> None:
            raise FloatingPointError

        monkeypatch.setattr("svmselect.machine.conjugate._inverse", refused)
    kernel = RBF(1.0)
    K = kernel(X)
    asked = [Asked(None, solve(K, Y, 3.0, "logistic", True, w), np.arange(3)) for w in folds(Y)]
    assert jacobians_jointly(K, asked, kernel.tangents(X, K, {}), True) == [None] * 3


def test_starts_from_which_nothing_converges_are_left_undone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    K, weights = RBF(1.0)(X), folds(Y)
    near = [solve(K, Y, 1.1, "logistic", True, w) for w in weights]
    assert None not in train_jointly(K, Y, weights, 1.0, "logistic", True, near)
    monkeypatch.setattr(joint, "_PRODUCTS", 1)
    far = [solve(K, Y, 30.0, "logistic", True, w) for w in weights]
    assert train_jointly(K, Y, weights, 1.0, "logistic", True, far) == [None] * 3
