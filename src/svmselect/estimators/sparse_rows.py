"""Rows that are mostly zeros, as those of text: they keep their zeros, and their units.

Nothing is subtracted, which would fill them, and nothing divided: a rare word would weigh as much
as a frequent one. Where there are more inputs than rows and the kernel stays the same when the
inputs are rotated, the choice is made on dense rows with the same inner products, and the machine
keeps sparse support vectors.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scipy import sparse

from svmselect.kernels import Kernel
from svmselect.kernels.sparse import rotates

FILLED = 0.1
"""Up to this share of entries that are not zero, a sparse matrix is taken as it is."""


def keeps_zeros(X: Any) -> bool:
    """Whether rows are to stay as they are."""
    return bool(sparse.issparse(X) and X.nnz <= FILLED * X.shape[0] * X.shape[1])


def rotatable(X: Any, kernels: Sequence[Kernel], ard: str | bool, most: int) -> bool:
    """Whether the choice can be made on rotated rows, and is easier there."""
    n, d = X.shape
    one_scale = ard in ("auto", "no", False) and all(rotates(kernel) for kernel in kernels)
    return keeps_zeros(X) and n < d and n <= most and one_scale
