"""A fitted model as a scikit-learn Pipeline."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import logit
from sklearn.pipeline import Pipeline

from svmselect.estimators.encoding import ColumnEncoder
from svmselect.estimators.machines import from_dual_coef
from svmselect.estimators.rest import against_rest
from svmselect.selection.export import SupportMachine, pipeline


def to_pipeline(model: Any) -> Any:
    """Give StandardScaler, then an SVC with the model's support vectors and coefficients.

    Where columns are no plain numbers, or gaps are to be filled in, what the model learned of them
    is a step before these.
    Its decision values are the model's (of the pairs, "ovo", for three classes or more). There it
    predicts by the pairs' votes, where the model takes the largest coupled probability: they differ
    where a vote is tied. Where the model has a threshold of its own, the pipeline comes inside
    scikit-learn's FixedThresholdClassifier, with the same threshold on decision values.
    """
    if model._utilities is None:
        return _pipeline(model)
    if len(model.classes_) > 2:
        raise ValueError(
            "an SVC predicts three classes or more by votes, which know no threshold; fit with "
            "threshold='argmax' to export"
        )
    from sklearn.model_selection import FixedThresholdClassifier

    cut = float(logit(model.threshold_) / -model.sigmoid_slope_[0])
    return FixedThresholdClassifier(
        _pipeline(model), threshold=cut, response_method="decision_function"
    )


def _pipeline(model: Any) -> Any:
    """The pipeline, whatever the threshold."""
    if model.selection_.normalised is not None:
        raise ValueError(
            "an SVC has one decision function and this model averages over a posterior; fit with "
            "probability='sigmoid' to export"
        )
    if model.companions_:
        raise ValueError(
            f"an SVC is one machine and this model averages {1 + len(model.companions_)}; fit with "
            "averaging=False to export, or use to_onnx, which has them all"
        )
    if against_rest(model.dual_coef_, len(model.classes_)):
        raise ValueError(
            "an SVC votes by pairs of classes, and this model of many rows has machines of one "
            "class against the rest; keep the model itself, by svmselect.save"
        )
    if isinstance(model.kernel_, tuple):
        raise ValueError(
            "an SVC has one kernel for all pairs of classes and multi_class='ovo-separate' fits "
            "one for each; fit with multi_class='ovo' to export"
        )
    k = len(model.classes_)
    member = np.repeat(np.arange(k), model.n_support_)
    sums = from_dual_coef(model.dual_coef_, member, k).sum(axis=0)
    encoder, names = model.encoder_, vars(model).get("feature_names_in_")
    plain = encoder is None or (encoder.plain and model.missing != "impute")
    made = pipeline(
        SupportMachine(
            kernel=model.kernel_,
            C=float(model.C_),
            classes=model.classes_,
            mean=model.mean_,
            scale=model.scale_,
            rows=model.selection_.rows,
            support=model.support_,
            vectors=model.support_vectors_,
            counts=model.n_support_,
            dual_coef=model.dual_coef_,
            intercept=model.intercept_,
            sums=sums if k == 2 else -sums,
            feature_names=names if plain else None,
            bend=model.bend_,
        )
    )
    if plain:
        return made
    first = ColumnEncoder(encoder, model.n_features_in_, names)
    return Pipeline([("encode", first), *made.steps])
