"""The constructor's options: what they may be, and which way they lead."""

from __future__ import annotations

from numbers import Real
from typing import Any

from svmselect.kernels import as_kernel

CHOICES = {
    "ard": ("auto", "yes", "no", True, False),
    "multi_class": ("ovo", "ovo-separate"),
    "decision_function_shape": ("ovr", "ovo"),
    "probability": ("sigmoid", "posterior", "auto"),
}


def check_options(estimator: Any) -> None:
    """Refuse, before any work, values that mean nothing."""
    for name, allowed in CHOICES.items():
        value = getattr(estimator, name)
        if not isinstance(value, str | bool) or value not in allowed:
            raise ValueError(f"{name}={value!r} is not one of {', '.join(map(repr, allowed))}")
    limit = estimator.max_time
    if limit is not None and not (isinstance(limit, Real) and float(limit) > 0):
        raise ValueError(f"max_time={limit!r} must be None or a positive number of seconds")


def is_default(estimator: Any) -> bool:
    """Whether the default strategy decides: nothing is named but, perhaps, the Gaussian kernel."""
    named = (estimator.criterion, estimator.search, estimator.prior)
    if not all(isinstance(option, str) and option == "auto" for option in named):
        return False
    kernel = estimator.kernel
    return isinstance(kernel, str) and kernel in ("auto", "rbf", "gaussian")


def standardises(estimator: Any) -> bool:
    """Whether the inputs are standardised: if wanted, and if the kernel needs it."""
    kernel = estimator.kernel
    if not estimator.standardize or (isinstance(kernel, str) and kernel == "auto"):
        return bool(estimator.standardize)
    kernels = kernel if isinstance(kernel, list | tuple) else [kernel]
    auto = [isinstance(one, str) and one == "auto" for one in kernels]
    return any(a or as_kernel(one).needs_scaling for a, one in zip(auto, kernels, strict=True))
