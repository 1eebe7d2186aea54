"""What is given to an estimator, as a matrix: frames are encoded, gaps filled in."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_array, check_consistent_length
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_feature_names,
    _check_n_features,
    _check_y,
    validate_data,
)

from svmselect.estimators.machines import ready
from svmselect.tables.dataframe import as_frame, table_of
from svmselect.tables.encoder import MISSING, Encoder
from svmselect.tables.gaps import Gaps
from svmselect.tables.table import Table
from svmselect.types import Array, IntArray

DENSE_LIMIT = 2**31
"""Sparse input is made dense up to this many bytes."""
_TITLE = "X"
_SEED = 0  # of the folds of target statistics


def learned(
    model: Any, X: Any, y: Any, groups: Any = None, weights: Any = None
) -> tuple[Any, NDArray[Any]]:
    """Check X and y, learn how X becomes numbers, and give these (sparse ones stay sparse).

    Rows of weight zero teach nothing: they are as good as absent.
    The model gets ``encoder_``: an ``Encoder`` for frames, ``Gaps`` for arrays, None for sparse
    matrices; and what scikit-learn wants to know of its inputs.
    """
    if model.missing not in MISSING:
        raise ValueError(f"missing={model.missing!r} is not one of {', '.join(map(repr, MISSING))}")
    table = _table(X)
    if table is None:
        gaps = "allow-nan" if model.missing != "error" and not sparse.issparse(X) else True
        try:
            X, y = validate_data(
                model, X, y, accept_sparse="csr", dtype=np.float64, order="C",
                ensure_all_finite=gaps,
            )  # fmt: skip
        except ValueError as error:
            if "could not convert string" not in str(error):
                raise
            raise ValueError(
                f"{error}: an array has numbers only; give words in a data frame"
            ) from None
        if sparse.issparse(X):
            model.encoder_ = None
            return X, y
        present = _present(weights, len(X))
        model.encoder_ = Gaps.of(X[present], model.missing, y[present])
        return model.encoder_.encode(X), y
    _known(model, X, reset=True)
    labels = _check_y(_values(y), estimator=model)
    if labels.dtype == object:  # before they are sorted
        check_classification_targets(labels)
    check_consistent_length(table, labels)
    if not table.columns:
        raise ValueError("X is a data frame without columns; give one that varies")
    present = _present(weights, len(table))
    known = table[present]
    encoder = Encoder.of(known, model.missing)
    if not encoder.columns:
        reasons = "; ".join(f"{one.name!r}: {one.words}" for one in encoder.inputs[:5])
        raise ValueError(f"no column of X can be used ({reasons}); give one that varies")
    encoder.check(table, _TITLE)
    members = None if groups is None else np.asarray(groups)[present]
    model.encoder_, own = encoder.with_targets(known, labels[present], members, _SEED)
    made = own if len(own) == len(table) else model.encoder_.encode(table)
    made[present] = own
    return check_array(made, order="C"), labels


def encoded(model: Any, X: Any) -> Any:
    """New rows as the matrix that the model was fitted to (sparse ones stay sparse)."""
    encoder = vars(model).get("encoder_")
    table = _table(X) if isinstance(encoder, Encoder) else None
    if table is not None:
        _known(model, X, reset=False)
        if not len(table):
            raise ValueError("X is a data frame of 0 rows, while a minimum of 1 is required")
        return encoder.encode(encoder.typed(table, _TITLE), _TITLE)
    if isinstance(encoder, Encoder):
        words = [one.name for one in encoder.inputs if one.kind not in ("number", "not used")]
        if words:
            raise ValueError(
                f"the model was fitted to a data frame whose column {words[0]!r} is no number; "
                "give a data frame with the same columns"
            )
    plain = isinstance(encoder, Gaps) and encoder.plain
    if plain and "feature_names_in_" not in vars(model) and ready(X, model.n_features_in_):
        return X
    allowed = "allow-nan" if model.missing != "error" and not sparse.issparse(X) else True
    X = validate_data(
        model, X, accept_sparse="csr", dtype=np.float64, reset=False, ensure_all_finite=allowed
    )
    if encoder is None or sparse.issparse(X):
        if (isinstance(encoder, Gaps) and not encoder.plain) or isinstance(encoder, Encoder):
            return encoded(model, X.toarray())
        return X
    if isinstance(encoder, Gaps):
        return encoder.encode(X)
    columns = dict(zip(encoder.names, np.asarray(X).T, strict=True))
    return encoder.encode(Table(columns, np.arange(len(X)), len(X)), _TITLE)


def dense(X: Any) -> Array:
    """Sparse rows as dense ones, within reason."""
    if not sparse.issparse(X):
        return np.ascontiguousarray(X)  # one layout, and so one rounding
    if X.shape[0] * X.shape[1] * 8 > DENSE_LIMIT:
        raise ValueError(
            f"the sparse X of shape {X.shape} would be too large as a dense array "
            f"({X.shape[0] * X.shape[1] * 8 / 2**30:.0f} GiB), which kernels here need; reduce its "
            "columns first, e.g. by sklearn.decomposition.TruncatedSVD"
        )
    return np.asarray(X.toarray())


def spans(encoder: Encoder | Gaps | None) -> Array | None:
    """What columns are divided by that are not to be standardised; None if all are."""
    return None if encoder is None or encoder.plain else encoder.spans


def variables(encoder: Encoder | Gaps | None) -> tuple[int, ...] | None:
    """The variable that each encoded column belongs to; None if each is one."""
    return None if encoder is None or encoder.plain else tuple(encoder.variables.tolist())


def categories(encoder: Encoder | Gaps | None) -> tuple[int, ...]:
    """The variables that are categories; none if all are."""
    if not isinstance(encoder, Encoder):
        return ()
    words = np.repeat(encoder.worded, [len(one.columns) for one in encoder.inputs])
    found = np.unique(encoder.variables[words])
    return () if words.all() else tuple(found.tolist())


def by_input(model: Any, shares: Array) -> Array:
    """Relevances of encoded columns added up for each input of the model."""
    if model.encoder_ is None or model.encoder_.plain:
        return shares
    found = np.bincount(model.encoder_.owners, shares, model.n_features_in_)
    return np.asarray(found, dtype=np.float64)


def _present(weights: Any, n: int) -> IntArray | slice:
    """The rows that have weight; all of them where the weights are none or no weights."""
    told = np.asarray(1.0 if weights is None else weights)
    found = np.flatnonzero(told != 0) if told.shape == (n,) else np.arange(n)
    return found if 0 < len(found) < n else slice(None)


def _table(X: Any) -> Table | None:
    """A data frame, or a table that has been read from a file; None for anything else."""
    if isinstance(X, Table):
        return X
    return None if as_frame(X) is None else table_of(X, _TITLE)


def _known(model: Any, X: Any, reset: bool) -> None:
    """Number and names of the columns, as scikit-learn keeps and compares them."""
    if isinstance(X, Table):
        if reset:
            model.n_features_in_ = len(X.columns)
            model.feature_names_in_ = np.array(list(X.columns), dtype=object)
        return
    frame = as_frame(X)
    named = X
    if frame is not None and not hasattr(X, "iloc"):  # not every scikit-learn knows every frame
        import pandas as pd

        named = pd.DataFrame(columns=list(frame.columns))
    _check_feature_names(model, named, reset=reset)
    _check_n_features(model, X, reset=reset)


def _values(y: Any) -> Any:
    """Labels of polars and other frames as an array."""
    if hasattr(y, "isna"):  # of pandas, whose NA is no number that could be refused
        return y.to_numpy(na_value=np.nan) if y.isna().to_numpy().any() else y.to_numpy()
    return y.to_numpy() if hasattr(y, "to_numpy") else y
