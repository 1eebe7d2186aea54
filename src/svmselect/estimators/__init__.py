"""Classifiers that choose their own hyperparameters, for scikit-learn."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from svmselect.estimators.auto_classifier import AutoClassifier
    from svmselect.estimators.auto_klr import AutoKLR
    from svmselect.estimators.auto_svc import AutoSVC

__all__ = ["AutoClassifier", "AutoKLR", "AutoSVC"]

_FILES = {"AutoClassifier": "auto_classifier", "AutoKLR": "auto_klr", "AutoSVC": "auto_svc"}


def __getattr__(name: str) -> Any:
    """Load scikit-learn when a classifier is asked for, not with the first module from here."""
    if name not in _FILES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_FILES[name]}"), name)
