"""Which estimator a command line asks for, and what it will take."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from svmselect.cli.console import count, duration

SMALL = 3000
"""Rows beyond which a named criterion, which needs an n x n matrix, sees a sample."""


def estimator(
    criterion: str,
    search: str,
    kernels: Sequence[str],
    ard: str,
    loss: str,
    max_time: float | None,
    jobs: int | None,
    seed: int,
) -> Any:
    """An AutoClassifier, or one of a loss; refuses names that are not known before any work."""
    from svmselect import AutoClassifier, AutoKLR, AutoSVC
    from svmselect.criteria import get_criterion
    from svmselect.kernels import as_kernel
    from svmselect.search import get_search

    if criterion != "auto":
        get_criterion(criterion)
    if search != "auto":
        get_search(search)
    for name in kernels:
        if name != "auto":
            as_kernel(name)
    form: Any = "auto" if not kernels else kernels[0] if len(kernels) == 1 else list(kernels)
    shared: dict[str, Any] = {
        "criterion": criterion,
        "search": search,
        "ard": ard,
        "max_time": max_time,
        "n_jobs": jobs,
        "random_state": seed,
    }
    if loss == "auto":
        made = AutoClassifier(form, **shared)
        if by_default(made):
            return made
        loss = "hinge"  # what is named runs once for each loss, and its trace is of one
    if loss == "logistic":
        return AutoKLR(form, **shared)
    return AutoSVC(form, loss=loss, **shared)


def class_weights(given: Sequence[str]) -> Any:
    """None, "balanced", or the weights of LABEL=WEIGHT."""
    if not given:
        return None
    if list(given) == ["balanced"]:
        return "balanced"
    made: dict[str, float] = {}
    for text in given:
        label, equals, weight = text.rpartition("=")
        try:
            made[label] = float(weight)
        except ValueError:
            equals = ""
        if not equals:
            raise ValueError(f"--class-weight {text}: write balanced, or LABEL=WEIGHT")
    return made


def known_scorer(name: str | None) -> str | None:
    """A scorer that scikit-learn knows by this name."""
    from difflib import get_close_matches

    from sklearn.metrics import get_scorer_names

    if name is not None and name not in get_scorer_names():
        near = get_close_matches(name, get_scorer_names(), 3)
        hint = f"; do you mean {', '.join(near)}?" if near else ""
        raise ValueError(f"--scoring {name}: scikit-learn has no scorer of this name{hint}")
    return name


def decided_by(threshold: str) -> Any:
    """What the estimator's ``threshold`` is: a name, or a matrix of costs."""
    if not threshold.lstrip().startswith("["):
        return threshold
    try:
        return json.loads(threshold)
    except ValueError as error:
        raise ValueError(
            f"--threshold {threshold!r} is no matrix of costs ({error}); write it as "
            "'[[0, 1], [5, 0]]', a list for each true class"
        ) from None


def check_onnx() -> None:
    """Refuse, before any work, what needs a package that is not there."""
    from svmselect.estimators.onnx.graph import package

    try:
        package()
    except ImportError as error:
        raise ValueError(str(error)) from None


def by_default(model: Any) -> bool:
    """Whether the default strategy decides, which takes any number of rows."""
    from svmselect.estimators.options import is_default

    return is_default(model)


def plan(rows: int, inputs: int, classes: int, max_time: float | None) -> str:
    """What many rows will be used for, and how long it may take."""
    from svmselect.estimators.strategies.many_rows import EXACT, LANDMARKS

    largest = 2 * rows / classes
    if largest > EXACT:
        through = f"trained on all rows through {LANDMARKS:,} landmarks"
    else:
        through = "trained on all rows exactly"
    low, high = estimate(rows, inputs, classes)
    fewer = 20_000 if rows > 30_000 else SMALL
    takes = f"this takes about {_range(low, high)} (--rows {fewer} or --max-time 30s for less)"
    if max_time is not None and max_time < high:
        takes = f"the choice ends after {duration(max_time)} at the latest"
    return (
        f"{count(rows, 'row')}: C and the length scales are chosen on 3 samples of 2,000 rows and "
        f"adjusted on all; the machine is {through}; {takes}"
    )


def estimate(rows: int, inputs: int, classes: int) -> tuple[float, float]:
    """Seconds that a fit of many rows takes here, from and to: a rule made of measured fits."""
    unit = _speed()
    pairs = classes * (classes - 1) / 2
    subsets = 8.0 + 1.0 * inputs
    per_pair = 2.0 * rows / classes
    training = pairs * per_pair * (4e-4 + 4e-6 * inputs)
    middle = unit * (subsets * max(1.0, classes / 2.0) + training)
    return 0.6 * middle, 2.0 * middle


def _speed() -> float:
    """This machine's time for a product of matrices, over that of the one that was measured."""
    matrix = np.random.default_rng(0).normal(size=(600, 600))
    spent = []
    for _ in range(3):
        began = time.perf_counter()
        matrix @ matrix
        spent.append(time.perf_counter() - began)
    return float(np.clip(min(spent) / 0.012, 0.25, 8.0))


def _range(low: float, high: float) -> str:
    if high < 90.0:
        return f"{max(5, round(low, -1)):.0f} to {max(10, round(high, -1)):.0f} seconds"
    return f"{max(1, round(low / 60)):.0f} to {max(2, round(high / 60)):.0f} minutes"
