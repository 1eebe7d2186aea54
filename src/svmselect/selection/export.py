"""A trained machine as a plain scikit-learn Pipeline."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from svmselect.data import Dataset
from svmselect.kernels import RBF, Constant, Kernel, Linear, Polynomial
from svmselect.kernels.base import Product, Sum
from svmselect.machine import Solution
from svmselect.types import Array


@dataclass(frozen=True)
class _Form:
    """factor * leaf + constant."""

    leaf: Kernel | None
    factor: float
    constant: float


def pipeline(data: Dataset, kernel: Kernel, C: float, solution: Solution) -> Any:
    """Scale the inputs, then an SVC with our support vectors and coefficients, to the last bits.

    For an RBF (one length scale or several), polynomial or linear kernel, times constants and plus
    constants. The SVC is fitted once to set itself up, then given the exact solution: so the loss
    and the treatment of the offset may be any. A Constant that is added goes into its intercept.
    """
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    form = _form(kernel)
    leaf = form.leaf
    scale, options = np.ones(data.X.shape[1]), {}
    if isinstance(leaf, RBF):
        scale = scale * np.asarray(leaf.length_scale)
        options = {"kernel": "rbf", "gamma": 0.5}
    elif isinstance(leaf, Polynomial):
        options = {"kernel": "poly", "gamma": leaf.scale, "coef0": leaf.coef0}
        options |= {"degree": leaf.degree}
    elif isinstance(leaf, Linear):
        options = {"kernel": "linear"}
    else:
        raise ValueError(
            f"scikit-learn's SVC has no kernel like {kernel!r}; it has one RBF, polynomial or "
            "linear kernel, times a constant, plus a constant"
        )
    factor = form.factor * (leaf.scale if isinstance(leaf, Linear) else 1.0)
    scaler = StandardScaler(with_mean=False).fit(data.X)
    scaler.scale_, scaler.var_ = scale, scale**2
    svc = SVC(C=C * factor, max_iter=1, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # one iteration is meant
        svc.fit(scaler.transform(data.X), data.classes[(data.y > 0).astype(np.intp)])
    svc.set_params(max_iter=-1)
    # support vectors class by class, as LIBSVM keeps them
    sv = solution.support
    sv = np.concatenate([sv[data.y[sv] < 0], sv[data.y[sv] > 0]])
    coefficients: Array = factor * solution.beta[sv][None, :]
    offset = solution.intercept + form.constant * float(solution.beta.sum())
    svc.support_ = sv.astype(np.int32)
    svc.support_vectors_ = np.ascontiguousarray(scaler.transform(data.X[sv]))
    counts = [int((data.y[sv] < 0).sum()), int((data.y[sv] > 0).sum())]
    svc._n_support = np.array(counts, dtype=np.int32)
    svc.dual_coef_, svc._dual_coef_ = coefficients, np.ascontiguousarray(-coefficients)
    svc.intercept_, svc._intercept_ = np.array([offset]), np.array([-offset])
    if data.feature_names is not None:
        scaler.feature_names_in_ = np.array(data.feature_names, dtype=object)
    return Pipeline([("scale", scaler), ("svc", svc)])


def _form(kernel: Kernel) -> _Form:
    """Write an expression as factor * leaf + constant, if it can be."""
    if isinstance(kernel, Constant):
        return _Form(None, 1.0, kernel.value)
    if not isinstance(kernel, Sum | Product):
        return _Form(kernel, 1.0, 0.0)
    parts = [_form(part) for part in kernel.parts]
    varying = [part for part in parts if part.leaf is not None]
    if len(varying) != 1:
        total = sum if isinstance(kernel, Sum) else np.prod
        constant = float(total([part.constant for part in parts]))
        return _Form(None if not varying else kernel, 1.0, 0.0 if varying else constant)
    (one,) = varying
    rest = [part.constant for part in parts if part is not one]
    if isinstance(kernel, Sum):
        return _Form(one.leaf, one.factor, one.constant + float(sum(rest)))
    factor = float(np.prod(rest))
    return _Form(one.leaf, factor * one.factor, factor * one.constant)
