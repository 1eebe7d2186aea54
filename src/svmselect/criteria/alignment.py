"""Kernel-target alignment."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from svmselect.criteria.base import Context, Criterion, Verdict, every
from svmselect.types import Sensitivity, Status


@dataclass(frozen=True)
class Alignment(Criterion):
    """The cosine between the Gram matrix and that of the labels.

    Parameters
    ----------
    centred : bool, default True
        Whether to take the mean out of both in feature space, which unbalanced classes need.

    Notes
    -----
    The value is ``<K, yy'> / (|K| |yy'|)``, with Frobenius products and norms. No machine is
    trained, and C does not enter. Any loss. A weight counts as copies of its row. O(n^2).

    References
    ----------
    Cristianini, Shawe-Taylor, Elisseeff & Kandola 2001; centred: Cortes, Mohri & Rostamizadeh 2012.
    """

    centred: bool = True

    name = "alignment"
    greater_is_better = True
    serves = every("hinge", "squared_hinge", "logistic")
    scaling = 0.0
    formula = "<K, yy'>_F / (|K|_F |yy'|_F), centred"
    cost = "O(n^2)"
    reference = "Cristianini, Shawe-Taylor, Elisseeff & Kandola 2001"

    def evaluate(self, context: Context, gradient: bool) -> Verdict:
        K, y, w = context.K, context.y, context.weights
        share = w / w.sum()
        mean = share @ y if self.centred else 0.0
        t = y - mean
        Kc = K
        if self.centred:  # H K H' with H = I - 1 share'
            row = K @ share
            Kc = K - row[:, None] - row + share @ row
        root = np.sqrt(np.outer(w, w))
        norm = float(np.linalg.norm(root * Kc))
        size = float(w @ t**2)
        if norm <= 8.0 * np.finfo(float).eps * float(np.linalg.norm(root * K)):
            return self._undefined(len(y), gradient)
        value = float((w * t) @ Kc @ (w * t)) / (norm * size)
        if not gradient:
            return Verdict(value)
        # d value / d Kc, then through the centring (which leaves w t as it is: it sums to zero)
        pull = np.outer(w * t, w * t) / (norm * size) - value * np.outer(w, w) * Kc / norm**2
        if self.centred:
            pull = pull - np.outer(pull.sum(axis=1), share)
            pull = pull - np.outer(share, pull.sum(axis=0))
        empty = np.zeros((len(y), 0))
        return Verdict(value, Sensitivity(empty, empty, 0.0, pull))

    def _undefined(self, n: int, gradient: bool) -> Verdict:
        """The kernel does not tell the rows apart: a cosine with nothing."""
        status = Status(
            "undefined",
            "the kernel is the same for all rows to working precision, so it has no direction; "
            "shorten the length scale, or give rows that differ",
        )
        empty = np.zeros((n, 0))
        still = Sensitivity(empty, empty, 0.0, np.zeros((n, n)))
        return Verdict(0.0, still if gradient else None, status=status)
