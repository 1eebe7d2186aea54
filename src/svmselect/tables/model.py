"""A fitted classifier and what it needs to read raw tables: what a model file holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from svmselect.tables.encoder import Encoder
from svmselect.tables.frame import frame_source
from svmselect.tables.table import Table
from svmselect.types import Array


@dataclass(frozen=True, eq=False)
class TableModel:
    """A classifier of table rows; ``estimator`` is a fitted AutoSVC or AutoKLR.

    ``target`` is the column it predicts and ``origin`` says what it was made of. ``encoder`` tells
    how the columns are to be read; the estimator has the same one, unless it was fitted to arrays.
    """

    encoder: Encoder
    estimator: Any
    target: str
    origin: dict[str, Any]

    @property
    def classes(self) -> list[str]:
        """The labels, in the order of the probabilities."""
        return [str(one) for one in self.estimator.classes_]

    def predict_frame(self, frame: Any) -> tuple[NDArray[Any], Array]:
        """Labels and probabilities of the rows of a pandas data frame, columns found by name."""
        source = frame_source(frame)
        self.encoder.match(source.names, source.title)
        parts, before = [], 0
        for piece in source.frames():
            parts.append(self.predict(self.encoder.read(piece, source, before), source.title))
            before += len(piece)
        if not parts:
            raise ValueError("the data frame has no rows; give at least one")
        labels, p = zip(*parts, strict=True)
        return np.concatenate(labels), np.vstack(p)

    def sets(self, probabilities: Array, alpha: float) -> list[list[str]]:
        """The classes in the prediction set of each row, the most probable first."""
        sets = getattr(self._decider, "_sets", None)
        if sets is None:
            raise ValueError(
                f"a {type(self._decider).__name__} knows no sets of classes; fit an AutoSVC or "
                "AutoKLR for them"
            )
        inside = sets(probabilities, alpha)
        order = np.argsort(-probabilities, axis=1, kind="stable")
        classes = self.classes
        return [
            [classes[j] for j in row if there[j]] for row, there in zip(order, inside, strict=True)
        ]

    def predict(self, table: Table, title: str = "the table") -> tuple[NDArray[Any], Array]:
        """Labels and probabilities, which agree but where the model has a threshold of its own."""
        known = vars(self.estimator).get("encoder_")
        whole = isinstance(known, Encoder)
        p = self.estimator.predict_proba(table if whole else self.encoder.encode(table, title))
        labels = getattr(self._decider, "_labels", None)
        if labels is None:  # a classifier of scikit-learn
            return np.asarray(self.estimator.classes_)[p.argmax(axis=1)], p
        return labels(p), p

    @property
    def _decider(self) -> Any:
        """The classifier, the last step of a pipeline."""
        steps = getattr(self.estimator, "steps", None)
        return self.estimator if steps is None else steps[-1][1]
