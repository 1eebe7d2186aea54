"""Class probabilities: sigmoids of decision values, pairs coupled to classes, and decisions."""

from svmselect.probability.coupling import couple
from svmselect.probability.intervals import interval
from svmselect.probability.prediction_sets import (
    check_alpha,
    least_probability,
    prediction_sets,
)
from svmselect.probability.sigmoid import (
    MAX_SLOPE,
    TARGETS,
    SigmoidFit,
    check_sigmoid_options,
    fit_sigmoid,
    sigmoid_likelihood,
    sigmoid_log_probability,
    sigmoid_probability,
    sigmoid_targets,
)
from svmselect.probability.thresholds import (
    cost_utilities,
    decide,
    decision_table,
    threshold_utilities,
    tune_utilities,
)

__all__ = [
    "MAX_SLOPE", "TARGETS", "SigmoidFit", "check_alpha", "check_sigmoid_options", "cost_utilities",
    "couple", "decide", "decision_table", "fit_sigmoid", "interval", "least_probability",
    "prediction_sets", "sigmoid_likelihood", "sigmoid_log_probability", "sigmoid_probability",
    "sigmoid_targets",
    "threshold_utilities", "tune_utilities",
]  # fmt: skip
