"""Ensembles: weights, votes and averages against their members, draws against the posterior."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit

from svmselect import score, select
from svmselect.data import Dataset
from svmselect.datasets.toys import half_relevant
from svmselect.kernels import RBF
from svmselect.priors import Gaussian
from svmselect.selection.ensemble import assemble, hessian, of_optima, of_posterior
from svmselect.selection.objective import Objective, Posterior
from svmselect.selection.result import Selection

X, Y = half_relevant(60, 1)
X = X[:, :3]
LABELS = np.where(Y > 0, "yes", "no")
ROWS = np.random.default_rng(0).standard_normal((40, 3))


@pytest.fixture(scope="module")
def found() -> Selection:
    return select(X, LABELS, "likelihood", "irprop", RBF([1.0] * 3), n_starts=4, random_state=0)


def test_votes_and_averages_are_those_of_the_members(found: Selection) -> None:
    points = [found.point, found.point + 0.8, found.point - 0.8]
    together = assemble(found.posterior, points, np.array([2.0, 1.0, 1.0]))
    assert [m.weight for m in together.members] == [0.5, 0.25, 0.25]
    votes, probability = np.zeros(40), np.zeros(40)
    for member, point in zip(together.members, points, strict=True):
        kernel = RBF(np.exp(point[1:]))
        f = kernel(ROWS, X) @ member.solution.beta + member.solution.intercept
        votes += member.weight * (f > 0)
        details = score(X, LABELS, "likelihood", np.exp(point[0]), kernel, random_state=0).details
        p = expit(-(details["sigmoid_slope"] * f + details["sigmoid_offset"]))
        probability += member.weight * p
    np.testing.assert_allclose(together.votes(ROWS), votes, atol=1e-12)
    np.testing.assert_allclose(together.predict_proba(ROWS)[:, 1], probability, rtol=1e-6)
    np.testing.assert_allclose(together.predict_proba(ROWS).sum(axis=1), 1.0)
    expected = np.where(probability > 0.5, "yes", "no")
    np.testing.assert_array_equal(together.predict(ROWS), expected)
    np.testing.assert_array_equal(together.predict(ROWS, "vote") == "yes", votes > 0.5)
    with pytest.raises(ValueError, match="by='mean' is not"):
        together.predict(ROWS, by="mean")


def test_the_optima_are_the_members(found: Selection) -> None:
    alike = of_optima(found)
    assert len(alike.members) == len(found.optima)
    assert sum(m.weight for m in alike.members) == pytest.approx(1.0)
    for member, record in zip(alike.members, found.optima, strict=True):
        assert np.log(member.C) == pytest.approx(record.point[0])
    weighted = of_optima(found, weighted=True)
    ratio = np.exp(-60 * np.diff([record.loss for record in found.optima]))
    shares = np.array([m.weight for m in weighted.members])
    np.testing.assert_allclose(shares[1:] / shares[:-1], ratio, rtol=1e-9)


def test_draws_have_the_posteriors_spread() -> None:
    """Where the prior is all there is, the draws follow it."""
    tight = Gaussian({"C": (0.1, 0.02), "rbf.length_scale": (0.3, 0.01)})
    chosen = select(X, Y, "likelihood", "lbfgs", RBF(1.0), prior=tight, random_state=0)
    H = 60 * hessian(chosen.posterior, chosen.point, 1e-3)
    assert H[0, 0] == pytest.approx(0.02**-2, rel=0.1)
    drawn = of_posterior(chosen, draws=60, random_state=1, step=1e-3)
    logs = np.log([[m.C, m.kernel.length_scale] for m in drawn.members])
    weights = np.array([m.weight for m in drawn.members])
    mean = weights @ logs
    deviation = np.sqrt(weights @ (logs - mean) ** 2)
    np.testing.assert_allclose(mean, chosen.point, atol=0.01)
    np.testing.assert_allclose(deviation, [0.02, 0.01], rtol=0.3)
    assert 1 / (weights @ weights) > 30  # the Gaussian is right, so no draw dominates


def test_flat_directions_are_held(found: Selection) -> None:
    drawn = of_posterior(found, draws=12, widest=0.3)
    logs = np.log([[m.C, *m.kernel.length_scale] for m in drawn.members])
    assert np.abs(logs - found.point).max() < 0.3 * 4
    again = of_posterior(found, draws=12, widest=0.3)
    assert [m.weight for m in again.members] == [m.weight for m in drawn.members]


def test_no_gradient_no_hessian(found: Selection) -> None:
    from svmselect.criteria import get_criterion

    objective = Objective(Dataset.of(X, Y), RBF([1.0] * 3), get_criterion("cv-error"))
    plain = replace(found, posterior=Posterior(objective))
    with pytest.raises(ValueError, match="'cv-error' has no gradient here"):
        of_posterior(plain, draws=2)
