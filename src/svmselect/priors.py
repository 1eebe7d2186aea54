"""Priors over hyperparameters, as densities in search coordinates (logarithms).

A prior gives log pi and its gradient at a point. What a search maximises is the log-likelihood or
evidence of *all* data plus log pi, divided by n; so a prior weighs less the more data there are.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.special import gammaln

from svmselect.coordinates import deviations, matching, stem, vectors
from svmselect.data import Dataset
from svmselect.kernels import Kernel
from svmselect.starts import from_data
from svmselect.types import Array

__all__ = [
    "Box", "Flat", "Gaussian", "Hierarchical", "Integrated", "Prior", "Reach", "Shrinkage",
    "Together", "User", "Vague", "as_prior", "deviations", "matching", "stem", "vectors",
]  # fmt: skip


class Prior(ABC):
    """log pi(point), up to a constant, for coordinates of these names."""

    @abstractmethod
    def log_density(self, point: Array, names: tuple[str, ...]) -> tuple[float, Array]:
        """Value and gradient. Minus infinity is outside; the gradient is then not looked at."""

    def bind(self, data: Dataset, kernel: Kernel) -> Prior:
        """The same prior where it depends on the data and the form of the kernel."""
        return self

    def __add__(self, other: Prior) -> Prior:
        return Together((self, other))


@dataclass(frozen=True)
class Flat(Prior):
    """Every point alike: log pi = 0."""

    def log_density(self, point: Array, names: tuple[str, ...]) -> tuple[float, Array]:
        return 0.0, np.zeros_like(point)


@dataclass(frozen=True)
class Gaussian(Prior):
    """Independent normal densities of logarithms: -1/2 sum_j ((x_j - m_j) / s_j)^2.

    ``at`` maps a name to (mean, standard deviation) of that coordinate: "C" or "log C", a kernel's
    parameter such as "constant.value", or "rbf.length_scale" for all its entries. The mean is the
    logarithm of the parameter. Coordinates not named are flat.
    """

    at: Mapping[str, tuple[float, float]]

    def log_density(self, point: Array, names: tuple[str, ...]) -> tuple[float, Array]:
        mean, scale = np.zeros_like(point), np.full_like(point, np.inf)
        for name, (m, s) in self.at.items():
            members = matching(name, names)
            mean[members], scale[members] = m, _positive(s, f"standard deviation of {name!r}")
        z = (point - mean) / scale
        return float(-0.5 * z @ z), -z / scale


@dataclass(frozen=True)
class Box(Prior):
    """Flat inside, nothing outside: ``at`` maps names as ``Gaussian`` does to (low, high), logs."""

    at: Mapping[str, tuple[float, float]]

    def log_density(self, point: Array, names: tuple[str, ...]) -> tuple[float, Array]:
        low, high = self.limits(names)
        inside = bool(np.all((point >= low) & (point <= high)))
        return (0.0 if inside else -np.inf), np.zeros_like(point)

    def limits(self, names: tuple[str, ...]) -> tuple[Array, Array]:
        """The box over all coordinates; ``select`` does not look outside it."""
        low, high = np.full(len(names), -np.inf), np.full(len(names), np.inf)
        for name, (a, b) in self.at.items():
            if not a < b:
                raise ValueError(f"the box of {name!r} is empty: ({a}, {b}); give low < high")
            members = matching(name, names)
            low[members], high[members] = a, b
        return low, high


@dataclass(frozen=True)
class Shrinkage(Prior):
    """Length scales shrunk to a common value: -1/2 sum_a (x_a - m)^2 / tau^2, m their mean.

    x_a are the logarithms of a vector parameter; m is free. Several vectors (a kernel with two ARD
    parts) are each shrunk to their own. tau = 0 is the isotropic kernel, tau = infinity no prior.
    On log gamma = -2 log l the scale is twice as large. With finite ``tails`` nu the density is
    Student's, -(nu + 1)/2 sum_a log(1 + (x_a - m)^2 / (nu tau^2)), and m its best location: then a
    few inputs may matter much more than the rest, which stay close together.
    """

    tau: float
    tails: float = np.inf

    def log_density(self, point: Array, names: tuple[str, ...]) -> tuple[float, Array]:
        value, slope = 0.0, np.zeros_like(point)
        for group in vectors(names):
            gap, pull = self._pull(point[group])
            # m is at its best, or the mean: either way it needs no derivative
            slope[group] = -pull * gap
            if np.isfinite(self.tails):
                inner = np.log1p(gap**2 / (self.tails * self.tau**2))
                value -= 0.5 * (self.tails + 1.0) * float(inner.sum())
            else:
                value -= 0.5 * float(gap @ gap) / self.tau**2
        return value, slope

    def precision(self, point: Array, names: tuple[str, ...]) -> Array:
        """The Gaussian precision that each entry of a vector feels; 0 elsewhere."""
        felt = np.zeros_like(point)
        for group in vectors(names):
            felt[group] = self._pull(point[group])[1]
        return felt

    @property
    def log_normaliser(self) -> float:
        """log of the integral of the density of one deviation, over that of a unit normal."""
        if not np.isfinite(self.tails):
            return float(np.log(self.tau))
        nu = self.tails
        gammas = gammaln(0.5 * nu) - gammaln(0.5 * (nu + 1.0))
        return float(np.log(self.tau) + 0.5 * np.log(0.5 * nu) + gammas)

    def _pull(self, x: Array) -> tuple[Array, Array]:
        """Deviations from m, and the precision that pulls each back."""
        tau, nu = _positive(self.tau, "tau"), self.tails
        if not np.isfinite(nu):
            return x - x.mean(), np.full(len(x), tau**-2)
        m = float(np.median(x))
        for _ in range(200):  # the weighted mean whose weights are the precisions
            pull = (nu + 1.0) / (nu * tau**2 + (x - m) ** 2)
            before, m = m, float(pull @ x / pull.sum())
            if abs(m - before) <= 1e-13 * (1.0 + abs(m)):
                break
        return x - m, (nu + 1.0) / (nu * tau**2 + (x - m) ** 2)


@dataclass(frozen=True)
class Integrated(Prior):
    """``Shrinkage`` with tau integrated out: -(a + m/2) log(b + |gap|^2 / 2).

    For 1/tau^2 of a Gamma density with shape ``a`` and rate ``b``; m is the number of independent
    deviations (one less than the length of each vector). Heavy tails: one input may differ a lot.
    """

    a: float = 1.0
    b: float = 0.1

    def log_density(self, point: Array, names: tuple[str, ...]) -> tuple[float, Array]:
        gap = deviations(point, names)
        m = sum(len(group) - 1 for group in vectors(names))
        power = _positive(self.a, "a") + 0.5 * m
        inner = _positive(self.b, "b") + 0.5 * float(gap @ gap)
        return float(-power * np.log(inner)), -power * gap / inner


@dataclass(frozen=True)
class Reach(Prior):
    """Keeps out of the corner where the machine cannot reach its margins.

    With C n v small, v the variance of the rows in feature space, nearly every vector is at its
    bound: C then only scales f, nothing determines the intercept, and a sigmoid fitted to held-out
    values does not fit the machine trained on all rows. log pi falls off as a Gaussian in log C n v
    below log ``floor``, with standard deviation ``width``, and is flat above.
    """

    floor: float = 6.0
    width: float = 0.25
    rows: Array | None = field(default=None, repr=False, compare=False)
    kernel: Kernel | None = field(default=None, repr=False, compare=False)
    n: float = field(default=0.0, repr=False, compare=False)

    def bind(self, data: Dataset, kernel: Kernel) -> Prior:
        there = np.flatnonzero(data.weights > 0)
        some = there[np.linspace(0, len(there) - 1, min(len(there), 150)).astype(np.intp)]
        return replace(self, rows=data.X[some], kernel=kernel, n=float(data.weights.sum()))

    def log_density(self, point: Array, names: tuple[str, ...]) -> tuple[float, Array]:
        if self.rows is None or self.kernel is None:
            raise ValueError("Reach depends on the data: use it through select, or bind it first")
        m, kernel = len(self.rows), self.kernel.at(point[1:])
        K = kernel(self.rows)
        variance = float(K.trace() / m - K.mean())
        short = np.log(self.floor / self.n) - point[0] - np.log(max(variance, 1e-300))
        if short <= 0:
            return 0.0, np.zeros_like(point)
        pull = kernel.pullback(self.rows, np.eye(m) / m - 1.0 / m**2, K=K)
        slope = np.concatenate([[1.0], pull / max(variance, 1e-300)])
        return -0.5 * float(short / self.width) ** 2, slope * float(short) / self.width**2


@dataclass(frozen=True)
class Vague(Prior):
    """Normal densities around what the data suggest: wide, but not so wide as a search can stray.

    log C has standard deviation ``C`` around ``starts.from_data``, a length scale (of a vector,
    the mean of its logarithms) ``length_scale``; other parameters are flat.
    """

    C: float = 3.0
    length_scale: float = 1.0
    centre: Array | None = field(default=None, repr=False, compare=False)

    def bind(self, data: Dataset, kernel: Kernel) -> Prior:
        return replace(self, centre=from_data(data, kernel))

    def log_density(self, point: Array, names: tuple[str, ...]) -> tuple[float, Array]:
        if self.centre is None:
            raise ValueError("Vague depends on the data: use it through select, or bind it first")
        groups = {stem(name): matching(stem(name), names) for name in names[1:]}
        parts = [([0], self.C)]
        parts += [(m, self.length_scale) for name, m in groups.items() if "length_scale" in name]
        value, slope = 0.0, np.zeros_like(point)
        for members, scale in parts:
            gap = float((point[members] - self.centre[members]).mean())
            value -= 0.5 * (gap / scale) ** 2
            slope[members] -= gap / scale**2 / len(members)
        return value, slope


@dataclass(frozen=True)
class User(Prior):
    """A function of the point that gives (log pi, gradient), or log pi alone.

    In the second case the gradient is by central differences: a prior costs nothing beside a
    machine. ``name`` stands for the function in checkpoints: functions cannot be compared.
    """

    function: Callable[[Array], Any]
    name: str = ""
    step: float = field(default=1e-5, repr=False)

    def log_density(self, point: Array, names: tuple[str, ...]) -> tuple[float, Array]:
        answer = self.function(point)
        if isinstance(answer, tuple):
            value, gradient = float(answer[0]), np.asarray(answer[1], dtype=np.float64)
            if gradient.shape != point.shape:
                raise ValueError(
                    f"the prior's gradient has shape {gradient.shape}; give one entry for each of "
                    f"{', '.join(names)}"
                )
            return value, gradient
        slopes = np.zeros_like(point)
        for j in range(len(point)):
            ahead, behind = point.copy(), point.copy()
            ahead[j] += self.step
            behind[j] -= self.step
            difference = float(self.function(ahead)) - float(self.function(behind))
            slopes[j] = difference / (ahead[j] - behind[j])
        return float(answer), slopes

    def __repr__(self) -> str:
        label = self.name or getattr(self.function, "__qualname__", type(self.function).__name__)
        return f"User({label})"


@dataclass(frozen=True)
class Together(Prior):
    """A product of priors."""

    parts: tuple[Prior, ...]

    def bind(self, data: Dataset, kernel: Kernel) -> Prior:
        return Together(tuple(part.bind(data, kernel) for part in self.parts))

    def log_density(self, point: Array, names: tuple[str, ...]) -> tuple[float, Array]:
        answers = [part.log_density(point, names) for part in self.parts]
        return sum(value for value, _ in answers), np.sum([g for _, g in answers], axis=0)


@dataclass(frozen=True)
class Hierarchical:
    """``Shrinkage`` whose tau is itself chosen, from ``ladder`` and 0, the isotropic kernel.

    Searches run for each tau, from the optimum of the one before and from the starts; tau is that
    of the highest marginal likelihood, the deviations of the length scales integrated out by
    Laplace's method:

        J(theta; tau) + 1/2 sum_j log(1 + tau^2 h_j)      smallest

    J is the negative log posterior of all data at its minimum, h_j the d - 1 eigenvalues, at least
    0, of P H P, P = I - 11'/d, H the Hessian of the negative log-likelihood in the log scales, by
    differences of its gradient over ``step``. (That is for normal ``tails``, whose normaliser
    cancels; else see ``hierarchy.level_three``.) The ladder is climbed until ``patience`` rungs in
    a row are worse than the best. ``beside`` is the prior on C and on the mean of the length
    scales. For criteria that are log-likelihoods or evidences and have gradients.
    """

    ladder: tuple[float, ...] = (0.25, 0.5, 1.0, 2.0)
    step: float = 0.1
    patience: int = 3
    tails: float = 3.0
    beside: Prior = Together((Reach(), Vague()))


def as_prior(value: Any) -> Prior | Hierarchical:
    """A prior for None, a name, a prior, or a function."""
    named = {
        "flat": Flat, "hierarchical": Hierarchical, "integrated": Integrated, "reach": Reach,
        "vague": Vague,
    }  # fmt: skip
    if value is None:
        return Flat()
    if isinstance(value, Prior | Hierarchical):
        return value
    if isinstance(value, str):
        if value not in named:
            raise ValueError(f"prior {value!r} is not one of {', '.join(map(repr, named))}")
        made: Prior | Hierarchical = named[value]()
        return made
    if callable(value):
        return User(value)
    raise ValueError(
        f"cannot make a prior of {value!r}; give one of svmselect.priors, a name "
        f"({', '.join(map(repr, named))}) or a function of the point"
    )


def _positive(value: float, what: str) -> float:
    if not (np.isfinite(value) and value > 0):
        raise ValueError(f"{what} must be a positive finite number, got {value!r}")
    return float(value)
