"""Distance between two classes: from explicit features, and its gradient."""

from __future__ import annotations

import numpy as np
import pytest

from criteria.machine_cases import assert_gradient, assert_invariant, two_classes
from svmselect import score
from svmselect.kernels import RBF, Constant, Linear, Polynomial


def test_linear_features() -> None:
    X, y = two_classes()
    plain = X[y > 0].mean(axis=0) - X[y < 0].mean(axis=0)
    r = score(X, y, "dbtc", kernel=Linear(1.0), normalised=False)
    np.testing.assert_allclose(r.value, plain @ plain, rtol=1e-12)
    np.testing.assert_allclose(r.details["distance"], np.linalg.norm(plain), rtol=1e-12)
    U = X / np.linalg.norm(X, axis=1, keepdims=True)
    unit = U[y > 0].mean(axis=0) - U[y < 0].mean(axis=0)
    r = score(X, y, "dbtc", kernel=Linear(1.0))
    np.testing.assert_allclose(r.value, unit @ unit, rtol=1e-12)
    assert r.greater_is_better


def test_widths_at_both_ends_tell_nothing_apart() -> None:
    X, y = two_classes(20)
    wide, narrow = (score(X, y, "dbtc", kernel=RBF(width)).value for width in (1e6, 1e-6))
    assert wide < 1e-9
    np.testing.assert_allclose(narrow, 1 / 10 + 1 / 10, rtol=1e-12)  # orthogonal points


@pytest.mark.parametrize("normalised", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_gradient(normalised: bool, weighted: bool) -> None:
    X, y = two_classes()
    w = np.random.default_rng(4).choice([0.0, 0.5, 1.0, 3.0], len(y)) if weighted else None
    kernel = Constant(1.3) * RBF([1.0, 2.0]) + 0.2 * Polynomial(2, 0.5, 1.0)
    rest = {"normalised": normalised, "weights": w}
    gradient = assert_gradient(X, y, "dbtc", 1.0, kernel, **rest)
    assert gradient[0] == 0.0


def test_normalised_ignores_amplitude() -> None:
    X, y = two_classes()
    r = score(X, y, "dbtc", kernel=Constant(7.0) * RBF(1.0), gradient=True)
    np.testing.assert_allclose(r.value, score(X, y, "dbtc", kernel=RBF(1.0)).value, rtol=1e-12)
    np.testing.assert_allclose(r.gradient[1], 0.0, atol=1e-12)


def test_weights_are_copies() -> None:
    X, y = two_classes(24)
    w = np.random.default_rng(2).integers(0, 4, len(y))
    weighted = score(X, y, "dbtc", kernel=RBF(1.0), weights=w).value
    repeated = score(np.repeat(X, w, axis=0), np.repeat(y, w), "dbtc", kernel=RBF(1.0)).value
    np.testing.assert_allclose(weighted, repeated, rtol=1e-12)


def test_invariances() -> None:
    X, y = two_classes()
    assert_invariant(X, y, "dbtc", 1.0, Constant(2.0) * RBF(1.0), Constant(0.5) * RBF(1.0), 4.0)


def test_a_point_without_direction() -> None:
    X, y = two_classes(10)
    X[3] = 0.0
    r = score(X, y, "dbtc", kernel=Linear(1.0), gradient=True)
    U = np.divide(X, np.linalg.norm(X, axis=1, keepdims=True), where=X != 0, out=np.zeros_like(X))
    unit = U[y > 0].mean(axis=0) - U[y < 0].mean(axis=0)
    np.testing.assert_allclose(r.value, unit @ unit, rtol=1e-12)
    np.testing.assert_allclose(r.gradient, 0.0, atol=1e-12)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
def test_no_machine_enters(loss: str) -> None:
    X, y = two_classes()
    values = {score(X, y, "dbtc", C=C, kernel=RBF(1.0), loss=loss).value for C in (0.1, 10.0)}
    assert len(values) == 1
