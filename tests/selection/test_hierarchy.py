"""The hierarchical prior: its marginal likelihood, what it takes and what it declines."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from svmselect import select
from svmselect.data import Dataset
from svmselect.datasets.toys import half_relevant
from svmselect.kernels import RBF, Constant, Matern
from svmselect.kernels.names import deviations
from svmselect.priors import Flat, Hierarchical, Shrinkage
from svmselect.search.run import Progress
from svmselect.selection.deviations import Deviations
from svmselect.selection.hierarchy import isotropic

RNG = np.random.default_rng(3)
ALIKE = half_relevant(80, 0)[0][:, :4], half_relevant(80, 0)[1]
ONE = RNG.standard_normal((120, 3))
Y = np.where(np.abs(ONE[:, 0]) + 0.2 * RNG.standard_normal(120) < 0.7, -1.0, 1.0)


def ard(X: np.ndarray) -> RBF:
    return RBF([1.0] * X.shape[1])


def test_isotropic_kernels() -> None:
    kernel = Constant(2.0) * RBF([1.0, 4.0]) + Matern([2.0, 8.0], nu=1.5) + RBF(3.0)
    expected = Constant(2.0) * RBF(2.0) + Matern(4.0, nu=1.5) + RBF(3.0)
    np.testing.assert_allclose(isotropic(kernel).theta, expected.theta)
    assert isotropic(kernel).names == expected.names


def test_inputs_that_matter_alike_stay_alike() -> None:
    found = select(*ALIKE, "likelihood", "lbfgs", ard(ALIKE[0]), prior="hierarchical")
    assert found.details["tau"] == 0.0
    assert len(set(found.kernel.length_scale)) == 1
    plain = isotropic(found.kernel)
    assert plain.length_scale == pytest.approx(found.kernel.length_scale[0])
    assert found.names == ("log C", *found.kernel.names)


def test_one_input_that_matters_is_told_from_the_rest() -> None:
    found = select(ONE, Y, "likelihood", "lbfgs", ard(ONE), prior="hierarchical")
    assert found.details["tau"] > 0
    scales = np.array(found.kernel.length_scale)
    assert scales[0] < 0.5 * scales[1:].min()
    assert found.posterior.prior.parts[0] == Shrinkage(found.details["tau"], 3.0)
    marginals = found.details["marginals"]
    assert min(marginals, key=lambda tau: marginals[tau]) == found.details["tau"]
    # the flat prior fits the criterion better, which is what the prior is there to resist
    flat = select(ONE, Y, "likelihood", "lbfgs", ard(ONE), start=found.point)
    assert flat.value >= found.value - 1e-12


def test_the_marginal_is_laplaces() -> None:
    """n loss + 1/2 log det(I + tau^2 H) on the deviations, H by differences of *values*.

    With a criterion that has no kinks, and no Hessian of its own.
    """
    rows = slice(0, 60)
    prior = Hierarchical(ladder=(1.0,), step=0.01, tails=np.inf)
    found = select(
        ONE[rows], Y[rows], "evidence-ep", "lbfgs", ard(ONE), "logistic", False, prior=prior,
        random_state=0, bounds={"C": (0.1, 1e3)},
    )  # fmt: skip
    assert found.details["tau"] == 1.0
    plain = replace(found.posterior, prior=Flat())
    n, d, h = 60, ONE.shape[1], 0.01
    basis = np.linalg.svd(np.ones((1, d)))[2][1:]  # orthonormal, sums to zero
    H = np.zeros((d - 1, d - 1))

    def value(step: np.ndarray) -> float:
        return n * plain(found.point + np.append(0.0, step), False, None)[0].value

    for i in range(d - 1):
        for j in range(d - 1):
            a, b = h * basis[i], h * basis[j]
            H[i, j] = (value(a + b) - value(a - b) - value(b - a) + value(-a - b)) / (4 * h * h)
    h_j = np.maximum(np.linalg.eigvalsh(0.5 * (H + H.T)), 0.0)
    gap = deviations(found.point, found.names)
    beside = found.posterior.prior.parts[1].log_density(found.point, found.names)[0]
    J = n * plain(found.point, False, None)[0].value + 0.5 * gap @ gap - beside
    expected = J + 0.5 * np.log1p(h_j).sum()
    assert found.details["marginals"][1.0] == pytest.approx(expected, rel=1e-5)


def test_a_hessian_of_its_own_is_taken() -> None:
    found = select(
        ONE[:60], Y[:60], "likelihood", "lbfgs", ard(ONE), prior=Hierarchical(ladder=(1.0,)),
        random_state=0,
    )  # fmt: skip
    asked = [record for record in found.trace if record.run == "tau=1/hessian"]
    assert len(asked) == 1
    n, point = 60, asked[0].point
    plain = replace(found.posterior, prior=Flat())
    H = n * plain(point, 2, None)[0].hessian
    tight = Shrinkage(1.0, 3.0)
    J = [r.loss for r in found.trace if r.run.startswith("tau=1/") and r.run != "tau=1/hessian"]
    expected = n * min(J) + Deviations.of(H, found.names).volume(tight, point)
    assert found.details["marginals"][1.0] == pytest.approx(expected, rel=1e-6)


def volume(H: np.ndarray, prior: Shrinkage, point: np.ndarray, names: tuple[str, ...]) -> float:
    """For a Hessian over the length scales only; log C has none."""
    whole = np.zeros((5, 5))
    whole[1:, 1:] = H
    return Deviations.of(whole, names).volume(prior, point)


def test_level_three_with_normal_tails_is_exact_for_a_quadratic() -> None:
    """-log of the integral of exp(-x'Hx/2) against the normal prior of the deviations, by hand."""
    names = ("log C", *RBF([1.0] * 4).names)
    A = RNG.standard_normal((4, 4))
    H, point, tau = A @ A.T, np.zeros(5), 0.7
    basis = np.linalg.svd(np.ones((1, 4)))[2][1:]
    normal = stats.multivariate_normal(np.zeros(3), np.eye(3) * tau**2)
    # E exp(-u'Su/2), u ~ N(0, tau^2): det(I + tau^2 S)^-1/2; a sample says the same
    draws = normal.rvs(400_000, random_state=0)
    mean = np.exp(-0.5 * np.einsum("ij,jk,ik->i", draws, basis @ H @ basis.T, draws)).mean()
    exact = volume(H, Shrinkage(tau), point, names)
    assert exact == pytest.approx(-np.log(mean), abs=0.01)
    assert volume(H, Shrinkage(tau, 1e7), point, names) == pytest.approx(exact, abs=1e-5)
    # a likelihood that says nothing leaves the prior's own mass, one
    assert volume(0 * H, Shrinkage(tau), point, names) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("definite", [True, False])
def test_a_hessian_of_few_rows_is_decomposed_in_as_many_directions(
    definite: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("log C", *(RBF([1.0] * 230) * RBF([1.0] * 90)).names, "constant.value")
    rng = np.random.default_rng(0)
    J = rng.standard_normal((12, len(names)))
    signs = np.where(np.arange(12) == 5, 1.0 if definite else -1.0, 1.0)
    H = J.T @ (signs[:, None] * J)
    point, gradient = rng.standard_normal((2, len(names)))
    lean = Deviations.of(H, names)
    monkeypatch.setattr("svmselect.selection.deviations._MANY", 10**9)
    full = Deviations.of(H, names)
    assert full.axes.shape == (322, 318)
    assert lean.axes.shape == ((322, 12) if definite else (322, 318))
    for prior in (Shrinkage(0.3), Shrinkage(2.0)):
        one, other = (model.expected(gradient, prior, point) for model in (lean, full))
        assert one == pytest.approx(other, rel=1e-9)
    for prior in (Shrinkage(0.3), Shrinkage(0.3, 3.0)):
        one, other = (model.volume(prior, point) for model in (lean, full))
        assert one == pytest.approx(other, rel=1e-9)


def test_cut_short_it_gives_the_best_so_far() -> None:
    kernel = ard(ONE)

    def stop_in(run: str) -> object:
        def callback(progress: Progress) -> bool:
            return progress.record.run.startswith(run)

        return callback

    early = select(
        ONE, Y, "likelihood", "lbfgs", kernel, prior="hierarchical", callback=stop_in("i")
    )
    assert early.status.name == "callback"
    assert len(early.kernel.length_scale) == 3
    later = select(ONE, Y, "likelihood", "lbfgs", kernel, prior="hierarchical",
                   callback=stop_in("tau=0.5/0"))  # fmt: skip
    assert later.status.name == "callback"
    assert list(later.details["marginals"]) == [0.0, 0.25]


def test_weights_are_copies() -> None:
    weights = np.where(np.arange(120) < 10, 2.0, 1.0)
    data = Dataset.of(ONE, Y, weights)
    prior = Hierarchical(ladder=(0.5,))
    found = select(ONE, Y, "likelihood", "lbfgs", ard(ONE), prior=prior, weights=weights, budget=90)
    assert found.record.evaluation.details["n"] == data.weights.sum() == 130.0


@pytest.mark.parametrize("prior", ["integrated", Shrinkage(0.3)])
def test_other_shrinkage_resists_too(prior: object) -> None:
    loose = select(*ALIKE, "likelihood", "lbfgs", ard(ALIKE[0]), start="data")
    tight = select(*ALIKE, "likelihood", "lbfgs", ard(ALIKE[0]), start="data", prior=prior)
    spread = [np.std(np.log(s.kernel.length_scale)) for s in (loose, tight)]
    assert spread[1] < spread[0]
