"""How much each input counts, and over which distance it matters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from svmselect.plots.data.influence import influence
from svmselect.selection.relevance import relevance, scales, spread_of
from svmselect.types import Array


@dataclass(frozen=True, eq=False)
class ScaleData:
    """One entry an input: its name, its share of relevance (they sum to one), its length scale.

    ``length_scale`` is in units of the inputs as the kernel sees them, NaN where the kernel has
    none; ``separate`` says whether the inputs have length scales of their own. ``influence`` is how
    far the answers move when the input is shuffled, NaN where that was not asked.
    """

    names: tuple[str, ...]
    relevance: Array
    length_scale: Array
    separate: bool
    influence: Array


def of_estimator(model: Any, names: Sequence[str] | None = None, X: Any = None) -> ScaleData:
    """The inputs of a fitted AutoSVC or AutoKLR; with rows X also their influence."""
    kernels = model.kernel_ if isinstance(model.kernel_, tuple) else (model.kernel_,)
    shown = _names(names, model.n_features_in_, vars(model).get("feature_names_in_"))
    moved = np.full(len(shown), np.nan) if X is None else influence(model, X)
    shares, encoder = np.asarray(model.feature_importances_), model.encoder_
    if encoder is None or encoder.plain:
        return _gathered(kernels, shown, shares, moved)
    # a variable is an input, part of one (a date has several), or an input has none
    first = np.unique(encoder.variables, return_index=True)[1]
    variables = np.full(len(first), np.nan)
    found = _gathered(kernels, ("",) * len(first), variables, variables)
    owners = encoder.owners[first]
    times = np.bincount(owners, minlength=len(shown))
    logs = np.bincount(owners, np.log(found.length_scale), len(shown))
    with np.errstate(invalid="ignore"):
        lengths = np.exp(logs / times)
    return replace(found, names=shown, relevance=shares, length_scale=lengths, influence=moved)


def of_selection(selection: Any, names: Sequence[str] | None = None) -> ScaleData:
    """The inputs of a selection, by its own data."""
    data = selection.posterior.objective.data
    shown = _names(names, data.X.shape[1], data.feature_names)
    shares = relevance((selection.kernel,), spread_of(data.X, data.weights))
    return _gathered((selection.kernel,), shown, shares, np.full(len(shown), np.nan))


def _gathered(
    kernels: tuple[Any, ...], names: tuple[str, ...], shares: Array, moved: Array
) -> ScaleData:
    """One length scale an input: over several kernels and parts, the geometric mean."""
    parts = [np.broadcast_to(part, len(names)) for k in kernels for part in scales(k)]
    mean = np.exp(np.mean(np.log(parts), axis=0)) if parts else np.full(len(names), np.nan)
    vectors = any(np.ndim(part) for kernel in kernels for part in scales(kernel))
    return ScaleData(names, shares, np.asarray(mean, dtype=np.float64), vectors, moved)


def _names(given: Sequence[str] | None, d: int, known: Any) -> tuple[str, ...]:
    """The names given, else those the data had, else numbers."""
    if given is not None and len(given) != d:
        raise ValueError(f"names has {len(given)} entries but there are {d} inputs")
    found = given if given is not None else known
    return tuple(f"input {a}" for a in range(d)) if found is None else tuple(map(str, found))
