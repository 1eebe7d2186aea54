"""The decision over two inputs, all others at their medians."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from svmselect.plots.data.calibration import codes_of
from svmselect.types import Array, IntArray


@dataclass(frozen=True, eq=False)
class BoundaryData:
    """Probabilities on a grid, (rows of ``y``, columns of ``x``, classes), and the data's rows.

    A selection without probabilities has its decision values there instead, one "class":
    ``probabilities`` says which. ``rows`` are the two inputs of every row, ``codes`` its class.
    """

    names: tuple[str, str]
    x: Array
    y: Array
    values: Array
    probabilities: bool
    classes: NDArray[Any]
    rows: Array
    codes: IntArray


def of_estimator(
    model: Any, X: Any, y: Any, inputs: Sequence[int | str], names: Any = None, size: int = 100
) -> BoundaryData:
    """The probabilities of a fitted AutoSVC or AutoKLR; without ``y`` rows count as predicted."""
    known = names if names is not None else vars(model).get("feature_names_in_")
    rows = np.asarray(X.toarray() if getattr(X, "toarray", None) is not None else X, dtype=float)
    columns = vars(model).get("feature_names_in_")

    def ask(grid: Array) -> Array:
        if columns is None:
            return np.asarray(model.predict_proba(grid))
        import pandas as pd

        return np.asarray(model.predict_proba(pd.DataFrame(grid, columns=columns)))

    codes = codes_of(model.predict(X) if y is None else y, model.classes_)
    return _drawn(rows, codes, model.classes_, inputs, known, size, ask, True)


def of_selection(
    selection: Any, inputs: Sequence[int | str], names: Any = None, size: int = 100
) -> BoundaryData:
    """The decision values of a selection, on its own data."""
    data = selection.posterior.objective.data
    known = names if names is not None else data.feature_names

    def ask(grid: Array) -> Array:
        return np.asarray(selection.decision_function(grid) - selection.threshold)[:, None]

    codes = (data.y > 0).astype(np.intp)
    return _drawn(data.X, codes, data.classes, inputs, known, size, ask, False)


def _drawn(
    rows: Array,
    codes: IntArray,
    classes: NDArray[Any],
    inputs: Sequence[int | str],
    names: Any,
    size: int,
    ask: Callable[[Array], Array],
    probabilities: bool,
) -> BoundaryData:
    d = rows.shape[1]
    listed = [f"input {a}" for a in range(d)] if names is None else [str(name) for name in names]
    if len(inputs) != 2 or inputs[0] == inputs[1]:
        raise ValueError(f"inputs={inputs!r} must be two different inputs, by name or number")
    one, other = (_place(given, listed) for given in inputs)
    x, y = (_range(rows[:, a], size) for a in (one, other))
    grid = np.tile(np.median(rows, axis=0), (size * size, 1))
    grid[:, one], grid[:, other] = np.tile(x, size), np.repeat(y, size)
    return BoundaryData(
        names=(listed[one], listed[other]),
        x=x,
        y=y,
        values=ask(grid).reshape(size, size, -1),
        probabilities=probabilities,
        classes=classes,
        rows=rows[:, [one, other]],
        codes=codes,
    )


def _place(given: int | str, names: Sequence[str]) -> int:
    if isinstance(given, str):
        if given not in names:
            raise ValueError(f"no input is called {given!r}; there are {', '.join(names[:10])}")
        return list(names).index(given)
    if not 0 <= given < len(names):
        raise ValueError(f"input {given} is none of the {len(names)} inputs")
    return int(given)


def _range(values: Array, size: int) -> Array:
    low, high = float(values.min()), float(values.max())
    pad = 0.08 * (high - low) or 1.0
    return np.linspace(low - pad, high + pad, size)
