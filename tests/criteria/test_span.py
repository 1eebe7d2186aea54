"""The span estimate against retraining, its definition as a minimum, and differences."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.special import expit

from criteria.machine_cases import (
    KK_COSTS,
    assert_gradient,
    assert_invariant,
    two_classes,
    unit_columns,
    without,
)
from svmselect import score
from svmselect.criteria.span_hinge import HingeSpans
from svmselect.kernels import RBF, Constant, Kernel, Linear
from svmselect.machine import ActiveSystem, Solution, solve

LOSSES = ["hinge", "squared_hinge"]
BOTH = pytest.mark.parametrize("fit_intercept", [True, False])
ALL = pytest.mark.parametrize("loss", LOSSES)
KINDS = pytest.mark.parametrize(
    ("loss", "options"),
    [
        ("hinge", {}),
        ("hinge", {"smooth": False}),
        ("hinge", {"variant": "bound"}),
        ("squared_hinge", {}),
        ("squared_hinge", {"smooth": False}),
    ],
)


def same_sets(s: Solution, t: Solution, p: int) -> bool:
    """Whether leaving one copy of p out left the active sets as they were."""
    if s.fit_intercept and s.loss == "hinge" and not len(t.free):
        return False  # the intercept is not determined
    others = all(
        set(a.tolist()) - {p} == set(b.tolist()) - {p}
        for a, b in ((s.free, t.free), (s.bound, t.bound))
    )
    if t.weights[p] == 0:
        return others
    return others and (p in t.bound or (p in s.free and p in t.free))


@pytest.mark.parametrize("weighted", [False, True])
@ALL
@BOTH
def test_exact_where_the_sets_stay(loss: str, fit_intercept: bool, weighted: bool) -> None:
    exact = total = 0
    for seed, C in enumerate(3 * [0.1, 0.3, 1.0, 10.0, 100.0]):
        X, y = two_classes(20, seed=seed)
        choices = [0.0, 0.5, 1.0, 1.0, 2.0, 3.0]
        w = np.random.default_rng(seed).choice(choices, len(y)) if weighted else np.ones(len(y))
        kernel = RBF(1.5) if fit_intercept else RBF(1.5) + 0.3
        K = kernel(X)
        s = solve(K, y, C, loss, fit_intercept, w)
        rest = {"C": C, "kernel": kernel, "loss": loss, "fit_intercept": fit_intercept}
        d = score(X, y, "span", weights=w, smooth=False, **rest).details
        assert set(d["support"]) == set(s.support)
        for p, change, excess in zip(d["support"], d["change"], d["excess"], strict=True):
            t = without(K, s, p)
            total += 1
            if same_sets(s, t, p):
                exact += 1
                np.testing.assert_allclose(
                    change, y[p] * (s.decision[p] - t.decision[p]), rtol=1e-8, atol=1e-10
                )
                assert (excess >= 0) == (y[p] * t.decision[p] <= 0)
    assert 10 < exact < total


def test_agrees_with_leave_one_out_for_most_machines() -> None:
    for seed in range(3):
        X, y = two_classes(30, seed=seed)
        K = RBF(1.0)(X)
        s = solve(K, y, 1.0, "squared_hinge")
        errors = sum(y[p] * without(K, s, p).decision[p] <= 0 for p in range(len(y)))
        r = score(X, y, "span", C=1.0, kernel=RBF(1.0), loss="squared_hinge", smooth=False)
        assert abs(r.value * len(y) - errors) <= 1


def test_gold_and_sollich_formula() -> None:
    X, y = two_classes()
    C, kernel = 3.0, 1.5 * RBF([1.0, 2.0]) + 0.1
    K = kernel(X)
    s = solve(K, y, C, "squared_hinge", fit_intercept=False)
    sv, a = s.support, s.alpha[s.support]
    assert len(sv) < len(y)
    rest = {"C": C, "kernel": kernel, "loss": "squared_hinge", "fit_intercept": False}

    S2 = 1 / np.linalg.inv(K[np.ix_(sv, sv)] + np.eye(len(sv)) / C).diagonal()
    raw = score(X, y, "span", smooth=False, **rest)
    assert raw.value == np.sum(a * S2 >= 1) / len(y)
    np.testing.assert_allclose(raw.details["span2"], S2, rtol=1e-9)

    A = K[np.ix_(sv, sv)] + np.eye(len(sv)) / C + 0.5 * np.diag(1 / a)
    u = a * (1 / np.linalg.inv(A).diagonal() - 0.5 / a) - 1
    expected = expit(4 * u - 0.3).sum() / len(y)
    options = {"c1": 4.0, "c2": 0.3, "eta": 0.5}
    np.testing.assert_allclose(score(X, y, "span", **options, **rest).value, expected, rtol=1e-9)
    everywhere = expected + expit(-4.3) * (1 - len(sv) / len(y))
    r = score(X, y, "span", over="all", **options, **rest)
    np.testing.assert_allclose(r.value, everywhere, rtol=1e-9)


def least_distance(K: np.ndarray, p: int, others: np.ndarray, E: np.ndarray, affine: bool) -> float:
    """min |phi_p - sum lambda phi|^2 + sum E lambda^2, by its normal equations."""
    A = K[np.ix_(others, others)] + np.diag(E)
    v = K[others, p]
    if affine:
        m = len(others)
        A = np.block([[A, np.ones((m, 1))], [np.ones((1, m)), np.zeros((1, 1))]])
        v = np.append(v, 1.0)
    weights = np.linalg.solve(A, v)[: len(others)]
    rest = K[p, p] - 2 * weights @ K[others, p] + weights @ K[np.ix_(others, others)] @ weights
    return float(rest + E @ weights**2)


@pytest.mark.parametrize("eta", [0.0, 0.7])
@ALL
@BOTH
def test_spans_are_the_minima_they_are_defined_as(
    loss: str, fit_intercept: bool, eta: float
) -> None:
    X, y = two_classes(26)
    C, kernel = 2.0, RBF(1.0)
    K = kernel(X)
    s = solve(K, y, C, loss, fit_intercept)
    r = score(
        X, y, "span", C=C, kernel=kernel, loss=loss, fit_intercept=fit_intercept, eta=eta
    )  # fmt: skip
    ridge = 0.0 if loss == "hinge" else 1 / C
    Q = K + ridge * np.eye(len(y))
    a = s.alpha * (1 - s.alpha / C) if loss == "hinge" else s.alpha
    assert len(r.details["support"]) == len(s.support)
    for p, S2 in zip(r.details["support"], r.details["span2"], strict=True):
        others = np.setdiff1d(s.free, [p])
        E = eta / a[others]
        expected = least_distance(Q, p, others, E, fit_intercept)
        np.testing.assert_allclose(S2, expected, rtol=1e-8)


def test_limits_of_the_smoothing() -> None:
    X, y = two_classes()
    rest: dict[str, Any] = {"C": 2.0, "kernel": RBF(1.0), "fit_intercept": False}
    for loss, ridge in (("hinge", 0.0), ("squared_hinge", 0.5)):
        raw = score(X, y, "span", loss=loss, smooth=False, **rest)
        tiny = score(X, y, "span", loss=loss, eta=1e-11, c1=1e9, **rest)
        np.testing.assert_allclose(tiny.value, raw.value, rtol=1e-9)
        # Jaakkola & Haussler: S^2 -> K_ii
        huge = score(X, y, "span", loss=loss, eta=1e7, **rest)
        np.testing.assert_allclose(huge.details["span2"], 1.0 + ridge, rtol=1e-5)


def test_bound_of_glasmachers_and_igel() -> None:
    X, y = two_classes(40, seed=1)
    kernel = RBF([1.0, 2.0])
    K = kernel(X)
    for fit_intercept in (True, False):
        s = solve(K, y, 1.0, "hinge", fit_intercept)
        assert len(s.free) > 3
        assert len(s.bound) > 3
        S2 = [
            least_distance(
                K, p, np.setdiff1d(s.free, [p]), np.zeros(len(s.free) - 1), s.fit_intercept
            )
            for p in s.free
        ]
        expected = (len(s.bound) + s.alpha[s.free] @ S2) / len(y)
        r = score(X, y, "span", kernel=kernel, variant="bound", fit_intercept=fit_intercept)
        np.testing.assert_allclose(r.value, expected, rtol=1e-9)
        assert r.details["discontinuous"]


SEPARABLE = {"shift": 3.0}
REGIMES: dict[str, tuple[dict[str, Any], float, str, bool]] = {
    "mixed": ({}, 1.0, "hinge", True),
    "mixed, penalised": ({}, 1.0, "hinge", False),
    "all bounded": ({}, 0.02, "hinge", False),
    "none bounded": (SEPARABLE, 1e3, "hinge", True),
    "none bounded, penalised": (SEPARABLE, 1e3, "hinge", False),
    "none free": ({}, 0.02, "hinge", True),
    "squared": ({}, 30.0, "squared_hinge", True),
    "squared, penalised": ({}, 30.0, "squared_hinge", False),
    "squared, all support vectors": ({}, 0.02, "squared_hinge", True),
    "squared, hard margin": (SEPARABLE, 1e3, "squared_hinge", False),
}


@pytest.mark.parametrize("regime", REGIMES)
@pytest.mark.parametrize(
    "options",
    [{}, {"eta": 0.0, "c1": 3.0, "c2": 0.5}, {"variant": "bound"}],
    ids=["smooth", "eta=0", "bound"],
)
def test_gradient(regime: str, options: dict[str, Any]) -> None:
    shape, C, loss, fit_intercept = REGIMES[regime]
    if options.get("variant") == "bound" and loss != "hinge":
        with pytest.raises(ValueError, match="only the hinge"):
            score(*two_classes(), "span", loss=loss, **options)
        return
    X, y = two_classes(**shape)
    kernel = Constant(1.3) * RBF([1.0, 2.0]) + 0.2
    s = solve(kernel(X), y, C, loss, fit_intercept)
    n, free, bound = len(y), len(s.free), len(s.bound)
    assert {
        "mixed": free > 3 and bound > 3,
        "all bounded": bound == n,
        "none bounded": bound == 0 and 0 < free < n,
        "none free": free == 0,
        "squared": free < n,
        "squared, all support vectors": free == n,
        "squared, hard margin": free < n / 2,
    }[regime.removesuffix(", penalised")]
    rest = {"loss": loss, "fit_intercept": fit_intercept} | options
    gradient = assert_gradient(X, y, "span", C, kernel, **rest)
    if regime == "none free":  # every one infinite: a constant
        np.testing.assert_array_equal(gradient, 0.0)
    elif not (options.get("variant") == "bound" and free == 0):
        assert np.abs(gradient).max() > 1e-4


@pytest.mark.parametrize(
    ("loss", "options"), [("hinge", {}), ("hinge", {"variant": "bound"}), ("squared_hinge", {})]
)
@BOTH
def test_gradient_with_weights(loss: str, fit_intercept: bool, options: dict[str, Any]) -> None:
    X, y = two_classes()
    w = np.random.default_rng(4).choice([0.0, 0.5, 1.0, 2.0, 3.0], len(y))
    kernel = Constant(1.3) * RBF([1.0, 2.0])
    rest = {"loss": loss, "fit_intercept": fit_intercept, "weights": w} | options
    assert_gradient(X, y, "span", 2.0, kernel, **rest)


def test_one_free_vector() -> None:
    """Nothing could balance its removal: it counts as an error, and the bounded ones do not."""
    X, y = two_classes(9, shift=1.5, seed=4)
    w = np.ones(9)
    w[4] = 0.5
    kernel = RBF(1.0)
    s = solve(kernel(X), y, 0.3, weights=w)
    assert len(s.free) == 1
    assert len(s.bound) >= 4
    for options in ({"smooth": False}, {}, {"variant": "bound"}):
        r = score(X, y, "span", C=0.3, kernel=kernel, weights=w, **options)
        assert r.details["infinite"] == 1
        assert r.details["support"][np.isinf(r.details["span2"])] == s.free
        assert np.isfinite(r.value)
    # the others' removal has to be carried by that one vector: a distance of two points
    f, d = s.free[0], score(X, y, "span", C=0.3, kernel=kernel, weights=w, smooth=False).details
    for p, S2 in zip(d["support"], d["span2"], strict=True):
        if p != f:
            np.testing.assert_allclose(S2, 2 - 2 * kernel(X)[p, f], rtol=1e-9)
    for options in ({}, {"variant": "bound"}):
        rest = {"weights": w} | options
        assert_gradient(X, y, "span", 0.3, kernel, **rest)


def test_no_free_vector_with_an_intercept() -> None:
    X, y = two_classes(20)
    s = solve(RBF(1.0)(X), y, 0.02)
    assert len(s.free) == 0
    for options in ({"smooth": False}, {}, {"variant": "bound"}):
        r = score(X, y, "span", C=0.02, kernel=RBF(1.0), **options)
        assert r.value == len(s.bound) / len(y)
        assert r.details["infinite"] == len(s.bound)


@BOTH
def test_a_dependent_vector_takes_over(fit_intercept: bool) -> None:
    """Twins that share their alpha have no span: the one left takes the other's part over."""
    X, y = two_classes(16, shift=1.5)
    kernel = Linear(1.0) if fit_intercept else Linear(1.0) + 0.5
    C, n = 0.5, len(y)
    pooled = solve(kernel(X), y, C, fit_intercept=fit_intercept, weights=2 * np.ones(n))
    K = kernel(np.vstack([X, X]))
    vertex = solve(K, np.append(y, y), C, fit_intercept=fit_intercept)
    np.testing.assert_allclose(vertex.decision[:n], pooled.decision, atol=1e-9)
    shared = replace(
        vertex,
        alpha=np.tile(pooled.alpha / 2, 2),
        beta=np.tile(pooled.beta / 2, 2),
        free=np.append(pooled.free, pooled.free + n),
        bound=np.append(pooled.bound, pooled.bound + n),
        dependent=pooled.free + n,
    )
    spans = HingeSpans.of(ActiveSystem.of(K, shared), 0.0)
    assert set(spans.rows) == set(shared.support)
    free = np.isin(spans.rows, shared.free)
    assert free.sum() >= 4
    np.testing.assert_array_equal(spans.squared[free], 0.0)
    checked = 0
    for p, excess in zip(spans.rows[free], spans.excess[free], strict=True):
        assert excess == -1.0
        if pooled.alpha[p % n] < C:  # one copy can carry it
            t = without(K, vertex, p)
            np.testing.assert_allclose(t.decision, vertex.decision, atol=1e-9)
            checked += 1
    assert checked
    sensitivity = spans.pullback(np.ones(len(spans.rows)))
    assert np.isfinite(sensitivity.gram).all()


@pytest.mark.parametrize("options", [{}, {"smooth": False}, {"over": "all"}])
@BOTH
def test_weights_are_copies(fit_intercept: bool, options: dict[str, Any]) -> None:
    X, y = two_classes(24)
    w = np.random.default_rng(2).integers(0, 4, len(y))
    rest = {"kernel": RBF(1.0), "loss": "squared_hinge", "fit_intercept": fit_intercept} | options
    for C in (0.1, 10.0):
        weighted = score(X, y, "span", C=C, weights=w, **rest).value
        repeated = score(np.repeat(X, w, axis=0), np.repeat(y, w), "span", C=C, **rest).value
        np.testing.assert_allclose(weighted, repeated, rtol=1e-9)


@KINDS
@BOTH
def test_invariances(loss: str, fit_intercept: bool, options: dict[str, Any]) -> None:
    X, y = two_classes()
    kernels: list[Kernel] = [Constant(2.0) * RBF(1.0), Constant(0.5) * RBF(1.0)]
    rest = {"loss": loss, "fit_intercept": fit_intercept} | options
    assert_invariant(X, y, "span", 1.5, *kernels, 4.0, **rest)
    if fit_intercept:  # then a constant changes neither the machine nor the span
        values = [score(X, y, "span", kernel=k, **rest).value for k in (RBF(1.0), RBF(1.0) + 3.0)]
        np.testing.assert_allclose(*values, rtol=1e-8)


@ALL
@BOTH
def test_continuous_where_the_sets_change(loss: str, fit_intercept: bool) -> None:
    """Bisection on log C between neighbours whose support vectors differ."""
    X, y = two_classes(20, seed=2)
    rest = {"kernel": RBF(1.5), "loss": loss, "fit_intercept": fit_intercept}

    def at(t: float) -> tuple[frozenset[int], dict[str, float]]:
        C = float(np.exp(t))
        scores = {over: score(X, y, "span", C=C, over=over, **rest) for over in ("support", "all")}
        support = frozenset(scores["all"].details["support"].tolist())
        return support, {over: r.value for over, r in scores.items()}

    grid = np.linspace(np.log(1.0), np.log(100.0), 30)
    found = [at(t) for t in grid]
    jumps = 0
    for i in range(len(grid) - 1):
        low, high, here, there = grid[i], grid[i + 1], found[i], found[i + 1]
        if here[0] == there[0]:
            continue
        while high - low > 1e-9:
            middle = 0.5 * (low + high)
            between = at(middle)
            if between[0] == here[0]:
                low, here = middle, between
            else:
                high, there = middle, between
        jumps += 1
        assert abs(here[1]["all"] - there[1]["all"]) < 1e-6
        change = len(there[0]) - len(here[0])
        np.testing.assert_allclose(
            there[1]["support"] - here[1]["support"], change * expit(-5.0) / len(y), atol=1e-6
        )
    assert jumps >= 2


def test_raw_has_no_gradient_and_says_so() -> None:
    X, y = two_classes()
    r = score(X, y, "span", loss="squared_hinge", smooth=False, gradient=True)
    assert r.gradient is None
    assert r.details["discontinuous"] is True
    assert "active sets" in r.details["gradient"]
    assert r.details["errors"] == r.value * len(y)
    smooth = score(X, y, "span", loss="squared_hinge", gradient=True)
    assert smooth.gradient is not None
    assert smooth.details["discontinuous"] is False


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"variant": "rule"}, "variant='rule'"),
        ({"over": "some"}, "over='some'"),
        ({"c1": 0.0}, "c1 must be positive"),
        ({"eta": -1.0}, "eta not negative"),
        ({"c2": np.nan}, "finite"),
        ({"slope": 1.0}, "no option 'slope'"),
    ],
)
def test_options_are_checked(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        score(*two_classes(), "span", **options)
    with pytest.raises(ValueError, match="logistic"):
        score(*two_classes(), "span", loss="logistic")


@KINDS
@BOTH
def test_a_nearly_constant_gram_matrix(
    loss: str, fit_intercept: bool, options: dict[str, Any]
) -> None:
    X, y = unit_columns()
    rest = {"kernel": RBF(10.0), "loss": loss, "fit_intercept": fit_intercept} | options
    for C in KK_COSTS:
        r = score(X, y, "span", C=C, gradient=True, **rest)
        assert r.status.ok
        assert 0 <= r.value < np.inf
        assert r.gradient is None or np.isfinite(r.gradient).all()


def test_tiny_coefficients_and_huge_costs() -> None:
    """alpha of 1e-60, and C at which I/C is lost in the rounding of K."""
    X, y = two_classes(20)
    for C in (1e-60, 1e14, 1e20):
        for loss in LOSSES:
            r = score(X, y, "span", C=C, kernel=RBF(1.0), loss=loss, gradient=True)
            assert np.isfinite(r.value)
            assert r.gradient is not None
            assert np.isfinite(r.gradient).all()


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_the_least_penalty_that_is_allowed(loss: str, intercept: bool) -> None:
    X, y = two_classes(20)
    options = {"kernel": RBF(1.0), "loss": loss, "fit_intercept": intercept, "gradient": True}
    r = score(X, y, "span", C=1e-100, **options)
    assert r.status.ok
    assert np.isfinite(r.value)
    assert r.gradient is not None
    assert np.isfinite(r.gradient).all()
    with pytest.raises(ValueError, match="C times the smallest weight above zero is 1e-164"):
        score(X, y, "span", C=1e-164, **options)
