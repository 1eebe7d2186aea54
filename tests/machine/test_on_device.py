"""Exact machines on a device, against those of ``solve``."""

from dataclasses import replace

import numpy as np
import pytest

from svmselect.kernels import RBF, Constant, Laplacian, Linear
from svmselect.machine import on_device, solution, solve
from svmselect.machine.on_device import Gram, most_rows, train_on

DEVICES = ["cpu", pytest.param("torch-cpu", marks=pytest.mark.torch)]
LOSSES = ["hinge", "squared_hinge", "logistic"]


def problem(seed, n=120, d=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.where(np.sin(2.0 * X[:, 0]) + X[:, 1] + 0.5 * rng.normal(size=n) > 0.3, 1.0, -1.0)
    return X, y, rng.choice([0.0, 1.0, 2.5], size=n, p=[0.1, 0.7, 0.2])


def agree(found, wanted):
    assert found.status.ok
    assert found.gap < 1e-9
    assert found.objective == pytest.approx(wanted.objective, rel=1e-8)
    np.testing.assert_allclose(
        found.decision, wanted.decision, atol=1e-5 * np.abs(wanted.decision).max()
    )


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("C", [0.01, 1.0, 1000.0])
def test_machines_of_solve(device, loss, C):
    X, y, w = problem(0)
    kernel = RBF(1.0)
    gram = Gram.of(kernel, X, device)
    wanted = solve(kernel(X), y, C, loss, weights=w)
    found = train_on(gram, y, C, loss, True, w)
    agree(found, wanted)
    if loss == "hinge":
        assert set(found.bound) == set(wanted.bound)
        assert set(found.free) == set(wanted.free)
    again = train_on(gram, y, 3.0 * C, loss, True, w, found)
    agree(again, solve(kernel(X), y, 3.0 * C, loss, weights=w))


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(12))
def test_kernels_of_low_rank_copies_and_no_intercept(loss, seed):
    rng = np.random.default_rng(seed)
    X, y, w = problem(seed, n=60 + 5 * seed, d=2)
    if seed % 2:
        X = np.round(X)
    kernel = [Linear(), Laplacian(2.0), Constant(10.0) * RBF(3.0) + Constant(0.1)][seed % 3]
    C, border = 10.0 ** rng.uniform(-2, 4), seed % 4 > 0
    found = train_on(Gram.of(kernel, X, "cpu"), y, C, loss, border, w)
    wanted = solve(kernel(X), y, C, loss, border, w)
    assert found.status.ok
    assert found.gap < 1e-9
    assert found.objective == pytest.approx(wanted.objective, rel=1e-8)


def test_no_vector_is_free_where_all_are_at_the_bound():
    X = np.array([[-1.0], [-0.5], [0.5], [1.0]])
    y = np.array([-1.0, -1.0, 1.0, 1.0])
    kernel = RBF(10.0)
    found = train_on(Gram.of(kernel, X, "cpu"), y, 0.01, "hinge", True, np.ones(4))
    wanted = solve(kernel(X), y, 0.01)
    assert len(found.free) == 0
    assert set(found.ends) == set(wanted.ends)
    assert found.intercept == pytest.approx(wanted.intercept, abs=1e-12)


@pytest.mark.parametrize("border", [True, False])
def test_where_settling_fails_an_interior_point_is_found(monkeypatch, border):
    monkeypatch.setattr(on_device, "CORNERS", (0.02,))
    monkeypatch.setattr(on_device, "_STEPS", 1)
    monkeypatch.setattr(on_device, "_ROUNDS", 1)
    X, y, w = problem(3)
    kernel = RBF(1.0)
    asked = []
    lifted = Gram.lifted
    monkeypatch.setattr(Gram, "lifted", lambda self, v: asked.append(len(v)) or lifted(self, v))
    found = train_on(Gram.of(kernel, X, "cpu"), y, 10.0, "hinge", border, w)
    assert set(asked) == {int((w > 0).sum())}
    agree(found, solve(kernel(X), y, 10.0, fit_intercept=border, weights=w))


@pytest.mark.parametrize("device", DEVICES)
def test_doubtful_rounding_is_looked_at_in_twice_the_precision(monkeypatch, device):
    monkeypatch.setattr(solution, "_DOUBTFUL", 0.0)
    X, y, w = problem(1)
    gram = Gram.of(RBF(1.0), X, device)
    found = train_on(gram, y, 10.0, "squared_hinge", True, w)
    agree(found, solve(RBF(1.0)(X), y, 10.0, "squared_hinge", weights=w))
    np.testing.assert_allclose(np.asarray(gram), RBF(1.0)(X), atol=1e-13)


def test_what_fits_on_a_card(monkeypatch):
    monkeypatch.setattr(on_device, "free_bytes", lambda device: 24 * 10**9)
    assert 25_000 < most_rows("cuda") < 32_000
    monkeypatch.undo()
    assert most_rows("torch-cpu") is None


@pytest.mark.parametrize("device", DEVICES)
def test_matrices_that_cannot_be_factored(device):
    X, _, _ = problem(1, n=30)
    gram = Gram.of(RBF(1.0), X, device)
    rhs = np.ones(30)
    solved = gram.lifted(np.full(30, 0.5))
    assert solved is not None
    wanted = np.linalg.solve(np.asarray(gram) + 0.5 * np.eye(30), rhs)
    np.testing.assert_allclose(solved(rhs), wanted, rtol=1e-8)
    # no rounding error makes that definite
    assert replace(gram, K=-gram.K).lifted(np.zeros(30)) is None
