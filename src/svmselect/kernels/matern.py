"""The Matern kernels of half-integer order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .stationary import LengthScale, Stationary
from .tiles import Array


@dataclass(frozen=True, repr=False)
class Matern(Stationary):
    """Matern kernel of order nu = 1/2, 3/2 or 5/2.

    Parameters
    ----------
    length_scale : float or sequence of float, default 1.0
        One length scale for all inputs, or one for each.
    nu : {0.5, 1.5, 2.5}, default 1.5
        The order; a search leaves it as it is.
    variables : sequence of int, optional
        The variable that each column belongs to, counted from 0, where several columns are one
        thing, as those of a category are: they then share a length scale.

    Notes
    -----
    With ``r^2 = sum_a (x_a - z_a)^2 / l_a^2`` and ``t = sqrt(2 nu) r``::

        nu = 1/2: exp(-t),   3/2: (1 + t) exp(-t),   5/2: (1 + t + t^2/3) exp(-t).

    Its functions are rougher than those of the Gaussian kernel, which is the limit of large nu.
    """

    length_scale: LengthScale = 1.0
    nu: float = 1.5
    variables: Sequence[int] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.nu not in (0.5, 1.5, 2.5):
            raise ValueError(
                f"nu of Matern must be 0.5, 1.5 or 2.5, got {self.nu!r}; "
                "for the limit of large nu use RBF"
            )
        object.__setattr__(self, "nu", float(self.nu))

    def profile(self, s: Array) -> None:
        t = self._decay(s)
        if self.nu == 1.5:
            t += 1.0
            s *= t
        elif self.nu == 2.5:
            s *= 1.0 + t + t * t / 3.0

    def slope(self, s: Array, K: Array | None) -> None:
        t = self._decay(s)
        if self.nu == 0.5:
            # exp(-r)/r grows without bound at r = 0, but multiplies (x - z)^2 = 0 there.
            np.divide(s, t, out=s, where=t > 0.0)
            s[t == 0.0] = 0.0
        elif self.nu == 1.5:
            s *= 3.0
        else:
            t += 1.0
            s *= t
            s *= 5.0 / 3.0

    def _decay(self, s: Array) -> Array:
        """Give t, leaving exp(-t) in place of s."""
        s *= 2.0 * self.nu
        t = np.sqrt(s)
        np.exp(np.negative(t, out=s), out=s)
        return t
