"""Priors: densities against scipy and quadrature, gradients against differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats

from svmselect.data import Dataset
from svmselect.kernels import RBF, Constant
from svmselect.kernels.names import deviations, vectors
from svmselect.priors import (
    Box,
    Flat,
    Gaussian,
    Hierarchical,
    Integrated,
    Prior,
    Reach,
    Shrinkage,
    User,
    Vague,
    as_prior,
)
from svmselect.priors.typical import from_data

NAMES = (
    "log C", "constant.value", "rbf.length_scale[0]", "rbf.length_scale[1]", "rbf.length_scale[2]",
)  # fmt: skip
POINT = np.array([0.3, -0.2, 1.0, 0.4, -0.9])


def own(point: np.ndarray) -> float:
    return float(-np.cosh(point).sum())


PRIORS: list[Prior] = [
    Flat(),
    Gaussian({"C": (1.0, 2.0), "rbf.length_scale": (0.5, 0.7)}),
    Gaussian({"rbf.length_scale[1]": (0.5, 0.7), "constant.value": (0.0, 3.0)}),
    Shrinkage(0.4),
    Shrinkage(0.4, 3.0),
    Shrinkage(0.1, 1.0),
    Integrated(2.0, 0.3),
    User(own),
    User(lambda x: (own(x), -np.sinh(x))),
    Gaussian({"C": (1.0, 2.0)}) + Shrinkage(0.4),
]


@pytest.mark.parametrize("prior", PRIORS, ids=repr)
def test_gradient(prior: Prior) -> None:
    value, gradient = prior.log_density(POINT, NAMES)
    assert np.isfinite(value)
    step = 1e-6
    for j in range(len(POINT)):
        e = step * np.eye(len(POINT))[j]
        ahead, behind = (prior.log_density(POINT + s * e, NAMES)[0] for s in (1, -1))
        assert gradient[j] == pytest.approx((ahead - behind) / (2 * step), rel=1e-6, abs=1e-8)


def test_gaussian_is_the_normal_density() -> None:
    prior = Gaussian({"log C": (1.0, 2.0), "rbf.length_scale": (0.5, 0.7)})
    other = POINT + np.array([1.0, 5.0, -0.3, 0.2, 0.9])
    found = prior.log_density(other, NAMES)[0] - prior.log_density(POINT, NAMES)[0]

    def density(x: np.ndarray) -> float:
        return stats.norm.logpdf(x[0], 1, 2) + stats.norm.logpdf(x[2:], 0.5, 0.7).sum()

    assert found == pytest.approx(density(other) - density(POINT), rel=1e-12)


def test_shrinkage_is_blind_to_the_mean_and_to_other_parameters() -> None:
    prior = Shrinkage(0.4)
    moved = POINT + np.array([1.0, 2.0, 0.7, 0.7, 0.7])
    assert prior.log_density(moved, NAMES)[0] == pytest.approx(prior.log_density(POINT, NAMES)[0])
    alike = np.array([0.3, 0.1, 0.5, 0.5, 0.5])
    assert prior.log_density(alike, NAMES)[0] == 0.0
    spread = POINT[2:] - POINT[2:].mean()
    expected = -0.5 * (spread @ spread) / 0.16
    assert prior.log_density(POINT, NAMES)[0] == pytest.approx(expected)


def test_heavy_tails_are_students() -> None:
    prior = Shrinkage(0.3, 3.0)

    def density(x: np.ndarray) -> float:
        """The highest over locations of the product of t densities."""
        grid = np.linspace(-2, 2, 40_001)
        return float(stats.t.logpdf((x[2:, None] - grid) / 0.3, 3.0).sum(axis=0).max())

    other = POINT + np.array([0.0, 0.0, 1.5, 0.1, 0.3])
    found = prior.log_density(other, NAMES)[0] - prior.log_density(POINT, NAMES)[0]
    assert found == pytest.approx(density(other) - density(POINT), rel=1e-6)
    area = integrate.quad(lambda u: (1 + u**2 / (3 * 0.09)) ** -2.0, -np.inf, np.inf)[0]
    assert prior.log_normaliser == pytest.approx(np.log(area / np.sqrt(2 * np.pi)))
    assert Shrinkage(0.3, 1e9).log_normaliser == pytest.approx(np.log(0.3))
    # the gradient is that of a normal prior with the precisions it reports
    slope = prior.log_density(POINT, NAMES)[1]
    pull = prior.precision(POINT, NAMES)
    location = POINT[2] + slope[2] / pull[2]
    np.testing.assert_allclose(slope[2:], -pull[2:] * (POINT[2:] - location), rtol=1e-9)
    assert pull[:2].tolist() == [0.0, 0.0]


def test_integrated_is_the_mixture_of_shrinkages() -> None:
    """The integral over tau of exp(shrinkage) with its normaliser, 1/tau^2 ~ Gamma(a, rate b)."""
    a, b, m = 1.5, 0.2, 2

    def mixture(point: np.ndarray) -> float:
        gap = deviations(point, NAMES)

        def integrand(precision: float) -> float:
            normal = precision ** (m / 2) * np.exp(-0.5 * precision * (gap @ gap))
            return float(normal * stats.gamma.pdf(precision, a, scale=1 / b))

        return float(np.log(integrate.quad(integrand, 0, np.inf)[0]))

    other = np.array([0.0, 0.0, 0.1, 0.2, -0.1])
    prior = Integrated(a, b)
    found = prior.log_density(POINT, NAMES)[0] - prior.log_density(other, NAMES)[0]
    assert found == pytest.approx(mixture(POINT) - mixture(other), rel=1e-7)


def test_box_is_flat_inside_and_nothing_outside() -> None:
    box = Box({"C": (-1.0, 1.0), "rbf.length_scale": (-1.0, 2.0)})
    assert box.log_density(POINT, NAMES)[0] == 0.0
    assert box.log_density(POINT - 1.0, NAMES)[0] == -np.inf
    low, high = box.limits(NAMES)
    assert low.tolist() == [-1.0, -np.inf, -1.0, -1.0, -1.0]
    assert high.tolist() == [1.0, np.inf, 2.0, 2.0, 2.0]


def reach(floor: float = 6.0) -> Prior:
    rows = np.random.default_rng(0).standard_normal((40, 3))
    data = Dataset.of(rows, np.arange(40) % 2, np.arange(40) % 3)
    return Reach(floor).bind(data, Constant(1.0) * RBF([1.0] * 3))


def test_reach_falls_off_below_the_floor_only() -> None:
    """Its gradient against differences, on both sides; C n v = floor is where it begins."""
    prior, step = reach(), 1e-6
    kernel = (Constant(1.0) * RBF([1.0] * 3)).at(POINT[1:])
    rows = np.random.default_rng(0).standard_normal((40, 3))[np.arange(40) % 3 > 0]
    K, n = kernel(rows), float((np.arange(40) % 3).sum())
    edge = np.log(6.0 / n / (K.trace() / len(K) - K.mean()))
    for below in (0.5, 0.1):
        x = np.concatenate([[edge - below], POINT[1:]])
        value, gradient = prior.log_density(x, NAMES)
        assert value == pytest.approx(-0.5 * (below / 0.25) ** 2, rel=1e-9)
        for j in range(len(x)):
            e = step * np.eye(len(x))[j]
            ahead, behind = (prior.log_density(x + s * e, NAMES)[0] for s in (1, -1))
            assert gradient[j] == pytest.approx((ahead - behind) / (2 * step), rel=1e-6)
    value, gradient = prior.log_density(np.concatenate([[edge + 0.01], POINT[1:]]), NAMES)
    assert value == 0.0
    assert not gradient.any()
    with pytest.raises(ValueError, match="Reach depends on the data"):
        Reach().log_density(POINT, NAMES)
    assert repr(prior) == "Reach(floor=6.0, width=0.25)"


def test_vague_is_normal_around_the_start_from_data() -> None:
    rows = np.random.default_rng(0).standard_normal((40, 3))
    kernel = Constant(1.0) * RBF([1.0] * 3)
    data = Dataset.of(rows, np.arange(40) % 2)
    prior, centre, step = Vague(2.0, 0.5).bind(data, kernel), from_data(data, kernel), 1e-6
    value, gradient = prior.log_density(POINT, NAMES)
    gap = POINT - centre
    expected = -0.5 * (gap[0] / 2) ** 2 - 0.5 * (gap[2:].mean() / 0.5) ** 2
    assert value == pytest.approx(expected)
    for j in range(len(POINT)):
        e = step * np.eye(len(POINT))[j]
        ahead, behind = (prior.log_density(POINT + s * e, NAMES)[0] for s in (1, -1))
        assert gradient[j] == pytest.approx((ahead - behind) / (2 * step), rel=1e-6, abs=1e-8)
    with pytest.raises(ValueError, match="Vague depends on the data"):
        Vague().log_density(POINT, NAMES)


def test_vectors_are_found_by_name() -> None:
    assert vectors(NAMES) == [[2, 3, 4]]
    two = ("log C", "rbf.length_scale[0]", "rbf.length_scale[1]", "rbf_2.length_scale[0]")
    assert vectors(two) == [[1, 2]]
    assert vectors(("log C", "rbf.length_scale")) == []


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: as_prior("strict"), "'strict' is not one of 'flat', 'hierarchical'"),
        (lambda: as_prior(3.0), "cannot make a prior of 3.0"),
        (lambda: Shrinkage(0.0).log_density(POINT, NAMES), "tau must be a positive"),
        (
            lambda: Gaussian({"gamma": (0, 1)}).log_density(POINT, NAMES),
            "no parameter is called 'gamma'; there are C, constant",
        ),
        (lambda: Gaussian({"C": (0, 0)}).log_density(POINT, NAMES), "standard deviation of 'C'"),
        (lambda: Box({"C": (1, 1)}).limits(NAMES), "the box of 'C' is empty"),
        (lambda: User(lambda x: (0.0, x[:2])).log_density(POINT, NAMES), r"has shape \(2,\)"),
    ],
)
def test_mistakes_are_named(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_what_can_be_a_prior() -> None:
    assert as_prior(None) == Flat()
    assert as_prior("hierarchical") == Hierarchical()
    assert as_prior(Shrinkage(1.0)) == Shrinkage(1.0)
    assert isinstance(as_prior(own), User)
    assert repr(as_prior(own)) == "User(own)"  # no address: checkpoints compare it
