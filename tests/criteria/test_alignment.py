"""Kernel-target alignment: its definition with explicit matrices, limits, and its gradient."""

from __future__ import annotations

import numpy as np
import pytest

from criteria.machine_cases import assert_gradient, assert_invariant, two_classes
from svmselect import score
from svmselect.kernels import RBF, Constant, Linear, Polynomial


@pytest.mark.parametrize("centred", [True, False])
def test_definition(centred: bool) -> None:
    X, y = two_classes(25)  # 13 against 12
    K, T = RBF(1.0)(X), np.outer(y, y)
    if centred:
        H = np.eye(len(y)) - 1 / len(y)
        K, T = H @ K @ H, H @ T @ H
    expected = np.sum(K * T) / (np.linalg.norm(K) * np.linalg.norm(T))
    r = score(X, y, "alignment", kernel=RBF(1.0), centred=centred)
    np.testing.assert_allclose(r.value, expected, rtol=1e-12)
    assert r.greater_is_better


def test_one_where_the_kernel_is_the_target() -> None:
    y = np.array([1.0, -1.0, 1.0, -1.0, 1.0])
    for centred in (True, False):
        r = score(y[:, None], y, "alignment", kernel=Linear(1.0), centred=centred)
        np.testing.assert_allclose(r.value, 1.0, rtol=1e-12)
    X, y = two_classes()
    assert abs(score(X, y, "alignment", kernel=RBF(1.0)).value) < 1.0


@pytest.mark.parametrize("centred", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_gradient(centred: bool, weighted: bool) -> None:
    X, y = two_classes(25)
    w = np.random.default_rng(4).choice([0.0, 0.5, 1.0, 3.0], len(y)) if weighted else None
    kernel = Constant(1.3) * RBF([1.0, 2.0]) + 0.2 * Polynomial(2, 0.5, 1.0)
    gradient = assert_gradient(X, y, "alignment", 1.0, kernel, centred=centred, weights=w)
    assert gradient[0] == 0.0


@pytest.mark.parametrize("centred", [True, False])
def test_weights_are_copies(centred: bool) -> None:
    X, y = two_classes(24)
    w = np.random.default_rng(2).integers(0, 4, len(y))
    rest = {"kernel": RBF(1.0), "centred": centred}
    weighted = score(X, y, "alignment", weights=w, **rest).value
    repeated = score(np.repeat(X, w, axis=0), np.repeat(y, w), "alignment", **rest).value
    np.testing.assert_allclose(weighted, repeated, rtol=1e-12)


def test_invariances() -> None:
    X, y = two_classes()
    kernels = Constant(2.0) * RBF(1.0), Constant(0.5) * RBF(1.0)
    assert_invariant(X, y, "alignment", 1.0, *kernels, 4.0)
    # centring takes a constant out of the kernel
    values = [score(X, y, "alignment", kernel=k).value for k in (RBF(1.0), RBF(1.0) + 3.0)]
    np.testing.assert_allclose(*values, rtol=1e-10)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
def test_no_machine_enters(loss: str) -> None:
    X, y = two_classes()
    values = {score(X, y, "alignment", C=C, kernel=RBF(1.0), loss=loss).value for C in (0.1, 10.0)}
    assert len(values) == 1


@pytest.mark.parametrize("centred", [True, False])
def test_rows_that_do_not_differ_align_with_nothing(centred: bool) -> None:
    y = np.tile([-1, 1], 5)
    for X in (np.zeros((10, 2)), np.ones((10, 2)), np.full((10, 2), 3.3)):
        for kernel in (RBF(1.0), Linear(), Polynomial(2)):
            r = score(X, y, "alignment", kernel=kernel, gradient=True, centred=centred)
            assert r.value == pytest.approx(0.0, abs=1e-12)
            np.testing.assert_allclose(r.gradient, 0.0, atol=1e-12)
            if centred:
                assert r.status.name == "undefined"
                assert "rows that differ" in r.status.advice
