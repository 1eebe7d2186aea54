"""Flat inside a box."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from svmselect.kernels.names import matching
from svmselect.priors.base import Prior
from svmselect.types import Array


@dataclass(frozen=True)
class Box(Prior):
    """A prior that is flat inside a box and zero outside.

    Parameters
    ----------
    at : mapping of str to (float, float)
        Lower and upper limit, both logarithms, for each name: "C" or "log C", a kernel's parameter
        such as "constant.value", or "rbf.length_scale" for all its entries.

    Examples
    --------
    >>> import numpy as np
    >>> from svmselect.priors import Box
    >>> prior = Box({"C": (np.log(0.1), np.log(100.0))})
    """

    at: Mapping[str, tuple[float, float]]

    def log_density(self, point: Array, names: tuple[str, ...]) -> tuple[float, Array]:
        low, high = self.limits(names)
        inside = bool(np.all((point >= low) & (point <= high)))
        return (0.0 if inside else -np.inf), np.zeros_like(point)

    def hessian(self, point: Array, names: tuple[str, ...]) -> Array:
        return np.zeros((len(point), len(point)))

    def limits(self, names: tuple[str, ...]) -> tuple[Array, Array]:
        """Return the box over all coordinates; ``select`` does not look outside it.

        Parameters
        ----------
        names : tuple of str
            The names of the coordinates.

        Returns
        -------
        low : ndarray of shape (p,)
            Lower limits, minus infinity where there is none.
        high : ndarray of shape (p,)
            Upper limits, infinity where there is none.
        """
        low, high = np.full(len(names), -np.inf), np.full(len(names), np.inf)
        for name, (a, b) in self.at.items():
            if not a < b:
                raise ValueError(f"the box of {name!r} is empty: ({a}, {b}); give low < high")
            members = matching(name, names)
            low[members], high[members] = a, b
        return low, high
