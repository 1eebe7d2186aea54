"""The Gaussian algebra that the evidence and information criteria share.

A likelihood of curvatures L = diag(l) >= 0 at the trained machine and a prior covariance K give the
posterior covariance N = (K^-1 + L)^-1, and three things are asked of it, with derivatives:

    log det(I + L K):    d = sum_i N_ii dl_i + <L - L N L, dK>
    tr(N P):             d = -sum_i (N P N)_ii dl_i + <(I - L N) P (I - N L), dK> + <N, dP>
    tr(N L):             the effective number of parameters, sum_j e_j/(1 + e_j), e_j the
                         eigenvalues of L^1/2 K L^1/2

K is never inverted: it enters as it is or by a factor K = G G', exact or Nystrom's.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack
from scipy.special import expit

from svmselect.data import Seed
from svmselect.kernels.nystrom import Nystrom, choose_landmarks
from svmselect.machine import Solution
from svmselect.machine.losses import get_loss
from svmselect.types import Array, IntArray, Sensitivity, Status

_EPS = float(np.finfo(float).eps)


@dataclass(frozen=True, eq=False)
class Determinant:
    """log det(I + L K): ``gain`` is its derivative by log l (l_i N_ii), ``gram`` that by K.

    ``rounding`` estimates the error that the rounding of K alone makes in ``logdet``.
    """

    logdet: float
    gain: Array
    gram: Array
    rounding: float


def log_determinant(K: Array, curvature: Array) -> Determinant:
    """log det(I + L K) for positive curvatures, by Cholesky's factor of I + L^1/2 K L^1/2. O(m^3).

    That factor is as accurate as the entries of K allow, whatever the scale of L.
    """
    if not len(K):
        return Determinant(0.0, np.zeros(0), np.zeros((0, 0)), 0.0)
    root = np.sqrt(curvature)
    B = np.outer(root, root) * K
    B.flat[:: len(B) + 1] += 1.0
    factor, info = lapack.dpotrf(B, lower=1)
    if info == 0:
        inverse = lapack.dpotri(factor, lower=1)[0]
        gram = np.outer(root, root) * (np.tril(inverse) + np.tril(inverse, -1).T)
        gain = (K * gram).sum(axis=1)
        logdet = 2.0 * float(np.log(factor.diagonal()).sum())
    else:  # rounding has eaten the unit matrix: take the eigenvalues that K should have
        posterior = Posterior.of(factorise(K), curvature)
        gram = np.diag(curvature) - posterior.weighted @ (posterior.spread.T * curvature)
        gain, logdet = posterior.gain, posterior.logdet
    size = np.sqrt(K.diagonal())  # K_ij is known to eps (K_ii K_jj)^1/2
    rounding = _EPS * float(np.linalg.norm(size[:, None] * gram * size))
    return Determinant(logdet, gain, gram, rounding)


def factorise(K: Array) -> Array:
    """G with K = G G', n x rank, by Cholesky's method with pivots: O(n rank^2)."""
    # the factor's other triangle is not referenced, and the default tolerance is n eps max(K_ii)
    lower, pivots, rank, _ = lapack.dpstrf(K, lower=1)
    G = np.zeros((len(K), rank))
    G[pivots - 1] = np.tril(lower)[:, :rank]
    return G


@dataclass(frozen=True, eq=False)
class Covariance:
    """K of the rows of positive weight as G G', exact or by Nystrom's approximation."""

    size: int
    rows: IntArray
    factor: Array
    nystrom: Nystrom | None

    @classmethod
    def of(
        cls,
        K: Array,
        weights: Array,
        nystrom: tuple[int, int] | None = None,
        random_state: Seed = 0,
    ) -> Covariance:
        """Factor K: O(n^3), or O(m^2 n) with ``nystrom`` = (m landmarks, p components)."""
        rows = np.flatnonzero(weights > 0)
        if nystrom is None:
            return cls(len(K), rows, factorise(K[np.ix_(rows, rows)]), None)
        places = choose_landmarks(np.arange(len(rows)), nystrom[0], random_state)
        low = Nystrom.of(K[np.ix_(rows, rows[places])], places, nystrom[1])
        return cls(len(K), rows, low.factor, low)

    @property
    def differentiable(self) -> bool:
        """Whether G G' is a smooth function of K here."""
        return self.nystrom is None or self.nystrom.differentiable

    def spread(self, values: Array) -> Array:
        """Put one number a row of positive weight into a vector over all rows."""
        full = np.zeros(self.size)
        full[self.rows] = values
        return full

    def dense(self, block: Array) -> Sensitivity:
        """Sensitivity for a derivative by the (exact) matrix of these rows."""
        gram = block
        if len(self.rows) < self.size:
            gram = np.zeros((self.size, self.size))
            gram[np.ix_(self.rows, self.rows)] = block
        empty = np.zeros((self.size, 0))
        return Sensitivity(empty, empty, 0.0, gram)

    def by_factor(self, low: Nystrom, on_factor: Array) -> Sensitivity:
        """Sensitivity for a derivative by G, through the landmarks' columns alone."""
        m = len(low.landmarks)
        left, right = np.zeros((self.size, m)), np.zeros((self.size, m))
        left[self.rows] = low.pullback(on_factor)
        right[self.rows[low.landmarks], np.arange(m)] = 1.0
        return Sensitivity(left, right, 0.0)


@dataclass(frozen=True, eq=False)
class Posterior:
    """N = E E' for K = G G' and curvatures L; with ``flat``, also for a constant of any size.

    ``spread`` is E, and ``root`` R^-1 of I + G'LG = R'R. With a flat prior on the offset K is
    centred by the curvatures, H K H' with H = I - 1 l'/sum(l), and N gains 11'/sum(l): the limit of
    adding a growing constant to K.
    """

    curvature: Array
    spread: Array
    root: Array
    logdet: float

    @classmethod
    def of(cls, factor: Array, curvature: Array, flat: bool = False) -> Posterior:
        """Factor I + G'LG; O(n p^2).

        By Cholesky where its condition number, which grows with C, is moderate; else by orthogonal
        triangulation of (L^1/2 G, I), which does not square it.
        """
        p = factor.shape[1]
        total = max(float(curvature.sum()), 1e-300)
        G = factor - (curvature @ factor) / total if flat else factor
        scaled = np.sqrt(curvature)[:, None] * G
        gram = scaled.T @ scaled
        gram.flat[:: p + 1] += 1.0
        if p and gram.trace() < 1e5:
            R = lapack.dpotrf(gram, lower=0)[0]
        else:
            R = np.asarray(np.linalg.qr(np.vstack([scaled, np.eye(p)]), mode="r"))
        root = lapack.dtrtri(R)[0] if p else R
        E = G @ root
        if flat:
            E = np.hstack([E, np.full((len(E), 1), total**-0.5)])
        return cls(curvature, E, root, 2.0 * float(np.log(np.abs(R.diagonal())).sum()))

    @property
    def shrunk(self) -> Array:
        """(I - N L) G."""
        return self.spread[:, : len(self.root)] @ self.root.T

    @property
    def weighted(self) -> Array:
        """L E."""
        return self.curvature[:, None] * self.spread

    @property
    def variance(self) -> Array:
        """diag(N)."""
        return np.asarray(np.einsum("ij,ij->i", self.spread, self.spread))

    @property
    def gain(self) -> Array:
        """diag(N L): the shares of the rows in the effective number of parameters."""
        return self.curvature * self.variance


@dataclass(frozen=True, eq=False)
class Link:
    """p(y | f) = 1/(1 + exp(-eta y f)) at decision values f (KK eqs 5, 14, 16, 18).

    ``loss`` is -log p, ``score`` m = d log p/df, ``curvature`` t = -dm/df, ``bend`` dt/df.
    """

    loss: Array
    score: Array
    curvature: Array
    bend: Array

    @classmethod
    def of(cls, decision: Array, y: Array, eta: float) -> Link:
        """Evaluate the link, without overflow for any margin."""
        z = eta * y * decision
        wrong, right = expit(-z), expit(z)
        t = eta**2 * wrong * right
        return cls(np.logaddexp(0.0, -z), eta * y * wrong, t, eta * y * t * (wrong - right))


def moving(solution: Solution, partial: Array) -> Array:
    """Drop the partials by decision values that do not move: those of the hinge's free points."""
    if get_loss(solution.loss).curved:
        return partial
    kept = partial.copy()
    kept[solution.free] = 0.0
    return kept


def check_link_options(
    eta: float, nystrom: tuple[int, int] | None, criterion: str
) -> tuple[int, int] | None:
    """Check the options that the criteria with a logistic link share; give nystrom as a tuple."""
    if not (np.isfinite(eta) and eta > 0):
        raise ValueError(f"{criterion}: eta must be a positive finite number, got {eta!r}")
    if nystrom is None:
        return None
    pair = tuple(nystrom)
    if len(pair) != 2 or any(int(v) != v for v in pair) or not 1 <= pair[1] <= pair[0]:
        raise ValueError(
            f"{criterion}: nystrom must be (m landmarks, p components) with 1 <= p <= m, "
            f"got {nystrom!r}"
        )
    return int(pair[0]), int(pair[1])


def check_choice(criterion: str, option: str, value: str, allowed: tuple[str, ...]) -> None:
    """Refuse an option that is not one of a few words."""
    if value not in allowed:
        raise ValueError(f"{criterion}: {option}={value!r} is not one of {allowed}")


def judged(value: float, status: Status, rounding: float = 0.0) -> Status:
    """The machine's status; where that is sound, whether the value is a number, and to how much."""
    if status.ok and not np.isfinite(value):
        return Status("undefined", "the criterion has no finite value here; lower C")
    if status.ok and rounding > 1e-4:
        return Status(
            "inexact",
            f"rounding of the kernel matrix alone changes the log determinant by about "
            f"{rounding:.0e}; lower C or shorten the length scale",
        )
    return status
