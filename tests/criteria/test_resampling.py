"""Folds: what may be given, what is refused, and what the machines say of unseen rows."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import KFold, RepeatedStratifiedKFold, ShuffleSplit, StratifiedKFold

from criteria.resampled_cases import KERNEL, MACHINES, brute, cloud, objective, splits
from svmselect.criteria.cv_error import CVError
from svmselect.criteria.likelihood import Likelihood
from svmselect.criteria.resampling import wrong
from svmselect.data import Dataset
from svmselect.kernels import RBF


@pytest.mark.parametrize(("loss", "intercept"), MACHINES)
def test_decisions_are_those_of_machines_trained_on_the_rest(loss: str, intercept: bool) -> None:
    X, y = cloud()
    pairs = splits(len(y))
    o = objective(X, y, "likelihood", loss=loss, intercept=intercept, cv=pairs)
    details = o.score(2.0, KERNEL)[0].details
    rows, decision = brute(X, y, KERNEL, 2.0, loss, intercept, pairs)
    np.testing.assert_array_equal(details["rows"], rows)
    np.testing.assert_allclose(details["decision"], decision, atol=1e-9)
    np.testing.assert_array_equal(details["fold"], rows % 4)


def test_a_number_makes_stratified_folds_that_the_seed_decides() -> None:
    X, y = cloud()
    data = Dataset.of(X, y)
    folds = CVError(cv=5).folds(data)
    tests = np.concatenate([fold.test for fold in folds])
    np.testing.assert_array_equal(np.sort(tests), np.arange(len(y)))
    for fold in folds:
        np.testing.assert_array_equal(np.flatnonzero(fold.weights == 0), fold.test)
        assert 2 <= (y[fold.test] > 0).sum() <= 3
    same = [fold.test.tolist() for fold in CVError(cv=5, random_state=0).folds(data)]
    other = [fold.test.tolist() for fold in CVError(cv=5, random_state=1).folds(data)]
    assert same == [fold.test.tolist() for fold in folds] != other


def test_no_seed_is_one_draw_for_a_whole_search() -> None:
    X, y = cloud()
    made = CVError(random_state=None)
    assert made.random_state is not None
    assert made != CVError(random_state=None)
    data = Dataset.of(X, y)
    one, two = made.folds(data), made.folds(data)
    assert all(np.array_equal(a.test, b.test) for a, b in zip(one, two, strict=True))


def test_a_row_of_weight_zero_is_absent() -> None:
    X, y = cloud()
    weights = np.ones(len(y))
    weights[[3, 17]] = 0.0
    kept = weights > 0
    for name in ("cv-error", "smoothed-cv", "likelihood"):
        with_zero = objective(X, y, name, weights=weights).score(1.0, KERNEL)[0].value
        without = objective(X[kept], y[kept], name).score(1.0, KERNEL)[0].value
        assert with_zero == pytest.approx(without, rel=1e-9)


def test_splitter_splits_masks_and_generator_agree() -> None:
    X, y = cloud()
    splitter = StratifiedKFold(4, shuffle=True, random_state=3)
    pairs = list(splitter.split(X, y))
    masks = [tuple(np.isin(np.arange(len(y)), part) for part in pair) for pair in pairs]
    values = set()
    for cv in (splitter, pairs, masks, (pair for pair in pairs)):
        o = objective(X, y, "likelihood", cv=cv)
        values |= {o.score(1.0, KERNEL)[0].value for _ in range(2)}  # a generator is read once
    assert len(values) == 1


def test_ready_splits_are_a_value() -> None:
    pairs = splits(12, 3)
    one, two = Likelihood(cv=pairs), Likelihood(cv=iter(pairs))
    assert one == two
    assert hash(one) == hash(two)
    assert eval(repr(one), {"Likelihood": Likelihood}) == one
    assert one != Likelihood(cv=pairs[::-1])


def test_rows_held_out_more_than_once_count_each_time() -> None:
    X, y = cloud()
    twice = RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0)
    details = objective(X, y, "cv-error", cv=twice).score(1.0, KERNEL)[0].details
    assert np.all(np.bincount(details["rows"]) == 2)
    assert len(details["fold_errors"]) == 6


def test_a_training_row_named_twice_is_two_copies() -> None:
    X, y = cloud()
    rng = np.random.default_rng(0)
    train = rng.integers(0, len(y), len(y))
    test = np.setdiff1d(np.arange(len(y)), train)
    got = objective(X, y, "cv-error", cv=[(train, test)]).score(1.0, KERNEL)[0].details
    _, expected = brute(X, y, KERNEL, 1.0, "hinge", True, [(train, test)])
    np.testing.assert_allclose(got["decision"], expected, atol=1e-9)


@pytest.mark.parametrize(("loss", "intercept"), MACHINES)
def test_machines_are_handed_on_and_change_nothing(loss: str, intercept: bool) -> None:
    X, y = cloud()
    o = objective(X, y, "likelihood", loss=loss, intercept=intercept, cv=4)
    _, trained = o.score(2.0, KERNEL.at(KERNEL.theta + 0.1))
    assert {("fold", i) for i in range(4)} <= set(trained)
    cold, warm = o.score(1.5, KERNEL, True)[0], o.score(1.5, KERNEL, True, trained)[0]
    assert warm.value == pytest.approx(cold.value, rel=1e-10)
    np.testing.assert_allclose(warm.gradient, cold.gradient, rtol=1e-8, atol=1e-12)


def test_order_and_labels_do_not_matter() -> None:
    X, y = cloud()
    order = np.random.default_rng(1).permutation(len(y))
    where = np.argsort(order)
    pairs = splits(len(y))
    moved = [(where[train], where[test]) for train, test in pairs]
    for name in ("cv-error", "smoothed-cv", "likelihood"):
        value = objective(X, y, name, cv=pairs).score(1.0, KERNEL)[0].value
        permuted = objective(X[order], y[order], name, cv=moved).score(1.0, KERNEL)[0].value
        relabelled = objective(X, -y, name, cv=pairs).score(1.0, KERNEL)[0].value
        assert permuted == pytest.approx(value, rel=1e-9)
        assert relabelled == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize(("loss", "intercept"), MACHINES)
@pytest.mark.parametrize("name", ["cv-error", "smoothed-cv", "likelihood"])
def test_weights_are_copies_in_one_fold(name: str, loss: str, intercept: bool) -> None:
    X, y = cloud()
    counts = np.arange(len(y)) % 3 + (np.arange(len(y)) == 0)
    index = np.repeat(np.arange(len(y)), counts)
    fold = np.arange(len(y)) % 4
    copied = [
        (np.flatnonzero(fold[index] != j), np.flatnonzero(fold[index] == j)) for j in range(4)
    ]
    rest = {"loss": loss, "intercept": intercept}
    weighted = objective(X, y, name, weights=counts, cv=splits(len(y)), **rest)
    spelt = objective(X[index], y[index], name, cv=copied, **rest)
    one, two = weighted.score(1.3, KERNEL, True)[0], spelt.score(1.3, KERNEL, True)[0]
    assert one.value == pytest.approx(two.value, rel=1e-8)
    if one.gradient is not None:
        np.testing.assert_allclose(one.gradient, two.gradient, rtol=1e-6, atol=1e-9)


def test_a_mute_machine_is_wrong_half_of_the_time() -> None:
    np.testing.assert_array_equal(wrong(np.array([-0.1, 0.0, 0.1])), [1.0, 0.5, 0.0])
    X, y = np.arange(12.0)[:, None], np.tile([-1.0, 1.0], 6)
    o = objective(X, y, "cv-error", RBF(1e-3), intercept=False, cv=3)
    assert o.score(1.0, RBF(1e-3))[0].value == 0.5


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        (1, "cv=1"),
        (True, "cv must"),
        (2.5, "cv must"),
        ("five", "cv must"),
        ([], "at least one pair"),
        ([([0, 1],)], "at least one pair"),
        ([([0.5, 1.0], [2])], "row numbers"),
        (StratifiedKFold(3, shuffle=True), "integer random_state"),
        (ShuffleSplit(3), "integer random_state"),
        (KFold(3, shuffle=True, random_state=np.random.RandomState(0)), "integer random_state"),
    ],
)
def test_folds_that_mean_nothing_are_refused_at_once(cv: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        CVError(cv=cv)


def test_a_splitter_that_does_not_shuffle_needs_no_seed() -> None:
    X, y = cloud()
    assert np.isfinite(objective(X, y, "cv-error", cv=KFold(3)).score(1.0, KERNEL)[0].value)


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        ([([0, 1, 2], [3, 36])], "row 36"),
        ([([0, 1, 2], [-1])], "row -1"),
        ([(range(36), [3])], "both parts"),
        ([(range(5), [])], "holds out no row"),
        (37, "37 folds"),
    ],
)
def test_folds_that_do_not_fit_the_data_are_refused(cv: object, message: str) -> None:
    X, y = cloud()
    y[:5] = [-1, 1, -1, 1, -1]
    with pytest.raises(ValueError, match=message):
        objective(X, y, "cv-error", cv=cv).score(1.0, KERNEL)


def test_a_training_part_of_one_class_is_refused() -> None:
    X, y = cloud()
    up = np.flatnonzero(y > 0)
    with pytest.raises(ValueError, match=r"class -1\.0 to train on"):
        objective(X, y, "cv-error", cv=[(up, np.flatnonzero(y < 0))]).score(1.0, KERNEL)


@pytest.mark.parametrize("seed", [-1, 0.5, True, "a"])
def test_seeds_that_are_none(seed: object) -> None:
    with pytest.raises(ValueError, match="random_state"):
        CVError(random_state=seed)
