"""scikit-learn's own checks of an estimator, without an expected failure."""

from functools import partial

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

from svmselect import AutoClassifier, AutoKLR, AutoSVC


def name_of(check):
    """The same on every worker: no addresses."""
    if not isinstance(check, partial):
        return check.__name__
    return "-".join([name_of(check.func), *(f"{k}={v}" for k, v in check.keywords.items())])


# Nine formats of sparse matrices, with a fit for each: once in the plain tests is enough.
LONG = (
    "AutoSVC-check_estimator_sparse_matrix", "AutoKLR-check_estimator_sparse",
    "AutoClassifier-check_estimator_sparse",
)  # fmt: skip


def checks():
    # Two folds and one length scale keep the slower machines' many fits short.
    for estimator in (AutoSVC(), AutoKLR(cv=2, ard="no"), AutoClassifier(cv=2, ard="no")):
        for instance, check in estimator_checks_generator(estimator):
            name = f"{type(instance).__name__}-{name_of(check)}"
            # arrays of other libraries are not claimed to be supported, and skipped there
            if "check_array_api" not in name:
                marks = [pytest.mark.slow] if name.startswith(LONG) else []
                yield pytest.param(instance, check, id=name, marks=marks)


@pytest.mark.parametrize(("estimator", "check"), list(checks()))
def test_scikit_learn_checks(estimator, check):
    check(estimator)
