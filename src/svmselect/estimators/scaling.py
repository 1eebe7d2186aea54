"""Inputs as the kernel sees them: a bend for skewed columns, then zero mean and unit spread.

Or zero mean and one factor for all, where columns share a unit, as the pixels of a picture do:
what varies less may then matter less. Which of the two is for the data to say (``units.py``).

A column that leans to one side (amounts, counts, concentrations) is bent by Yeo and Johnson's
function so that it leans no more. Its argument is the distance from the column's lowest value (its
highest, for a column with its tail to the left) in units of the median distance from there: so a
column may be shifted, stretched or mirrored and the result is the same. The power is that of the
highest likelihood of a normal distribution, and a column is bent only where that pays; the labels
are not looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from svmselect.data import standardise
from svmselect.types import Array, BoolArray

LARGEST = 1e100
"""Standardised inputs are clipped here: squares of their differences stay finite."""
POWERS = (-3.0, 3.0)
"""The powers that are looked at."""
WORTH = 0.02
"""Gain in log-likelihood a row that a bend must bring, besides two log n in all."""
MOST = 5000
"""Rows that a power is found from."""
_STEPS = 16


@dataclass(frozen=True, eq=False)
class Bend:
    """Yeo and Johnson's function of (x - origin) / unit, column by column; power 1 is none.

    A negative unit mirrors the column before and after, so that the bend never turns it round.
    """

    origin: Array
    unit: Array
    power: Array

    @property
    def table(self) -> Array:
        """The three in rows."""
        return np.vstack([self.origin, self.unit, self.power])

    @property
    def bent(self) -> BoolArray:
        """Which columns are not left as they are."""
        return np.asarray(self.power != 1.0)

    def __call__(self, X: Array) -> Array:
        """Bend the columns that are bent."""
        found, which = X.copy(), self.bent
        with np.errstate(over="ignore"):
            u = np.clip((X[:, which] - self.origin[which]) / self.unit[which], -LARGEST, LARGEST)
        found[:, which] = np.sign(self.unit[which]) * yeo_johnson(u, self.power[which])
        return found

    def undo(self, Z: Array) -> Array:
        """The inputs again."""
        found, which = Z.copy(), self.bent
        z = np.sign(self.unit[which]) * Z[:, which]
        u = _yeo_johnson_inverse(z, self.power[which])
        found[:, which] = self.origin[which] + self.unit[which] * u
        return found

    @classmethod
    def of(cls, X: Array, weights: Array, allowed: BoolArray | None = None) -> Bend:
        """The bend that makes each column most nearly normal, where that pays. O(n d).

        Only columns that are ``allowed`` are looked at.
        """
        origin, unit = _lean(X, weights / weights.sum())
        some = unit != 0.0 if allowed is None else (unit != 0.0) & allowed
        power = np.ones(X.shape[1])
        power[some] = _best_powers((X[:, some] - origin[some]) / unit[some], weights)
        bent = power != 1.0
        return cls(np.where(bent, origin, 0.0), np.where(bent, unit, 1.0), power)


@dataclass(frozen=True, eq=False)
class Scaling:
    """(x - mean) / scale, column by column, after the bend if there is one."""

    mean: Array
    scale: Array
    bend: Bend | None = None

    def __call__(self, X: Array) -> Array:
        """Bend and standardise rows; what overflows is clipped."""
        with np.errstate(over="ignore"):
            bent = X if self.bend is None else self.bend(X)
            return np.clip((bent - self.mean) / self.scale, -LARGEST, LARGEST)

    def undo(self, Z: Array) -> Array:
        """The inputs as they came."""
        X = Z * self.scale + self.mean
        return X if self.bend is None else self.bend.undo(X)

    @classmethod
    def learned(cls, model: Any) -> Scaling:
        """What a fitted classifier has learned, from its public attributes."""
        bend = None if model.bend_ is None else Bend(*model.bend_)
        return cls(model.mean_, model.scale_, bend)

    @classmethod
    def of(
        cls,
        X: Array,
        weights: Array,
        wanted: bool,
        bend: bool = False,
        spans: Array | None = None,
        common: bool = False,
    ) -> Scaling:
        """Means and standard deviations of the rows, or nothing at all.

        ``spans`` are what columns are divided by that are not to be standardised, else NaN;
        ``common`` divides all others by the root of their mean variance.
        """
        d = X.shape[1]
        own = np.full(d, np.nan) if spans is None else spans
        plain = np.isnan(own)
        bent = None
        if wanted and bend:
            found = Bend.of(X, weights, plain)
            if found.bent.any():
                bent, X = found, found(X)
        mean, scale = standardise(X, weights) if wanted else (np.zeros(d), np.ones(d))
        if common:
            varying = plain & (X[:1] != X).any(axis=0)
            scale = np.full(d, np.sqrt(np.mean(scale[varying] ** 2)))
        return cls(np.where(plain, mean, 0.0), np.where(plain, scale, own), bent)


def yeo_johnson(u: Array, power: Array) -> Array:
    """Yeo and Johnson's function, monotone, with slope one at zero; columns have their powers."""
    up, down = np.maximum(u, 0.0), np.maximum(-u, 0.0)
    return np.asarray(_box_cox(up, power) - _box_cox(down, 2.0 - power))


def _box_cox(v: Array, power: Array) -> Array:
    """((1 + v)^power - 1) / power for v >= 0, log(1 + v) at zero."""
    log = np.log1p(v)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        bent = np.expm1(power * log) / power
    return np.asarray(np.clip(np.where(power == 0.0, log, bent), None, LARGEST))


def _yeo_johnson_inverse(z: Array, power: Array) -> Array:
    up, down = np.maximum(z, 0.0), np.maximum(-z, 0.0)
    return np.asarray(_box_cox_inverse(up, power) - _box_cox_inverse(down, 2.0 - power))


def _box_cox_inverse(z: Array, power: Array) -> Array:
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        log = np.log1p(np.maximum(power * z, -1.0)) / power
        return np.asarray(np.clip(np.expm1(np.where(power == 0.0, z, log)), None, LARGEST))


def _lean(X: Array, share: Array) -> tuple[Array, Array]:
    """Origin and unit of each column: its edge away from the tail, the median distance from there.

    A negative unit mirrors the column; 0 is for one that cannot or need not be bent.
    """
    low, high = X.min(axis=0), X.max(axis=0)
    two = ((low == X) | (high == X)).all(axis=0)  # a constant, or a yes and a no
    with np.errstate(over="ignore", invalid="ignore"):
        middle = share @ X
        right = share @ (X - middle) ** 3 >= 0
        origin, sign = np.where(right, low, high), np.where(right, 1.0, -1.0)
        u = sign * (X - origin)
        unit = np.median(u, axis=0)
        for a in np.flatnonzero((unit <= 0.0) & ~two):  # more than half the rows are at the edge
            unit[a] = np.median(u[u[:, a] > 0, a])
        spread = high - low
    least = np.finfo(float).eps * np.maximum(np.abs(low), np.abs(high))
    usable = ~two & (unit > least) & np.isfinite(spread)
    return origin, np.where(usable, sign * unit, 0.0)


def _best_powers(U: Array, weights: Array) -> Array:
    """The power of the highest likelihood of each column, 1 where that is not worth a bend.

    By golden section for all columns side by side: the likelihood has one maximum.
    """
    if len(U) > MOST:
        step = -(-len(U) // MOST)
        U, weights = U[::step], weights[::step]
    n = float(weights.sum())
    share = weights / n
    jacobian = share @ np.log1p(U)

    def likelihood(power: Array) -> Array:
        """Of a row."""
        Z = _box_cox(U, power)
        variance = share @ (Z - share @ Z) ** 2
        with np.errstate(divide="ignore"):
            found = -0.5 * np.log(variance) + (power - 1.0) * jacobian
        return np.where(variance < LARGEST, found, -np.inf)

    ratio = 0.5 * (np.sqrt(5.0) - 1.0)
    low, high = (np.full(U.shape[1], edge) for edge in POWERS)
    a, b = high - ratio * (high - low), low + ratio * (high - low)
    fa, fb = likelihood(a), likelihood(b)
    for _ in range(_STEPS):
        left = fa >= fb
        low, high = np.where(left, low, a), np.where(left, b, high)
        new = np.where(left, high - ratio * (high - low), low + ratio * (high - low))
        value = likelihood(new)
        a, b = np.where(left, new, b), np.where(left, a, new)
        fa, fb = np.where(left, value, fb), np.where(left, fa, value)
    power = np.where(fa >= fb, a, b)
    gain = np.maximum(fa, fb) - likelihood(np.ones_like(power))
    return np.where(gain > WORTH + 2.0 * np.log(max(n, 2.0)) / n, power, 1.0)
