"""Newton steps on exact Hessians: quadratic convergence, saddles, and the evidence."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from sklearn.datasets import make_moons

from svmselect import score, select
from svmselect.criteria import get_criterion
from svmselect.data import Dataset
from svmselect.kernels import RBF, Constant
from svmselect.search import get_search
from svmselect.search.base import Space
from svmselect.selection.objective import Objective
from svmselect.types import Array, Evaluation


def _saddle(x: Array) -> Evaluation:
    """cos x + y^2/2 + (x y)/10: concave along x at the start, minima near x = +-pi."""
    value = np.cos(x[0]) + 0.5 * x[1] ** 2 + 0.1 * x[0] * x[1]
    slope = np.array([-np.sin(x[0]) + 0.1 * x[1], x[1] + 0.1 * x[0]])
    H = np.array([[-np.cos(x[0]), 0.1], [0.1, 1.0]])
    return Evaluation(x, float(value), slope, hessian=H)


def test_it_leaves_a_saddle_and_converges_quadratically() -> None:
    search = get_search("levenberg-marquardt", gtol=1e-13, ftol=0.0)
    space = Space(("x", "y"), np.full(2, -5.0), np.full(2, 5.0))
    state = search.start(np.array([0.3, 0.0]), space, 0)
    sizes = []
    while search.stop(state) is None and len(sizes) < 60:
        (point,) = search.ask(state)
        answer = _saddle(point)
        sizes.append(float(np.abs(answer.gradient).max()))
        state = search.tell(state, [answer])
    assert abs(state.best.point[0]) > 2.5
    assert np.linalg.eigvalsh(_saddle(state.best.point).hessian)[0] > 0
    last = [size for size in sizes if size < 0.1]
    assert last[-1] < 1e-9
    assert any(b < 10.0 * a**2 + 1e-13 and 1e-12 < a < 0.05 for a, b in pairwise(last))


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
def test_the_evidence_has_a_hessian(loss: str) -> None:
    X, y = make_moons(30, noise=0.3, random_state=0)
    X = np.vstack([X, X[:3]])  # equal rows stand for each other
    y = np.append(y, y[:3])
    kernel = Constant(2.0) * RBF([0.8, 1.3]) + Constant(0.2)
    objective = Objective(Dataset.of(X, y), kernel, get_criterion("evidence-ep"), loss, False)
    point = np.r_[np.log(1.3), kernel.theta]
    found = objective.at(point, order=2)[0]
    h = 1e-4
    differences = []
    for axis in np.eye(len(point)):
        up, down = (objective.at(point + t * axis, order=1)[0].gradient for t in (h, -h))
        differences.append((up - down) / (2 * h))
    np.testing.assert_allclose(found.hessian, differences, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(found.gradient, objective.at(point, order=1)[0].gradient, rtol=1e-9)


def test_no_hessian_with_a_prior_of_low_rank() -> None:
    assert get_criterion("evidence-ep").curved
    assert not get_criterion("evidence-ep", rank=10).curved


def test_on_the_evidence_it_ends_where_lbfgs_does_in_fewer_looks() -> None:
    X, y = make_moons(60, noise=0.3, random_state=1)
    form = Constant(1.0) * RBF([1.0, 1.0])
    rest = {"kernel": form, "fit_intercept": False, "start": np.r_[0.0, form.theta]}
    ours, other = (
        select(X, y, "evidence-ep", name, random_state=0, **rest)
        for name in ("levenberg-marquardt", "lbfgs")
    )
    assert ours.value >= other.value - 1e-6
    assert len(ours.trace) < len(other.trace)
    at = score(X, y, "evidence-ep", ours.C, ours.kernel, fit_intercept=False, gradient=True)
    assert np.abs(at.gradient).max() < 1e-4


def test_a_criterion_without_a_hessian_is_told() -> None:
    X, y = make_moons(30, noise=0.3, random_state=1)
    with pytest.raises(ValueError, match=r"'kric' with these options has none.*use 'lbfgs'"):
        select(X, y, "kric", "levenberg-marquardt", random_state=0)
