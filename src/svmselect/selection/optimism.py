"""Sigmoids that allow for hyperparameters having been fitted to the rows they are judged on.

Many length scales can be fitted to the held-out likelihood until it promises too much; its sigmoid,
fitted to the same decision values, is too steep then. Choosing the hyperparameters again without
each fold in turn would tell; a Newton step tells it for nothing, for the Jacobian of all held-out
decisions is known. With z the log odds of a row, phi = (log C, log scales, two numbers a sigmoid),
g and H the gradient and the Gauss-Newton Hessian of the negative log posterior of phi, a fold S
would have had

    z + J_S (H - H_S)^-1 g_S

where g_S, H_S are its own part: the infinitesimal jackknife with a correction for leverage. The
slope of a sigmoid through these values is what the first one has to be multiplied by.
A pair's two numbers meet the shared parameters only, so that they are eliminated pair by pair: cost
O(n p^2 + folds (p^3 + pairs p^2)) for p shared parameters, beside that of one Jacobian.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from svmselect.criteria.likelihood import Unfolded
from svmselect.probability import sigmoid_likelihood, sigmoid_targets
from svmselect.types import Array, IntArray

_VAGUE = 1e-2  # precision of the sigmoids' numbers
_LEAST = 0.2  # beyond this a linear model of the decisions has no say


@dataclass(frozen=True, eq=False)
class _Part:
    """The held-out rows of one pair: log odds, their Jacobian, and what they count for.

    Columns of J: log C, the kernel's parameters, then a stretch and a shift for its own sigmoid.
    """

    y: Array
    z: Array
    J: Array
    count: Array
    group: IntArray  # the fold, of the first round, that holds the row out

    @property
    def gradient(self) -> Array:
        """Of the negative log-likelihood, row by row."""
        surplus = self.count * (expit(self.z) - sigmoid_targets(self.y, self.count, "platt"))
        return np.asarray(surplus[:, None] * self.J)

    def hessian(self, rows: Array | slice) -> Array:
        """Of Gauss and Newton, of some rows."""
        p = expit(self.z[rows])
        J = self.J[rows]
        return np.asarray(J.T @ ((self.count[rows] * p * (1.0 - p))[:, None] * J))


def tempered(
    unfolded: Sequence[Unfolded], precision: Array, overlap: float
) -> tuple[tuple[float, float], ...]:
    """The sigmoids, (slope, offset) each, less steep where the fit promised too much.

    Their thresholds stay; only the slope is in doubt. ``precision`` is the negative Hessian of the
    log prior over (log C, parameters); ``overlap`` is what a row counts in each of its pairs.
    """
    milder = []
    odds = without_each_fold(unfolded, precision, overlap)
    for z, one in zip(odds, unfolded, strict=True):
        held = one.held
        fit = sigmoid_likelihood(z, held.y, held.weights, "platt", one_sided=True)
        factor = float(np.clip(-fit.slope, _LEAST, 1.0))
        milder.append((factor * one.fit.slope, factor * one.fit.offset))
    return tuple(milder)


def without_each_fold(
    unfolded: Sequence[Unfolded], precision: Array, overlap: float
) -> list[Array]:
    """The log odds of the held-out rows of each pair, had their fold had no say in phi."""
    parts = [_part(one) for one in unfolded]
    H = overlap * np.array([part.hessian(slice(None)) for part in parts])
    without = [part.z.copy() for part in parts]
    gradients = [part.gradient for part in parts]
    for group in range(1 + max(int(part.group.max()) for part in parts)):
        members = [part.group == group for part in parts]
        both = list(zip(parts, gradients, members, strict=True))
        own = overlap * np.array([part.hessian(rows) for part, _, rows in both])
        pull = overlap * np.array([g[rows].sum(axis=0) for _, g, rows in both])
        steps = _newton_step(H - own, precision, pull)
        for z, part, rows, step in zip(without, parts, members, steps, strict=True):
            z[rows] += part.J[rows] @ step
    return without


def _newton_step(H: Array, precision: Array, pull: Array) -> Array:
    """The step in (shared, own) of each pair, from the pairs' Hessians and gradients.

    The Hessian of all is an arrow: what a pair has of its own meets what is shared, and nothing of
    another pair's.
    """
    shared = len(precision)
    corner, own = H[:, :shared, shared:], H[:, shared:, shared:] + _VAGUE * np.eye(2)
    right = np.concatenate([corner.transpose(0, 2, 1), pull[:, shared:, None]], axis=2)
    solved = np.linalg.solve(own, right)
    lowered = np.einsum("pij,pjk->ik", corner, solved)
    whole = precision + H[:, :shared, :shared].sum(axis=0) - lowered[:, :shared]
    step = np.linalg.solve(whole, pull[:, :shared].sum(axis=0) - lowered[:, shared])
    others = solved[:, :, shared] - solved[:, :, :shared] @ step
    return np.hstack([np.tile(step, (len(H), 1)), others])


def _part(one: Unfolded) -> _Part:
    """The rows of a pair, and how their log odds move."""
    assert one.jacobian is not None
    held = one.held
    z = -(one.fit.slope * held.decision + one.fit.offset)
    J = np.column_stack([-one.fit.slope * one.jacobian, z, np.ones_like(z)])
    # the first fold that holds out each row
    first = np.full(int(held.rows.max()) + 1, len(held.solutions))
    np.minimum.at(first, held.rows, held.fold)
    return _Part(held.y, z, J, held.weights, first[held.rows])
