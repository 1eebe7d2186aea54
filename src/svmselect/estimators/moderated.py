"""Kwok's moderated probabilities: decisions averaged over the uncertainty of the machine's weights.

Where data are sparse the posterior is wide, and the probability goes back to one half, which that
of a sigmoid of the decision value need not do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from svmselect.data import Pair
from svmselect.estimators.averaging import by_sigmoids, logistic
from svmselect.estimators.chosen import Chosen, OutOfFold, Setting
from svmselect.estimators.posteriors import Gaussian, Model, Posteriors
from svmselect.estimators.problem import Problem
from svmselect.kernels import Kernel
from svmselect.machine.losses import get_loss
from svmselect.machine.train import train
from svmselect.parallel import one_thread
from svmselect.posterior.moderation import Moderation
from svmselect.types import Array, Note


def hinges(losses: tuple[str, ...]) -> tuple[str, ...]:
    """Those of some losses that have such a posterior; where none has, refuse before any work."""
    found = tuple(loss for loss in losses if not get_loss(loss).curved)
    if not found:
        raise ValueError(
            f"probability='moderated' is Kwok's posterior for the hinge, and the loss is "
            f"{losses[0]!r}; use loss='hinge', or probability='posterior'"
        )
    return found


def by_moderation(problem: Problem, pairs: Sequence[Pair], chosen: Chosen, model: Model) -> Chosen:
    """Take moderated outputs for probabilities, with their own held-out error."""
    setting = chosen.setting
    with one_thread():
        held = hold_out_moderated(problem, pairs, setting, model)
        fitted = by_sigmoids(problem, pairs, chosen, model.loss)
    plain = logistic(held)
    note = (
        f"log-likelihood of held-out rows: {held.likelihood(problem, plain):.4f} moderated, "
        f"{fitted:.4f} by the sigmoid"
    )
    found = tuple(
        _pair(problem.X, pair, *setting.of(p), setting.fit_intercept, pair.weights, model.loss)
        for p, pair in enumerate(pairs)
    )
    error, kept = held.judged(problem, plain)
    return replace(
        chosen,
        notes=(*chosen.notes, Note("course", note)),
        error=error,
        held_out=kept,
        recalibration=None,
        posterior=Posteriors(setting.kernels, problem.X, found, model, len(problem.classes)),
    )


def hold_out_moderated(
    problem: Problem, pairs: Sequence[Pair], setting: Setting, model: Model
) -> OutOfFold:
    """Log odds of every row, by machines and posteriors of the other folds."""
    tests = [np.flatnonzero(t) for t in problem.splits.test.T]
    found = [np.empty((len(test), len(pairs))) for test in tests]
    for p, pair in enumerate(pairs):
        C, kernel = setting.of(p)
        for k, test in enumerate(tests):
            weights = pair.weights * problem.splits.train[pair.rows, k]
            # C over the fold's share: the penalty of a row stays that of the final machine
            share = float(weights.sum() / pair.weights.sum())
            shape = (C / share, kernel, setting.fit_intercept, weights, model.loss)
            one = _pair(problem.X, pair, *shape)
            found[k][:, p] = one.log_odds(kernel, problem.X, problem.X[test], model)
    return OutOfFold(np.concatenate(tests), np.concatenate(found))


def _pair(
    X: Array, pair: Pair, C: float, kernel: Kernel, fit_intercept: bool, weights: Array, loss: str
) -> Gaussian:
    """The machine of one pair, and the posterior around it, over its support and margin rows."""
    K = kernel(X[pair.rows])
    machine = train(K, pair.y, C, loss, fit_intercept, weights)
    spread = Moderation.of(K, machine)
    used = np.union1d(machine.support, spread.rows)
    inner = np.zeros((len(used), len(used)))
    place = np.searchsorted(used, spread.rows)
    inner[np.ix_(place, place)] = spread.inner
    return Gaussian(pair.rows[used], machine.beta[used], inner, 0.0, C, float(machine.intercept), C)
