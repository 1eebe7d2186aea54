"""Checked data: read-only arrays, two labels, weights, scaling and folds."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "Dataset",
    "check_labels",
    "check_matrix",
    "check_weights",
    "data_hash",
    "standardise",
    "stratified_folds",
]

Array = NDArray[np.float64]
IntArray = NDArray[np.intp]
Seed = int | np.random.Generator | np.random.SeedSequence | None


@dataclass(frozen=True, eq=False)
class Dataset:
    """A two-class problem whose arrays have been checked and are read-only.

    Make one with ``Dataset.of``.

    Attributes
    ----------
    X : ndarray of shape (n, d)
        The inputs.
    y : ndarray of shape (n,)
        The labels: -1 for ``classes[0]`` and +1 for ``classes[1]``.
    classes : ndarray of shape (2,)
        The two original labels, sorted.
    weights : ndarray of shape (n,)
        Sample weights. A row of weight k counts as k copies of it, one of weight 0 as absent.
    feature_names : tuple of str, optional
        Column names, if ``X`` was a data frame.
    """

    X: Array
    y: Array
    classes: NDArray[Any]
    weights: Array
    feature_names: tuple[str, ...] | None = None

    @classmethod
    def of(cls, X: Any, y: Any, weights: ArrayLike | None = None) -> Dataset:
        """Check inputs, labels and weights, and copy them into a data set.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The inputs: finite numbers.
        y : array-like of shape (n,)
            The labels, of exactly two kinds.
        weights : array-like of shape (n,), optional
            Sample weights, not negative; all 1 if None.

        Returns
        -------
        Dataset
            The checked problem. The arguments are not changed.
        """
        matrix, names = check_matrix(X, "X")
        if matrix.size == 0:
            raise ValueError(
                f"X is empty, of shape {matrix.shape}; give at least one column and "
                "one row of each class"
            )
        signs, classes = check_labels(y, len(matrix))
        w = check_weights(weights, signs, classes)
        matrix = np.array(matrix, dtype=np.float64, order="C")
        for array in (matrix, signs, classes, w):
            array.flags.writeable = False
        return cls(matrix, signs, classes, w, names)

    def __len__(self) -> int:
        return len(self.y)


@dataclass(frozen=True, eq=False)
class Folds:
    """Folds as weights: what each fold's machine is trained on, and what is held out.

    Attributes
    ----------
    train : ndarray of shape (n, folds)
        The weights that are trained with.
    held : ndarray of shape (n, folds)
        The weights that are held out.

    Notes
    -----
    A row stands for copies, and some of them may be on one side and some on the other. A row that
    is held out more often than it has copies, as in several rounds of folds, counts once all the
    same.
    """

    train: Array
    held: Array

    def first(self, count: int) -> Folds:
        """Take the first folds only.

        Parameters
        ----------
        count : int
            How many.

        Returns
        -------
        Folds
            These folds.
        """
        return Folds(self.train[:, :count], self.held[:, :count])

    def __len__(self) -> int:
        return int(self.train.shape[1])

    def __repr__(self) -> str:
        digest = hashlib.sha256(self.train.tobytes() + self.held.tobytes()).hexdigest()[:16]
        return f"Folds({len(self)} of {len(self.train)} rows, {digest})"


@dataclass(frozen=True, eq=False)
class Pair:
    """One two-class problem among the rows of X, and its folds.

    ``tests`` are positions within ``rows`` that are held out, one array a fold; weights are > 0.
    ``again`` are folds of further rounds: then all rounds count, and a row still counts once. What
    is trained on is the rest, or ``trains``: how often each fold trains on each row.
    """

    rows: IntArray
    y: Array
    weights: Array
    tests: tuple[IntArray, ...]
    again: tuple[IntArray, ...] = ()
    trains: tuple[NDArray[np.integer[Any]], ...] = ()

    @property
    def share(self) -> float:
        """The part of the weight that a fold's machine is trained on, on average."""
        total, folds = float(self.weights.sum()), len(self.tests)
        if self.trains:
            return sum(float(self.trained(k).sum()) for k in range(folds)) / folds / total
        return 1.0 - sum(float(self.weights[test].sum()) for test in self.tests) / folds / total

    def trained(self, fold: int) -> Array:
        """The weights of the rows in training for a fold of any round."""
        if self.trains:
            return np.asarray(self.trains[fold] * self.weights)
        weights = self.weights.copy()
        weights[(*self.tests, *self.again)[fold]] = 0.0
        return weights


def classes_of(pairs: Sequence[Pair]) -> int:
    """How many classes all pairs of them are of."""
    return (1 + isqrt(8 * len(pairs) + 1)) // 2


def merge_equal(X: Array, y: Array) -> tuple[IntArray, IntArray]:
    """Find equal rows of one class.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The inputs.
    y : ndarray of shape (n,)
        The labels.

    Returns
    -------
    first : ndarray of int
        The first row of each set of equal ones.
    where : ndarray of int
        For every row the place of its set in ``first``.
    """
    keyed = np.column_stack([X, y])
    _, first, where = np.unique(keyed, axis=0, return_index=True, return_inverse=True)
    if len(first) == len(y):
        everyone = np.arange(len(y))
        return everyone, everyone
    return first, where.ravel()


def check_matrix(X: Any, name: str = "X") -> tuple[Array, tuple[str, ...] | None]:
    """Convert inputs to a finite float64 matrix, with column names if they are a data frame.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The inputs.
    name : str, default "X"
        What error messages call it.

    Returns
    -------
    matrix : ndarray of shape (n, d)
        The inputs. This is the argument itself where it already fits, so treat it as read-only.
    names : tuple of str or None
        The column names of a data frame.
    """
    kind = type(X)
    if kind is not np.ndarray and getattr(X, "toarray", None) is not None:
        raise ValueError(
            f"{name} is a sparse matrix ({kind.__name__}); kernels here need dense rows: "
            f"pass {name}.toarray()"
        )
    columns = getattr(X, "columns", None)
    names = None if columns is None else tuple(str(column) for column in columns)
    try:
        values = np.asarray(X.to_numpy() if names is not None else X)
    except ValueError as error:
        raise ValueError(f"{name} is not a rectangular table of numbers: {error}") from None
    if values.ndim != 2:
        raise ValueError(
            f"{name} must have two dimensions, rows and columns, got shape {values.shape}; for one "
            f"input use {name}.reshape(-1, 1), for one row {name}.reshape(1, -1)"
        )
    if values.dtype.kind not in "biuf":
        values = _numeric(values, name, names)
    matrix = np.asarray(values, dtype=np.float64)
    # One pass: the sum is finite unless an entry is not (or it overflows, which the second sees).
    with np.errstate(over="ignore", invalid="ignore"):
        suspicious = not np.isfinite(matrix.sum())
    if suspicious and not (finite := np.isfinite(matrix)).all():
        row, column = np.argwhere(~finite)[0]
        bad = int(matrix.size - np.count_nonzero(finite))
        what = "NaN" if np.isnan(matrix[row, column]) else "infinite"
        raise ValueError(
            f"{name} is {what} at row {row}, {_column(column, names)} ({bad} such "
            f"{'entry' if bad == 1 else 'entries'} in all); drop or impute the missing values"
        )
    return matrix, names


def check_labels(y: Any, n: int) -> tuple[Array, NDArray[Any]]:
    """Convert two kinds of labels to -1 and +1.

    Parameters
    ----------
    y : array-like of shape (n,)
        The labels.
    n : int
        How many there must be.

    Returns
    -------
    signs : ndarray of shape (n,)
        -1 for the first class and +1 for the second.
    classes : ndarray of shape (2,)
        The two original labels, sorted.
    """
    labels = np.asarray(y)
    if labels.ndim != 1:
        raise ValueError(
            f"y must have one dimension, got shape {labels.shape}; "
            "for a single column of labels use numpy.ravel(y)"
        )
    if len(labels) != n:
        raise ValueError(f"y has {len(labels)} labels but X has {n} rows; give one for each row")
    missing = _missing(labels)
    if missing.any():
        raise ValueError(
            f"y has no label at row {np.flatnonzero(missing)[0]} ({int(missing.sum())} missing in "
            "all); drop these rows of X and y"
        )
    try:
        classes, codes = np.unique(labels, return_inverse=True)
    except TypeError:
        kinds = sorted({type(label).__name__ for label in labels})
        raise ValueError(
            f"y mixes labels of types {', '.join(kinds)}, which cannot be ordered; "
            "give all labels one type"
        ) from None
    if len(classes) == 1:
        raise ValueError(
            f"y has one class only, {classes[0]!r}, in all {n} rows; give rows of two classes"
        )
    if len(classes) != 2:
        shown = ", ".join(repr(c) for c in classes.tolist()[:4])
        more = ", ..." if len(classes) > 4 else ""
        hint = "numbers like these look like a regression target; " if _continuous(classes) else ""
        raise ValueError(
            f"y has {len(classes)} distinct labels ({shown}{more}) but a machine here separates "
            f"exactly two; {hint}choose two classes, or one against the rest"
        )
    return np.where(codes == 1, 1.0, -1.0), classes


def check_weights(weights: ArrayLike | None, y: Array, classes: NDArray[Any]) -> Array:
    """Convert sample weights to finite non-negative numbers, one for each row.

    Parameters
    ----------
    weights : array-like of shape (n,) or None
        The weights; None means 1 for every row.
    y : ndarray of shape (n,)
        Labels -1 and +1; each class must have a positive total weight.
    classes : ndarray of shape (2,)
        The original labels, for error messages.

    Returns
    -------
    ndarray of shape (n,)
        The weights.
    """
    if weights is None:
        return np.ones(len(y))
    try:
        w = np.array(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError("weights must be numbers, one for each row of X") from None
    if w.shape != y.shape:
        raise ValueError(
            f"weights has shape {w.shape} but X has {len(y)} rows; give one weight for each row"
        )
    bad = ~(np.isfinite(w) & (w >= 0))
    if bad.any():
        row = np.flatnonzero(bad)[0]
        raise ValueError(
            f"weights[{row}] is {w[row]}; weights must be finite and not negative "
            "(0 leaves a row out)"
        )
    for sign, label in zip((-1.0, 1.0), classes.tolist(), strict=True):
        if not w[y == sign].any():
            raise ValueError(
                f"the weights of all rows of class {label!r} are zero; "
                "give at least one row of each class a positive weight"
            )
    return w


def standardise(X: Array, weights: Array | None = None) -> tuple[Array, Array]:
    """Compute each column's weighted mean and standard deviation, for ``(X - mean) / scale``.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The inputs.
    weights : ndarray of shape (n,), optional
        Sample weights. Weight k counts as k copies of a row, weight 0 as its absence.

    Returns
    -------
    mean : ndarray of shape (d,)
        The means.
    scale : ndarray of shape (d,)
        The standard deviations. A column that does not vary has scale 1 and its own value as mean,
        so that it becomes exactly zero.
    """
    w = np.ones(len(X)) if weights is None else np.asarray(weights, dtype=np.float64)
    present = w > 0
    if not present.any():
        raise ValueError("every weight is zero; standardising needs at least one row with weight")
    rows, share = X[present], w[present] / w[present].sum()
    lowest, highest = rows.min(axis=0), rows.max(axis=0)
    varies = lowest < highest
    # Shifted by a point of the data and divided by the range: neither an offset of 1e12 nor a
    # spread of 1e-200 loses digits.
    with np.errstate(over="ignore"):
        span = np.where(varies, highest - lowest, 1.0)
    if not np.isfinite(span).all():
        column = int(np.argmin(np.isfinite(span)))
        raise ValueError(
            f"column {column} of the inputs ranges from {lowest[column]:.3g} to "
            f"{highest[column]:.3g}, too far to be scaled; divide it by a constant"
        )
    unit = (rows - lowest) / span
    mean = share @ unit
    deviation = np.sqrt(share @ (unit - mean) ** 2)
    return np.where(varies, lowest + mean * span, lowest), np.where(varies, deviation * span, 1.0)


def stratified_folds(
    y: ArrayLike, k: int, random_state: Seed = None, groups: ArrayLike | None = None
) -> tuple[NDArray[np.intp], ...]:
    """Split rows into k test folds with nearly equal sizes and class counts.

    Parameters
    ----------
    y : array-like of shape (n,)
        The labels.
    k : int
        The number of folds.
    random_state : int, Generator or None, default None
        Seed of the shuffling.
    groups : array-like of shape (n,), optional
        Group of each row. Rows of one group stay in one fold, and the balance is then approximate.

    Returns
    -------
    tuple of ndarray
        The row numbers of each test fold. Without groups the sizes, and the number of members of
        each class, differ by at most one.

    Raises
    ------
    ValueError
        If some training part, the complement of a fold, would lack a class.
    """
    labels = np.asarray(y)
    n = len(labels)
    if not 2 <= k <= n:
        raise ValueError(f"cannot make {k} folds of {n} rows; choose a number from 2 to {n}")
    classes, codes = np.unique(labels, return_inverse=True)
    counts = np.bincount(codes)
    if len(classes) > 1 and counts.min() < 2:
        label = classes[counts.argmin()].item()
        raise ValueError(
            f"class {label!r} has one member only, so the fold that holds it leaves none to train "
            "on; add rows of this class or choose a criterion without folds"
        )
    rng = np.random.default_rng(random_state)
    if groups is None:
        # Class after class, dealt like cards: the deal goes on where the class before it ended.
        order = np.concatenate(
            [rng.permutation(np.flatnonzero(codes == c)) for c in range(len(counts))]
        )
        fold = np.empty(n, dtype=np.intp)
        fold[order] = rng.permutation(k)[np.arange(n) % k]
    else:
        fold = _deal_groups(codes, np.asarray(groups), k, rng)
    for f in range(k):
        if (np.bincount(codes[fold == f], minlength=len(counts)) == counts).any():
            raise ValueError(
                f"with {k} folds one holds all rows of a class, so none are left to train on; "
                "its rows are in too few groups: choose other groups or another number of folds"
            )
    return tuple(np.flatnonzero(fold == f) for f in range(k))


def data_hash(X: ArrayLike, y: ArrayLike, weights: ArrayLike | None = None) -> str:
    """Compute a SHA-256 of a data set, the same on every platform and for every memory layout.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The inputs.
    y : array-like of shape (n,)
        The labels.
    weights : array-like of shape (n,), optional
        Sample weights.

    Returns
    -------
    str
        The digest, in hexadecimal.
    """
    digest = hashlib.sha256()
    for array in (X, y, np.ones(len(np.asarray(y))) if weights is None else weights):
        values = np.asarray(array)
        digest.update(repr(values.shape).encode())
        if values.dtype.kind in "biuf":
            # Adding zero makes -0.0 and 0.0, which are equal, hash alike.
            digest.update(np.ascontiguousarray(values + 0.0, dtype="<f8").tobytes())
        else:
            for item in values.ravel().tolist():
                text = str(item).encode()
                digest.update(len(text).to_bytes(8, "little") + text)
    return digest.hexdigest()


def _deal_groups(
    codes: NDArray[np.intp], groups: NDArray[Any], k: int, rng: np.random.Generator
) -> NDArray[np.intp]:
    if groups.shape != codes.shape:
        raise ValueError(f"groups has shape {groups.shape} but there are {len(codes)} rows")
    distinct, member = np.unique(groups, return_inverse=True)
    if len(distinct) < k:
        raise ValueError(f"cannot make {k} folds of {len(distinct)} groups; choose fewer folds")
    table = np.zeros((len(distinct), codes.max() + 1))
    np.add.at(table, (member, codes), 1.0)
    share = table / table.sum(axis=0)
    filled = np.zeros((k, table.shape[1]))
    place = np.empty(len(distinct), dtype=np.intp)
    # Largest groups first, each to the fold where the classes stay most even.
    shuffled = rng.permutation(len(distinct))
    for group in shuffled[np.argsort(-table[shuffled].sum(axis=1), kind="stable")]:
        cost = ((filled + share[group]) ** 2 - filled**2).sum(axis=1)
        place[group] = cost.argmin()
        filled[place[group]] += share[group]
    return place[member]


def _numeric(values: NDArray[Any], name: str, names: tuple[str, ...] | None) -> Array:
    """Turn an array of mixed or text type into numbers, or name the first column that is not."""
    if values.dtype.kind == "c":
        raise ValueError(
            f"{name} is complex; kernels here need real inputs: "
            f"use numpy.hstack([{name}.real, {name}.imag])"
        )
    if values.dtype.kind != "O":
        raise ValueError(
            f"{name} has dtype {values.dtype}, not numbers; encode its columns as numbers first"
        )
    matrix = np.empty(values.shape)
    for column in range(values.shape[1]):
        for row, item in enumerate(values[:, column]):
            try:
                if isinstance(item, str | bytes | complex):
                    raise TypeError
                matrix[row, column] = np.nan if item is None else float(item)
            except (TypeError, ValueError):
                missing = type(item).__name__ in ("NAType", "NaTType")
                raise ValueError(
                    f"{name} has {'a missing value' if missing else repr(item)} at row {row}, "
                    f"{_column(column, names)}, where a number is needed; "
                    + ("drop or impute it" if missing else "encode or drop this column")
                ) from None
    return matrix


def _column(column: int, names: tuple[str, ...] | None) -> str:
    return f"column {column}" if names is None else f"column {names[column]!r}"


def _missing(labels: NDArray[Any]) -> NDArray[np.bool_]:
    if labels.dtype.kind in "fc":
        return np.asarray(~np.isfinite(labels), dtype=np.bool_)
    if labels.dtype.kind != "O":
        return np.zeros(labels.shape, dtype=np.bool_)
    return np.array(
        [
            label is None
            or type(label).__name__ in ("NAType", "NaTType")
            or (isinstance(label, float) and not np.isfinite(label))
            for label in labels
        ],
        dtype=np.bool_,
    )


def _continuous(classes: NDArray[Any]) -> bool:
    return classes.dtype.kind == "f" and bool((classes != np.round(classes)).any())
