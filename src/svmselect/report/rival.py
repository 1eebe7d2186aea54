"""The plain grid beside it: what most people do today, for the comparison on the page."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from svmselect.report.record import Rival
from svmselect.report.words import number

PENALTIES = 2.0 ** np.arange(-5.0, 16.0, 2.0)
WIDTHS = 2.0 ** np.arange(-15.0, 4.0, 2.0)


def plain_grid(
    X: Any,
    y: Any,
    *,
    held_out: tuple[Any, Any] | None = None,
    cv: Any = 5,
    n_jobs: int | None = None,
) -> Rival:
    """Run scikit-learn's ``GridSearchCV`` over C and gamma of an ``SVC``, to compare with.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The rows.
    y : array-like of shape (n,)
        Their labels.
    held_out : (X, y), optional
        Rows held apart, to measure the error.
    cv : int or splitter, default 5
        The folds.
    n_jobs : int, optional
        Workers, as joblib counts them.

    Returns
    -------
    Rival
        What it chose, how well that does, and what it cost.

    Notes
    -----
    The grid is that of LIBSVM's guide, C = 2^-5, 2^-3, ..., 2^15 and gamma = 2^-15, ..., 2^3: 110
    points, judged by accuracy, the inputs standardised. Costs 110 trainings for each fold.
    """
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    began = time.perf_counter()
    form = make_pipeline(StandardScaler(), SVC())
    search = GridSearchCV(form, {"svc__C": PENALTIES, "svc__gamma": WIDTHS}, cv=cv, n_jobs=n_jobs)
    search.fit(X, y)
    spent = time.perf_counter() - began
    C, gamma = (float(search.best_params_[f"svc__{name}"]) for name in ("C", "gamma"))
    error = None if held_out is None else 1.0 - float(search.score(*held_out))
    return Rival(
        name="plain grid",
        chosen=f"C = {number(C)}, length scale {number((2.0 * gamma) ** -0.5)}",
        fold_error=1.0 - float(search.best_score_),
        held_out_error=error,
        evaluations=len(PENALTIES) * len(WIDTHS),
        seconds=spent,
    )
