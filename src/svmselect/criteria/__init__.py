"""Criteria: one a file; a file added to this folder is found by ``available``."""

from __future__ import annotations

from dataclasses import fields
from functools import cache
from importlib import import_module
from inspect import getmembers, isabstract, isclass
from pkgutil import iter_modules
from typing import Any

from svmselect.criteria.base import FREE, PENALISED, Context, Criterion, Verdict, every

__all__ = [
    "FREE",
    "PENALISED",
    "Context",
    "Criterion",
    "Verdict",
    "available",
    "every",
    "get_criterion",
]


@cache
def available() -> dict[str, type[Criterion]]:
    """List the criteria by name, found by listing this folder.

    Returns
    -------
    dict
        Names to classes.
    """
    found: dict[str, type[Criterion]] = {}
    for entry in iter_modules(__path__):
        module = import_module(f"{__name__}.{entry.name}")
        for _, member in getmembers(module, isclass):
            here = member.__module__ == module.__name__
            if here and issubclass(member, Criterion) and not isabstract(member):
                found[member.name] = member
    return dict(sorted(found.items()))


def get_criterion(criterion: str | Criterion, **options: Any) -> Criterion:
    """Make a criterion by name, with its options.

    Parameters
    ----------
    criterion : str or Criterion
        A name from ``available()``; or a criterion, which is returned as it is.
    **options : Any
        The criterion's options.

    Returns
    -------
    Criterion
        The criterion.

    Examples
    --------
    >>> from svmselect.criteria import get_criterion
    >>> get_criterion("alignment", centred=False)
    Alignment(centred=False)
    """
    if isinstance(criterion, Criterion):
        if options:
            raise ValueError(f"options {sorted(options)} belong inside {criterion!r}")
        return criterion
    known = available()
    if criterion not in known:
        raise ValueError(f"criterion {criterion!r} is not one of {', '.join(map(repr, known))}")
    cls = known[criterion]
    allowed = [f.name for f in fields(cls)]
    for option in options:
        if option not in allowed:
            takes = ", ".join(allowed) if allowed else "no options"
            raise ValueError(f"criterion {criterion!r} has no option {option!r}; it takes {takes}")
    return cls(**options)
