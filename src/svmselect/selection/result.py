"""What ``select`` gives back."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from svmselect.kernels import Kernel
from svmselect.machine import Solution
from svmselect.search.run import Outcome
from svmselect.search.trace import Record, Trace
from svmselect.selection.objective import Posterior
from svmselect.types import Array, Status


@dataclass(frozen=True, eq=False, repr=False)
class Selection:
    """The hyperparameters chosen, the machine trained with them, and how they were found.

    ``value`` is the criterion's, in its own units; ``status`` says how the search ended and
    ``messages`` what else a user should know; ``point`` are the search coordinates, logarithms of
    ``names``. ``outcomes`` has the end of every run, ``candidates`` the selections of all kernels
    where several were compared, ``tau`` the scale of a hierarchical prior.
    """

    C: float
    kernel: Kernel
    value: float
    trace: Trace
    solution: Solution
    status: Status
    messages: tuple[str, ...]
    record: Record
    posterior: Posterior
    outcomes: tuple[Outcome, ...]
    candidates: tuple[Selection, ...] = ()
    details: dict[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        ended = f"{self.status.name!r} after {len(self.trace)} evaluations"
        return f"<Selection C={self.C:.6g}, {self.kernel!r}, value={self.value:.6g}, {ended}>"

    @property
    def names(self) -> tuple[str, ...]:
        """The search coordinates."""
        return self.record.names

    @property
    def point(self) -> Array:
        """Where the search ended, in search coordinates."""
        return self.record.point

    @property
    def loss(self) -> float:
        """What was minimised: -(log-likelihood + log prior) / n."""
        return self.record.loss

    @property
    def classes(self) -> NDArray[Any]:
        """The two labels; decision values above zero mean the second."""
        return self.posterior.objective.data.classes

    def decision_function(self, X: ArrayLike) -> Array:
        """f(x) = sum_j beta_j k(x, x_j) + b, over the support vectors."""
        sv = self.solution.support
        K = self.kernel(X, self.posterior.objective.data.X[sv])
        return np.asarray(K @ self.solution.beta[sv] + self.solution.intercept)

    @property
    def threshold(self) -> float:
        """The decision value at which the likelihood's sigmoid is one half; 0 by other criteria.

        With many support vectors at their bound the machine's own threshold, 0, can be poor: this
        one belongs to the model whose likelihood was maximised.
        """
        details = self.record.evaluation.details
        slope = details.get("sigmoid_slope", 0.0)
        return -details["sigmoid_offset"] / slope if slope < 0 else 0.0

    def predict(self, X: ArrayLike, threshold: float = 0.0) -> NDArray[Any]:
        """The label of each row: the second class where the decision value is above a threshold."""
        return self.classes[(self.decision_function(X) > threshold).astype(np.intp)]

    def to_sklearn(self) -> Any:
        """Give a plain scikit-learn Pipeline with the same decision function, fitted."""
        from svmselect.selection.export import pipeline

        data = self.posterior.objective.data
        return pipeline(data, self.kernel, self.C, self.solution)

    @cached_property
    def optima(self) -> tuple[Record, ...]:
        """The distinct local optima that the starts ended in, best first.

        Two ends count as one unless the criterion deteriorates on the line between them (GS section
        5.2), which costs a few evaluations a pair; they are made when this is first asked for.
        """
        from svmselect.selection.optima import distinct

        ends = [o.best for o in self.outcomes if o.best is not None]
        return distinct(ends, self.posterior)
