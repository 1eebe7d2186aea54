"""The fitted sigmoid: against a general optimiser, where there is no maximum, and its gradient."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from svmselect.machine import reference
from svmselect.probability import fit_sigmoid, sigmoid, sigmoid_likelihood, sigmoid_probability
from svmselect.probability.sigmoid import sigmoid_log_probability


def sample(n: int = 120, shift: float = 0.6, seed: int = 0) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.35, 1.0, -1.0)
    return rng.normal(size=n) + shift * y, y, rng.uniform(0.3, 3.0, n)


def by_optimiser(f: np.ndarray, t: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, float]:
    """Maximum likelihood of targets t by BFGS; (slope, offset), mean log-likelihood."""

    def loss(p: np.ndarray) -> tuple[float, np.ndarray]:
        v = -(p[0] * f + p[1])
        r = w * (1 / (1 + np.exp(-v)) - t) / w.sum()
        return float(w @ (np.logaddexp(0, v) - t * v) / w.sum()), -np.array([r @ f, r.sum()])

    found = minimize(loss, np.zeros(2), jac=True, method="BFGS", options={"gtol": 1e-9})
    return found.x, -found.fun


@pytest.mark.parametrize("shift", [0.0, 0.3, 1.0, -1.0])
def test_maximum_likelihood(shift: float) -> None:
    f, y, w = sample(shift=shift)
    expected, value = by_optimiser(f, (y + 1) / 2, w)
    np.testing.assert_allclose(fit_sigmoid(f, y, w), expected, rtol=1e-6, atol=1e-7)
    assert sigmoid_likelihood(f, y, w).value == pytest.approx(value, rel=1e-12)


def test_platts_targets() -> None:
    f, y, w = sample()
    up, down = w[y > 0].sum(), w[y < 0].sum()
    t = np.where(y > 0, (up + 1) / (up + 2), 1 / (down + 2))
    expected, value = by_optimiser(f, t, w)
    np.testing.assert_allclose(fit_sigmoid(f, y, w, targets="platt"), expected, rtol=1e-6)
    assert sigmoid_likelihood(f, y, w, "platt").value == pytest.approx(value, rel=1e-12)


SHAPES = {
    "overlapping": lambda y, rng: y + rng.normal(size=len(y)),
    "barely apart": lambda y, rng: y * rng.uniform(0.0, 1.0, len(y)),
    "clean": lambda y, rng: y + 0.05 * rng.normal(size=len(y)),
    "far apart": lambda y, rng: y + 1e-6 * rng.normal(size=len(y)),
    "one on the wrong side": lambda y, rng: y * np.append(-1.0, 1.0 + rng.random(len(y) - 1)),
    "nothing to see": lambda y, rng: rng.normal(size=len(y)),
    "the wrong way": lambda y, rng: rng.normal(size=len(y)) - 2.0 * y,
    "wild": lambda y, rng: y + rng.standard_t(2, len(y)),
    "constant": lambda y, rng: np.full(len(y), 0.7),
    "two values": lambda y, rng: y * rng.choice([1.0, 1.0, -1.0], len(y)),
    "three values": lambda y, rng: y * rng.choice([1.0, 1.0, 0.0, -1.0], len(y)),
}


def could_gain(f, y, w, slope, offset, targets, bound=1e3, one_sided=False) -> float:
    """A bound, by duality, on what another sigmoid gains over this one, in log-likelihood a point.

    log(1 + e^v) >= p v + H(p) for every p, H the entropy. With the fitted p, the loss of any
    (a, c) is at least the mean entropy plus a e_1 + c e_0, e the residuals of the two moments.
    """
    f, w = f.astype(np.longdouble), w.astype(np.longdouble)
    up, down = w[y > 0].sum(), w[y < 0].sum()
    ends = (1.0, 0.0) if targets == "labels" else ((up + 1) / (up + 2), 1 / (down + 2))
    t, w = np.where(y > 0, *ends), w / w.sum()
    mean = w @ f
    scale = np.sqrt(w @ (f - mean) ** 2)  # a long double does not underflow here
    u = (f - mean) / scale if scale > 1e-12 * np.abs(f).max() else 0 * f
    v = -(slope * f + offset)
    with np.errstate(over="ignore"):
        p, q = 1 / (1 + np.exp(-v)), 1 / (1 + np.exp(v))
    loss = w @ (np.logaddexp(0, v) - t * v)
    entropy = w @ (np.logaddexp(0, v) - p * v)
    e_0, e_1 = w @ ((1 - t) * p - t * q), (w * ((1 - t) * p - t * q)) @ u
    down_to = min(0.0, bound * e_1) if one_sided else -bound * abs(e_1)
    furthest = bound * np.abs(u).max() + 50 - np.log(w.min())  # no best c is further from zero
    return float(loss - (entropy + down_to - furthest * abs(e_0)))


@pytest.mark.parametrize("targets", ["labels", "platt"])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("n", [2, 3, 10, 100, 226, 1000, 100_000])
def test_no_sigmoid_is_better(shape: str, n: int, targets: str) -> None:
    rng = np.random.default_rng(n)
    for rarest in (0.5, 0.1, 1e-3):
        y = np.where(np.arange(n) < max(1, int(rarest * n)), 1.0, -1.0)
        f = SHAPES[shape](y, rng)
        for w in (np.ones(n), 10.0 ** rng.uniform(-3, 3, n)):
            for factor in (1.0, 1e-6, 1e6) if n < 100_000 else (1e6,):
                for one_sided in (False, True) if n < 100_000 else (False,):
                    fit = sigmoid_likelihood(factor * f, y, w, targets, one_sided=one_sided)
                    found = (factor * f, y, w, fit.slope, fit.offset, targets)
                    assert could_gain(*found, one_sided=one_sided) < 1e-8
                    assert not (one_sided and fit.slope > 0)


def test_the_bound_would_tell() -> None:
    f, y, w = sample()
    slope, offset = fit_sigmoid(f, y, w)
    assert could_gain(f, y, w, slope, offset, "labels") < 1e-9
    best = sigmoid_likelihood(f, y, w).value
    for other in ((0.9 * slope, offset), (slope, offset + 0.1), (0.0, offset)):
        v = -(other[0] * f + other[1])
        value = -float(w @ np.logaddexp(0, -y * v)) / w.sum()
        assert could_gain(f, y, w, *other, "labels") >= best - value > 1e-4


@given(
    data=st.lists(
        st.tuples(
            st.floats(-1e3, 1e3).filter(lambda f: f == 0 or abs(f) > 1e-280),
            st.booleans(),
            st.sampled_from([1e-3, 0.5, 1.0, 30.0, 1e3]),
        ),
        min_size=2,
        max_size=40,
    ),
    targets=st.sampled_from(["labels", "platt"]),
)
def test_no_sigmoid_is_better_for_whatever_values(data, targets) -> None:
    f, up, w = (np.array(column) for column in zip(*data, strict=True))
    y = np.where(up, 1.0, -1.0)
    assume(len(set(y)) == 2)
    fit = sigmoid_likelihood(f, y, w, targets)
    assert could_gain(f, y, w, fit.slope, fit.offset, targets) < 1e-8
    rate = float(w @ np.where(y > 0, 1.0, 0.0)) / w.sum()
    if targets == "labels":  # never worse than a sigmoid that looks at nothing
        assert fit.value >= rate * np.log(rate) + (1 - rate) * np.log1p(-rate) - 1e-12


@pytest.mark.parametrize("seed", range(6))
def test_two_clean_classes_are_told_apart(seed: int) -> None:
    rng = np.random.default_rng(seed)
    y = np.repeat([-1.0, 1.0], 113)
    fit = sigmoid_likelihood(y + 0.05 * rng.normal(size=226), y, np.ones(226), "platt")
    # the value of targets 114/115 and 1/115, met by every row
    entropy = -(114 * np.log(114 / 115) + np.log(1 / 115)) / 115
    assert -1.02 * entropy < fit.value < -entropy
    assert fit.slope < -4.0


def test_a_fit_that_does_not_converge_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    f, y, w = sample()
    monkeypatch.setattr(sigmoid, "_compiled", lambda *_: None)
    monkeypatch.setattr(sigmoid, "_maximum", lambda *_: (0.1, 0.0))
    with pytest.warns(ConvergenceWarning, match="not at its maximum"):
        fit_sigmoid(f, y, w)


def test_weights_are_copies() -> None:
    f, y, _ = sample(60)
    counts = np.arange(60) % 4
    index = np.repeat(np.arange(60), counts)
    np.testing.assert_allclose(
        fit_sigmoid(f, y, counts), fit_sigmoid(f[index], y[index]), rtol=1e-10
    )


def test_relabelling_and_units() -> None:
    f, y, w = sample()
    slope, offset = fit_sigmoid(f, y, w)
    np.testing.assert_allclose(fit_sigmoid(f, -y, w), (-slope, -offset), rtol=1e-9)
    moved = fit_sigmoid(1e-6 * f + 3.0, y, w)
    np.testing.assert_allclose(moved, (1e6 * slope, offset - 3e6 * slope), rtol=1e-7)


CASES = {
    "overlap": (0.6, "labels", 1e3),
    "overlap, at the bound": (0.6, "labels", 0.4),
    "wrong way, at the bound": (-0.6, "labels", 0.4),
    "apart, at the bound": (4.0, "labels", 3.0),
    "wrong way apart, at the bound": (-4.0, "labels", 3.0),
    "apart, softened": (4.0, "platt", 1e3),
}


@pytest.mark.parametrize("case", CASES)
def test_gradient(case: str) -> None:
    shift, targets, bound = CASES[case]
    f, y, w = sample(40, shift)
    fit = sigmoid_likelihood(f, y, w, targets, bound)
    capped = np.isclose(abs(fit.slope) * np.sqrt(np.cov(f, aweights=w, ddof=0)), bound)
    assert capped == ("at the bound" in case)
    h = 1e-4
    for i in range(0, 40, 7):
        e = h * (np.arange(40) == i)
        v = [sigmoid_likelihood(f + k * e, y, w, targets, bound).value for k in (-2, -1, 1, 2)]
        difference = (v[0] - 8 * v[1] + 8 * v[2] - v[3]) / (12 * h)
        assert fit.gradient[i] == pytest.approx(
            difference, abs=1e-9 * np.abs(fit.gradient).max() + 1e-11
        )


def test_apart_stays_finite_and_is_right() -> None:
    y = np.repeat([-1.0, 1.0], 20)
    f = y * np.linspace(0.2, 1.0, 40)
    slope, offset = fit_sigmoid(f, y)
    assert slope * f.std() == pytest.approx(-1e3)
    p = sigmoid_probability(f, slope, offset)
    assert np.all((p > 0.5) == (y > 0))
    # the threshold is in the middle of the gap, where the nearest points of both classes balance
    assert -offset / slope == pytest.approx((f[y > 0].min() + f[y < 0].max()) / 2, abs=1e-2)
    assert -1e-9 < sigmoid_likelihood(f, y, np.ones(40)).value <= 0.0


def test_no_jump_where_the_classes_come_apart() -> None:
    y = np.repeat([-1.0, 1.0], 10)
    f = y * np.linspace(1.0, 2.0, 20)

    def value(overlap: float) -> float:
        g = f.copy()
        g[9], g[10] = overlap, -overlap
        return sigmoid_likelihood(g, y, np.ones(20)).value

    steps = np.array([value(t) for t in np.linspace(-2e-5, 2e-5, 81)])
    assert np.abs(np.diff(steps)).max() < 2e-4 < steps[0] - steps[-1]


def test_a_decision_that_says_nothing() -> None:
    y = np.array([1.0, 1.0, 1.0, -1.0])
    slope, offset = fit_sigmoid(np.full(4, 0.3), y)
    assert slope == 0.0
    assert sigmoid_probability(7.0, slope, offset) == pytest.approx(0.75)
    fit = sigmoid_likelihood(np.full(4, 0.3), y, np.ones(4))
    assert fit.value == pytest.approx(0.75 * np.log(0.75) + 0.25 * np.log(0.25))
    assert not fit.gradient.any()


def test_newtons_method_gives_up_where_it_has_nothing_to_go_by(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The bracketed search, which needs no curvature, takes over then."""
    u, t = np.linspace(-1.0, 1.0, 6), np.array([0.0, 1.0, 0.0, 1.0, 0.0, 1.0])
    share = np.full(6, 1 / 6)
    found = sigmoid._newton(u, t, share, 1e3)
    assert found is not None
    # no two values differ; the best slope is out of bounds; all probabilities are 0 or 1
    assert sigmoid._newton(np.full(6, 0.5), t, share, 1e3) is None
    assert sigmoid._newton(u, t, share, 0.5 * abs(found[0])) is None
    np.testing.assert_allclose(sigmoid._bracketed(u, t, share, 1e3), found, atol=1e-7)
    monkeypatch.setattr(sigmoid, "_first_guess", lambda *_: (0.0, 800.0))
    assert sigmoid._newton(u, t, share, 1e3) is None


def test_logarithms_of_probabilities_do_not_underflow() -> None:
    f = np.array([-3.0, 0.0, 2.0])
    np.testing.assert_allclose(
        sigmoid_log_probability(f, -1.5, 0.2), np.log(sigmoid_probability(f, -1.5, 0.2))
    )
    assert sigmoid_log_probability(-1e4, -1.0, 0.0) == pytest.approx(-1e4)


def test_equal_values_of_both_classes_at_the_edge() -> None:
    y = np.array([-1.0, -1.0, 1.0, 1.0])
    fit = sigmoid_likelihood(np.array([-1.0, 0.0, 0.0, 1.0]), y, np.ones(4))
    # the two in the middle get 1/2, the others 0 and 1
    assert fit.value == pytest.approx(-0.5 * np.log(2.0), abs=1e-6)


def test_probabilities_do_not_overflow() -> None:
    p = sigmoid_probability([-1e300, 0.0, 1e300], -5.0, 0.0)
    np.testing.assert_array_equal(p, [0.0, 0.5, 1.0])


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([1.0, np.nan], [-1, 1]), {}, r"f\[1\]"),
        (([1.0, 2.0], [0, 1]), {}, "-1 and"),
        (([1.0, 2.0], [1, 1]), {}, "class -1"),
        (([1.0, 2.0], [-1, 1, 1]), {}, "one length"),
        (([1.0, 2.0], [-1, 1], [1.0, -1.0]), {}, "weights"),
        (([1.0, 2.0], [-1, 1], [0.0, 1.0]), {}, "class -1"),
        (([1.0, 2.0], [-1, 1]), {"targets": "soft"}, "targets"),
        (([1.0, 2.0], [-1, 1]), {"max_slope": 0.0}, "max_slope"),
    ],
)
def test_refusals(arguments: tuple, options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fit_sigmoid(*arguments, **options)


@pytest.mark.parametrize("one_sided", [False, True])
@pytest.mark.parametrize("targets", ["labels", "platt"])
def test_compiled_fits_are_those_of_the_reference(
    targets: str, one_sided: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("svmselect.machine._native", reason="the extension did not build")
    rng = np.random.default_rng(5)
    cases = []
    for spread, noise, sign in ((1.0, 1.0, 1), (1e-8, 1e-8, 1), (1e6, 1e7, -1), (1.0, 9.0, 1)):
        y = np.where(rng.random(70) < 0.3, 1.0, -1.0)
        f = 3.0 + sign * spread * y + noise * rng.normal(size=70)
        cases.append((f, y, rng.exponential(size=70)))
    taken = 0
    for f, y, w in cases:
        found = sigmoid_likelihood(f, y, w, targets, one_sided=one_sided)
        t = sigmoid.sigmoid_targets(y, w, targets)
        taken += sigmoid._compiled(f, t, w, 1e3, one_sided) is not None
        with monkeypatch.context() as patch:
            patch.setattr(sigmoid, "_compiled", lambda *_: None)
            expected = sigmoid_likelihood(f, y, w, targets, one_sided=one_sided)
        assert found.slope == pytest.approx(expected.slope, rel=1e-7, abs=1e-12)
        assert found.offset == pytest.approx(expected.offset, rel=1e-7, abs=1e-9)
        assert found.value == pytest.approx(expected.value, rel=1e-12)
        scale = np.abs(expected.gradient).max()
        np.testing.assert_allclose(found.gradient, expected.gradient, atol=1e-7 * scale, rtol=1e-6)
        assert found.gap < 1e-6
    assert taken == len(cases)


def test_compiled_fits_leave_what_is_hard(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("svmselect.machine._native", reason="the extension did not build")
    apart, w = np.array([-2.0, -1.0, 1.0, 2.0]), np.ones(4)
    t = np.array([0.0, 0.0, 1.0, 1.0])
    assert sigmoid._compiled(apart, t, w, 1e3, False) is None  # there is no maximum
    assert sigmoid._compiled(np.full(4, 3.0), t, w, 1e3, False) is None  # f says nothing
    assert sigmoid._compiled(apart, np.array([0.2, 0.3, 0.7, 0.9]), w, 1e-9, False) is None
    with monkeypatch.context() as patch:
        patch.setattr("svmselect.machine.box_qp.backend", lambda: reference)
        assert sigmoid._compiled(np.array([1.0, -1.0, 0.5, 0.0]), t, w, 1e3, False) is None
