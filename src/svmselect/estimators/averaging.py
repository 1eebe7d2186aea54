"""Probabilities by averaging over the posterior of the evidence model, instead of a sigmoid.

The latent function of each pair of classes has a Gaussian posterior, by expectation propagation at
the chosen C and kernel; the probability of a class is that of the model, averaged over it. An
intercept becomes a constant in the kernel, wide enough to leave it free.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from svmselect import clock
from svmselect.data import Pair
from svmselect.estimators.chosen import Chosen, OutOfFold, Setting, hold_out, mean_likelihood
from svmselect.estimators.posteriors import Gaussian, Model, Posteriors
from svmselect.estimators.problem import Problem
from svmselect.parallel import one_thread
from svmselect.posterior import EP, expectation_propagation
from svmselect.posterior.predictive import latent_at, log_odds
from svmselect.probability.calibration import Sigmoid
from svmselect.types import Note

MOST = 3000
"""Rows up to which there is a posterior: it costs their cube in time, and is as large as K."""
WIDE = 10.0
"""Prior variance of an intercept, in units of the kernel's mean diagonal."""


def check_rows(problem: Problem) -> None:
    """Refuse, before any work, more rows than a posterior can have."""
    if len(problem) > MOST:
        words = "use probability='sigmoid' or 'auto', or fit to fewer rows"
        raise ValueError(f"{_too_many(problem)}; {words}")


def _too_many(problem: Problem) -> str:
    return f"the posterior takes at most {MOST} rows, and there are {len(problem)}"


def by_posterior(
    problem: Problem,
    pairs: Sequence[Pair],
    chosen: Chosen,
    model: Model,
    insist: bool,
    end: float | None = None,
) -> Chosen:
    """Take the posterior's probabilities, or those of it and the sigmoid that serve better.

    Better: the higher mean log-likelihood of held-out rows, unless ``insist``. O(n^3) a fold. Where
    there is no time for that until ``end``, the sigmoids stay.
    """
    try:
        with clock.until(end):
            return _averaged(problem, pairs, chosen, model, insist)
    except clock.OutOfTimeError:
        note = Note("time", "there was no time for the posterior: the sigmoid gives probabilities")
        return replace(chosen, notes=(*chosen.notes, note))


def _averaged(
    problem: Problem, pairs: Sequence[Pair], chosen: Chosen, model: Model, insist: bool
) -> Chosen:
    """The choice with what predicts better, of posterior and sigmoid."""
    if len(problem) > MOST:
        note = f"{_too_many(problem)}: the sigmoid serves"
        return replace(chosen, notes=(*chosen.notes, Note("status", note)))
    with one_thread():
        found = [_run(problem, pair, chosen.setting, p, model) for p, pair in enumerate(pairs)]
        held = _held_out(problem, pairs, chosen.setting, found, model)
        plain = logistic(held)
        fitted = by_sigmoids(problem, pairs, chosen, model.loss)
    averaged = held.likelihood(problem, plain)
    note = f"log-likelihood of held-out rows: {averaged:.4f} by the posterior, {fitted:.4f} by "
    note += "the sigmoid" if len(pairs) == 1 else "the sigmoids"
    notes = [Note("course", note)]
    if not all(ep.status.ok for ep, _ in found):
        rough = "expectation propagation did not converge; the posterior is a rough one"
        notes.append(Note("status", rough))
    chosen = replace(chosen, notes=(*chosen.notes, *notes))
    if averaged <= fitted and not insist:
        return chosen
    gaussians = tuple(
        _gaussian(ep, pair, offset) for pair, (ep, offset) in zip(pairs, found, strict=True)
    )
    error, kept = held.judged(problem, plain)
    return replace(
        chosen,
        error=error,
        held_out=kept,
        recalibration=None,
        posterior=Posteriors(
            chosen.setting.kernels, problem.X, gaussians, model, len(problem.classes)
        ),
    )


def by_sigmoids(problem: Problem, pairs: Sequence[Pair], chosen: Chosen, loss: str) -> float:
    """What held-out rows say of the sigmoids, and of their recalibration where there is one."""
    if chosen.recalibration is not None and chosen.held_out is not None:
        return mean_likelihood(problem, chosen.held_out)
    return hold_out(problem, pairs, chosen.setting, loss).likelihood(problem, chosen.sigmoids)


def hold_out_posteriors(
    problem: Problem, pairs: Sequence[Pair], setting: Setting, model: Model
) -> OutOfFold:
    """Log odds of every row, by posteriors of the other folds; see ``logistic``."""
    found = [_run(problem, pair, setting, p, model) for p, pair in enumerate(pairs)]
    return _held_out(problem, pairs, setting, found, model)


def logistic(held: OutOfFold) -> tuple[Sigmoid, ...]:
    """The sigmoid of log odds, for each pair."""
    return tuple(Sigmoid(-1.0, 0.0, float(f.std()) or 1.0) for f in held.decisions.T)


def _run(problem: Problem, pair: Pair, setting: Setting, p: int, model: Model) -> tuple[EP, float]:
    """The posterior of one pair on all its rows, and the constant added to the kernel."""
    C, kernel = setting.of(p)
    K = kernel(problem.X[pair.rows])
    offset = WIDE * float(K.diagonal().mean()) if setting.fit_intercept else 0.0
    ep = expectation_propagation(K + offset, pair.y, C, model.loss, pair.weights, model.normalised)
    return ep, offset


def _gaussian(ep: EP, pair: Pair, offset: float) -> Gaussian:
    return Gaussian(pair.rows, ep.dual, np.ascontiguousarray(ep.inner), offset, ep.C)


def _held_out(
    problem: Problem,
    pairs: Sequence[Pair],
    setting: Setting,
    found: Sequence[tuple[EP, float]],
    model: Model,
) -> OutOfFold:
    """Log odds of all rows of each fold, by the posteriors of the others; C stays what it is."""
    tests = [np.flatnonzero(t) for t in problem.splits.test.T]
    columns = []
    for p, (pair, (whole, offset)) in enumerate(zip(pairs, found, strict=True)):
        C, kernel = setting.of(p)
        parts = []
        for k, test in enumerate(tests):
            weights = pair.weights * problem.splits.train[pair.rows, k]
            used = np.flatnonzero(weights > 0)
            ep = expectation_propagation(
                whole.K[np.ix_(used, used)], pair.y[used], C, model.loss, weights[used],
                model.normalised, whole.start.at(used),
            )  # fmt: skip
            cross = kernel(problem.X[test], problem.X[pair.rows[used]]) + offset
            mean, variance = latent_at(ep, cross, kernel.diag(problem.X[test]) + offset)
            parts.append(log_odds(mean, variance, C, model.loss, model.normalised))
        columns.append(np.concatenate(parts))
    return OutOfFold(np.concatenate(tests), np.column_stack(columns))
