"""scikit-learn's own checks of an estimator, without an expected failure."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from svmselect.estimators import AutoKLR, AutoSVC


@parametrize_with_checks([AutoSVC(), AutoKLR()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)
