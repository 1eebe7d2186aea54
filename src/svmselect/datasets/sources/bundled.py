"""Data sets that scikit-learn carries."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from svmselect.datasets.record import Raw, standardised
from svmselect.datasets.sources.base import Places


@dataclass(frozen=True)
class BreastCancer:
    """Wisconsin diagnostic breast cancer (WDBC) in UCI's order; +1 is malignant."""

    first: int | None = None
    standardise: bool = False
    kind = "scikit-learn"

    def at_hand(self, places: Places) -> bool:
        return True

    def read(self, places: Places) -> Raw:
        from sklearn.datasets import load_breast_cancer

        held = load_breast_cancer()
        X = np.asarray(held.data, dtype=float)
        y = np.where(held.target == 0, 1.0, -1.0)
        if self.standardise:
            X = standardised(X)
        names = tuple(str(name) for name in held.feature_names)
        if self.first is None:
            return Raw(X, y, names)
        rows = np.arange(len(y))
        return Raw(X, y, names, rows[None, : self.first], rows[None, self.first :])

    def way(self) -> str:
        return "use scikit-learn's"
