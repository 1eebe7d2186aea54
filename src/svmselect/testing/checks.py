"""A list of named checks, and how to run them all."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable

Check = tuple[str, Callable[[], None]]


def require(condition: bool, message: str) -> None:
    """Raise an AssertionError unless the condition holds (``assert`` is compiled away by -O)."""
    if not condition:
        raise AssertionError(message)


def strictly(body: Callable[[], None]) -> None:
    """Run a check with every warning an error: a NaN on the way is a defect, even if unseen."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        body()


def run(what: object, checks: Iterable[Check]) -> None:
    """Run every check; raise one AssertionError that lists those that failed, and why."""
    failed = []
    for name, check in checks:
        try:
            check()
        except Exception as error:
            failed.append(f"{name}: {type(error).__name__}: {error}")
    if failed:
        listed = "\n- ".join(failed)
        raise AssertionError(f"{what!r} fails {len(failed)} checks:\n- {listed}")
