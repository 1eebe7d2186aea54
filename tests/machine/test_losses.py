"""The losses: derivatives, conjugates and the duality gap, from the definitions."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from svmselect.machine import losses
from svmselect.machine.losses import available, get_loss

NAMES = ("hinge", "squared_hinge", "logistic")
Z = np.array([-800.0, -30.0, -2.0, -0.3, 0.0, 0.4, 0.97, 1.03, 2.5, 40.0, 800.0])
FORMULA = {
    "hinge": lambda z: max(1.0 - z, 0.0),
    "squared_hinge": lambda z: 0.5 * max(1.0 - z, 0.0) ** 2,
    "logistic": lambda z: np.log1p(np.exp(-z)) if z > 0 else -z + np.log1p(np.exp(z)),
}


def test_the_list_is_complete() -> None:
    assert tuple(available()) == NAMES
    assert all(get_loss(name).name == name for name in NAMES)


@pytest.mark.parametrize("name", ["Hinge", "", "log", None])
def test_an_unknown_name_is_answered_with_the_known(name: str) -> None:
    with pytest.raises(ValueError, match="is not one of 'hinge', 'squared_hinge', 'logistic'"):
        get_loss(name)


@pytest.mark.parametrize("name", NAMES)
def test_value(name: str) -> None:
    np.testing.assert_allclose(
        get_loss(name).value(Z), [FORMULA[name](z) for z in Z], rtol=1e-14, atol=1e-300
    )


@pytest.mark.parametrize("name", NAMES)
def test_slope_and_curvature_are_derivatives(name: str) -> None:
    loss = get_loss(name)
    z, h = Z[np.abs(Z) < 50], 1e-5
    slope = -(loss.value(z + h) - loss.value(z - h)) / (2 * h)
    np.testing.assert_allclose(loss.slope(z), slope, rtol=1e-6, atol=1e-9)
    curvature = -(loss.slope(z + h) - loss.slope(z - h)) / (2 * h)
    np.testing.assert_allclose(loss.curvature(z), curvature, rtol=1e-6, atol=1e-9)
    assert np.all(np.isfinite(loss.slope(Z)))
    assert np.all(loss.curvature(Z) >= 0)


@pytest.mark.parametrize("name", NAMES)
def test_gap_is_loss_plus_conjugate_plus_product(name: str) -> None:
    # C loss(z) + sup_t [-alpha t - C loss(t)] + alpha z
    loss = get_loss(name)
    rng = np.random.default_rng(0)
    for _ in range(40):
        C, z = 10.0 ** rng.uniform(-2, 2), rng.normal(scale=2.0)
        alpha = C * rng.uniform(0.02, 0.98)

        def negative(t: float, alpha: float = alpha, C: float = C) -> float:
            return float(alpha * t + C * FORMULA[name](t))

        conjugate = -minimize_scalar(negative, bounds=(-20.0, 20.0), options={"xatol": 1e-12}).fun
        found = loss.gap(np.array([z]), np.array([alpha]), np.array([C]))[0]
        expected = C * FORMULA[name](z) + conjugate + alpha * z
        assert found == pytest.approx(expected, abs=1e-8 * C)
        assert found >= 0


@pytest.mark.parametrize("name", NAMES)
def test_gap_vanishes_at_the_optimum_only(name: str) -> None:
    loss = get_loss(name)
    z = np.linspace(-3.0, 3.0, 50)  # not 1, where the hinge has a kink
    C = np.full(50, 2.0)
    alpha = C * loss.slope(z)
    np.testing.assert_allclose(loss.gap(z, alpha, C), 0.0, atol=1e-14)
    inside = np.clip(alpha + 0.1, 0.0, 1.9 if name != "squared_hinge" else None)
    assert np.all(loss.gap(z, inside, C)[np.abs(inside - alpha) > 0.05] > 1e-4)


@pytest.mark.parametrize("name", NAMES)
def test_gap_at_the_ends_is_a_number(name: str) -> None:
    loss = get_loss(name)
    for alpha in (0.0, 2.0):
        gap = loss.gap(Z, np.full_like(Z, alpha), np.full_like(Z, 2.0))
        assert np.all(np.isfinite(gap))
        assert np.all(gap >= 0)
    # a point of no weight has no part in it
    np.testing.assert_array_equal(loss.gap(Z, np.zeros_like(Z), np.zeros_like(Z)), 0.0)


def test_bounds_of_the_dual() -> None:
    C = np.array([0.0, 0.5, 2.0])
    np.testing.assert_array_equal(get_loss("hinge").bound(C), C)
    np.testing.assert_array_equal(get_loss("logistic").bound(C), C)
    np.testing.assert_array_equal(get_loss("squared_hinge").bound(C) > 1e299, [False, True, True])
    assert get_loss("squared_hinge").bound(C)[0] == 0.0


def test_ridge_is_the_inverse_curvature_of_the_loss() -> None:
    # D = 1 / (C loss''(z)), told by alpha = C slope(z)
    z, C = np.array([-3.0, 0.2, 0.9]), np.array([0.5, 2.0, 30.0])
    for name in ("squared_hinge", "logistic"):
        loss = get_loss(name)
        ridge = loss.ridge(C, C * loss.slope(z))
        np.testing.assert_allclose(ridge, 1.0 / (C * loss.curvature(z)), rtol=1e-12)
    np.testing.assert_array_equal(get_loss("hinge").ridge(C, C), 0.0)


@pytest.mark.parametrize("name", NAMES)
def test_ridge_is_finite_where_there_is_no_curvature(name: str) -> None:
    C = np.array([0.0, 2.0, 2.0])
    assert np.all(np.isfinite(get_loss(name).ridge(C, np.array([0.0, 0.0, 2.0]))))


def test_leaving_the_box_counts_in_the_gap() -> None:
    rule = get_loss("logistic")
    z, C = np.array([200.0, 200.0]), np.array([1e8, 1e8])
    inside, outside = rule.gap(z, np.array([0.0, -1e-6]), C)
    assert outside == pytest.approx(inside + 2e-4)


@pytest.mark.parametrize("name", NAMES)
def test_what_a_loss_says_of_itself(name: str) -> None:
    loss, C = get_loss(name), np.array([2.0])
    z = np.linspace(-30.0, 30.0, 60_001)
    jump = float(np.max(-np.diff(loss.slope(z))))
    assert loss.curved == (jump < 0.01)  # else from 1 to 0
    assert loss.curved == bool(loss.ridge(C, 0.3 * C)[0] > 0)
    assert loss.smooth == bool(np.all(loss.curvature(z) > 0))
    assert loss.reaches_bound == bool(loss.slope(np.array([-30.0]))[0] * C[0] == loss.bound(C)[0])
    alpha = np.array([0.1, 1.0, 1.9])
    flat = np.full_like(alpha, C[0])
    corner = np.max(np.abs(flat * loss.slope(1.0 - loss.ridge(flat, alpha) * alpha) - alpha))
    constant = np.ptp(loss.ridge(flat, alpha)) == 0
    assert loss.quadratic == bool(constant and (corner < 1e-12 or not loss.curved))


@pytest.mark.parametrize("name", NAMES)
def test_residual_vanishes_at_the_optimum_only(name: str) -> None:
    loss, z, C = get_loss(name), np.array([-2.0, 0.3, 0.999, 1.7]), np.full(4, 2.0)
    alpha = C * loss.slope(z)
    np.testing.assert_allclose(loss.residual(z, alpha, C), 0.0, atol=1e-15)
    inside = np.clip(alpha + 0.2, 0.0, 1.9)
    assert np.all(loss.residual(z, inside, C) > 5e-4)


@pytest.mark.parametrize("name", NAMES)
def test_rounded_is_curved_and_near(name: str) -> None:
    loss, z = get_loss(name), np.linspace(-2.0, 4.0, 101)
    curve = loss.rounded(0.1)
    assert (curve is loss) == loss.curved
    assert np.max(np.abs(curve.value(z) - loss.value(z))) <= 0.1
    assert np.max(-np.diff(curve.slope(z))) < 0.5


def test_a_file_added_to_the_folder_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = Path(losses.__file__).with_name("logistic.py").read_text()
    text = text.replace('name = "logistic"', 'name = "added"').replace("class Logistic", "class A")
    (tmp_path / "added.py").write_text(text)
    monkeypatch.setattr(losses, "__path__", [*losses.__path__, str(tmp_path)])
    try:
        assert "added" in available.__wrapped__()
    finally:
        sys.modules.pop("svmselect.machine.losses.added", None)
