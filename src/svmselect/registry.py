"""What there is of a kind, found by listing a package, and made by name with its options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from importlib import import_module
from inspect import getmembers, isabstract, isclass
from pkgutil import iter_modules
from typing import Any


def classes_of(package: str, base: type) -> list[Any]:
    """The concrete classes of a kind that the modules of a package define, module by module."""
    found = []
    for entry in iter_modules(import_module(package).__path__):
        module = import_module(f"{package}.{entry.name}")
        for _, member in getmembers(module, isclass):
            here = member.__module__ == module.__name__
            if here and issubclass(member, base) and not isabstract(member):
                found.append(member)
    return found


def make(
    kind: str, given: Any, base: type, known: Mapping[str, Any], options: Mapping[str, Any]
) -> Any:
    """One of the ``known`` classes, a dataclass, by its name; an instance is returned as it is.

    ``kind`` is what messages call it.
    """
    if isinstance(given, base):
        if options:
            raise ValueError(f"options {sorted(options)} belong inside {given!r}")
        return given
    if given not in known:
        raise ValueError(f"{kind} {given!r} is not one of {', '.join(map(repr, known))}")
    cls = known[given]
    allowed = [f.name for f in fields(cls)]
    for option in options:
        if option not in allowed:
            takes = ", ".join(allowed) if allowed else "no options"
            raise ValueError(f"{kind} {given!r} has no option {option!r}; it takes {takes}")
    return cls(**options)
