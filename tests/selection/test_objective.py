"""What a search minimises: signs, units and priors, against scores and differences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from svmselect.criteria import Context, Criterion, Verdict, get_criterion
from svmselect.criteria.base import every
from svmselect.data import Dataset
from svmselect.kernels import RBF
from svmselect.priors import Gaussian, Shrinkage
from svmselect.selection.objective import Objective, Posterior
from svmselect.testing import make_case

POINT = np.array([0.2, 0.4, 0.7])
PRIOR = Gaussian({"C": (1.0, 0.5)}) + Shrinkage(0.3)


@dataclass(frozen=True)
class Trace(Criterion):
    """A number whose value and gradient are known: C times the trace of K."""

    name = "trace"
    greater_is_better = True
    serves = every("hinge")
    formula = "C tr K"
    cost = "O(n)"
    reference = "none"

    def evaluate(self, context: Context, gradient: bool) -> Verdict:
        value = context.C * float(np.trace(context.K))
        pull = context.system.pullback(log_C=value, gram=context.C * np.eye(len(context.y)))
        details = {"note": "text", "number": 2, "array": np.ones(3)}
        return Verdict(value, pull if gradient else None, stderr=0.5, details=details)


@dataclass(frozen=True)
class Smaller(Trace):
    """The same, smaller being better."""

    name = "smaller"
    greater_is_better = False


@dataclass(frozen=True)
class Total(Trace):
    """As a log-likelihood of all data."""

    name = "total"
    units = "total"


@dataclass(frozen=True)
class Deviance(Smaller):
    """As -2 log-likelihood."""

    name = "deviance"
    units = "deviance"


def posterior(criterion: Criterion, weights: Any = None) -> Posterior:
    p = make_case("mixed")
    return Posterior(Objective(Dataset.of(p.X, p.y, weights), RBF([1.0, 2.0]), criterion), PRIOR)


@pytest.mark.parametrize(
    ("criterion", "log_likelihood"),
    [
        (Trace(), lambda v, n: n * v),
        (Smaller(), lambda v, n: -n * v),
        (Total(), lambda v, n: v),
        (Deviance(), lambda v, n: -v / 2),
    ],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_loss_is_minus_the_log_posterior_over_n(
    criterion: Criterion, log_likelihood: Any, weighted: bool
) -> None:
    count = len(make_case("mixed").y)
    weights = np.where(np.arange(count) < 5, 2.0, 1.0) if weighted else None
    n = float(count + 5 * weighted)
    function = posterior(criterion, weights)
    answer, _ = function(POINT, True, None)
    value = float(np.exp(0.2)) * count  # K has a diagonal of ones, weighted or not
    log_pi = -0.5 * ((0.2 - 1.0) / 0.5) ** 2 - 0.5 * 2 * (0.15 / 0.3) ** 2
    assert answer.value == pytest.approx(-(log_likelihood(value, n) + log_pi) / n, rel=1e-12)
    assert answer.details["value"] == pytest.approx(value)
    assert answer.details["log_prior"] == pytest.approx(log_pi)
    assert answer.details["n"] == n
    assert answer.details["number"] == 2.0
    assert "note" not in answer.details
    assert "array" not in answer.details
    scale = abs(log_likelihood(1.0, n)) / n
    assert answer.stderr == pytest.approx(0.5 * scale)


def test_gradient_of_the_whole() -> None:
    p = make_case("mixed")
    judge = p.prepared(get_criterion("likelihood"))
    function = Posterior(Objective(Dataset.of(p.X, p.y), RBF([1.0, 2.0]), judge), PRIOR)
    slope = function(POINT, True, None)[0].gradient
    assert slope is not None
    step = 1e-5
    for j in range(3):
        e = step * np.eye(3)[j]
        ahead, behind = (function(POINT + s * e, False, None)[0].value for s in (1, -1))
        assert slope[j] == pytest.approx((ahead - behind) / (2 * step), rel=1e-6, abs=1e-9)


def test_validation_error_is_that_of_the_machine() -> None:
    p = make_case("mixed")
    held = Dataset.of(p.X[::2] + 0.5, p.y[::2], np.arange(len(p.y[::2])) % 3)
    objective = Objective(Dataset.of(p.X, p.y), RBF([1.0, 2.0]), Trace())
    answer, _ = Posterior(objective, validation=held)(POINT, False, None)
    machine = objective.train(POINT)
    f = RBF(np.exp(POINT[1:]))(held.X, p.X) @ machine.beta + machine.intercept
    wrong = np.average(f * held.y <= 0, weights=held.weights)
    assert 0 < wrong < 1
    assert answer.details["validation"] == pytest.approx(wrong)


def test_warm_starts_change_last_digits_only() -> None:
    p = make_case("mixed")
    judge = p.prepared(get_criterion("likelihood"))
    function = Posterior(Objective(Dataset.of(p.X, p.y), RBF([1.0, 2.0]), judge))
    cold, machines = function(POINT, True, None)
    warm, _ = function(POINT + 0.3, True, machines)
    fresh, _ = function(POINT + 0.3, True, None)
    assert warm.value == pytest.approx(fresh.value, rel=1e-9)
    np.testing.assert_allclose(warm.gradient, fresh.gradient, rtol=1e-6, atol=1e-10)
    assert cold.seconds > 0
