"""Machines trained in one compiled call: as exact as one by one, on any number of threads."""

from __future__ import annotations

import numpy as np
import pytest

from machine.exactness import judge
from machine.problems import cloud, regimes, weightings
from svmselect.kernels import RBF
from svmselect.kernels.tangents import PerInput, Shared, directional
from svmselect.machine import ActiveSystem, Solution, box_qp, reference
from svmselect.machine.batch import Asked, Group, jacobians_compiled, train_compiled
from svmselect.machine.forward import decision_jacobian
from svmselect.machine.losses import available
from svmselect.machine.train import train, train_together

pytest.importorskip("svmselect.machine._native", reason="the extension did not build")

REGIMES = regimes(24)
COMPILED = [name for name, loss in available().items() if loss.compiled]
FIELDS = ("alpha", "beta", "decision", "free", "bound", "dependent", "y", "weights")


def folds(y: np.ndarray, k: int = 3) -> np.ndarray:
    """Weights that leave out every k-th row, in turn; both classes stay."""
    weights = np.ones((k, len(y)))
    for i in range(k):
        weights[i, i::k] = 0.0
    weights[:, [np.argmax(y > 0), np.argmax(y < 0)]] = 1.0
    return weights


def same(a: Solution, b: Solution) -> bool:
    """To the last bit."""
    arrays = all(np.array_equal(getattr(a, name), getattr(b, name)) for name in FIELDS)
    numbers = ("intercept", "ends", "objective", "gap", "kkt", "rounding", "status", "C")
    return arrays and all(getattr(a, name) == getattr(b, name) for name in numbers)


@pytest.mark.parametrize("fit_intercept", [True, False], ids=["intercept", "no intercept"])
@pytest.mark.parametrize("loss", COMPILED)
@pytest.mark.parametrize("name", REGIMES)
def test_the_compiled_path_and_the_reference_agree(
    name: str, loss: str, fit_intercept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    K, y = REGIMES[name]
    weights = np.vstack([folds(y), weightings(y)["uneven"]])
    starts: list[Solution | None] = [None] * len(weights)
    for C in (1e-6, 1e-2, 1.0, 1.5, 1e3, 1e8):
        group = Group(None, y, weights, starts)
        (machines,) = train_together(K, [group], C, loss, fit_intercept)
        with monkeypatch.context() as patch:
            patch.setattr(box_qp, "backend", lambda: reference)
            (expected,) = train_together(K, [group], C, loss, fit_intercept)
        for machine, other in zip(machines, expected, strict=True):
            assert machine.status.ok, C
            assert judge(K, machine).exact, C
            limit = 10.0 * max(1e-9, machine.rounding, other.rounding)
            assert machine.objective == pytest.approx(other.objective, rel=limit)
            # the sum of errors that each is allowed: no bound on beta follows from the gap alone
            trained = machine.weights > 0
            np.testing.assert_array_equal(machine.weights, other.weights)
            scale = 1.0 + np.abs(other.decision[trained]).max()
            room = np.sqrt(2.0 * limit * max(machine.objective, 1e-300) * K.diagonal().max())
            if fit_intercept and not len(machine.free):
                continue  # an interval of intercepts is as good, and its ends may be ties
            np.testing.assert_allclose(
                machine.decision, other.decision, atol=2.0 * room + 1e-9 * scale, rtol=0
            )
        starts = list(machines)


@pytest.mark.parametrize("loss", COMPILED)
@pytest.mark.parametrize("fit_intercept", [True, False], ids=["intercept", "no intercept"])
def test_ordinary_machines_need_no_python(loss: str, fit_intercept: bool) -> None:
    X, y = cloud(60, seed=4)
    (machines,) = train_compiled(
        RBF(1.0)(X), [Group(None, y, folds(y), [None] * 3)], 2.0, loss, fit_intercept, 1
    )
    assert None not in machines


@pytest.mark.parametrize("loss", COMPILED)
def test_threads_change_nothing(loss: str) -> None:
    X, y = cloud(150, seed=5)
    parts = [np.arange(0, 150, 2), np.arange(20, 110), None]
    before: list[list[Solution | None]] = [[None] * 3 for _ in parts]
    for width, C in ((1.0, 1.0), (1.05, 1.1)):
        K = RBF(width)(X)
        groups = [
            Group(rows, y if rows is None else y[rows], folds(y if rows is None else y[rows]), old)
            for rows, old in zip(parts, before, strict=True)
        ]
        found = [train_together(K, groups, C, loss, True, threads) for threads in (1, 2, 5)]
        for other in found[1:]:
            for mine, theirs in zip(found[0], other, strict=True):
                assert all(map(same, mine, theirs))
        before = [list(machines) for machines in found[0]]


@pytest.mark.parametrize("loss", COMPILED)
def test_rows_of_a_matrix_are_a_problem_of_their_own(loss: str) -> None:
    X, y = cloud(80, seed=6)
    K, rows = RBF(1.5)(X), np.random.default_rng(0).permutation(80)[:50]
    weights = folds(y[rows])
    (found,) = train_together(K, [Group(rows, y[rows], weights, [None] * 3)], 3.0, loss, True)
    for machine, w in zip(found, weights, strict=True):
        alone = train(np.ascontiguousarray(K[np.ix_(rows, rows)]), y[rows], 3.0, loss, True, w)
        np.testing.assert_allclose(machine.decision, alone.decision, rtol=1e-7, atol=1e-9)
        np.testing.assert_array_equal(machine.free, alone.free)


def test_what_is_kept_cannot_be_changed() -> None:
    X, y = cloud(30)
    weights = folds(y)
    ((machine, *_),) = train_together(
        RBF(1.0)(X), [Group(None, y, weights, [None] * 3)], 1.0, "hinge", True
    )
    for name in FIELDS:
        assert not getattr(machine, name).flags.writeable, name
    y[0] = weights[0, 0] = 5.0  # and the caller may go on with what is the caller's


@pytest.mark.parametrize("spoilt", ["rows", "labels", "starts"])
def test_arrays_that_do_not_fit_are_refused(spoilt: str) -> None:
    X, y = cloud(30)
    K, rows, starts = RBF(1.0)(X), np.arange(20), [None, None, None]
    labels = y[:20]
    if spoilt == "rows":
        rows = rows + 20
    elif spoilt == "labels":
        labels = y[:19]
    else:
        starts = starts[:2]
    with pytest.raises((ValueError, RuntimeError), match="different lengths"):
        train_compiled(K, [Group(rows, labels, folds(y[:20]), starts)], 1.0, "hinge", True, 1)


def tangents(X: np.ndarray, K: np.ndarray) -> list[PerInput | Shared]:
    """Of a length scale an input or a variable, of a matrix, and of a product of two."""
    differences = X[:, None, :] - X
    return [
        PerInput(K, X),
        PerInput(K, X, np.array([1, 0, 1])),
        Shared(K),
        Shared(K, np.sum(differences**2, axis=2), 0.5),
    ]


@pytest.mark.parametrize("fit_intercept", [True, False], ids=["intercept", "no intercept"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
@pytest.mark.parametrize("C", [1e-4, 0.3, 5.0, 1e5])
def test_jacobians_are_those_of_the_reference(loss: str, fit_intercept: bool, C: float) -> None:
    X, y = cloud(90, seed=8)
    K = RBF(1.0)(X)
    y[:60] = np.where(np.arange(60) < 30, 1.0, -1.0)  # as many of each: none is free at small C
    asked, expected = [], []
    for rows in (np.arange(60), np.arange(15, 80)[::-1].copy(), None):
        own = np.arange(90) if rows is None else rows
        block, labels, weights = K[np.ix_(own, own)].copy(), y[own], folds(y[own])
        for machine in train_together(
            block, [Group(None, labels, weights, [None] * 3)], C, loss, fit_intercept
        )[0]:
            held = np.flatnonzero((machine.weights == 0) | (np.arange(len(own)) % 7 == 0))
            asked.append(Asked(rows, machine, held))
            every = np.arange(len(own))
            move = directional(tangents(X[own], block), every, every, machine.beta)
            expected.append(decision_jacobian(ActiveSystem.of(block, machine), held, move))
    for threads in (1, 3):
        found = jacobians_compiled(K, asked, tangents(X, K), threads)
        for J, other in zip(found, expected, strict=True):
            assert J is not None
            np.testing.assert_allclose(J, other, rtol=1e-6, atol=1e-9 * (1.0 + np.abs(other).max()))


def test_a_kernel_without_arrays_is_left_to_python() -> None:
    class Unknown(Shared):
        def arrays(self) -> None:  # type: ignore[override]
            return None

    X, y = cloud(30)
    K = RBF(1.0)(X)
    machine = train(K, y, 1.0, "hinge", True, np.ones(30))
    assert jacobians_compiled(K, [Asked(None, machine, np.arange(3))], [Unknown(K)], 1) == [None]
