"""Searches: one a file; a file added to this folder is found by ``available``."""

from __future__ import annotations

from dataclasses import fields
from functools import cache
from importlib import import_module
from inspect import getmembers, isabstract, isclass
from pkgutil import iter_modules
from typing import Any

from svmselect.search.base import (
    Search,
    Space,
    State,
    asleep,
    generator,
    loss_of,
    no_gradient,
    seeded,
    slope_of,
)
from svmselect.search.trace import Trace

__all__ = [
    "Search",
    "Space",
    "State",
    "Trace",
    "asleep",
    "available",
    "generator",
    "get_search",
    "loss_of",
    "no_gradient",
    "seeded",
    "slope_of",
]


@cache
def available() -> dict[str, type[Search[Any]]]:
    """List the searches by name, found by listing this folder.

    Returns
    -------
    dict
        Names to classes.
    """
    found: dict[str, type[Search[Any]]] = {}
    for entry in iter_modules(__path__):
        module = import_module(f"{__name__}.{entry.name}")
        for _, member in getmembers(module, isclass):
            here = member.__module__ == module.__name__
            if here and issubclass(member, Search) and not isabstract(member):
                found[member.name] = member
    return dict(sorted(found.items()))


def get_search(search: str | Search[Any], **options: Any) -> Search[Any]:
    """Make a search by name, with its options.

    Parameters
    ----------
    search : str or Search
        A name from ``available()``; or a search, which is returned as it is.
    **options : Any
        The search's options.

    Returns
    -------
    Search
        The search.

    Examples
    --------
    >>> from svmselect.search import get_search
    >>> search = get_search("grid", size=5, refine=2)
    """
    if isinstance(search, Search):
        if options:
            raise ValueError(f"options {sorted(options)} belong inside {search!r}")
        return search
    known = available()
    if search not in known:
        raise ValueError(f"search {search!r} is not one of {', '.join(map(repr, known))}")
    cls = known[search]
    allowed = [f.name for f in fields(cls)]
    for option in options:
        if option not in allowed:
            takes = ", ".join(allowed) if allowed else "no options"
            raise ValueError(f"search {search!r} has no option {option!r}; it takes {takes}")
    return cls(**options)
