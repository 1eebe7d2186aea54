"""Chooses the hyperparameters of support vector machines, with exact gradients.

The public names are loaded when first used, so `import svmselect` alone is quick and needs
neither scikit-learn nor matplotlib.
"""

import importlib
from typing import Any

__version__ = "0.1.0"

# Public name -> the module it lives in; a module named like itself is exported whole.
_LAZY = {
    "AutoClassifier": "svmselect.estimators",
    "AutoKLR": "svmselect.estimators",
    "AutoSVC": "svmselect.estimators",
    "Selection": "svmselect.selection",
    "criteria": "svmselect.criteria",
    "kernels": "svmselect.kernels",
    "load": "svmselect.estimators.persist",
    "machine": "svmselect.machine",
    "plots": "svmselect.plots",
    "report": "svmselect.report",
    "save": "svmselect.estimators.persist",
    "score": "svmselect.selection",
    "select": "svmselect.selection",
}

__all__ = ["__version__", *_LAZY]


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    target = _LAZY[name]
    module = importlib.import_module(target)
    value = module if target == f"{__name__}.{name}" else getattr(module, name)
    globals()[name] = value  # the next access does not come here
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})
