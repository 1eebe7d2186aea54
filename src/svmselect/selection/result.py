"""What ``select`` gives back."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from svmselect.priors import Prior
from svmselect.probability.calibration import Sigmoid
from svmselect.search.run import Outcome
from svmselect.search.trace import Record, Trace
from svmselect.types import Array, ErrorEstimate, IntArray, Note, Status


@dataclass(frozen=True, eq=False)
class HeldOut:
    """What was said of rows by machines, or posteriors, that did not see them.

    Attributes
    ----------
    rows : ndarray of int
        The rows, as the problem numbers them; one is named as often as it was held out.
    decisions : ndarray of shape (len(rows), pairs)
        Decision values of all pairs of classes.
    probabilities : ndarray of shape (len(rows), classes)
        Probabilities of the classes, by the sigmoids that the final machines have.
    """

    rows: IntArray
    decisions: Array
    probabilities: Array


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Selection:
    """What was chosen, how, and what is known of it.

    ``select`` returns one, and a fitted classifier has one as ``selection_``. Words, reports, plots
    and the command line are views of it.

    Attributes
    ----------
    C : float or ndarray
        The penalty of the final machine; of each pair of classes where they chose apart.
    kernel : Kernel or tuple of Kernel
        The kernel, or one a pair.
    value : float
        The criterion's value there, in its own units.
    criterion : str
        What was looked at.
    trace : Trace
        Every evaluation.
    status : Status
        How the search ended.
    notes : tuple of Note
        What else a user should know.
    loss : str
        The loss of the machines.
    fit_intercept : bool
        Whether they have an unpenalised intercept.
    error : ErrorEstimate or None
        The error of held-out rows, where rows were held out.
    calibration : tuple of Sigmoid
        The sigmoid of each pair of classes, for a fitted classifier.
    held_out : HeldOut or None
        Cross-validated decisions and probabilities; not kept of many rows in many classes.
    normalised : bool or None
        Whether the evidence model whose posterior gives the probabilities is normalised; None
        where the sigmoids give them.
    prior : Prior or None
        What was added to the criterion, as a log-likelihood of all data; None where nothing was, or
        where each pair of classes had its own. Not kept in model files.
    problem : object or None
        The rows it was chosen on: a ``Dataset`` for ``select``, for a classifier its scaled rows,
        classes, weights and folds. Not kept of many rows, nor in model files.
    rows, kept : int
        How many rows came, and how many were left after merging equal ones.
    folds, rounds : int
        In how many folds they were held out, and how often they were split anew.
    folded : bool
        Whether the criterion looked at the folds.
    members : tuple of float
        The weight of each class.
    standardised : bool
        Whether the inputs were standardised.
    strategy : str
        "auto" where the default strategy decided, else "search".
    seed : int or None
        What folds and searches were seeded with.
    seconds : float
        How long it took, the final machines included.
    solution : Solution or None
        The machine trained on all rows; for ``select``.
    record : Record or None
        The evaluation that was chosen; for ``select``.
    posterior : Posterior or None
        The function that was minimised; for ``select``.
    outcomes : tuple of Outcome
        The end of every run; for ``select``.
    candidates : tuple of Selection
        The selections of all kernels, where ``select`` compared several.
    details : dict
        What the prior adds: "tau", the scale of a hierarchical one.
    """

    C: Any
    kernel: Any
    value: float
    criterion: str
    trace: Trace
    status: Status
    notes: tuple[Note, ...]
    loss: str
    fit_intercept: bool
    error: ErrorEstimate | None = None
    calibration: tuple[Sigmoid, ...] = ()
    held_out: HeldOut | None = None
    normalised: bool | None = None
    prior: Prior | None = None
    problem: Any = None
    rows: int = 0
    kept: int = 0
    folds: int = 0
    rounds: int = 1
    folded: bool = False
    members: tuple[float, ...] = ()
    standardised: bool = False
    strategy: str = "search"
    seed: int | None = None
    seconds: float = 0.0
    solution: Any = None
    record: Any = None
    posterior: Any = None
    outcomes: tuple[Outcome, ...] = ()
    candidates: tuple[Selection, ...] = ()
    details: dict[str, Any] = field(default_factory=dict)

    @property
    def evaluations(self) -> int:
        """How many points were looked at."""
        return len(self.trace)

    @property
    def one_unit(self) -> bool:
        """Whether inputs that share a unit kept it instead of being standardised one by one."""
        return any(note.kind == "unit" for note in self.notes)

    def __repr__(self) -> str:
        ended = f"{self.status.name!r} after {len(self.trace)} evaluations"
        C = f"{self.C:.6g}" if isinstance(self.C, float) else repr(self.C)
        return f"<Selection C={C}, {self.kernel!r}, value={self.value:.6g}, {ended}>"

    def _repr_html_(self) -> str:
        """A card, for notebooks."""
        from svmselect.selection.card import of_selection

        return of_selection(self)

    def _of_select(self, part: str) -> Any:
        """A part that ``select`` gives; a classifier has machines of its own, of any classes."""
        found = getattr(self, part)
        if found is None:
            raise AttributeError(
                f"this selection has no {part}: it is that of a classifier; ask the classifier, "
                "which predicts and exports by itself"
            )
        return found

    @property
    def names(self) -> tuple[str, ...]:
        """The search coordinates."""
        names: tuple[str, ...] = self._of_select("record").names
        return names

    @property
    def point(self) -> Array:
        """Where the search ended, in search coordinates."""
        return np.asarray(self._of_select("record").point)

    @property
    def classes(self) -> NDArray[Any]:
        """The two labels; decision values above zero mean the second."""
        return np.asarray(self._of_select("posterior").objective.data.classes)

    def decision_function(self, X: ArrayLike) -> Array:
        """Compute decision values: above zero means the second class.

        Parameters
        ----------
        X : array-like of shape (m, d)
            The rows.

        Returns
        -------
        ndarray of shape (m,)
            ``f(x) = sum_j beta_j k(x, x_j) + b``, over the support vectors.
        """
        solution, data = self._of_select("solution"), self._of_select("posterior").objective.data
        K = self.kernel(X, data.X[solution.support])
        return np.asarray(K @ solution.beta[solution.support] + solution.intercept)

    @property
    def threshold(self) -> float:
        """The decision value at which the likelihood's sigmoid is one half; 0 by other criteria.

        With many support vectors at their bound the machine's own threshold, 0, can be poor: this
        one belongs to the model whose likelihood was maximised.
        """
        details = self._of_select("record").evaluation.details
        slope = details.get("sigmoid_slope", 0.0)
        return -details["sigmoid_offset"] / slope if slope < 0 else 0.0

    def predict(self, X: ArrayLike, threshold: float = 0.0) -> NDArray[Any]:
        """Predict the label of each row.

        Parameters
        ----------
        X : array-like of shape (m, d)
            The rows.
        threshold : float, default 0.0
            The decision value above which a row is of the second class.

        Returns
        -------
        ndarray of shape (m,)
            The labels.
        """
        return self.classes[(self.decision_function(X) > threshold).astype(np.intp)]

    def to_sklearn(self) -> Any:
        """Make a plain scikit-learn pipeline with the same decision function.

        Returns
        -------
        Pipeline
            The pipeline, fitted.
        """
        from svmselect.selection.export import of_selection, pipeline

        data = self._of_select("posterior").objective.data
        return pipeline(of_selection(data, self.kernel, self.C, self._of_select("solution")))

    @cached_property
    def optima(self) -> tuple[Record, ...]:
        """The distinct local optima that the starts ended in, best first.

        Two ends count as one unless the criterion deteriorates on the line between them (Gold &
        Sollich 2003, section 5.2), which costs a few evaluations a pair; they are made when this is
        first asked for.
        """
        from svmselect.selection.optima import distinct

        ends = [o.best for o in self.outcomes if o.best is not None]
        return distinct(ends, self._of_select("posterior"))
