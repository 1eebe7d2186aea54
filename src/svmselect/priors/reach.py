"""Away from where the machine cannot reach its margins."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from svmselect.data import Dataset
from svmselect.kernels import Kernel
from svmselect.priors.base import Prior
from svmselect.types import Array


@dataclass(frozen=True)
class Reach(Prior):
    """A prior that keeps C out of the range where the machine cannot reach its margins.

    Parameters
    ----------
    floor : float, default 6.0
        The density is flat where C n v is above this.
    width : float, default 0.25
        Standard deviation of its fall below, in log C n v.
    rows : ndarray, optional
        A sample of the inputs; set by ``bind``.
    kernel : Kernel, optional
        The kernel; set by ``bind``.
    n : float, default 0.0
        The total weight of the data; set by ``bind``.

    Notes
    -----
    v is the variance of the rows in feature space. With C n v small nearly every vector is at its
    bound: C then only scales f, nothing determines the intercept, and a sigmoid fitted to held-out
    values does not fit the machine trained on all rows. The log density falls off as a Gaussian in
    log C n v below log ``floor``, and is flat above.
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
