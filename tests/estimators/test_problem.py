"""Rows, weights and folds: copies and weights are one thing, and order does not matter."""

import numpy as np
import pytest
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit, StratifiedKFold
from sklearn.utils.class_weight import compute_class_weight

from svmselect.estimators.problem import Problem, class_factors

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 3))
Y = np.arange(30) % 3


def problem(X=X, y=Y, weights=None, groups=None, cv=5, class_weight=None, scale=True, seed=0):
    return Problem.of(X, y, weights, groups, cv, class_weight, scale, seed)


def same(a: Problem, b: Problem) -> None:
    for name in ("X", "codes", "weights", "counts"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
    np.testing.assert_array_equal(a.splits.test, b.splits.test)
    np.testing.assert_array_equal(a.splits.train, b.splits.train)
    np.testing.assert_array_equal(a.scaling.mean, b.scaling.mean)
    np.testing.assert_array_equal(a.scaling.scale, b.scaling.scale)


@pytest.mark.parametrize("groups", [None, np.arange(30) // 2])
def test_the_order_of_rows_does_not_matter(groups):
    order = RNG.permutation(30)
    moved = None if groups is None else groups[order]
    same(problem(groups=groups), problem(X[order], Y[order], groups=moved))


def test_copies_and_weights_are_the_same_bit_by_bit():
    counts = RNG.integers(0, 4, size=30)
    counts[:6] = 1  # every class keeps rows in every part
    fold = np.arange(30) // 3 % 3
    ready = [(np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in range(3)]
    again = np.repeat(fold, counts)
    repeated = [(np.flatnonzero(again != f), np.flatnonzero(again == f)) for f in range(3)]
    rows = np.repeat(np.arange(30), counts)
    rows_shuffled = RNG.permutation(len(rows))
    weighted = problem(weights=counts.astype(float), cv=ready)
    same(weighted, problem(X[rows], Y[rows], cv=repeated))
    assert len(weighted) == np.count_nonzero(counts)
    shuffled_fold = again[rows_shuffled]
    shuffled = [
        (np.flatnonzero(shuffled_fold != f), np.flatnonzero(shuffled_fold == f)) for f in range(3)
    ]
    moved = rows[rows_shuffled]
    same(weighted, problem(X[moved], Y[moved], cv=shuffled))


def test_copies_in_different_folds_stay_apart():
    both, labels = np.vstack([X, X]), np.concatenate([Y, Y])
    made = problem(both, labels)
    assert 30 < len(made) <= 60
    assert made.counts.sum() == 60
    # no row is both trained on and held out
    assert not (made.splits.test & (made.splits.train > 0)).any()


def test_rows_are_those_of_the_caller():
    made = problem(weights=np.where(np.arange(30) % 7 == 0, 0.0, 1.0), scale=False)
    np.testing.assert_array_equal(made.X, X[made.first])
    np.testing.assert_array_equal(made.classes[made.codes], Y[made.first])
    assert set(made.first) == {i for i in range(30) if i % 7}


def test_minus_zero_is_zero():
    Z = np.zeros((4, 1))
    Z[0] = -0.0
    made = problem(Z, np.array([0, 0, 1, 1]), cv=2, scale=False)
    twin = problem(np.zeros((4, 1)), np.array([0, 0, 1, 1]), cv=2, scale=False)
    same(made, twin)


def test_pairs_hold_two_classes_each_and_their_folds():
    made = problem()
    pairs = made.pairs()
    assert len(pairs) == 3
    for pair, (i, j) in zip(pairs, [(0, 1), (0, 2), (1, 2)], strict=True):
        np.testing.assert_array_equal(made.codes[pair.rows], np.where(pair.y > 0, j, i))
        held = np.concatenate(pair.tests)
        np.testing.assert_array_equal(np.sort(held), np.arange(len(pair.rows)))


def test_balanced_weights_are_those_of_scikit_learn():
    y = np.array([0] * 12 + [1] * 5 + [2] * 3)
    found = class_factors("balanced", np.arange(3), y, np.ones(20))
    np.testing.assert_allclose(found, compute_class_weight("balanced", classes=np.arange(3), y=y))
    # a weight is a copy here too
    counts = np.arange(20) % 3 + 1
    weighted = class_factors("balanced", np.arange(3), y, counts.astype(float))
    rows = np.repeat(y, counts)
    np.testing.assert_allclose(
        weighted, class_factors("balanced", np.arange(3), rows, np.ones(len(rows)))
    )


def test_class_weights_are_costs_and_leave_the_number_of_rows():
    made = problem(class_weight={0: 10.0, 2: 0.5})
    assert made.weights.sum() == pytest.approx(30)
    ratio = made.weights / made.counts
    np.testing.assert_allclose(ratio / made.penalty, np.array([10.0, 1.0, 0.5])[made.codes])


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ("even", "'balanced'"),
        (3, "'balanced'"),
        ({7: 1.0}, "names 7, which is no class"),
        ({0: -1.0}, r"class_weight\[0\] is -1"),
        ({0: np.inf}, "positive finite"),
    ],
)
def test_class_weights_that_mean_nothing(weight, message):
    with pytest.raises(ValueError, match=message):
        problem(class_weight=weight)


def test_small_weights_are_remarked_on():
    assert any("sum to" in m for m in problem(weights=np.full(30, 1 / 30)).notes)
    assert not problem().notes


def test_groups_are_held_out_together():
    groups = np.arange(30) // 3
    made = problem(groups=groups)
    fold = made.splits.test.argmax(axis=1)
    for g in range(10):
        assert len(set(fold[groups[made.first] == g])) == 1


def test_splitters_get_the_rows_and_the_groups():
    groups = np.arange(30) // 6
    made = problem(groups=groups, cv=GroupKFold(5))
    fold = made.splits.test.argmax(axis=1)
    assert len({(f, g) for f, g in zip(fold, groups[made.first], strict=True)}) == 5
    assert made.splits.complete
    assert problem(cv=ShuffleSplit(3, test_size=0.3, random_state=0)).splits.complete
    small = ShuffleSplit(3, test_size=0.3, train_size=0.5, random_state=0)
    assert not problem(cv=small).splits.complete
    assert problem(cv=StratifiedKFold(3)).splits.complete


def test_fewer_rows_or_groups_than_folds():
    made = problem(X[:4], np.array([0, 1, 0, 1]), cv=10)
    assert made.splits.test.shape[1] == 4
    assert any("4 folds in place of 10" in m for m in made.notes)
    made = problem(groups=np.arange(30) // 3 % 3, cv=5)
    assert made.splits.test.shape[1] == 3
    assert any("there are 3 groups" in m for m in made.notes)


def test_a_class_with_fewer_members_than_folds():
    y = np.array([0] * 27 + [1] * 3)
    made = problem(y=y)
    assert made.splits.test.shape[1] == 5
    assert any("class 1 has 3 members" in m for m in made.notes)
    for k in range(5):
        trained = made.codes[made.splits.train[:, k] > 0]
        assert set(trained) == {0, 1}


@pytest.mark.parametrize("cv", [5, KFold(5), [(np.arange(20), np.arange(20, 30))]])
@pytest.mark.parametrize("at", [4, 29])
def test_one_of_two_classes_with_a_row_is_in_all_folds_and_held_out_by_none(cv, at):
    made = problem(y=np.where(np.arange(30) == at, "odd", "even"), cv=cv)
    lone = made.codes == 1
    assert lone.sum() == 1
    assert made.splits.lone
    assert not made.splits.test[lone].any()
    assert not made.splits.again[lone].any()
    assert (made.splits.train[lone] > 0).all()
    assert made.splits.test.any(axis=0).all()
    assert any("class 'odd' has one row, which all folds train on" in m for m in made.notes)
    assert not problem(cv=cv if at == 4 else 5).splits.lone


def test_one_of_two_classes_in_one_group():
    y = np.array(["a"] * 12 + ["b"] * 18)
    made = problem(y=y, groups=np.r_[np.arange(12), np.full(18, 12)], cv=3)
    assert not made.splits.test[made.codes == 1].any()
    assert made.splits.test[made.codes == 0].sum() == 12
    assert any("class 'b' has 18 rows of one group" in m for m in made.notes)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"y": np.array([*"eeef" * 7, "e", "odd"])}, "class 'odd' has one member only"),
        ({"y": np.zeros(30)}, "one class only, 0.0"),
        ({"weights": np.where(Y == 1, 1.0, 0.0)}, "one class only, 1, in all 10 rows that have"),
        ({"weights": np.zeros(30)}, "every sample weight is zero"),
        ({"cv": 1}, "makes no folds"),
        ({"cv": True}, "makes no folds"),
        ({"cv": "five"}, "cv must be"),
        ({"cv": 2.5}, "cv must be"),
        ({"cv": []}, "at least one pair"),
        ({"cv": [([0, 1], [30])]}, "names row 30"),
        ({"cv": [(np.arange(30), [0])]}, "trains on a row that it holds out"),
        ({"cv": [([0, 3, 6], [1, 2])]}, "leaves no row of class 1"),
        ({"cv": [([0.5], [1])]}, "must list row numbers"),
        ({"groups": np.zeros(30)}, "one group"),
        ({"groups": Y}, "all rows of a class"),
        ({"cv": KFold(3), "y": np.repeat([0, 1, 2], 10)}, "leaves no row of class 0"),
    ],
)
def test_what_cannot_be_split(options, message):
    with pytest.raises(ValueError, match=message):
        problem(**options)
