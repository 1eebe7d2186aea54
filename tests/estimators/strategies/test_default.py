"""What the default strategy chooses, on problems with a known answer."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from svmselect.data import Pair, stratified_folds
from svmselect.estimators.strategies.choice import Choice
from svmselect.estimators.strategies.constants import CONSTANTS
from svmselect.estimators.strategies.default import choose
from svmselect.estimators.strategies.steps import Unit
from svmselect.kernels import RBF, Laplacian, Linear
from svmselect.machine import solve
from svmselect.parallel import Serial
from svmselect.search.run import Progress, Session
from svmselect.types import Array


def pair(y: Array, k: int = 5) -> Pair:
    return Pair(np.arange(len(y)), y, np.ones(len(y)), stratified_folds(y, k, 0))


def error(choice: Choice, X: Array, y: Array, X_new: Array, y_new: Array) -> float:
    s = solve(choice.kernel(X), y, choice.C)
    slope, offset = choice.sigmoids[0]
    p = -(slope * (choice.kernel(X_new, X) @ s.beta + s.intercept) + offset)
    return float(np.mean(y_new * p <= 0))


def noisy_inputs(n: int, d: int, seed: int) -> tuple[Array, Array]:
    """The first two inputs decide, by their product; the others are noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.where(X[:, 0] * X[:, 1] > 0, 1.0, -1.0)


@pytest.mark.parametrize("seed", [1, 3, 5])
def test_separate_scales_where_few_inputs_matter(seed: int) -> None:
    X, y = noisy_inputs(300, 10, seed)
    X_new, y_new = noisy_inputs(2000, 10, 100)
    free = choose(X, [pair(y)])
    tied = choose(X, [pair(y)], ard="no")
    assert free.tau > 0.0
    assert tied.tau == 0.0
    assert isinstance(tied.kernel.length_scale, float)
    scales = np.asarray(free.kernel.length_scale)
    assert scales[:2].max() < 0.6 * scales[2:].min()
    assert error(free, X, y, X_new, y_new) < 0.7 * error(tied, X, y, X_new, y_new)
    assert any("length scale for each input" in m for m in free.notes)


def test_few_inputs_that_matter_are_found_from_a_narrow_kernel() -> None:
    # two moons among noise: the best single scale is wide, and no slope leads on from there
    def moons(n: int, seed: int) -> tuple[Array, Array]:
        rng = np.random.default_rng(seed)
        angle = np.pi * rng.random(n)
        y = np.where(np.arange(n) % 2, 1.0, -1.0)
        plane = np.column_stack([np.cos(angle) + 0.5 * y, y * (0.25 - np.sin(angle))])
        return np.hstack([plane + 0.2 * rng.normal(size=(n, 2)), rng.normal(size=(n, 4))]), y

    (X, y), (X_new, y_new) = moons(240, 0), moons(2000, 1)
    scale = X.std(axis=0)
    choice = choose(X / scale, [pair(y)])
    scales = np.asarray(choice.kernel.length_scale)
    assert choice.tau > 0.0
    assert scales[:2].max() < scales[2:].min()
    tied = choose(X / scale, [pair(y)], ard="no")
    assert error(choice, X / scale, y, X_new / scale, y_new) < 0.06
    assert error(tied, X / scale, y, X_new / scale, y_new) > 0.09


def test_categories_have_a_start_at_which_they_weigh_more() -> None:
    X, y = noisy_inputs(120, 6, 0)
    easy = replace(CONSTANTS, worth=-30.0)  # whatever it promises, it is followed
    plain = choose(X, [pair(y)], constants=easy)
    mixed = choose(X, [pair(y)], categories=(0, 1), constants=easy)
    assert not any("categories" in record.run for record in plain.records)
    (at,) = [record for record in mixed.records if record.run == "categories/start"]
    (same,) = [record for record in mixed.records if record.run == "scales"]
    moved = at.point - same.point
    assert moved[0] == 0.0  # C
    assert moved[1:].mean() == pytest.approx(0.0)
    np.testing.assert_allclose(moved[1:3], moved[3] - np.log(2.0))
    assert any(record.run.startswith("categories tau=") for record in mixed.records)
    assert mixed.marginal <= plain.marginal
    # where it does not promise enough it costs one look, and the choice stays
    usual, same = choose(X, [pair(y)]), choose(X, [pair(y)], categories=(4, 5))
    assert sum("categories" in record.run for record in same.records) == 1
    assert same.kernel == usual.kernel


def test_one_scale_where_all_inputs_matter_alike() -> None:
    rng = np.random.default_rng(0)
    y = np.where(rng.random(200) < 0.5, 1.0, -1.0)
    X = rng.normal(size=(200, 10)) + 0.5 * y[:, None]
    choice = choose(X, [pair(y)])
    assert choice.tau == 0.0
    y_new = np.where(rng.random(2000) < 0.5, 1.0, -1.0)
    X_new = rng.normal(size=(2000, 10)) + 0.5 * y_new[:, None]
    assert error(choice, X, y, X_new, y_new) < 0.075  # the Bayes error is 0.057


def test_the_final_machine_keeps_the_penalty_per_point() -> None:
    # Twonorm-like data drive C down until every support vector is at its bound; the sigmoid of the
    # folds must fit the machine that is trained on all rows.
    rng = np.random.default_rng(5)
    y = np.where(np.arange(200) % 2, 1.0, -1.0)
    X = rng.normal(size=(200, 20)) + 0.45 * y[:, None]
    choice = choose(X, [pair(y)])
    s = solve(choice.kernel(X), y, choice.C)
    slope, offset = choice.sigmoids[0]
    all_rows = -(slope * s.decision + offset)
    assert abs(np.mean(all_rows > 0) - 0.5) < 0.1


def test_chance_labels_are_not_believed() -> None:
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(100, 5)), np.where(np.arange(100) % 2, 1.0, -1.0)
    choice = choose(X, [pair(y)])
    assert choice.value == pytest.approx(-np.log(2.0), abs=0.03)
    assert choice.tau == 0.0


def test_stops_when_told_and_keeps_the_best() -> None:
    X, y = noisy_inputs(100, 3, 0)
    seen: list[Progress] = []

    def stop(progress: Progress) -> bool:
        seen.append(progress)
        return len(seen) == 10

    choice = choose(X, [pair(y)], session=Session(Serial(), callback=stop))
    assert len(choice.records) == 10
    assert any("stopped early" in m for m in choice.notes)
    assert choice.value >= max(r.value for r in choice.records) - 0.05
    hurried = choose(X, [pair(y)], session=Session(Serial(), max_time=0.0))
    assert len(hurried.records) <= 3
    assert np.isfinite(hurried.value)


def test_starts_from_a_choice() -> None:
    X, y = noisy_inputs(150, 3, 0)
    first = choose(X, [pair(y)], ard="no")
    again = choose(X, [pair(y)], ard="no", start=(first.C, first.kernel))
    assert len(again.records) < 0.5 * len(first.records)
    assert again.value >= first.value - 1e-3


def test_goes_on_from_length_scales_that_are_known() -> None:
    X, y = noisy_inputs(200, 6, 0)
    first = choose(X, [pair(y)], ard="yes")
    start = first.C, first.kernel
    again = choose(X, [pair(y)], start=start, tau=first.tau)
    assert again.tau == first.tau
    assert first.marginal - 1.0 < again.marginal < first.marginal + 0.1
    assert np.allclose(again.kernel.theta, first.kernel.theta, atol=0.3)
    assert len(again.records) < 0.2 * len(first.records)
    other, z = noisy_inputs(200, 6, 1)
    elsewhere = choose(other, [pair(z)], start=start, tau=first.tau)
    assert elsewhere.marginal < choose(other, [pair(z)], ard="yes").marginal + 3.0
    assert elsewhere.common is None
    late = choose(X, [pair(y)], start=start, tau=first.tau, session=Session(Serial(), max_time=0.0))
    assert np.allclose(late.kernel.theta, first.kernel.theta)
    assert any("stopped early" in note for note in late.notes)
    for looks in (1, 2, 3):
        session = Session(Serial(), callback=lambda progress, n=looks: progress.evaluations >= n)
        told = choose(X, [pair(y)], start=start, tau=first.tau, session=session)
        assert len(told.records) == looks
        assert told.tau == first.tau
        assert told.marginal == pytest.approx(first.marginal, abs=1.0)


def test_tells_what_one_length_scale_would_be() -> None:
    X, y = noisy_inputs(200, 6, 0)
    parted, together = choose(X, [pair(y)], ard="yes"), choose(X, [pair(y)], ard="no")
    assert together.common is None
    assert parted.common is not None
    C, kernel, marginal = parted.common
    assert marginal == pytest.approx(together.marginal)
    assert pytest.approx(C, rel=1e-6) == together.C
    assert np.allclose(kernel.theta, together.kernel.theta)


def test_the_record_says_which_values_are_rough() -> None:
    X, y = noisy_inputs(100, 3, 0)
    records = choose(X, [pair(y, 4)], ard="no").records
    folds = [record.evaluation.details["folds"] for record in records]
    assert folds == sorted(folds)
    assert set(folds) == {2.0, 4.0}


def test_same_choice_twice() -> None:
    X, y = noisy_inputs(120, 4, 3)
    a, b = choose(X, [pair(y)]), choose(X, [pair(y)])
    assert a.kernel == b.kernel
    assert a.C == b.C


@pytest.mark.parametrize("n", [4, 10, 20])
def test_few_rows(n: int) -> None:
    X, y = noisy_inputs(n, 2, 1)
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    choice = choose(X, [pair(y, 2)])
    assert np.isfinite(choice.value)
    assert np.isfinite(choice.sigmoids).all()


def test_hostile_inputs() -> None:
    X, y = noisy_inputs(60, 4, 0)
    constant = X.copy()
    constant[:, 2] = 0.0
    duplicated = np.vstack([X[:30], X[:30]])
    for inputs in (constant, duplicated, np.zeros_like(X), X[:, :1]):
        choice = choose(inputs, [pair(y)])
        assert np.isfinite(choice.value)
        assert np.isfinite(choice.C)


def test_typical_distance() -> None:
    X = np.array([[0.0], [1.0], [3.0]])
    for kernel in (RBF(), Laplacian()):
        assert Unit.of(X, 0).log(kernel) == pytest.approx(np.log(2.0))
        assert Unit.of(np.ones((5, 2)), 0).log(kernel) == 0.0
    square = np.array([[0.0, 0.0], [1.0, 1.0]])
    assert Unit.of(square, 0).log(RBF()) == pytest.approx(np.log(np.sqrt(2.0)))
    assert Unit.of(square, 0).log(Laplacian()) == pytest.approx(np.log(2.0))
    assert Unit.of(square, 0).log(Linear()) == 0.0


def test_many_more_inputs_than_separate_scales_are_thought_of_for() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, CONSTANTS.most_inputs + 1))
    y = np.where(X[:, 0] > 0, 1.0, -1.0)
    choice = choose(X, [pair(y)])
    assert choice.tau == 0.0
    assert max(len(record.point) for record in choice.records) == 2  # no Hessian over the inputs
    (note,) = [note for note in choice.notes if note.kind == "choice"]
    assert "ard='yes'" in note


def test_when_time_is_over_the_folds_that_were_seen_decide() -> None:
    X, y = noisy_inputs(100, 3, 0)
    plain = choose(X, [pair(y)], session=Session(Serial(), max_time=1e-9))
    assert not plain.hurried  # all folds are soon judged
    assert np.isfinite(plain.held_out[0]).all()
    short = replace(CONSTANTS, grace=0.0)
    hurried = choose(X, [pair(y)], session=Session(Serial(), max_time=1e-9), constants=short)
    assert hurried.hurried
    assert 0 < np.isfinite(hurried.held_out[0]).sum() < 100
    assert np.isfinite(hurried.sigmoids).all()
    assert (hurried.C, hurried.kernel) == (plain.C, plain.kernel)
