"""Several machines that decide together: local optima, or draws from the hyperposterior.

Different optima of one criterion often assign relevance differently and err on different points
(GS section 6); and a machine at the mode of the hyperposterior ignores how wide it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from svmselect.criteria import get_criterion
from svmselect.data import Dataset
from svmselect.kernels import Kernel
from svmselect.machine import Solution
from svmselect.parallel import single_threaded
from svmselect.probability import sigmoid_probability
from svmselect.selection.objective import Posterior
from svmselect.selection.result import Selection
from svmselect.types import Array


@dataclass(frozen=True, eq=False)
class Member:
    """One machine: its weight in the ensemble, and the sigmoid of its held-out decision values."""

    weight: float
    C: float
    kernel: Kernel
    solution: Solution
    slope: float
    offset: float


@dataclass(frozen=True, eq=False)
class Ensemble:
    """Machines trained on the same data, which decide together.

    Attributes
    ----------
    members : tuple of Member
        The machines, with weights that sum to one.
    data : Dataset
        The data.
    """

    members: tuple[Member, ...]
    data: Dataset

    def decisions(self, X: ArrayLike) -> Array:
        """Compute the decision values of every machine.

        Parameters
        ----------
        X : array-like of shape (m, d)
            The rows.

        Returns
        -------
        ndarray of shape (m, len(members))
            The decision values, one column a machine.
        """
        columns = []
        for member in self.members:
            sv = member.solution.support
            K = member.kernel(X, self.data.X[sv])
            columns.append(K @ member.solution.beta[sv] + member.solution.intercept)
        return np.column_stack(columns)

    def votes(self, X: ArrayLike) -> Array:
        """Compute the share of the weight that votes for the second class.

        Parameters
        ----------
        X : array-like of shape (m, d)
            The rows.

        Returns
        -------
        ndarray of shape (m,)
            The shares.
        """
        weights = np.array([member.weight for member in self.members])
        return np.asarray((self.decisions(X) > 0) @ weights)

    def predict_proba(self, X: ArrayLike) -> Array:
        """Average the probabilities of the two classes, each machine's through its own sigmoid.

        Parameters
        ----------
        X : array-like of shape (m, d)
            The rows.

        Returns
        -------
        ndarray of shape (m, 2)
            The probabilities.
        """
        f = self.decisions(X)
        p = np.zeros(len(f))
        for j, member in enumerate(self.members):
            p += member.weight * sigmoid_probability(f[:, j], member.slope, member.offset)
        return np.column_stack([1.0 - p, p])

    def predict(self, X: ArrayLike, by: str = "probability") -> NDArray[Any]:
        """Predict the label of each row; a tie goes to the first class.

        Parameters
        ----------
        X : array-like of shape (m, d)
            The rows.
        by : {"probability", "vote"}, default "probability"
            Whether probabilities are averaged or votes counted.

        Returns
        -------
        ndarray of shape (m,)
            The labels.
        """
        if by not in ("probability", "vote"):
            raise ValueError(f"by={by!r} is not 'probability' or 'vote'")
        share = self.votes(X) if by == "vote" else self.predict_proba(X)[:, 1]
        return self.data.classes[(share > 0.5).astype(np.intp)]


def of_optima(selection: Selection, weighted: bool = False) -> Ensemble:
    """Make an ensemble of the distinct local optima that a selection's starts ended in.

    Parameters
    ----------
    selection : Selection
        What ``select`` returned, with several starts.
    weighted : bool, default False
        Whether each is weighted by its posterior density, ``exp(-n (loss - lowest loss))``; if not,
        all have the same weight.

    Returns
    -------
    Ensemble
        The machines.

    References
    ----------
    Gold & Sollich 2003, section 6.
    """
    points = [record.point for record in selection.optima]
    losses = np.array([record.loss for record in selection.optima])
    n = float(selection.posterior.objective.data.weights.sum())
    weights = np.exp(-n * (losses - losses.min())) if weighted else np.ones(len(losses))
    return assemble(selection.posterior, points, weights)


def of_posterior(
    selection: Selection, draws: int = 20, random_state: int = 0, step: float = 0.05,
    widest: float = 1.0,
) -> Ensemble:  # fmt: skip
    """Make an ensemble at draws of the hyperparameters from their posterior, by Laplace's method.

    Parameters
    ----------
    selection : Selection
        What ``select`` returned.
    draws : int, default 20
        How many machines.
    random_state : int, default 0
        Seed of the draws.
    step : float, default 0.05
        Step of the differences of the gradient.
    widest : float, default 1.0
        The largest standard deviation in any direction; an input that does not matter has a flat
        one.

    Returns
    -------
    Ensemble
        The machines; the optimum itself is not among them.

    Notes
    -----
    The covariance of the Gaussian at the optimum is the inverse Hessian of n times the loss, by
    central differences of the gradient. Each draw is weighted by its true density over the
    Gaussian's, no weight above ``sqrt(draws)`` times the mean (truncated importance sampling). It
    takes ``2 p + 2 draws`` evaluations.
    """
    posterior, centre = selection.posterior, selection.point
    n = float(posterior.objective.data.weights.sum())
    H = hessian(posterior, centre, step) * n
    values, vectors = np.linalg.eigh(H)
    spread = 1.0 / np.sqrt(np.maximum(values, widest**-2))
    rng = np.random.default_rng(random_state)
    z = rng.standard_normal((draws, len(centre)))
    low, high = selection.outcomes[0].job.space.lower, selection.outcomes[0].job.space.upper
    points = [np.clip(centre + vectors @ (spread * row), low, high) for row in z]
    logs = []
    warm = None
    for point, row in zip(points, z, strict=True):
        answer, warm = single_threaded(posterior, point, False, warm)
        logs.append(-n * (answer.value - selection.record.loss) + 0.5 * float(row @ row))
    ratio = np.array(logs)
    if not np.isfinite(ratio).any():
        raise ValueError("the criterion is not finite at any draw; give a smaller `widest`")
    ratio = np.exp(ratio - ratio.max())
    weights = np.minimum(ratio, np.sqrt(draws) * ratio.mean())
    return assemble(posterior, points, weights)


def assemble(posterior: Posterior, points: Sequence[Array], weights: Array) -> Ensemble:
    """Train a machine at each point and fit its sigmoid to held-out decision values."""
    objective = posterior.objective
    own = objective.criterion
    judge = own if own.name == "likelihood" else get_criterion("likelihood")
    sigmoids = replace(objective, criterion=judge)
    members = []
    share = weights / weights.sum()
    for point, weight in zip(points, share, strict=True):
        if weight == 0.0:
            continue
        solution = single_threaded(objective.train, point)
        score, _ = single_threaded(sigmoids.at, point)
        kernel = objective.kernel.at(point[1:])
        sigmoid = score.details["sigmoid_slope"], score.details["sigmoid_offset"]
        members.append(Member(float(weight), float(np.exp(point[0])), kernel, solution, *sigmoid))
    return Ensemble(tuple(members), objective.data)


def hessian(posterior: Posterior, point: Array, step: float) -> Array:
    """Second derivatives of the loss by central differences of its gradient, made symmetric."""
    rows = []
    warm = None
    for i in range(len(point)):
        slopes = []
        for sign in (1.0, -1.0):
            x = point.copy()
            x[i] += sign * step
            answer, warm = single_threaded(posterior, x, True, warm)
            if answer.gradient is None:
                raise ValueError(
                    f"criterion {posterior.objective.criterion.name!r} has no gradient here, so "
                    "there is no Hessian; choose one with a gradient"
                )
            slopes.append(answer.gradient)
        rows.append((slopes[0] - slopes[1]) / (2.0 * step))
    H = np.array(rows)
    return np.asarray(0.5 * (H + H.T))
