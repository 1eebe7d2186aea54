"""The quadratic program: compiled functions beside their NumPy twins; what happens at limits."""

from __future__ import annotations

import sys
from types import ModuleType

import numpy as np
import pytest

from machine.exactness import judge
from machine.problems import LOSSES, cloud, regimes, weightings
from svmselect.kernels import RBF
from svmselect.machine import box_qp, check, enclosing_ball, reference, solve
from svmselect.machine.box_qp import BoxQP, solve_box
from svmselect.machine.reference import (
    ABSENT,
    AT_LOWER,
    AT_UPPER,
    CYCLING,
    EXACT,
    FREE,
    HASTY,
    NO_FREE,
    PARKED,
)

native = pytest.importorskip("svmselect.machine._native", reason="the extension did not build")


def program(
    n: int = 60, C: float = 2.0, ridge: float = 0.0, balanced: bool = True, seed: int = 0
) -> BoxQP:
    X, y = cloud(n, seed)
    limit = np.full(n, 1e300 if ridge else C)
    return BoxQP(
        RBF(1.0)(X),
        np.full(n, ridge),
        y,
        np.where(y < 0, -limit, 0.0),
        np.where(y > 0, limit, 0.0),
        0.0 if balanced else None,
    )


@pytest.fixture
def twins() -> tuple[ModuleType, ModuleType]:
    return box_qp.backend(), reference


KINDS = {
    "hinge": {"C": 2.0},
    "hinge, large C": {"C": 1e4},
    "hinge, no sum": {"C": 2.0, "balanced": False},
    "ridge": {"ridge": 0.3},
    "ridge, no sum": {"ridge": 0.3, "balanced": False},
}


@pytest.mark.parametrize("kind", KINDS)
def test_descent_is_the_same_step_by_step(kind: str, twins: tuple[ModuleType, ModuleType]) -> None:
    qp = program(**KINDS[kind])
    for steps in (0, 1, 2, 7):  # later on, rounding decides between equals
        ends = []
        for module in twins:
            beta, r = np.zeros(60), qp.target.copy()
            taken, violation, _ = module.decompose(*qp.arguments(), beta, r, 1e-8, steps)
            ends.append((taken, violation, beta, r))
        (taken, violation, beta, r), (taken_ref, violation_ref, beta_ref, r_ref) = ends
        assert taken == taken_ref == steps
        assert violation == pytest.approx(violation_ref, rel=1e-9)
        np.testing.assert_allclose(beta, beta_ref, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(r, r_ref, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_descent_keeps_its_promises(kind: str, twins: tuple[ModuleType, ModuleType]) -> None:
    qp = program(**KINDS[kind])
    for module in twins:
        beta, r = np.zeros(60), qp.target.copy()
        values = []
        for _ in range(30):
            module.decompose(*qp.arguments(), beta, r, 1e-6, 3)
            np.testing.assert_allclose(r, qp.residual(beta), atol=1e-11)
            assert np.all((beta >= qp.lower) & (beta <= qp.upper))
            if qp.total is not None:
                assert abs(beta.sum()) <= 1e-13 * np.abs(beta).sum()
            values.append(-0.5 * beta @ (qp.target + r))
        assert np.all(np.diff(values) <= 0.0)
        steps, violation, _ = module.decompose(*qp.arguments(), beta, r, 1e-6, 100_000)
        assert steps < 100_000
        # the violation, from the definition
        grow, shrink = r[beta < qp.upper].max(), r[beta > qp.lower].min()
        if qp.total is not None:
            assert violation == pytest.approx(max(grow - shrink, 0.0), abs=1e-12)
        else:
            assert violation == pytest.approx(max(grow, -shrink, 0.0), abs=1e-12)
        assert violation <= 1e-6


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("start", ["descended", "all free", "all at lower", "all at upper"])
def test_pivoting_ends_in_the_same_sets(
    kind: str, start: str, twins: tuple[ModuleType, ModuleType]
) -> None:
    qp = program(**KINDS[kind])
    beta = np.zeros(60)
    if start == "descended":
        reference.decompose(*qp.arguments(), beta, qp.target.copy(), 1e-3, 2000)
        states = box_qp._states(qp, beta)
    else:
        state = {"all free": FREE, "all at lower": AT_LOWER, "all at upper": AT_UPPER}[start]
        states = np.full(60, state, dtype=np.int8)
        if "ridge" in kind and state != FREE:  # there is nothing at an infinite bound
            states = np.where(qp.target * state > 0, FREE, states).astype(np.int8)
    states[[4, 5]] = ABSENT
    found = []
    for module in twins:
        s, b, r = states.copy(), beta.copy(), np.empty(60)
        rounds, ending, offset = module.pivot(*qp.arguments(), s, b, r, False, 1e-12, 60, 5)
        found.append((ending, s, b, r, offset))
        assert rounds <= 60
    (ending, s, b, r, offset), (ending_ref, s_ref, b_ref, r_ref, offset_ref) = found
    assert ending == ending_ref
    np.testing.assert_array_equal(s, s_ref)
    assert start != "descended" or ending == EXACT
    if ending == EXACT:
        np.testing.assert_allclose(b, b_ref, rtol=1e-8, atol=1e-9)
        np.testing.assert_allclose(r, r_ref, atol=1e-9)
        assert offset == pytest.approx(offset_ref, abs=1e-9)
        np.testing.assert_allclose(r, qp.residual(b), atol=1e-10)
        assert np.all(b[[4, 5]] == 0.0)


def test_pivoting_parks_what_depends_on_the_rest(twins: tuple[ModuleType, ModuleType]) -> None:
    X, y = cloud(20, seed=1)
    X, y = np.vstack([X, X[:6]]), np.append(y, y[:6])
    limit = np.full(26, 1e3)
    args = (np.where(y < 0, -limit, 0.0), np.where(y > 0, limit, 0.0), 0.0)
    qp = BoxQP(RBF(1.0)(X), np.zeros(26), y, *args)
    solution = solve_box(qp)
    assert solution.status.ok
    states = np.where(np.abs(solution.beta) > 0, FREE, solution.states).astype(np.int8)
    states[20:] = np.where(states[:6] == FREE, FREE, states[20:])  # both of each pair of twins
    for module in twins:
        s, b, r = states.copy(), solution.beta.copy(), np.empty(26)
        _, ending, offset = module.pivot(*qp.arguments(), s, b, r, False, 1e-12, 40, 3)
        assert ending == EXACT
        parked = np.flatnonzero(s == PARKED)
        assert len(parked)
        np.testing.assert_allclose(qp.K @ b, qp.K @ solution.beta, atol=1e-9)
        np.testing.assert_allclose(r[parked], offset, atol=1e-9)
        # in haste it leaves them to whoever has the time
        s, b = states.copy(), solution.beta.copy()
        rounds, ending, _ = module.pivot(*qp.arguments(), s, b, r, False, 1e-12, 40, HASTY)
        assert (rounds, ending) == (1, CYCLING)
        assert not np.any(s == PARKED)


def test_pivoting_says_when_nothing_is_free(twins: tuple[ModuleType, ModuleType]) -> None:
    X, y = cloud(20, seed=1)
    y = np.tile([1.0, -1.0], 10)
    qp = BoxQP(RBF(1.0)(X), np.zeros(20), y, np.minimum(y, 0) * 1e-3, np.maximum(y, 0) * 1e-3, 0.0)
    states = np.where(y > 0, AT_UPPER, AT_LOWER).astype(np.int8)
    for module in twins:
        beta, r = np.zeros(20), np.empty(20)
        arguments = (*qp.arguments(), states.copy(), beta, r, False, 1e-12, 40, 3)
        _, ending, _ = module.pivot(*arguments)
        assert ending == NO_FREE
        np.testing.assert_allclose(r, qp.residual(1e-3 * y), atol=1e-15)


def test_round_off_of_large_values_is_cleared_away(twins: tuple[ModuleType, ModuleType]) -> None:
    # from all at a bound of 1e8 the values that leave are 1e7 times those that stay
    qp = program(C=1e8)
    answer = solve_box(qp)
    assert np.abs(answer.beta).max() < 1e4
    for module in twins:
        states = np.where(answer.states == FREE, FREE, qp.target).astype(np.int8)
        beta, r = np.zeros(60), np.empty(60)
        _, ending, _ = module.pivot(*qp.arguments(), states, beta, r, False, 1e-12, 200, 200)
        assert ending == EXACT
        size = np.abs(qp.K) @ np.abs(beta)
        np.testing.assert_allclose(r, qp.residual(beta), atol=1e-14 * size.max())


def test_looks_at_a_matrix_alike(twins: tuple[ModuleType, ModuleType]) -> None:
    K = RBF(1.0)(cloud(150)[0])
    rng = np.random.default_rng(0)
    for module in twins:
        assert module.inspect(K, 1e-8) == (0, 0, 0)
        assert module.inspect(np.empty((0, 0)), 1e-8) == (0, 0, 0)
        assert module.inspect(np.zeros((3, 3)), 1e-8) == (0, 0, 0)
    for _ in range(20):
        i, j = np.sort(rng.choice(150, 2, replace=False))[::-1]
        skew, big, negative = K.copy(), K.copy(), K.copy()
        skew[i, j] += 1e-6
        big[i, j] = big[j, i] = 1.01
        negative[i, i] = -1e-6
        for module in twins:
            assert module.inspect(skew, 1e-8) == (1, i, j)
            assert module.inspect(big, 1e-8) == (2, i, j)
            fault, row, column = module.inspect(negative, 1e-8)
            assert fault == 2
            assert i in (row, column)
            skew_within = K.copy()
            skew_within[i, j] += 1e-9
            assert module.inspect(skew_within, 1e-8) == (0, 0, 0)


@pytest.fixture
def without_extension(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(box_qp, "backend", lambda: reference)
    monkeypatch.setattr(check, "backend", lambda: reference)


@pytest.mark.usefixtures("without_extension")
@pytest.mark.parametrize("name", regimes(4))
def test_the_reference_alone_is_exact_too(name: str) -> None:
    K, y = regimes(16, seed=2)[name]
    for loss in LOSSES:
        for fit_intercept in (True, False):
            for C in (1e-3, 1.0, 1e3, 1e7):
                s = solve(K, y, C, loss, fit_intercept, weightings(y)["uneven"])
                assert s.status.ok, (loss, fit_intercept, C)
                assert judge(K, s).exact, (loss, fit_intercept, C)


def test_one_warning_where_the_extension_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "svmselect.machine._native", None)
    monkeypatch.delattr("svmselect.machine._native", raising=False)
    box_qp.backend.cache_clear()
    try:
        with pytest.warns(RuntimeWarning, match="without its compiled extension"):
            assert box_qp.backend() is reference
        assert box_qp.backend() is reference  # a second warning would be an error
    finally:
        box_qp.backend.cache_clear()


def test_arrays_of_different_lengths_are_refused() -> None:
    box_qp.backend()  # hands LAPACK's addresses over
    qp = program()
    short = np.zeros(59)
    with pytest.raises(ValueError, match="different lengths"):
        native.decompose(qp.K, short, *qp.arguments()[2:], np.zeros(60), np.zeros(60), 1e-3, 10)
    arguments = (*qp.arguments(), np.zeros(60, dtype=np.int8), short, short, False, 1e-12, 40, 3)
    with pytest.raises(ValueError, match="different lengths"):
        native.pivot(*arguments)
    with pytest.raises(ValueError, match="different lengths"):
        native.inspect(np.zeros((3, 4)), 1e-8)


def test_the_step_limit_ends_in_a_status(monkeypatch: pytest.MonkeyPatch) -> None:
    """Descent gets nowhere, pivoting cycles, no interior point: an answer all the same."""

    class Stuck:
        def decompose(self, *arguments: object) -> tuple[object, float, float]:
            return arguments[-1], 1.0, 0.0

        def settle(self, *arguments: object) -> tuple[int, bool, float]:
            return 200, False, 0.0

        def pivot(self, *arguments: object) -> tuple[int, int, float]:
            return 40, reference.CYCLING, 0.0

        inspect, subtract = staticmethod(reference.inspect), staticmethod(reference.subtract)

    K, y = regimes()["gaussian"]
    monkeypatch.setattr(box_qp, "backend", Stuck)
    monkeypatch.setattr(box_qp, "interior_point", lambda H, t, *rest: (0 * t, 0 * t, 0 * t))
    for fit_intercept in (True, False):
        s = solve(K, y, 1.0, fit_intercept=fit_intercept)
        assert s.status.name == "inexact"
        assert "lower C" in s.status.advice
        found = judge(K, s)
        assert not found.exact
        assert s.gap == pytest.approx(found.gap, rel=1e-9)
        assert s.kkt == pytest.approx(found.kkt, rel=1e-9)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_the_last_resort_is_enough_by_itself(loss: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without any descent the interior point, or Newton's method, must find the sets."""
    real = box_qp.backend()

    class NoDescent:
        pivot, subtract = staticmethod(real.pivot), staticmethod(real.subtract)

        @staticmethod
        def decompose(*arguments: object) -> tuple[object, float, float]:
            return arguments[-1], 1.0, 0.0

        @staticmethod
        def settle(*arguments: object) -> tuple[object, bool, float]:
            return arguments[-1], False, 0.0

    balls = {name: enclosing_ball(K).radius2 for name, (K, _) in regimes().items()}
    monkeypatch.setattr(box_qp, "backend", lambda: NoDescent)
    for name, (K, y) in regimes().items():
        assert enclosing_ball(K).radius2 == pytest.approx(balls[name], rel=1e-9), name
        for fit_intercept in (True, False):
            for C in (1e-2, 1.0, 100.0, 1e6):
                s = solve(K, y, C, loss, fit_intercept)
                assert s.status.ok, (name, fit_intercept, C)
                assert judge(K, s).exact, (name, fit_intercept, C)


def test_no_rows_are_no_work(twins: tuple[ModuleType, ModuleType]) -> None:
    none = np.empty(0)
    for module in twins:
        for balanced in (True, False):
            arguments = (np.empty((0, 0)), none, none, none, none, balanced, 0.0)
            assert module.decompose(*arguments, none, none, 1e-9, 10) == (0, 0.0, 0.0)
            assert module.settle(*arguments, none, none, 1e-9, 10) == (1, True, 0.0)
            states = np.empty(0, dtype=np.int8)
            *_, ending, _ = module.pivot(*arguments, states, none, none, False, 1e-9, 10, 3)
            assert ending == (NO_FREE if balanced else EXACT)


def test_an_infinite_entry_ends_too(twins: tuple[ModuleType, ModuleType]) -> None:
    # train() refuses it; a loop in compiled code must end all the same
    qp = program(8, ridge=np.inf, balanced=False)
    for module in twins:
        states, beta, r = np.zeros(8, dtype=np.int8), np.zeros(8), np.empty(8)
        with np.errstate(all="ignore"):
            module.pivot(*qp.arguments(), states, beta, r, False, 1e-9, 10, 3)
    assert len(reference.independent_rows(np.diag(np.full(8, np.inf)))) == 0


@pytest.mark.parametrize("width", [0.5, 10.0, 30.0])
def test_independent_rows_can_be_factored(width: float) -> None:
    A = RBF(width)(cloud(80)[0])
    kept = reference.independent_rows(A)
    assert np.all(np.diff(kept) > 0)
    block = A[np.ix_(kept, kept)]
    assert np.linalg.cholesky(block).diagonal().min() ** 2 > 1e-15
    # nothing of note is left out: what remains of the others is round-off
    left = A - A[:, kept] @ np.linalg.solve(block, A[kept])
    assert np.abs(left.diagonal()).max() < 1e-8
    assert (len(kept) == 80) == (width == 0.5)


@pytest.mark.parametrize("balanced", [True, False])
def test_proximal_points_reach_the_optimum(balanced: bool) -> None:
    X, y = cloud(60, seed=3)
    limit = np.full(60, 1e4)
    args = (np.where(y < 0, -limit, 0.0), np.where(y > 0, limit, 0.0), 0.0 if balanced else None)
    qp = BoxQP(RBF(1.5)(X), np.zeros(60), y, *args)
    exact = solve_box(qp)
    near = np.clip(exact.beta * (1.0 + 1e-6), qp.lower, qp.upper)
    answer = box_qp._by_proximal_points(qp, exact.states.copy(), near)
    assert answer is not None
    np.testing.assert_allclose(qp.K @ answer.beta, qp.K @ exact.beta, atol=1e-8)
    assert answer.offset == pytest.approx(exact.offset, abs=1e-8)
    np.testing.assert_allclose(answer.residual, qp.residual(answer.beta), atol=1e-9)


@pytest.mark.parametrize("fit_intercept", [True, False], ids=["intercept", "no intercept"])
def test_descent_that_converged_is_an_answer(
    fit_intercept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where pivoting always cycles, what the two kinds of descent agree on is taken."""
    real = box_qp.backend()

    class Cycling:
        decompose, settle = staticmethod(real.decompose), staticmethod(real.settle)
        subtract = staticmethod(real.subtract)

        @staticmethod
        def pivot(*arguments: object) -> tuple[int, int, float]:
            return 40, reference.CYCLING, 0.0

    K, y = regimes()["gaussian"]
    expected = solve(K, y, 1.0, fit_intercept=fit_intercept)
    monkeypatch.setattr(box_qp, "backend", lambda: Cycling)
    s = solve(K, y, 1.0, fit_intercept=fit_intercept)
    assert s.status.ok
    np.testing.assert_allclose(s.decision, expected.decision, atol=1e-9)
