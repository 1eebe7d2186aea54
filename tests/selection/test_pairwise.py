"""A criterion over several pairs of classes: its value, its gradient, its machines."""

from itertools import combinations

import numpy as np
import pytest

from svmselect.criteria import get_criterion
from svmselect.data import Dataset
from svmselect.estimators.problem import Problem
from svmselect.kernels import RBF
from svmselect.selection.objective import Objective
from svmselect.selection.pairwise import Pairwise, Part, balanced_sample

RNG = np.random.default_rng(0)
X = RNG.normal(size=(45, 3))
Y = np.arange(45) % 3
X[:, 0] += Y


def made(name, weights=None, **options):
    problem = Problem.of(X, Y, weights, None, 3, None, False, 0)
    parts = [
        Part(pair.rows, problem.dataset(pair), get_criterion(name, **options))
        for pair in problem.pairs()
    ]
    data = Dataset.of(problem.X, problem.codes > 0, problem.weights)
    return parts, data, Pairwise(parts, 3)


POINT = np.log([0.8, 1.2, 0.9, 2.0])
FORM = RBF([1.0, 1.0, 1.0])
CASES = [
    ("likelihood", {"cv": 3}, "hinge", True),
    ("likelihood", {"cv": 3}, "logistic", True),
    ("laplace", {}, "hinge", False),
    ("kwok", {}, "hinge", True),
    ("kric", {}, "logistic", True),
    ("radius-margin", {}, "squared_hinge", True),
    ("alignment", {}, "hinge", True),
]


@pytest.mark.parametrize(("name", "options", "loss", "intercept"), CASES, ids=str)
def test_value_and_gradient(name, options, loss, intercept):
    parts, data, judge = made(name, np.arange(45) % 2 + 1.0, **options)
    objective = Objective(data, FORM, judge, loss, intercept)
    score, _ = objective.at(POINT, order=1)
    alone = [
        Objective(part.data, FORM, part.criterion, loss, intercept).at(POINT)[0].value
        for part in parts
    ]
    mass = np.array([part.data.weights.sum() for part in parts])
    total = judge.units in ("total", "deviance")
    # every row is in two of the three pairs and counts once
    wanted = sum(alone) / 2 if total else mass @ alone / mass.sum()
    assert score.value == pytest.approx(wanted, rel=1e-12)
    steps = 1e-5 * np.eye(4)
    slopes = [
        (objective.at(POINT + step)[0].value - objective.at(POINT - step)[0].value) / 2e-5
        for step in steps
    ]
    np.testing.assert_allclose(score.gradient, slopes, rtol=2e-6, atol=2e-8)


def test_log_likelihood_counts_every_row_once():
    _, data, judge = made("likelihood", cv=3)
    objective = Objective(data, FORM, judge)
    assert objective.log_likelihood(-0.5) == pytest.approx(-0.5 * 45)


def test_machines_start_from_those_of_a_neighbour():
    _, data, judge = made("likelihood", cv=3)
    objective = Objective(data, FORM, judge)
    _, trained = objective.at(POINT)
    assert len(trained) == 9  # three pairs, three folds
    cold, _ = objective.at(POINT + 0.01, order=1)
    warm, again = objective.at(POINT + 0.01, order=1, start=trained)
    assert set(again) == set(trained)
    assert warm.value == pytest.approx(cold.value, rel=1e-10)
    np.testing.assert_allclose(warm.gradient, cold.gradient, rtol=1e-7, atol=1e-10)


def test_what_the_criterion_refuses_is_refused():
    _, data, judge = made("laplace")
    with pytest.raises(ValueError, match="'laplace' does not serve"):
        Objective(data, FORM, judge, "hinge", True)
    assert "Pairwise(" in repr(judge)
    assert judge.name == "laplace"


@pytest.mark.parametrize(("classes", "most"), [(8, 12), (26, 300), (100, 300), (9, 4)])
def test_a_sample_has_every_class_as_often(classes, most):
    sample = balanced_sample(classes, most)
    pairs = list(combinations(range(classes), 2))
    met = np.bincount([c for p in sample for c in pairs[p]], minlength=classes)
    assert set(met.tolist()) == {2 * max(1, most // classes)}
    assert len(set(sample)) == len(sample) <= max(most, classes)


def test_few_pairs_are_all_looked_at():
    assert balanced_sample(25, 300) is None


def test_a_sample_speaks_for_all():
    rng = np.random.default_rng(1)
    y = np.arange(80) % 5
    inputs = rng.normal(size=(80, 2)) + 2.0 * np.column_stack([np.cos(y), np.sin(y)])
    problem = Problem.of(inputs, y, None, None, 3, None, False, 0)
    parts = [
        Part(pair.rows, problem.dataset(pair), get_criterion("likelihood", cv=3))
        for pair in problem.pairs()
    ]
    data = Dataset.of(problem.X, problem.codes > 0, problem.weights)
    sample = balanced_sample(5, 5)
    judge = Pairwise(parts, 5, sample)
    objective, form = Objective(data, RBF(1.0), judge), np.zeros(2)
    score, trained = objective.at(form, order=2)
    alone = [Objective(parts[p].data, RBF(1.0), parts[p].criterion).at(form)[0] for p in sample]
    assert score.value == pytest.approx(np.mean([one.value for one in alone]), rel=1e-12)
    assert objective.n == pytest.approx(80.0)
    assert {p for p, _ in trained} == set(sample)
    # what is trained already serves where all pairs are asked about
    context = objective.context(RBF(1.0), 1.0, trained=trained)
    unfolded = judge.unfold(context, jacobian=True)
    assert len(unfolded) == 10
    for p, one in enumerate(unfolded):
        own = Objective(parts[p].data, RBF(1.0), parts[p].criterion).context(RBF(1.0), 1.0)
        (wanted,) = parts[p].criterion.unfold(own, True)
        np.testing.assert_allclose(one.held.decision, wanted.held.decision, atol=1e-9)
        np.testing.assert_allclose(one.jacobian, wanted.jacobian, rtol=1e-6, atol=1e-8)
        assert all((s is trained.get((p, ("fold", k)))) == (p in sample)
                   for k, s in enumerate(one.held.solutions))  # fmt: skip
