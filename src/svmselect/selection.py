"""``score``: one criterion at one point."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from svmselect.criteria import Criterion, get_criterion
from svmselect.data import Dataset
from svmselect.kernels import Kernel, as_kernel
from svmselect.objective import Objective
from svmselect.types import Score


def score(
    X: Any,
    y: Any,
    criterion: str | Criterion,
    C: float = 1.0,
    kernel: Kernel | str | Any = "rbf",
    loss: str = "hinge",
    fit_intercept: bool = True,
    gradient: bool = False,
    weights: ArrayLike | None = None,
    **options: Any,
) -> Score:
    """Evaluate one criterion at one setting of C and the kernel.

    ``options`` are the criterion's own (``svmselect.criteria.available()`` lists them all). The
    gradient is with respect to ``names``: log C and the logarithm of every kernel parameter; None
    where the criterion is discontinuous. An unsuitable combination of criterion, loss and intercept
    is refused before any work.
    """
    if not (np.isfinite(C) and C > 0):
        raise ValueError(f"C must be a positive finite number, got {C!r}")
    made = get_criterion(criterion, **options)
    form = as_kernel(kernel)
    objective = Objective(Dataset.of(X, y, weights), form, made, loss, fit_intercept)
    return objective.score(float(C), form, gradient)[0]
