"""Kernels: immutable expressions with Gram matrices and their derivatives.

One kernel a file; a file added to this folder is found by ``available`` and importable from here.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from inspect import getmembers, isabstract, isclass
from pkgutil import iter_modules
from typing import Any

from .base import Kernel, Product, Sum
from .constant import Constant
from .convert import as_kernel, from_sklearn
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
    "Kernel",
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
    classes: list[type[Leaf]] = []
    for entry in iter_modules(__path__):
        module = import_module(f"{__name__}.{entry.name}")
        for _, member in getmembers(module, isclass):
            here = member.__module__ == module.__name__
            if here and issubclass(member, Leaf) and not isabstract(member):
                classes.append(member)
    return tuple(classes)


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
