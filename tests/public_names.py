"""What is public: the packages, and what each of them exports."""

from __future__ import annotations

import contextlib
import importlib
import inspect
import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).parents[1]
_TABLE = re.compile(
    r"^\.\. currentmodule:: (\S+)\n\n\.\. autosummary::\n(?:   :.*\n)+\n((?:   \S+\n)+)",
    re.MULTILINE,
)

PUBLIC = (
    "svmselect",
    "svmselect.criteria",
    "svmselect.data",
    "svmselect.datasets",
    "svmselect.kernels",
    "svmselect.machine",
    "svmselect.plots",
    "svmselect.priors",
    "svmselect.probability",
    "svmselect.report",
    "svmselect.search",
    "svmselect.testing",
    "svmselect.types",
)
"""A change to what these export follows the version policy."""

PROVISIONAL = (
    "svmselect.parallel",
    "svmselect.posterior",
    "svmselect.posterior.predictive",
    "svmselect.selection.ensemble",
    "svmselect.selection.prune",
)
"""Shown on the site, but any minor version may change them."""


def exported(package: str) -> dict[str, Any]:
    """Names and values that a package exports: ``__all__``, and what is found by its folder."""
    module = importlib.import_module(package)
    found = {name: getattr(module, name) for name in module.__all__}
    if package in ("svmselect.criteria", "svmselect.kernels", "svmselect.search"):
        found |= {cls.__name__: cls for cls in module.available().values()}
    return found


def shown() -> dict[str, Any]:
    """Names and values in the tables of ``docs/reference``."""
    found = {}
    for page in sorted((ROOT / "docs" / "reference").glob("*.md")):
        for module, lines in _TABLE.findall(page.read_text()):
            for name in lines.split():
                value: Any = importlib.import_module(module)
                for part in name.split("."):
                    inner = f"{value.__name__}.{part}" if isinstance(value, ModuleType) else ""
                    with contextlib.suppress(ModuleNotFoundError):
                        importlib.import_module(inner)
                    value = getattr(value, part)
                found[f"{module}.{name}"] = value
    return found


def documented() -> dict[str, Any]:
    """Every class, method and function that is public or shown, by where it is written."""
    found: dict[str, Any] = {}
    for value in shown().values():  # the site leaves out methods that say nothing
        found |= {place: what for place, what in _parts(value) if inspect.getdoc(what)}
    for package in PUBLIC:
        for value in exported(package).values():
            found |= dict(_parts(value))
    return dict(sorted(found.items()))


def _parts(value: Any) -> Iterator[tuple[str, Any]]:
    """A function, or a class and its methods."""
    if inspect.isclass(value) or inspect.isfunction(inspect.unwrap(value)):
        yield _place(value), value
    if inspect.isclass(value):
        yield from _methods(value)


def _methods(cls: type[Any]) -> Iterator[tuple[str, Any]]:
    """The methods a class adds; one that overrides and says nothing new inherits its words."""
    for base in cls.__mro__:
        if not base.__module__.startswith("svmselect."):
            continue
        for name, member in vars(base).items():
            inherits = member.__doc__ is None and inspect.getdoc(getattr(base, name))
            kinds = (classmethod, staticmethod, property, cached_property)
            function = inspect.isfunction(member) or isinstance(member, kinds)
            if function and (name[0] != "_" or name == "__call__") and not inherits:
                yield f"{_place(base)}.{name}", getattr(base, name)


def _place(value: Any) -> str:
    return f"{value.__module__}.{value.__qualname__}"
