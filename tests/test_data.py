"""Checked data: what is accepted, what is refused and how the refusal reads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from svmselect.data import (
    Dataset,
    check_matrix,
    classes_of,
    data_hash,
    standardise,
    stratified_folds,
)

X4 = np.array([[0.0, 1.0], [1.0, 0.5], [2.0, -1.0], [3.0, 4.0]])
Y4 = np.array([0, 1, 1, 0])


class Frame:
    """The little of a data frame that is used: columns and to_numpy."""

    def __init__(self, columns: list[str], rows: list[list[Any]]) -> None:
        self.columns = columns
        self.rows = rows

    def to_numpy(self) -> np.ndarray:
        return np.array(self.rows, dtype=object)


def test_a_dataset_is_a_read_only_copy() -> None:
    X = np.asfortranarray(X4)
    w = np.array([1.0, 2.0, 0.0, 1.0])
    data = Dataset.of(X, Y4, w)
    X[0, 0] = 99.0
    w[0] = 99.0
    assert np.array_equal(data.X, X4)
    assert data.weights.tolist() == [1.0, 2.0, 0.0, 1.0]
    assert data.X.flags.c_contiguous
    assert data.X.dtype == data.y.dtype == data.weights.dtype == np.float64
    assert len(data) == 4
    assert data.feature_names is None
    for array in (data.X, data.y, data.weights, data.classes):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = array[0]


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        ([0, 1, 1, 0], [0, 1]),
        ([-1, 1, 1, -1], [-1, 1]),
        ([2.5, 7.0, 7.0, 2.5], [2.5, 7.0]),
        (["no", "yes", "yes", "no"], ["no", "yes"]),
        ([False, True, True, False], [False, True]),
        (np.array(["a", "b", "b", "a"], dtype=object), ["a", "b"]),
    ],
)
def test_two_labels_of_any_type(labels: Any, classes: list[Any]) -> None:
    data = Dataset.of(X4, labels)
    assert data.y.tolist() == [-1.0, 1.0, 1.0, -1.0]
    assert data.classes.tolist() == classes
    assert data.weights.tolist() == [1.0] * 4


@pytest.mark.parametrize("dtype", [np.int8, np.uint64, np.float32, np.bool_, object])
def test_numbers_of_any_type(dtype: type) -> None:
    X = np.array([[0, 1], [1, 1], [1, 0], [0, 0]]).astype(dtype)
    assert np.array_equal(Dataset.of(X, Y4).X, [[0, 1], [1, 1], [1, 0], [0, 0]])


def with_entry(value: float) -> np.ndarray:
    X = X4.copy()
    X[2, 1] = value
    return X


BAD_X: list[tuple[Any, str]] = [
    (with_entry(np.nan), r"X is NaN at row 2, column 1 \(1 such entry in all\); drop or impute"),
    (with_entry(-np.inf), "X is infinite at row 2, column 1"),
    (np.full((4, 2), np.nan), "row 0, column 0 .8 such entries in all"),
    (X4[:, 0], r"X must have two dimensions.*got shape \(4,\).*X.reshape\(-1, 1\)"),
    (X4[None], r"got shape \(1, 4, 2\)"),
    (3.0, r"got shape \(\)"),
    (X4[:0], r"X is empty, of shape \(0, 2\)"),
    (X4[:, :0], r"X is empty, of shape \(4, 0\)"),
    (X4 + 1j, "X is complex.*X.real, X.imag"),
    (sparse.csr_array(X4), r"X is a sparse matrix \(csr_array\).*pass X.toarray\(\)"),
    (sparse.coo_matrix(X4), r"pass X.toarray\(\)"),
    ([[1.0, 2.0], [3.0]], "X is not a rectangular table of numbers"),
    (X4.astype(str), "X has dtype <U.*encode its columns"),
    (X4.astype("datetime64[s]"), "X has dtype datetime64"),
    ([[1.0, "red"], [2.0, "blue"]], "X has dtype <U"),
    (
        np.array([[1.0, "red"], [2.0, "blue"]], dtype=object),
        "X has 'red' at row 0, column 1, where a number is needed; encode or drop this column",
    ),
    (np.array([[1.0, None], [2.0, 3.0]], dtype=object), "X is NaN at row 0, column 1"),
    (np.array([[1.0, 1j], [2.0, 3.0]], dtype=object), "X has 1j at row 0, column 1"),
    (Frame(["age", "hue"], [[1.0, 2.0], [2.0, np.nan]]), "NaN at row 1, column 'hue'"),
    (Frame(["age", "hue"], [[1.0, "7"], [2.0, "8"]]), "'7' at row 0, column 'hue'"),
]


@pytest.mark.parametrize(("X", "message"), BAD_X, ids=[m[:30] for _, m in BAD_X])
def test_bad_inputs_say_what_and_where(X: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Dataset.of(X, Y4)


def test_a_sum_that_overflows_is_not_mistaken_for_an_infinite_entry() -> None:
    X = np.full((4, 2), 1.7e308)
    assert check_matrix(X)[0] is X


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([0, 1, 1], "y has 3 labels but X has 4 rows"),
        ([[0], [1], [1], [0]], r"y must have one dimension, got shape \(4, 1\).*numpy.ravel"),
        ([1, 1, 1, 1], "y has one class only, .*1.*, in all 4 rows"),
        ([0, 1, 2, 0], r"y has 3 distinct labels \(0, 1, 2\).*exactly two"),
        ([0.1, 0.2, 0.3, 0.4], "4 distinct labels.*look like a regression target"),
        ([0.0, np.nan, 1.0, 0.0], "y has no label at row 1"),
        (np.array(["a", None, "b", None], dtype=object), r"row 1 \(2 missing in all\)"),
        (np.array(["a", 1, "a", 1], dtype=object), "y mixes labels of types int, str"),
    ],
)
def test_bad_labels_say_what_and_where(y: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Dataset.of(X4, y)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0, 1.0, 1.0], r"weights has shape \(3,\) but X has 4 rows"),
        ([1.0, 1.0, -0.5, 1.0], r"weights\[2\] is -0.5; .*not negative"),
        ([1.0, np.nan, 1.0, 1.0], r"weights\[1\] is nan"),
        ([1.0, np.inf, 1.0, 1.0], r"weights\[1\] is inf"),
        ([1.0, 0.0, 0.0, 1.0], "the weights of all rows of class 1 are zero"),
        (["a", "b", "c", "d"], "weights must be numbers"),
    ],
)
def test_bad_weights_say_what_and_where(weights: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Dataset.of(X4, Y4, weights)


def test_frames_keep_their_names() -> None:
    frame = Frame(["age", "height"], X4.tolist())
    data = Dataset.of(frame, Y4)
    assert data.feature_names == ("age", "height")
    assert np.array_equal(data.X, X4)


def test_pandas_frames() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"age": [1, 2, 3, 4], "height": [0.5, 1.5, 2.5, 3.5]})
    data = Dataset.of(frame, pandas.Series(["u", "v", "v", "u"]))
    assert data.feature_names == ("age", "height")
    assert data.classes.tolist() == ["u", "v"]
    assert data.X[:, 0].tolist() == [1.0, 2.0, 3.0, 4.0]
    frame["hue"] = ["red", "blue", "red", "blue"]
    with pytest.raises(ValueError, match="'red' at row 0, column 'hue'"):
        Dataset.of(frame, Y4)
    missing = pandas.DataFrame({"age": pandas.array([1, None, 3, 4], dtype="Int64")})
    with pytest.raises(ValueError, match=r"(NaN|a missing value) at row 1, column 'age'"):
        Dataset.of(missing, Y4)


# Standardisation


def test_standardise_against_numpy() -> None:
    X = np.random.default_rng(0).normal(size=(50, 3)) * [1e12, 1.0, 1e-12] + [1e12, 5.0, 1e-12]
    mean, scale = standardise(X)
    np.testing.assert_allclose(mean, X.mean(axis=0), rtol=1e-13)
    np.testing.assert_allclose(scale, X.std(axis=0), rtol=1e-12)


@pytest.mark.parametrize("size", [1e-200, 1e-12, 1e12, 1e200])
def test_standardise_at_extreme_scales(size: float) -> None:
    X = np.random.default_rng(0).normal(size=(50, 2))
    mean, scale = standardise(X * size)
    np.testing.assert_allclose((X * size - mean) / scale, (X - X.mean(0)) / X.std(0), atol=1e-12)


def test_a_range_that_overflows_is_refused() -> None:
    X = np.column_stack([np.arange(6.0), np.tile([1e308, -1e308], 3)])
    with pytest.raises(ValueError, match=r"column 1 of the inputs ranges from -1e\+308 to 1e\+308"):
        standardise(X)
    mean, scale = standardise(0.5 * X)
    np.testing.assert_allclose(((0.5 * X - mean) / scale)[:, 1], np.tile([1.0, -1.0], 3))


@pytest.mark.parametrize("value", [0.0, 0.1, -1e12, 1e-300])
def test_a_constant_column_becomes_exactly_zero(value: float) -> None:
    X = np.column_stack([np.full(7, value), np.arange(7.0)])
    mean, scale = standardise(X, np.full(7, 0.3))
    assert scale[0] == 1.0
    assert (X[:, 0] == mean[0]).all()


def test_weights_count_rows() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 3))
    X[4] = 1e9
    counts = rng.integers(0, 4, size=20)
    counts[4] = 0
    mean, scale = standardise(X, counts.astype(float))
    copies = np.repeat(X, counts, axis=0)
    np.testing.assert_allclose(mean, copies.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(scale, copies.std(axis=0), rtol=1e-12)
    with pytest.raises(ValueError, match="every weight is zero"):
        standardise(X, np.zeros(20))


# Folds


@given(
    n_plus=st.integers(2, 30),
    n_minus=st.integers(2, 30),
    k=st.integers(2, 8),
    seed=st.integers(0, 1000),
)
def test_folds_partition_and_balance(n_plus: int, n_minus: int, k: int, seed: int) -> None:
    y = np.random.default_rng(seed).permutation(np.repeat([1.0, -1.0], [n_plus, n_minus]))
    k = min(k, len(y))
    folds = stratified_folds(y, k, seed)
    assert len(folds) == k
    assert np.array_equal(np.sort(np.concatenate(folds)), np.arange(len(y)))
    sizes = [len(fold) for fold in folds]
    assert max(sizes) - min(sizes) <= 1
    for label in (-1.0, 1.0):
        counts = [int((y[fold] == label).sum()) for fold in folds]
        assert max(counts) - min(counts) <= 1
        assert max(counts) < (y == label).sum()


def test_folds_follow_the_seed() -> None:
    y = np.tile([1, -1], 30)

    def flat(seed: Any) -> list[list[int]]:
        return [fold.tolist() for fold in stratified_folds(y, 5, seed)]

    assert flat(3) == flat(3) == flat(np.random.default_rng(3))
    assert flat(3) != flat(4)


@pytest.mark.parametrize(
    ("y", "k", "message"),
    [
        ([1, 1, 1, -1], 2, "class -1 has one member only"),
        ([1, 1, -1, -1], 5, "cannot make 5 folds of 4 rows; choose a number from 2 to 4"),
        ([1, 1, -1, -1], 1, "cannot make 1 folds"),
    ],
)
def test_impossible_folds(y: list[int], k: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        stratified_folds(y, k, 0)


def test_groups_stay_together() -> None:
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 25, size=200)
    y = np.where(rng.random(200) < 0.3, 1, -1)
    folds = stratified_folds(y, 5, 0, groups=groups)
    assert np.array_equal(np.sort(np.concatenate(folds)), np.arange(200))
    seen = [set(groups[fold]) for fold in folds]
    assert sum(map(len, seen)) == len(set().union(*seen))
    sizes = [len(fold) for fold in folds]
    assert max(sizes) - min(sizes) <= 20
    shares = [(y[fold] == 1).mean() for fold in folds]
    assert max(shares) - min(shares) < 0.15


def test_groups_that_cannot_be_split() -> None:
    y = np.array([1, 1, 1, -1, -1, -1])
    with pytest.raises(ValueError, match="one holds all rows of a class"):
        stratified_folds(y, 2, 0, groups=[0, 0, 0, 1, 1, 1])
    with pytest.raises(ValueError, match="cannot make 3 folds of 2 groups"):
        stratified_folds(y, 3, 0, groups=[0, 0, 0, 1, 1, 1])
    with pytest.raises(ValueError, match=r"groups has shape \(2,\)"):
        stratified_folds(y, 2, 0, groups=[0, 1])


def test_classes_of_pairs() -> None:
    for classes in (2, 3, 7, 200):
        assert classes_of([None] * (classes * (classes - 1) // 2)) == classes


# Hash


def test_hash_depends_on_values_alone() -> None:
    base = data_hash(X4, Y4)
    assert len(base) == 64
    assert data_hash(np.asfortranarray(X4), Y4.astype(float), np.ones(4)) == base
    assert data_hash(X4.astype(np.float32), Y4.tolist()) == base
    assert data_hash(np.where(X4 == 0, -0.0, X4), Y4) == base
    assert data_hash(X4, ["a", "b", "b", "a"]) == data_hash(X4, np.array(list("abba"), object))


def test_hash_changes_with_any_value() -> None:
    others = [
        data_hash(X4, Y4),
        data_hash(np.nextafter(X4, 9.0), Y4),
        data_hash(X4, 1 - Y4),
        data_hash(X4, Y4, [1, 1, 1, 2]),
        data_hash(X4.reshape(2, 4), Y4),
        data_hash(X4, ["a", "b", "b", "a"]),
        data_hash(X4, ["ab", "", "b", "a"]),
    ]
    assert len(set(others)) == len(others)


def test_hash_is_stable_across_versions() -> None:
    assert data_hash([[1.0, 2.0]], [1.0]) == PINNED


PINNED = "840b56f69666f0fef1aa60b30992f4dc1a76b8e7f023c8d1884f4c7de8ded452"
