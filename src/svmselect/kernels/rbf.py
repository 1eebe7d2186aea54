"""The Gaussian kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .stationary import LengthScale, Stationary
from .tiles import Array, Distances


@dataclass(frozen=True, repr=False)
class RBF(Stationary):
    """Gaussian kernel, ``k(x, z) = exp(-sum_a (x_a - z_a)^2 / (2 l_a^2))``.

    Parameters
    ----------
    length_scale : float or sequence of float, default 1.0
        One length scale for all inputs, or one for each (automatic relevance determination).
    variables : sequence of int, optional
        The variable that each column belongs to, counted from 0, where several columns are one
        thing, as those of a category are: they then share a length scale.

    Notes
    -----
    In terms of the ``gamma`` of scikit-learn and LIBSVM, ``gamma = 1 / (2 length_scale^2)``.

    Examples
    --------
    >>> from svmselect.kernels import RBF
    >>> RBF(length_scale=2.0)([[0.0]], [[2.0]]).round(4)  # exp(-1/2)
    array([[0.6065]])
    """

    length_scale: LengthScale = 1.0
    variables: Sequence[int] | None = None

    def profile(self, s: Array) -> None:
        s *= -0.5
        np.exp(s, out=s)

    def slopes(self, squares: Array | Distances, scale: float, K: Array) -> Array:
        return K  # and no distance is needed

    def slope(self, s: Array, K: Array | None) -> None:
        # -2 d/ds exp(-s/2) is the kernel itself.
        if K is None:
            self.profile(s)
        else:
            s[...] = K
