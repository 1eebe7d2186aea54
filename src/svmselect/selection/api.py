"""``score`` and ``select``: the two functions a researcher calls."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from svmselect.criteria import Criterion, get_criterion
from svmselect.data import Dataset
from svmselect.devices import usable
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

    Parameters
    ----------
    X : array-like of shape (n, d)
        The inputs, as they are: nothing is standardised.
    y : array-like of shape (n,)
        The labels, of two classes.
    criterion : str or Criterion
        A name, or a criterion made with its options.
    C : float, default 1.0
        The penalty.
    kernel : Kernel or str, default "rbf"
        A kernel of ``svmselect.kernels`` or of scikit-learn's Gaussian processes, or a name.
    loss : {"hinge", "squared_hinge", "logistic"}, default "hinge"
        The loss of the machine.
    fit_intercept : bool, default True
        Whether the machine has an unpenalised intercept.
    gradient : bool, default False
        Whether the gradient is wanted.
    weights : array-like of shape (n,), optional
        How many copies each row counts for.
    **options : object
        The criterion's own, where it is given by name; ``svmselect.criteria.available()`` lists the
        criteria. Each takes ``random_state``, and ignores it where nothing is random.

    Returns
    -------
    Score
        The value and, if wanted, the gradient with respect to ``names``: log C and the logarithm of
        every kernel parameter. The gradient is None where the criterion is discontinuous.

    Raises
    ------
    ValueError
        Before any work, if the criterion does not serve this loss and intercept.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from svmselect import score
    >>> from svmselect.kernels import RBF
    >>> X, y = make_moons(100, noise=0.25, random_state=0)
    >>> at = score(X, y, "likelihood", C=1.0, kernel=RBF(0.5), gradient=True, random_state=0)
    >>> round(at.value, 3), at.names, at.gradient.round(3)
    (-0.117, ('log C', 'rbf.length_scale'), array([ 0.027, -0.05 ]))
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
    device: str = "cpu",
) -> Selection:
    """Choose C and the kernel's parameters by one criterion and one search.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The inputs, as they are: nothing is standardised.
    y : array-like of shape (n,)
        The labels, of two classes.
    criterion : str or Criterion, default "likelihood"
        A name, or a criterion made with its options.
    search : str or Search, default "irprop"
        A name, or a search made with its options; "auto" is "lbfgs" where the criterion has a
        gradient and "cma-es" where it has none.
    kernel : Kernel, str or list of either, default "rbf"
        A kernel, or a name. Of a list each is searched and the best is taken, with one more unit of
        log-likelihood asked of it for each parameter (ABIC).
    loss : {"hinge", "squared_hinge", "logistic"}, default "hinge"
        The loss of the machine.
    fit_intercept : bool, default True
        Whether the machine has an unpenalised intercept.
    prior : str, Prior, callable or None
        None, a name such as "flat", "hierarchical" or "integrated", an object of
        ``svmselect.priors``, or a function of the point that gives log pi and its gradient. It is
        added to the log-likelihood of all data, not to the mean.
    start : str, mapping, array-like or None
        Where the search begins; see ``svmselect.search.starts.make_starts``.
    bounds : mapping, array-like or None
        The box that it stays in; see ``svmselect.search.starts.make_space``.
    budget : int, optional
        The most evaluations in all.
    max_time : float, optional
        The most seconds in all.
    n_starts : int, default 1
        How many starts; the best end is taken.
    random_state : int, Generator or None
        Seed of folds, starts and searches.
    n_jobs : int, optional
        Workers, as joblib counts them; the result does not depend on it.
    checkpoint : path-like, optional
        A file of JSON lines; with the same file, data and settings a killed selection goes on and
        ends where it would have ended.
    callback : callable, optional
        Called with a ``Progress`` after each evaluation; it returns True to stop.
    weights : array-like of shape (n,), optional
        How many copies each row counts for.
    options : mapping, optional
        The criterion's own options, where it is given by name.
    validation : tuple of (X, y), optional
        Rows held apart: a run stops when ``patience`` evaluations have not improved the error
        there, and gives the point with the lowest.
    patience : int, default 10
        See ``validation``.
    device : {"cpu", "cuda"}, default "cpu"
        Where matrices are computed by the criteria that have this option, the evidences; on the
        processor, with a warning, where there is no such device.

    Returns
    -------
    Selection
        What was chosen. If the budget, the time, the callback or Ctrl-C ended the search it is the
        best so far, and ``status`` and ``notes`` say so.

    Warns
    -----
    UserWarning
        If the result lies on the edge of the search box; it names the parameter.

    References
    ----------
    Gold & Sollich 2003, section 5.3.2, for stopping early.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from svmselect import select
    >>> X, y = make_moons(100, noise=0.25, random_state=0)
    >>> chosen = select(X, y, "likelihood", search="gauss-newton", kernel="rbf", random_state=0)
    >>> chosen.status.name, round(chosen.value, 2), len(chosen.trace) < 40
    ('converged', -0.09, True)
    >>> chosen.predict([[0.0, 1.0], [1.0, -0.5]])
    array([0, 1])
    """
    on, said = usable(device)
    if device != "cpu":
        options = {**(options or {}), "device": on}
    plan = Plan.of(
        Dataset.of(X, y, weights), criterion, options, search, kernel, loss, fit_intercept, prior,
        start, bounds, n_starts, random_state, checkpoint, validation, patience,
    )  # fmt: skip
    if said:
        warnings.warn(said, RuntimeWarning, stacklevel=2)
    return plan.run(budget, max_time, n_jobs, checkpoint, callback)
