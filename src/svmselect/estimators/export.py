"""A fitted model as a plain scikit-learn Pipeline."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from svmselect.estimators.machines import from_dual_coef
from svmselect.kernels import RBF, Linear, Polynomial
from svmselect.selection.export import _form


def to_pipeline(model: Any) -> Any:
    """Give StandardScaler, then an SVC with the model's support vectors and coefficients.

    For one RBF, polynomial or linear kernel, times constants and plus constants. The SVC is fitted
    to two rows a class, to set itself up, and then given the solution: its decision values are the
    model's (of the pairs, "ovo", for three classes or more). There it predicts by the pairs' votes,
    where the model takes the largest coupled probability: they differ where a vote is tied.
    """
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    if model.selection_.normalised is not None:
        raise ValueError(
            "an SVC has one decision function and this model averages over a posterior; fit with "
            "probability='sigmoid' to export"
        )
    if isinstance(model.kernel_, tuple):
        raise ValueError(
            "an SVC has one kernel for all pairs of classes and multi_class='ovo-separate' fits "
            "one for each; fit with multi_class='ovo' to export"
        )
    form = _form(model.kernel_)
    leaf, scale = form.leaf, model.scale_
    options: dict[str, Any] = {}
    if isinstance(leaf, RBF):
        # the length scales go into the scaler, so that one gamma serves any of them
        scale = scale * np.asarray(leaf.length_scale)
        options = {"kernel": "rbf", "gamma": 0.5}
    elif isinstance(leaf, Polynomial):
        options = {"kernel": "poly", "gamma": leaf.scale, "coef0": leaf.coef0}
        options |= {"degree": leaf.degree}
    elif isinstance(leaf, Linear):
        options = {"kernel": "linear"}
    else:
        raise ValueError(
            f"scikit-learn's SVC has no kernel like {model.kernel_!r}; it has one RBF, polynomial "
            "or linear kernel, times a constant, plus a constant"
        )
    factor = form.factor * (leaf.scale if isinstance(leaf, Linear) else 1.0)
    k, d = len(model.classes_), model.n_features_in_
    scaler = StandardScaler().fit(np.zeros((1, d)))
    scaler.mean_, scaler.scale_, scaler.var_ = model.mean_.copy(), scale.copy(), scale**2
    scaler.n_samples_seen_ = np.int64(model.selection_.rows)
    svc = SVC(C=float(model.C_) * factor, decision_function_shape="ovo", **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the rows are no data
        svc.fit(np.arange(2.0 * k)[:, None] * np.ones(d), np.repeat(model.classes_, 2))
    coefficients = np.ascontiguousarray(factor * model.dual_coef_)
    offset = model.intercept_ + form.constant * _sums(model)
    sign = -1.0 if k == 2 else 1.0  # what LIBSVM itself keeps
    svc.support_ = model.support_
    svc.support_vectors_ = np.ascontiguousarray(scaler.transform(model.support_vectors_))
    svc._n_support = model.n_support_
    svc.dual_coef_, svc._dual_coef_ = coefficients, np.ascontiguousarray(sign * coefficients)
    svc.intercept_, svc._intercept_ = offset, np.ascontiguousarray(sign * offset)
    svc.shape_fit_ = (model.selection_.rows, d)
    names = vars(model).get("feature_names_in_")
    if names is not None:
        scaler.feature_names_in_ = names
    return Pipeline([("scale", scaler), ("svc", svc)])


def _sums(model: Any) -> Any:
    """The coefficients of each pair added up: what a constant in the kernel is multiplied with."""
    k = len(model.classes_)
    member = np.repeat(np.arange(k), model.n_support_)
    sums = from_dual_coef(model.dual_coef_, member, k).sum(axis=0)
    return sums if k == 2 else -sums
