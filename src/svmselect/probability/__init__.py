"""Class probabilities: the sigmoid of decision values, and pairs coupled to classes."""

from svmselect.probability.coupling import couple
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

__all__ = [
    "MAX_SLOPE", "TARGETS", "SigmoidFit", "check_sigmoid_options", "couple", "fit_sigmoid",
    "sigmoid_likelihood", "sigmoid_log_probability", "sigmoid_probability", "sigmoid_targets",
]  # fmt: skip
