"""A fitted classifier and what it needs to read raw tables: what a model file holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from svmselect.tables.encoder import Encoder, infinite
from svmselect.tables.frame import frame_source
from svmselect.tables.gather import Table
from svmselect.tables.roles import check_complete
from svmselect.types import Array


@dataclass(frozen=True, eq=False)
class TableModel:
    """A classifier of table rows; ``estimator`` is a fitted AutoSVC or AutoKLR.

    ``target`` is the column it predicts and ``origin`` says what it was made of.
    """

    encoder: Encoder
    estimator: Any
    target: str
    origin: dict[str, Any]

    @property
    def classes(self) -> list[str]:
        """The labels, in the order of the probabilities."""
        return [str(one) for one in self.estimator.classes_]

    def inputs(self, table: Table, title: str) -> Array:
        """The matrix of a table that has the inputs; refuses gaps unless they are filled in."""
        if not self.encoder.impute:
            check_complete(table, title)
        X = self.encoder.encode(table)
        infinite(X, self.encoder.columns, table, title)
        return X

    def predict_frame(self, frame: Any) -> tuple[NDArray[Any], Array]:
        """Labels and probabilities of the rows of a pandas data frame, columns found by name."""
        source = frame_source(frame)
        self.encoder.match(source)
        parts, before = [], 0
        for piece in source.frames():
            parts.append(self.predict(self.encoder.read(piece, source, before), source.title))
            before += len(piece)
        if not parts:
            raise ValueError("the data frame has no rows; give at least one")
        labels, p = zip(*parts, strict=True)
        return np.concatenate(labels), np.vstack(p)

    def predict(self, table: Table, title: str = "the table") -> tuple[NDArray[Any], Array]:
        """Labels and probabilities, which agree."""
        X: Any = self.inputs(table, title)
        if getattr(self.estimator, "feature_names_in_", None) is not None:
            import pandas as pd

            X = pd.DataFrame(X, columns=list(self.encoder.columns))
        p = self.estimator.predict_proba(X)
        return np.asarray(self.estimator.classes_)[p.argmax(axis=1)], p
