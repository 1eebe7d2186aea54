"""Classifiers that choose their own hyperparameters, for scikit-learn."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from svmselect.estimators.classifiers import AutoClassifier, AutoKLR, AutoSVC

__all__ = ["AutoClassifier", "AutoKLR", "AutoSVC"]


def __getattr__(name: str) -> Any:
    """Load scikit-learn when a classifier is asked for, not with the first module from here."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from svmselect.estimators import classifiers

    return getattr(classifiers, name)
