"""The first step of an exported pipeline: columns to numbers, as the model learned it."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin

from svmselect.estimators.given import encoded
from svmselect.types import Array


class ColumnEncoder(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Frames, and arrays with gaps, as the matrix that a model computes with.

    Parameters
    ----------
    encoder : Encoder or Gaps
        What the model learned of its columns: its ``encoder_``.
    n_features_in, feature_names_in : int, ndarray or None
        What scikit-learn knows of them.
    """

    def __init__(self, encoder: Any, n_features_in: int, feature_names_in: Any = None) -> None:
        self.encoder = encoder
        self.n_features_in = n_features_in
        self.feature_names_in = feature_names_in
        self.encoder_ = encoder
        self.n_features_in_ = n_features_in
        if feature_names_in is not None:
            self.feature_names_in_ = feature_names_in

    missing = "auto"

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def fit(self, X: Any, y: Any = None) -> Self:
        """Do nothing: all is learned."""
        return self

    def transform(self, X: Any) -> Array:
        """Encode rows."""
        return np.asarray(encoded(self, X))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names of the encoded columns."""
        return np.asarray(self.encoder.columns, dtype=object)
