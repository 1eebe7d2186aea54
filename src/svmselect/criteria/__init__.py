"""Criteria: one a file; a file added to this folder is found by ``available``."""

from __future__ import annotations

from dataclasses import fields
from functools import cache
from typing import Any

from svmselect.criteria.base import FREE, PENALISED, Context, Criterion, Verdict, every
from svmselect.registry import classes_of, make

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
    found = {cls.name: cls for cls in classes_of(__name__, Criterion)}
    return dict(sorted(found.items()))


def get_criterion(criterion: str | Criterion, **options: Any) -> Criterion:
    """Make a criterion by name, with its options.

    Parameters
    ----------
    criterion : str or Criterion
        A name from ``available()``; or a criterion, which is returned as it is.
    **options : Any
        The criterion's options. ``random_state`` is taken by every criterion, and ignored where
        nothing is random, so that one loop serves all.

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
    cls = available().get(criterion) if isinstance(criterion, str) else None
    if cls is not None and all(field.name != "random_state" for field in fields(cls)):
        options.pop("random_state", None)
    made: Criterion = make("criterion", criterion, Criterion, available(), options)
    return made
