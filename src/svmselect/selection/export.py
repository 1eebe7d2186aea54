"""A trained machine as a plain scikit-learn Pipeline."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from svmselect.data import Dataset
from svmselect.kernels import RBF, Constant, Kernel, Linear, Polynomial
from svmselect.kernels.base import Product, Sum
from svmselect.machine import Solution
from svmselect.types import Array, IntArray


@dataclass(frozen=True)
class _Form:
    """factor * leaf + constant."""

    leaf: Kernel | None
    factor: float
    constant: float


@dataclass(frozen=True, eq=False)
class SupportMachine:
    """What an SVC is made of: machines of all pairs of classes that share a kernel.

    ``vectors`` are in the units of the inputs, which go through (x - mean) / scale, and come class
    by class, ``counts`` of each; ``dual_coef`` and ``intercept`` are as scikit-learn packs them,
    and ``sums`` are the coefficients of each pair added up, with the sign of its intercept.
    ``bend`` has the origin, unit and power in rows by which columns are bent before all that.
    """

    kernel: Kernel
    C: float
    classes: NDArray[Any]
    mean: Array
    scale: Array
    rows: int
    support: IntArray
    vectors: Any  # an array, or a sparse matrix
    counts: IntArray
    dual_coef: Array
    intercept: Array
    sums: Array
    feature_names: Any = None
    bend: Array | None = None


def pipeline(machine: SupportMachine) -> Any:
    """Give a StandardScaler, then an SVC with these support vectors and coefficients.

    Where columns are bent, a StandardScaler and a PowerTransformer come before these.
    For an RBF (one length scale or several), polynomial or linear kernel, times constants and plus
    constants. The SVC is fitted to two rows a class, to set itself up, and then given the solution:
    so the loss and the treatment of the offset may be any. A Constant that is added goes into its
    intercept.
    """
    from sklearn.pipeline import Pipeline
    from sklearn.svm import SVC

    m, form = machine, _form(machine.kernel)
    leaf, mean, scale = form.leaf, m.mean, m.scale
    steps: list[tuple[str, Any]] = []
    if m.bend is not None:
        steps, mean, scale = _bends(m.bend, mean, scale, m.rows)
    options: dict[str, Any] = {}
    if isinstance(leaf, RBF):
        # the length scales go into the scaler, so that one gamma serves any of them
        scale = scale * leaf.by_column()
        options = {"kernel": "rbf", "gamma": 0.5}
    elif isinstance(leaf, Polynomial):
        options = {"kernel": "poly", "gamma": leaf.scale, "coef0": leaf.coef0}
        options |= {"degree": leaf.degree}
    elif isinstance(leaf, Linear):
        options = {"kernel": "linear"}
    else:
        raise ValueError(
            f"scikit-learn's SVC has no kernel like {m.kernel!r}; it has one RBF, polynomial or "
            "linear kernel, times a constant, plus a constant"
        )
    factor = form.factor * (leaf.scale if isinstance(leaf, Linear) else 1.0)
    k, d = len(m.classes), len(m.mean)
    steps = [*steps, ("scale", _scaler(mean, scale, m.rows))]
    svc = SVC(C=m.C * factor, decision_function_shape="ovo", **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the rows are no data
        svc.fit(np.arange(2.0 * k)[:, None] * np.ones(d), np.repeat(m.classes, 2))
    coefficients = np.ascontiguousarray(factor * m.dual_coef)
    offset = m.intercept + form.constant * m.sums
    sign = -1.0 if k == 2 else 1.0  # what LIBSVM itself keeps
    svc.support_ = m.support.astype(np.int32)
    vectors = m.vectors.toarray() if sparse.issparse(m.vectors) else m.vectors
    svc.support_vectors_ = np.ascontiguousarray(Pipeline(steps).transform(vectors))
    svc._n_support = m.counts.astype(np.int32)
    svc.dual_coef_, svc._dual_coef_ = coefficients, np.ascontiguousarray(sign * coefficients)
    svc.intercept_, svc._intercept_ = offset, np.ascontiguousarray(sign * offset)
    svc.shape_fit_ = (m.rows, d)
    if m.feature_names is not None:
        steps[0][1].feature_names_in_ = np.asarray(m.feature_names, dtype=object)
    return Pipeline([*steps, ("svc", svc)])


def _scaler(mean: Array, scale: Array, rows: int) -> Any:
    """A StandardScaler that has learned this."""
    from sklearn.preprocessing import StandardScaler

    scaler = StandardScaler().fit(np.zeros((1, len(mean))))
    scaler.mean_, scaler.scale_, scaler.var_ = mean.copy(), scale.copy(), scale**2
    scaler.n_samples_seen_ = np.int64(rows)
    return scaler


def _bends(
    bend: Array, mean: Array, scale: Array, rows: int
) -> tuple[list[tuple[str, Any]], Array, Array]:
    """The steps that bend columns; also what is then subtracted, and divided by.

    Columns that are not bent go through Yeo and Johnson's function with power one, which rounds: so
    they are standardised before it.
    """
    from sklearn.preprocessing import PowerTransformer

    origin, unit, power = bend
    bent, sign = power != 1.0, np.sign(unit)  # a negative unit mirrors before and after
    function = PowerTransformer(standardize=False).fit(np.zeros((2, len(power))))
    function.lambdas_ = power.copy()
    before = _scaler(np.where(bent, origin, mean), np.where(bent, unit, scale), rows)
    after = np.where(bent, sign * mean, 0.0), np.where(bent, sign * scale, 1.0)
    return [("unit", before), ("bend", function)], *after


def of_selection(data: Dataset, kernel: Kernel, C: float, solution: Solution) -> SupportMachine:
    """The machine of a selection; its inputs are not scaled."""
    sv, d = solution.support, data.X.shape[1]
    sv = np.concatenate([sv[data.y[sv] < 0], sv[data.y[sv] > 0]])
    return SupportMachine(
        kernel=kernel,
        C=C,
        classes=data.classes,
        mean=np.zeros(d),
        scale=np.ones(d),
        rows=len(data),
        support=sv,
        vectors=data.X[sv],
        counts=np.array([(data.y[sv] < 0).sum(), (data.y[sv] > 0).sum()]),
        dual_coef=solution.beta[sv][None, :],
        intercept=np.array([solution.intercept]),
        sums=np.array([solution.beta.sum()]),
        feature_names=data.feature_names,
    )


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
