"""``score`` and ``select``: the two functions a researcher calls."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from svmselect.criteria import Criterion, get_criterion
from svmselect.data import Dataset
from svmselect.kernels import Kernel, as_kernel
from svmselect.search import Search
from svmselect.search.run import Progress
from svmselect.selection.objective import Objective
from svmselect.selection.plan import Plan
from svmselect.selection.result import Selection
from svmselect.types import Score


def score(
    X: Any,
    y: Any,
    criterion: str | Criterion,
    C: float = 1.0,
    kernel: Kernel | str | Any = "rbf",
    loss: str = "hinge",
    fit_intercept: bool = True,
    gradient: bool = False,
    weights: ArrayLike | None = None,
    **options: Any,
) -> Score:
    """Evaluate one criterion at one setting of C and the kernel.

    ``options`` are the criterion's own (``svmselect.criteria.available()`` lists them all). The
    gradient is with respect to ``names``: log C and the logarithm of every kernel parameter; None
    where the criterion is discontinuous. An unsuitable combination of criterion, loss and intercept
    is refused before any work.
    """
    if not (np.isfinite(C) and C > 0):
        raise ValueError(f"C must be a positive finite number, got {C!r}")
    made = get_criterion(criterion, **options)
    form = as_kernel(kernel)
    objective = Objective(Dataset.of(X, y, weights), form, made, loss, fit_intercept)
    return objective.score(float(C), form, gradient)[0]


def select(
    X: Any,
    y: Any,
    criterion: str | Criterion = "likelihood",
    search: str | Search[Any] = "irprop",
    kernel: Any = "rbf",
    loss: str = "hinge",
    fit_intercept: bool = True,
    prior: Any = None,
    start: Any = None,
    bounds: Any = None,
    budget: int | None = None,
    max_time: float | None = None,
    n_starts: int = 1,
    random_state: int | np.random.Generator | None = None,
    n_jobs: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    callback: Callable[[Progress], Any] | None = None,
    *,
    weights: ArrayLike | None = None,
    options: Mapping[str, Any] | None = None,
    validation: tuple[Any, Any] | None = None,
    patience: int = 10,
) -> Selection:
    """Choose C and the kernel's parameters by one criterion and one search.

    criterion, search : names, or objects made with their options; ``options`` are the criterion's,
        where it is given by name. search="auto": "lbfgs" where there is a gradient, else "cma-es".
    kernel : a kernel, a name, or a list of either: then each is searched and the best is taken,
        with one more unit of log-likelihood asked of it for each parameter (ABIC).
    prior : None, "flat", "hierarchical", "integrated", an object of ``svmselect.priors`` or a
        function of the point that gives log pi and its gradient. It is added to the log-likelihood
        of all data, not to the mean.
    start, bounds, n_starts : see ``svmselect.search.starts``; of several starts the best is taken.
    budget, max_time : evaluations and seconds in all; ``callback`` gets a ``Progress`` after each
        evaluation and returns True to stop. These and Ctrl-C give the best so far and say so in
        ``status`` and ``messages``.
    n_jobs : workers, as joblib counts them; the result does not depend on it.
    checkpoint : a file of JSON lines; with the same file, data and settings a killed selection goes
        on and ends where it would have ended.
    validation : (X, y) held apart: a run stops when ``patience`` evaluations have not improved the
        error there, and gives the point with the lowest (GS 5.3.2).

    A result on the edge of the search box is a UserWarning that names the parameter.
    """
    plan = Plan.of(
        Dataset.of(X, y, weights), criterion, options, search, kernel, loss, fit_intercept, prior,
        start, bounds, n_starts, random_state, checkpoint, validation, patience,
    )  # fmt: skip
    return plan.run(budget, max_time, n_jobs, checkpoint, callback)
