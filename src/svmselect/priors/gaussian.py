"""Independent normal densities."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from svmselect.kernels.names import matching
from svmselect.priors.base import Prior, positive
from svmselect.types import Array


@dataclass(frozen=True)
class Gaussian(Prior):
    """Independent normal densities of the logarithms of parameters.

    Parameters
    ----------
    at : mapping of str to (float, float)
        Mean and standard deviation, both of the logarithm, for each name: "C" or "log C", a
        kernel's parameter such as "constant.value", or "rbf.length_scale" for all its entries.
        Coordinates that are not named are flat.

    Notes
    -----
    The log density is ``-1/2 sum_j ((x_j - m_j) / s_j)^2``.

    Examples
    --------
    >>> import numpy as np
    >>> from svmselect.priors import Gaussian
    >>> prior = Gaussian({"C": (0.0, 2.0), "rbf.length_scale": (np.log(3.0), 1.0)})
    """

    at: Mapping[str, tuple[float, float]]

    def log_density(self, point: Array, names: tuple[str, ...]) -> tuple[float, Array]:
        mean, scale = self._moments(names)
        z = (point - mean) / scale
        return float(-0.5 * z @ z), -z / scale

    def hessian(self, point: Array, names: tuple[str, ...]) -> Array:
        return np.asarray(-np.diag(self._moments(names)[1] ** -2.0))

    def _moments(self, names: tuple[str, ...]) -> tuple[Array, Array]:
        """Mean and standard deviation of each coordinate, infinite where it is flat."""
        mean, scale = np.zeros(len(names)), np.full(len(names), np.inf)
        for name, (m, s) in self.at.items():
            members = matching(name, names)
            mean[members], scale[members] = m, positive(s, f"standard deviation of {name!r}")
        return mean, scale
