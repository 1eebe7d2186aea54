"""Kernels: immutable expressions with Gram matrices and their derivatives.

One kernel a file; a file added to this folder is found by ``available`` and importable from here.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from svmselect.registry import classes_of

from .base import Kernel, Product, Sum
from .constant import Constant
from .convert import as_kernel, from_sklearn
from .general_gaussian import GeneralGaussian
from .laplacian import Laplacian
from .leaf import Leaf
from .linear import Linear
from .matern import Matern
from .polynomial import Polynomial
from .rbf import RBF
from .stationary import LengthScale, Stationary
from .tiles import Block

__all__ = [
    "RBF",
    "Block",
    "Constant",
    "GeneralGaussian",
    "Kernel",
    "Laplacian",
    "Leaf",
    "LengthScale",
    "Linear",
    "Matern",
    "Polynomial",
    "Product",
    "Stationary",
    "Sum",
    "as_kernel",
    "available",
    "from_sklearn",
]


@cache
def _found() -> tuple[type[Leaf], ...]:
    return tuple(classes_of(__name__, Leaf))


def available() -> dict[str, type[Leaf]]:
    """List the elementary kernels by name, found by listing this folder.

    Returns
    -------
    dict
        Names, in lower case, to classes.
    """
    return {cls.__name__.lower(): cls for cls in _found()}


def __getattr__(name: str) -> Any:
    for cls in _found() if name[:1].isupper() else ():
        if cls.__name__ == name:
            return cls
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
