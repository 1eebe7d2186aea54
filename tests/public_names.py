"""What is public: the packages, and what each of them exports."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from functools import cached_property
from types import ModuleType
from typing import Any

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
    names = getattr(module, "__all__", None)
    if names is None:
        names = [n for n, v in vars(module).items() if n[0] != "_" and _of(v, package)]
    found = {name: getattr(module, name) for name in names}
    if package in ("svmselect.criteria", "svmselect.kernels", "svmselect.search"):
        found |= {cls.__name__: cls for cls in module.available().values()}
    return found


def documented() -> dict[str, Any]:
    """Every public class, method and function, by the place where it is written."""
    found: dict[str, Any] = {}
    for package in PUBLIC:
        for value in exported(package).values():
            if inspect.isclass(value) or inspect.isfunction(inspect.unwrap(value)):
                found[_place(value)] = value
                found |= dict(_methods(value)) if inspect.isclass(value) else {}
    return dict(sorted(found.items()))


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


def _of(value: Any, package: str) -> bool:
    return not isinstance(value, ModuleType) and getattr(value, "__module__", None) == package


def _place(value: Any) -> str:
    return f"{value.__module__}.{value.__qualname__}"
