"""Descent by active sets: always downhill, always to the optimum; compiled and in NumPy."""

from __future__ import annotations

from time import process_time
from types import ModuleType

import numpy as np
import pytest

from machine.exactness import judge
from machine.problems import PATIENCE, cloud, regimes
from svmselect.kernels import RBF
from svmselect.machine import box_qp, reference, solve
from svmselect.machine.box_qp import BoxQP, solve_box


@pytest.fixture(params=["compiled", "reference"])
def module(request: pytest.FixtureRequest) -> ModuleType:
    return reference if request.param == "reference" else box_qp.backend()


def dual(
    K: np.ndarray, y: np.ndarray, C: float, balanced: bool = True, ridge: float = 0.0
) -> BoxQP:
    limit = np.full(len(y), 1e300 if ridge else C)
    low, high = np.where(y < 0, -limit, 0.0), np.where(y > 0, limit, 0.0)
    return BoxQP(K, np.full(len(y), ridge), y, low, high, 0.0 if balanced else None)


def violation(qp: BoxQP, beta: np.ndarray, r: np.ndarray) -> float:
    grow = r[beta < qp.upper].max(initial=-np.inf)
    shrink = r[beta > qp.lower].min(initial=np.inf)
    return float(grow - shrink) if qp.total is not None else float(max(grow, -shrink))


def value(qp: BoxQP, beta: np.ndarray) -> float:
    return float(-0.5 * beta @ (qp.target + qp.residual(beta)))


def feasible(qp: BoxQP, seed: int) -> np.ndarray:
    """A random point of the box, of the right sum, some of it at bounds."""
    rng = np.random.default_rng(seed)
    low, high = np.maximum(qp.lower, -1.0), np.minimum(qp.upper, 1.0)
    beta = low + (high - low) * np.clip(rng.uniform(-1.0, 2.0, len(low)), 0.0, 1.0)
    return box_qp._feasible(qp, beta)


def check_settled(qp: BoxQP, module: ModuleType, beta: np.ndarray, rounds: int = 300) -> None:
    beta = beta.copy()
    r, before = qp.residual(beta), value(qp, beta)
    taken, settled, churn = module.settle(*qp.arguments(), beta, r, 1e-12, rounds)
    assert settled
    assert 1 <= taken <= rounds
    assert churn >= 0.0
    size = 1.0 + (np.abs(qp.K) @ np.abs(beta)).max()
    assert np.all((beta >= qp.lower) & (beta <= qp.upper))
    np.testing.assert_allclose(r, qp.residual(beta), atol=1e-12 * size)
    assert qp.total is None or abs(beta.sum() - qp.total) <= 1e-12 * np.abs(beta).sum()
    assert violation(qp, beta, r) <= 1e-10 * size
    assert value(qp, beta) <= before + 1e-12 * abs(before)
    best = value(qp, solve_box(qp).beta)
    assert value(qp, beta) == pytest.approx(best, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("balanced", [True, False])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_from_anywhere_to_the_optimum(module: ModuleType, C: float, balanced: bool) -> None:
    X, y = cloud(60, seed=50)
    qp = dual(RBF(1.0)(X), y, C, balanced)
    check_settled(qp, module, np.zeros(60))
    for seed in range(4):
        check_settled(qp, module, feasible(qp, seed))


@pytest.mark.parametrize("balanced", [True, False])
def test_without_upper_bounds(module: ModuleType, balanced: bool) -> None:
    X, y = cloud(60, seed=51)
    qp = dual(RBF(1.0)(X), y, 1.0, balanced, ridge=0.1)
    check_settled(qp, module, np.zeros(60))
    check_settled(qp, module, feasible(qp, 0))


@pytest.mark.parametrize("name", regimes(4))
def test_in_every_regime(module: ModuleType, name: str) -> None:
    K, y = regimes(24, seed=8)[name]
    if "sigma" in name or "wide" in name or "polynomial" in name:
        C = 1e-2 / K.max()  # what is badly conditioned is for the later stages
    else:
        C = 1.0 / max(K.max(), 1e-6)
    for balanced in (True, False):
        qp = dual(K, y, C, balanced)
        check_settled(qp, module, np.zeros(24))
        check_settled(qp, module, feasible(qp, 1) * min(C, 1.0))


def test_many_come_and_go(module: ModuleType) -> None:
    # a free set that grows from nothing to more than a hundred, and one that shrinks to a few
    X, y = cloud(160, seed=52)
    hard = dual(RBF(0.3)(X), y, 1e4)
    check_settled(hard, module, np.zeros(160))
    assert np.sum(solve_box(hard).beta != 0) > 100
    soft = dual(RBF(3.0)(X), y, 0.05)
    inside = np.clip(0.3 * np.abs(soft.upper + soft.lower), 0, None) * y
    check_settled(soft, module, box_qp._feasible(soft, inside))


def test_twins_slide_to_a_bound(module: ModuleType) -> None:
    X, y = cloud(20, seed=53)
    X, y = np.vstack([X, X]), np.append(y, y)
    qp = dual(RBF(1.0)(X), y, 2.0)
    beta = 0.5 * (qp.lower + qp.upper)  # every one of them inside, half of them dependent
    check_settled(qp, module, box_qp._feasible(qp, beta))


def test_a_sum_that_is_not_zero(module: ModuleType) -> None:
    X, _ = cloud(40, seed=54)
    K = X @ X.T
    qp = BoxQP(K, np.zeros(40), 0.5 * K.diagonal(), np.zeros(40), np.ones(40), 1.0)
    check_settled(qp, module, np.eye(40)[7])
    check_settled(qp, module, np.full(40, 1.0 / 40))


def test_a_limit_of_rounds_is_kept(module: ModuleType) -> None:
    X, y = cloud(60, seed=50)
    qp = dual(RBF(1.0)(X), y, 100.0)
    beta, r = np.zeros(60), y.copy()
    values = [0.0]
    for _ in range(12):
        rounds, settled, _ = module.settle(*qp.arguments(), beta, r, 1e-12, 2)
        assert rounds <= 2
        np.testing.assert_allclose(r, qp.residual(beta), atol=1e-11)
        values.append(value(qp, beta))
        if settled:
            break
    assert np.all(np.diff(values) <= 1e-12 * np.abs(values[1:]))
    assert len(values) > 3


def test_a_known_residual_saves_work_and_changes_nothing() -> None:
    X, y = cloud(60, seed=55)
    qp = dual(RBF(1.0)(X), y, 5.0)
    beta, r = np.zeros(60), y.copy()
    native = box_qp.backend()
    native.decompose(*qp.arguments(), beta, r, 1e-2, 1000)
    native.settle(*qp.arguments(), beta, r, 1e-12, 100)
    found = []
    for known in (True, False):
        states, b, s = box_qp._states(qp, beta), beta.copy(), r.copy()
        _, ending, offset = native.pivot(*qp.arguments(), states, b, s, known, 1e-12, 40, 3)
        assert ending == reference.EXACT
        found.append((b, s, offset))
    for one, two in zip(*found, strict=True):
        np.testing.assert_allclose(one, two, atol=1e-12)


def test_a_residual_that_went_through_much_is_not_trusted() -> None:
    X, y = cloud(60, seed=55)
    qp = dual(RBF(1.0)(X), y, 5.0)
    beta = solve_box(qp).beta
    size = float(qp.K.diagonal() @ beta**2)
    assert qp.is_clean(beta, size)
    assert not qp.is_clean(beta, 100.0 * size)


def nearly_equal_rows(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Clusters of rows that almost coincide, with labels mixed in each."""
    rng = np.random.default_rng(7)
    centres = rng.normal(size=(n // 8, 2))
    X = np.repeat(centres, 8, axis=0) + 1e-4 * rng.normal(size=(n, 2))
    return X, np.where(rng.random(n) < 0.5, 1.0, -1.0)


def test_where_most_are_given_up_again_it_leaves_off(module: ModuleType) -> None:
    X, y = nearly_equal_rows(160)
    qp = dual(RBF(1.0)(X), y, 0.7)
    beta = solve_box(dual(RBF(1.0)(X), y, 0.1)).beta
    r, before = qp.residual(beta), value(qp, beta)
    taken, settled, _ = module.settle(*qp.arguments(), beta, r, 1e-12, 2)
    assert not settled
    assert taken <= 2
    np.testing.assert_allclose(r, qp.residual(beta), atol=1e-10)
    assert value(qp, beta) < before


def test_rows_that_nearly_coincide_warm_as_cold() -> None:
    X, y = nearly_equal_rows(240)
    K = RBF(1.0)(X)
    known = solve_box(dual(K, y, 0.1))
    for C in (0.7, 4.0, 50.0):
        qp = dual(K, y, C)
        cold, known = solve_box(qp), solve_box(qp, known.states, known.beta)
        assert value(qp, known.beta) == pytest.approx(value(qp, cold.beta), rel=1e-9)
        assert violation(qp, known.beta, qp.residual(known.beta)) < 1e-9


@pytest.mark.parametrize("balanced", [True, False])
def test_a_null_direction_is_followed_as_far_as_it_leads_downhill(
    module: ModuleType, balanced: bool
) -> None:
    # The columns depend on one another to working precision, or seem to, as their sizes differ;
    # what is left of K, and the ridge, turn a step back long before it meets a bound.
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(8, 2)), np.where(np.arange(8) % 3 == 0, 1.0, -1.0)
        size = 10.0 ** rng.uniform(-8, 8, 8)
        for K, ridge in (
            (1e50 * np.outer(X[:, 0], X[:, 0]), 1e30),
            (1e50 * RBF(1.0)(X) * size[:, None] * size, 1e6),
        ):
            qp = dual(K, y, 1.0, balanced, ridge=ridge)
            beta, r = np.zeros(8), y.copy()
            box_qp.backend().decompose(*qp.arguments(), beta, r, 0.1, 8)
            module.settle(*qp.arguments(), beta, r, 1e-12, 200)
            assert np.abs(beta).max() < 10.0 / ridge  # as the ridge alone allows


@pytest.mark.parametrize("width", [10.0, None])
def test_weights_over_sixteen_decades_take_no_longer(width: float | None) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 3)), np.where(rng.random(300) < 0.5, 1.0, -1.0)
    K = X @ X.T if width is None else RBF(width)(X)
    weights = 10.0 ** rng.uniform(-8, 8, 300)
    begin = process_time()
    s = solve(K, y, 1.0, "squared_hinge", weights=weights)
    assert process_time() - begin < PATIENCE  # it was more than ten seconds
    assert s.status.ok
    assert judge(K, s).exact
