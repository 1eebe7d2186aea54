"""What a reader needs to repeat it: data, seed, versions, settings."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

import numpy as np

from svmselect.data import data_hash
from svmselect.estimators.given import dense, encoded


def of_model(
    model: Any, X: Any, y: Any, settings: Mapping[str, Any]
) -> tuple[tuple[str, str], ...]:
    """Of a fitted model: what the caller says, the data's hash, the seed, the versions."""
    rows = dense(encoded(model, X))
    found = {name: str(value) for name, value in settings.items() if name != "command"}
    found["data (SHA-256)"] = data_hash(np.asarray(rows, dtype=np.float64), np.asarray(y))
    given = model.random_state
    seed = str(model.selection_.seed)
    found["random_state"] = repr(given) if given is not None else f"not given; folds from {seed}"
    found["estimator"] = code(model)
    for package in ("svmselect", "scikit-learn", "numpy", "scipy"):
        found[package] = version(package)
    found["Python"] = f"{platform.python_version()}, {platform.machine()}"
    return tuple(found.items())


def code(model: Any) -> str:
    """The line of Python that fits the model again."""
    return f"{' '.join(repr(model).split())}.fit(X, y)"


def predicting(model: Any) -> str:
    """Lines of Python that keep the model and predict new rows."""
    names = "" if vars(model).get("feature_names_in_") is None else "  # with the same columns"
    return (
        f"svmselect.save(model, 'model.skops')\n"
        f"svmselect.load('model.skops').predict_proba(X_new){names}"
    )


def of_header(header: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Of a trace file: what its first line says."""
    found = {"data (SHA-256)": str(header.get("data", "")), "seed": str(header.get("seed", ""))}
    found |= {str(k): str(v) for k, v in header.get("settings", {}).items()}
    found |= {str(k): str(v) for k, v in header.get("versions", {}).items()}
    return tuple((name, _shortened(value)) for name, value in found.items())


def _shortened(text: str, most: int = 400) -> str:
    return text if len(text) <= most else f"{text[:most]} …"
