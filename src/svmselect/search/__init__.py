"""Searches: one a file; a file added to this folder is found by ``available``."""

from __future__ import annotations

from functools import cache
from typing import Any

from svmselect.registry import classes_of, make
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
    found = {cls.name: cls for cls in classes_of(__name__, Search)}
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
    made: Search[Any] = make("search", search, Search, available(), options)
    return made
