"""Newton's method by passes: the minimum of the machines in memory, every loss, several at once."""

from dataclasses import replace

import numpy as np
import pytest

from svmselect.kernels import RBF
from svmselect.machine.features import basis_of
from svmselect.machine.passes import train_by_passes
from svmselect.machine.primal import fit_linear
from svmselect.machine.sums import Design, decisions, terms
from svmselect.parallel import Halted
from svmselect.rows import ArrayRows

rng = np.random.default_rng(0)
N = 1500
X = rng.normal(size=(N, 2))
y = np.where(np.sin(2.0 * X[:, 0]) + X[:, 1] + 0.4 * rng.normal(size=N) > 0, 1, -1)
rows = ArrayRows(X, y, workers=1)
KERNEL, VECTORS = RBF(0.7), X[:30]


def same(X):
    return X


def design(single=False):
    basis = basis_of(KERNEL, VECTORS, single)
    classes, signs = np.array([-1, 1]), np.array([[-1.0], [1.0]])
    return Design(KERNEL, VECTORS, basis, classes, signs, np.ones(2), same, single=single)


def counted(rows):
    asked = []

    def total(ask):
        asked.append(ask)
        return rows.total(terms, ask)

    return total, asked


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge", "hinge"])
@pytest.mark.parametrize("single", [False, True])
def test_reaches_the_minimum(loss, single):
    total, asked = counted(rows)
    found = train_by_passes(total, design(single), 2.0, loss, N, precise=1e-7)
    Phi = KERNEL(X, VECTORS) @ basis_of(KERNEL, VECTORS, single)
    exact = fit_linear(Phi, y.astype(float), np.full(N, 2.0), loss)
    assert found.status.ok
    assert found.passes == len(asked)
    assert found.objective[0] == pytest.approx(exact.objective, rel=2e-5)
    f = decisions(X, design(single), found.theta, found.intercept)[:, 0]
    assert np.abs(f - exact.decision).max() < 0.03


def test_few_rows_point_the_way_and_all_say_where():
    total, asked = counted(ArrayRows(np.tile(X, (10, 1)), np.tile(y, 10), workers=1))
    found = train_by_passes(total, design(), 0.2, "logistic", 10 * N, precise=1e-9)
    exact = train_by_passes(counted(rows)[0], design(), 2.0, "logistic", N, precise=1e-11)
    assert max(ask.stride for ask in asked) > 5
    assert any(ask.stride == 0 for ask in asked)  # near the minimum the last matrix serves on
    assert found.objective == pytest.approx(exact.objective, rel=1e-8)
    np.testing.assert_allclose(found.intercept, exact.intercept, atol=1e-3)


def test_several_machines_are_those_trained_apart():
    labels = np.where(X[:, 0] > 1.0, 2, (y > 0).astype(int))
    three = ArrayRows(X, labels, workers=1)
    signs = 2.0 * np.eye(3) - 1.0
    classes, factors = np.arange(3), np.array([1.0, 0.5, 3.0])
    whole = replace(design(), classes=classes, signs=signs, factors=factors)
    options = {"precise": 1e-10}
    both = train_by_passes(counted(three)[0], whole, 1.0, "logistic", N, **options)
    for j in range(3):
        one = replace(whole, signs=signs[:, j : j + 1])
        alone = train_by_passes(counted(three)[0], one, 1.0, "logistic", N, **options)
        assert both.objective[j] == pytest.approx(alone.objective[0], rel=1e-9)
        np.testing.assert_allclose(both.theta[:, j], alone.theta[:, 0], atol=1e-2)


def test_goes_on_from_where_it_was_stopped():
    total, asked = counted(rows)
    steps = []
    whole = train_by_passes(total, design(), 2.0, "logistic", N, accepted=steps.append)
    assert len(steps) > 3
    assert [one.objective[0] for one in steps] == sorted(
        (s.objective[0] for s in steps), reverse=True
    )

    def halting(ask):
        if len(again) == 3:
            raise Halted
        again.append(ask)
        return rows.total(terms, ask)

    again, kept = [], []
    with pytest.raises(Halted):
        train_by_passes(halting, design(), 2.0, "logistic", N, accepted=kept.append)
    total, asked = counted(rows)
    rest = replace(kept[-1], factors=())
    found = train_by_passes(total, design(), 2.0, "logistic", N, rest)
    assert len(asked) < whole.passes
    assert found.objective == pytest.approx(whole.objective, rel=1e-4)


@pytest.mark.parametrize("wrong", [np.inf, np.nan, 1e9])
def test_a_step_that_leads_uphill_is_never_taken(wrong):
    values, reached = [], []

    def misled(ask):
        found = rows.total(terms, ask)
        if len(values) > 3:  # from here on every other place seems worse
            moved = ask.theta.any() and not np.array_equal(ask.theta, reached[-1].theta)
            found = replace(found, value=found.value + wrong) if moved else found
        values.append(found.value)
        return found

    found = train_by_passes(misled, design(), 2.0, "logistic", N, accepted=reached.append)
    assert found.status.name == "stuck"
    assert found.passes == len(values)
    assert np.isfinite(found.objective).all()
    assert found.objective[0] == min(one.objective[0] for one in reached)
    np.testing.assert_array_equal(found.theta, reached[-1].theta)
