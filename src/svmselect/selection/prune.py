"""Leave out inputs that the length scales say do not matter, and fit again."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from svmselect.data import Dataset, check_matrix
from svmselect.kernels import Kernel
from svmselect.kernels.base import Composite
from svmselect.kernels.stationary import Stationary
from svmselect.parallel import single_threaded
from svmselect.selection.objective import Posterior
from svmselect.selection.plan import Plan
from svmselect.selection.relevance import spread_of
from svmselect.selection.result import Selection
from svmselect.types import Array, IntArray


@dataclass(frozen=True, eq=False)
class Pruned:
    """A selection on fewer inputs.

    Attributes
    ----------
    kept : ndarray of int
        The columns that are left, in order.
    dropped : ndarray of int
        The others.
    cost : float
        How much log-likelihood (and log prior) of all data leaving them out has cost, before the
        parameters were fitted again.
    selection : Selection
        The selection on the columns that are left.
    """

    kept: IntArray
    dropped: IntArray
    cost: float
    selection: Selection

    def decision_function(self, X: ArrayLike) -> Array:
        """Compute the decision values of rows with all columns.

        Parameters
        ----------
        X : array-like of shape (m, d)
            The rows.

        Returns
        -------
        ndarray of shape (m,)
            The decision values.
        """
        return self.selection.decision_function(check_matrix(X)[0][:, self.kept])

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict the labels of rows with all columns.

        Parameters
        ----------
        X : array-like of shape (m, d)
            The rows.

        Returns
        -------
        ndarray of shape (m,)
            The labels.
        """
        return self.selection.predict(check_matrix(X)[0][:, self.kept])


def relevance(selection: Selection) -> Array:
    """Tell how much each input moves the kernel: its variance over its squared length scale.

    Parameters
    ----------
    selection : Selection
        What ``select`` returned, with a kernel that has a length scale for each input.

    Returns
    -------
    ndarray of shape (d,)
        The relevance of each input.
    """
    data = selection.posterior.objective.data
    spread = spread_of(data.X, data.weights)
    total = np.zeros(data.X.shape[1])
    for leaf in selection.kernel.leaves():
        if isinstance(leaf, Stationary) and isinstance(leaf.length_scale, tuple):
            total += (spread / leaf.by_column()) ** 2
    if not total.any():
        raise ValueError(
            f"{selection.kernel!r} has no length scale for each input, so it does not say which "
            "inputs matter; select with e.g. RBF(length_scale=[1.0] * X.shape[1])"
        )
    return np.asarray(total)


def prune(selection: Selection, allowance: float = 1.0, n_jobs: int | None = None) -> Pruned:
    """Drop the least relevant inputs as long as it costs little, and search again without them.

    Parameters
    ----------
    selection : Selection
        What ``select`` returned, with a kernel that has a length scale for each input.
    allowance : float, default 1.0
        Units of log-likelihood that an input may cost; one is what ABIC charges for a parameter.
    n_jobs : int, optional
        Workers, as joblib counts them.

    Returns
    -------
    Pruned
        The inputs that are left, and the selection on them.

    Notes
    -----
    Inputs go in order of ``relevance``, those that are one variable of the kernel together. As many
    are dropped as cost at most ``allowance`` each, the other parameters unchanged; the number is
    found by doubling and halving, in O(log d) evaluations. Then the same search goes on from there.
    At least one input stays.
    """
    posterior, shares = selection.posterior, relevance(selection)
    member = variables_of(selection.kernel, len(shares))
    order = np.argsort(np.bincount(member, shares), kind="stable")
    n, most = float(posterior.objective.data.weights.sum()), len(order) - 1
    costs = {0: 0.0}

    def affordable(count: int) -> bool:
        kept = np.flatnonzero(np.isin(member, order[count:]))
        function, point = reduced(posterior, selection.point, kept)
        answer, _ = single_threaded(function, point, False, None)
        costs[count] = n * (answer.value - selection.record.loss)
        return costs[count] <= allowance * count

    low, high = 0, 1
    while high <= most and affordable(high):
        low, high = high, 2 * high
    high = min(high, most + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if affordable(middle) else (low, middle)
    gone = np.isin(member, order[:low])
    kept, dropped = np.flatnonzero(~gone), np.flatnonzero(gone)
    if not low:
        return Pruned(kept, dropped, 0.0, selection)
    function, point = reduced(posterior, selection.point, kept)
    job, objective = selection.outcomes[0].job, function.objective
    settings = (objective.loss, objective.fit_intercept, function.prior, point)
    again = Plan.of(
        objective.data, objective.criterion, None, job.search, objective.kernel, *settings,
        bounds=None, n_starts=1, random_state=job.seed, checkpoint=None, validation=None,
        patience=0,
    )  # fmt: skip
    return Pruned(kept, dropped, costs[low], again.run(n_jobs=n_jobs))


def reduced(posterior: Posterior, point: Array, kept: IntArray) -> tuple[Posterior, Array]:
    """The same function on fewer inputs, and the same point there."""
    objective = posterior.objective
    old = objective.data
    names = None if old.feature_names is None else tuple(old.feature_names[i] for i in kept)
    X = np.ascontiguousarray(old.X[:, kept])
    X.flags.writeable = False
    data = Dataset(X, old.y, old.classes, old.weights, names)
    kernel = on_inputs(objective.kernel.at(point[1:]), kept)
    smaller = replace(objective, data=data, kernel=kernel)
    function = replace(posterior, objective=smaller, validation=None)
    return function, np.concatenate([point[:1], kernel.theta])


def variables_of(kernel: Kernel, inputs: int) -> IntArray:
    """The variable that each input belongs to: as a part of the kernel says, or each its own."""
    for leaf in kernel.leaves():
        if isinstance(leaf, Stationary) and leaf.variables is not None:
            return np.asarray(leaf.variables)
    return np.arange(inputs)


def on_inputs(kernel: Kernel, kept: IntArray) -> Kernel:
    """The kernel of these inputs only: its vectors of length scales cut down to them."""
    if isinstance(kernel, Composite):
        return type(kernel)(tuple(on_inputs(part, kept) for part in kernel.parts))
    if not isinstance(kernel, Stationary):
        return kernel
    left, member = kept, None
    if kernel.variables is not None:
        left, places = np.unique(np.asarray(kernel.variables)[kept], return_inverse=True)
        member = tuple(places.ravel().tolist())
    scales = kernel.length_scale
    if isinstance(scales, tuple):
        scales = tuple(scales[i] for i in left)
    return replace(kernel, length_scale=scales, variables=member)  # type: ignore[type-var]
