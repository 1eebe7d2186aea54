"""A kernel in a line, for people."""

from __future__ import annotations

import re

from svmselect.kernels.base import Kernel

_NUMBER = re.compile(r"\d+\.\d+(e[+-]?\d+)?")
_VECTOR = re.compile(r"\[([^\]]*,[^\]]*)\]")
_VARIABLES = re.compile(r", variables=\[[^\]]*\]")
_LONG = 300


_FORMS = {"RBF": "Gaussian", "GeneralGaussian": "general Gaussian"}


def kernel_form(kernel: Kernel) -> str:
    """What a kernel that is no sum and no product is called."""
    name = type(kernel).__name__
    return _FORMS.get(name, name)


def kernel_words(kernel: Kernel) -> str:
    """The kernel as it is written, numbers rounded, a vector by its ends; cut where very long.

    Without the columns of each variable, which are those of the table.
    """
    written = _VARIABLES.sub("", repr(kernel))
    short = _NUMBER.sub(lambda found: f"{float(found.group()):.3g}", written)
    text = _VECTOR.sub(lambda found: f"[{_ends(found.group(1))}]", short)
    return text if len(text) <= _LONG else f"{text[:_LONG]} …"


def _ends(listed: str) -> str:
    values = [float(value) for value in listed.split(",")]
    return f"{min(values):.3g} to {max(values):.3g}"
