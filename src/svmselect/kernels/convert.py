"""Kernels from what people have: numbers, names and scikit-learn's kernel objects."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any

from .base import Kernel, Product, Sum
from .constant import Constant
from .linear import Linear
from .matern import Matern
from .polynomial import Polynomial
from .rbf import RBF

_ALIASES = {"poly": "polynomial", "gaussian": "rbf"}
_INDEFINITE = ("sigmoid", "tanh")
_SKLEARN = "sklearn.gaussian_process.kernels"


def as_kernel(value: Any) -> Kernel:
    """Convert a number, a name or a scikit-learn kernel to a kernel.

    Parameters
    ----------
    value : Kernel, float, str or scikit-learn kernel
        A kernel, which is returned as it is; a number, which becomes a ``Constant``; a name such as
        "rbf"; or a kernel of ``sklearn.gaussian_process.kernels``.

    Returns
    -------
    Kernel
        The kernel.
    """
    if isinstance(value, Kernel):
        return value
    if isinstance(value, str):
        return _named(value)
    if isinstance(value, Real):
        return Constant(float(value))
    if _from_sklearn_module(value):
        return from_sklearn(value)
    raise ValueError(
        f"cannot make a kernel of {value!r}; give a kernel from svmselect.kernels, a positive "
        "number, a name such as 'rbf', or a kernel of sklearn.gaussian_process.kernels"
    )


def from_sklearn(kernel: Any) -> Kernel:
    """Convert a kernel of ``sklearn.gaussian_process.kernels`` to one with the same values.

    Parameters
    ----------
    kernel : sklearn.gaussian_process.kernels.Kernel
        The kernel. Its bounds, and which parameters are marked "fixed", are not carried over.

    Returns
    -------
    Kernel
        The kernel.

    Notes
    -----
    ``DotProduct(s)`` becomes ``Linear() + Constant(s^2)``, and a whole power of it a
    ``Polynomial``.
    """
    kind = type(kernel).__name__
    if not _from_sklearn_module(kernel) or kind not in _CONVERTERS:
        raise ValueError(
            f"cannot convert {kernel!r}; of sklearn.gaussian_process.kernels these can be "
            f"converted: {', '.join(_CONVERTERS)} (Matern with nu 0.5, 1.5, 2.5 or inf; "
            "Exponentiation of DotProduct)"
        )
    return _CONVERTERS[kind](kernel)


def _named(name: str) -> Kernel:
    from . import available

    key = name.strip().lower()
    if key in _INDEFINITE:
        raise ValueError(
            f"the kernel {name!r}, tanh(b x.z - c), is refused: it is not positive definite, so "
            "the machine's problem need not be convex and the evidence does not exist; "
            "use 'rbf', 'poly' or 'linear'"
        )
    classes = available()
    key = _ALIASES.get(key, key)
    if key not in classes:
        raise ValueError(
            f"no kernel is named {name!r}; the names are {', '.join(sorted((*classes, *_ALIASES)))}"
        )
    return classes[key]()


def _from_sklearn_module(value: Any) -> bool:
    return any(cls.__module__ == _SKLEARN for cls in type(value).__mro__)


def _matern(kernel: Any) -> Kernel:
    if kernel.nu == float("inf"):
        return RBF(kernel.length_scale)
    return Matern(kernel.length_scale, kernel.nu)


def _dot_product(kernel: Any) -> Kernel:
    # sigma_0 = 0 is allowed there; here it means that there is no constant term.
    return Linear() + Constant(kernel.sigma_0**2) if kernel.sigma_0 else Linear()


def _exponentiation(kernel: Any) -> Kernel:
    base, exponent = kernel.kernel, float(kernel.exponent)
    if type(base).__name__ != "DotProduct" or not exponent.is_integer() or exponent < 1:
        raise ValueError(
            f"cannot convert {kernel!r}; of the powers only DotProduct with a whole exponent "
            "from 1 up can be converted (to Polynomial)"
        )
    if not base.sigma_0:
        raise ValueError(
            f"cannot convert {kernel!r}: sigma_0 is 0, but the coef0 of Polynomial must be "
            "positive; write a product of Linear kernels"
        )
    return Polynomial(int(exponent), scale=1.0, coef0=base.sigma_0**2)


_CONVERTERS: dict[str, Callable[[Any], Kernel]] = {
    "RBF": lambda kernel: RBF(kernel.length_scale),
    "Matern": _matern,
    "ConstantKernel": lambda kernel: Constant(kernel.constant_value),
    "DotProduct": _dot_product,
    "Exponentiation": _exponentiation,
    "Sum": lambda kernel: _combine(Sum, kernel),
    "Product": lambda kernel: _combine(Product, kernel),
}


def _combine(kind: type[Sum] | type[Product], kernel: Any) -> Kernel:
    left, right = from_sklearn(kernel.k1), from_sklearn(kernel.k2)
    return left + right if kind is Sum else left * right
