"""The constructor's options: what they may be, and which way they lead."""

from __future__ import annotations

from numbers import Real
from typing import Any

from svmselect.criteria import get_criterion
from svmselect.devices import check_device
from svmselect.kernels import Kernel, as_kernel
from svmselect.search import get_search

CHOICES = {
    "ard": ("auto", "yes", "no", True, False),
    "averaging": ("auto", True, False),
    "standardize": ("auto", True, False),
    "multi_class": ("auto", "ovo", "ovo-separate"),
    "decision_function_shape": ("ovr", "ovo"),
    "probability": ("sigmoid", "posterior", "moderated", "auto"),
}


def check_options(estimator: Any) -> None:
    """Refuse, before any work, values that mean nothing."""
    for name, allowed in CHOICES.items():
        value = getattr(estimator, name)
        if not isinstance(value, str | bool) or value not in allowed:
            raise ValueError(f"{name}={value!r} is not one of {', '.join(map(repr, allowed))}")
    check_device(estimator.device)
    if estimator.checkpoint is not None and not shares(estimator):
        raise ValueError(
            "checkpoint is a file of one search, and multi_class='ovo-separate' runs one for each "
            "pair of classes; leave one of the two out"
        )
    limit = estimator.max_time
    if limit is not None and not (isinstance(limit, Real) and float(limit) > 0):
        raise ValueError(f"max_time={limit!r} must be None or a positive number of seconds")


def is_default(estimator: Any) -> bool:
    """Whether the default strategy decides: nothing is named, or what it does anyway.

    A criterion or search in its standard settings is as good as its name.
    """
    criterion, search, prior = estimator.criterion, estimator.search, estimator.prior
    return (
        (_is(criterion, "auto", "likelihood") or criterion == get_criterion("likelihood"))
        and (_is(search, "auto", "gauss-newton") or search == get_search("gauss-newton"))
        and _is(prior, "auto")
    )


def _is(value: Any, *names: str) -> bool:
    return isinstance(value, str) and value in names


def forms(kernel: Any) -> list[Kernel]:
    """The kernels to choose among; "auto" is the Gaussian."""
    listed = kernel if isinstance(kernel, list | tuple) else [kernel]
    if not listed:
        raise ValueError("the list of kernels is empty; give at least one")
    return [as_kernel("rbf" if isinstance(k, str) and k == "auto" else k) for k in listed]


def shares(estimator: Any) -> bool:
    """Whether all pairs of classes share the hyperparameters."""
    return bool(estimator.multi_class != "ovo-separate")


def averages(estimator: Any) -> bool:
    """Whether several machines are averaged, where the default strategy decides alone."""
    alone = is_default(estimator) and estimator.scoring is None
    alone = alone and estimator.probability == "sigmoid" and shares(estimator)
    if estimator.averaging is True and not alone:
        raise ValueError(
            "averaging=True goes with criterion, search and prior 'auto', scoring=None, "
            "probability='sigmoid' and multi_class='ovo'"
        )
    return alone and bool(estimator.averaging)


def bends(estimator: Any) -> bool:
    """Whether skewed inputs are bent before they are standardised."""
    return standardises(estimator) and estimator.standardize == "auto"


def standardises(estimator: Any) -> bool:
    """Whether the inputs are standardised: if wanted, and if the kernel needs it."""
    kernel = estimator.kernel
    if not estimator.standardize or (isinstance(kernel, str) and kernel == "auto"):
        return bool(estimator.standardize)
    kernels = kernel if isinstance(kernel, list | tuple) else [kernel]
    auto = [isinstance(one, str) and one == "auto" for one in kernels]
    return any(a or as_kernel(one).needs_scaling for a, one in zip(auto, kernels, strict=True))
