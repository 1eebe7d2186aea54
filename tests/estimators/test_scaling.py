"""Inputs that lean are bent: against scikit-learn's transformer, and by what must not matter."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import skew
from sklearn.preprocessing import PowerTransformer

from svmselect import AutoSVC
from svmselect.estimators.scaling import Bend, Scaling, yeo_johnson


def leaning(n: int = 300) -> np.ndarray:
    rng = np.random.default_rng(0)
    return np.column_stack(
        [
            rng.normal(size=n),
            rng.lognormal(size=n),
            -rng.lognormal(sigma=1.5, size=n),
            rng.poisson(1.0, n),
            rng.integers(0, 2, n),
            np.full(n, 3.0),
            rng.exponential(size=n),
        ]
    )


def test_bends_what_leans_and_nothing_else() -> None:
    X = leaning()
    bend = Bend.of(X, np.ones(len(X)))
    assert bend.bent.tolist() == [False, True, True, True, False, False, True]
    bent = bend(X)
    assert np.array_equal(bent[:, ~bend.bent], X[:, ~bend.bent])
    for a in np.flatnonzero(bend.bent):
        assert abs(skew(bent[:, a])) < 0.35 * abs(skew(X[:, a]))
        assert np.all(np.diff(bent[np.argsort(X[:, a]), a]) >= 0)


def test_is_scikit_learns_transformer_once_columns_are_moved() -> None:
    X = leaning()
    bend = Bend.of(X, np.ones(len(X)))
    u = (X[:, bend.bent] - bend.origin[bend.bent]) / bend.unit[bend.bent]
    theirs = PowerTransformer(standardize=False).fit(u)
    np.testing.assert_allclose(bend.power[bend.bent], theirs.lambdas_, atol=0.01)
    theirs.lambdas_ = bend.power[bend.bent]
    bent = bend(X)[:, bend.bent] * np.sign(bend.unit[bend.bent])
    np.testing.assert_allclose(bent, theirs.transform(u), rtol=1e-9, atol=1e-12)


def test_does_not_depend_on_units_or_on_copies() -> None:
    X, ones = leaning(), np.ones(300)
    plain = Scaling.of(X, ones, True, True)(X)
    moved = 1e3 * X + 7.0
    np.testing.assert_allclose(Scaling.of(moved, ones, True, True)(moved), plain, atol=1e-6)
    mirrored = -X
    np.testing.assert_allclose(Scaling.of(mirrored, ones, True, True)(mirrored), -plain, atol=1e-6)
    twice = Bend.of(np.vstack([X, X]), np.ones(600))
    weighed = Bend.of(X, np.full(300, 2.0))
    np.testing.assert_allclose(twice.power, weighed.power, atol=0.01)


@given(power=st.floats(-3, 3), u=st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=20))
@settings(max_examples=200, deadline=None)
def test_function_is_monotone_and_undone(power: float, u: list[float]) -> None:
    bend = Bend(np.array([2.0]), np.array([-0.5]), np.array([power]))
    X = np.sort(np.array(u))[:, None]
    Z = bend(X)
    assert np.all(np.diff(Z[:, 0]) >= 0)
    # where the function is flat to the last bit, there is no way back
    steep = np.abs(Z[:, 0]) < 0.9 / max(abs(power), abs(2.0 - power), 0.1)
    np.testing.assert_allclose(bend.undo(Z)[steep], X[steep], rtol=1e-6, atol=1e-8)


def test_slope_one_at_zero_on_both_sides() -> None:
    h = 1e-6
    for power in (-2.0, 0.0, 0.5, 1.0, 2.0, 3.0):
        up, down = (float(yeo_johnson(np.array([[x]]), np.array([power]))[0, 0]) for x in (h, -h))
        assert up / h == pytest.approx(1.0, abs=1e-5)
        assert down / -h == pytest.approx(1.0, abs=1e-5)


def test_far_rows_stay_finite() -> None:
    X = leaning()
    scaling = Scaling.of(X, np.ones(len(X)), True, True)
    assert np.isfinite(scaling(np.full((1, 7), 1e308))).all()
    assert np.isfinite(scaling(np.full((1, 7), -1e308))).all()
    huge = X * 1e300
    assert np.isfinite(Scaling.of(huge, np.ones(len(X)), True, True)(huge)).all()


def test_estimator_bends_by_default_and_says_so() -> None:
    X = leaning(120)
    y = (np.log(X[:, 1]) + X[:, 0] > 0).astype(int)
    model = AutoSVC(random_state=0).fit(X, y)
    assert model.bend_.shape == (3, 7)
    assert "bent" in model.explain()
    assert AutoSVC(standardize=True, random_state=0).fit(X, y).bend_ is None
    assert AutoSVC(standardize=False, random_state=0).fit(X, y).bend_ is None
    moved = AutoSVC(random_state=0).fit(1e3 * X + 7.0, y)
    np.testing.assert_allclose(
        moved.decision_function(1e3 * X + 7.0), model.decision_function(X), atol=1e-3
    )
