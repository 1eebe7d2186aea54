"""Matrices, penalties and weights that nobody should use: exact, or owned up to, and never long."""

from __future__ import annotations

from dataclasses import dataclass
from time import process_time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from machine.exactness import EPS, judge
from machine.problems import LOSSES, PATIENCE
from svmselect.kernels import RBF
from svmselect.machine import box_qp, reference, solve
from svmselect.machine import check as check_arguments


@dataclass(frozen=True)
class Case:
    K: np.ndarray
    y: np.ndarray
    C: float
    loss: str
    fit_intercept: bool
    weights: np.ndarray

    @property
    def allowed(self) -> bool:
        cost = self.C * self.weights[self.weights > 0]
        return bool(
            self.K.diagonal().max() <= 1e100 and 1e-100 <= cost.min() <= cost.max() <= 1e100
        )


def _shape(name: str, n: int, rng: np.random.Generator) -> np.ndarray:
    X = rng.normal(size=(n, 2))
    if name == "repeated rows":
        X = X[rng.integers(0, max(n // 2, 1), n)]
    elif name == "nearly repeated rows":
        X = X[rng.integers(0, max(n // 2, 1), n)] + 1e-7 * X
    elif name == "rank one":
        return np.outer(X[:, 0], X[:, 0])
    elif name == "rank two":
        return X @ X.T
    elif name == "zero":
        return np.zeros((n, n))
    elif name == "ones":
        return np.ones((n, n))
    elif name == "identity":
        return np.eye(n)
    elif name == "rows of many sizes":
        size = 10.0 ** rng.uniform(-8, 8, n)
        return np.asarray(RBF(1.0)(X) * size[:, None] * size)
    elif name == "far from the origin":
        return 1e8 + X @ X.T
    return np.asarray(RBF(1.0)(X))


SHAPES = (
    "plain", "repeated rows", "nearly repeated rows", "rank one", "rank two", "zero", "ones",
    "identity", "rows of many sizes", "far from the origin",
)  # fmt: skip
POWERS = (-150, -100, -60, -12, -3, 0, 0, 3, 6, 10, 12, 50, 80, 150)
PENALTIES = (-300, -100, -90, -30, -6, 0, 0, 3, 8)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    n = draw(st.integers(2, 14))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    K = _shape(draw(st.sampled_from(SHAPES)), n, rng)
    K = 10.0 ** draw(st.sampled_from(POWERS)) * K
    C = 10.0 ** draw(st.sampled_from(PENALTIES))
    weights = draw(
        st.sampled_from([np.ones(n), rng.integers(0, 3, n), 10.0 ** rng.uniform(-8, 8, n)])
    )
    weights = np.where((np.arange(n) < 2) & (weights == 0), 1.0, weights)
    return Case(K, y, C, draw(st.sampled_from(LOSSES)), draw(st.booleans()), weights)


@settings(max_examples=400, deadline=None)
@given(cases())
def test_exact_or_owned_up_to(case: Case) -> None:
    check(case)


@settings(max_examples=60, deadline=None)
@given(cases())
def test_by_the_reference_too(case: Case) -> None:
    with pytest.MonkeyPatch.context() as patch:
        for module in (box_qp, check_arguments):
            patch.setattr(module, "backend", lambda: reference)
        check(case)


def check(case: Case) -> None:
    begin = process_time()
    if not case.allowed:
        with pytest.raises(ValueError, match=r"rescale the inputs|raise one|lower one"):
            solve(**vars(case))
        return
    s = solve(**vars(case))
    assert process_time() - begin < PATIENCE
    for array in (s.alpha, s.decision, s.objective, s.gap, s.kkt):
        assert np.all(np.isfinite(array))
    if not s.status.ok:
        assert s.status.advice
        return
    # what ``solve`` promises, by its own bound on rounding: |K_ij|^2 <= K_ii K_jj
    size = np.sqrt(case.K.diagonal())
    spread = EPS * (1.0 + size.max() * (size @ np.abs(s.beta)))
    found = judge(case.K, s)
    assert abs(found.gap) <= min(max(1e-9, 100.0 * s.rounding), 1e-3)
    assert found.kkt <= min(max(1e-9, 100.0 * spread), 1e-3)
    assert found.sum <= 1e-12
    assert np.abs(found.decision) <= 1.0
