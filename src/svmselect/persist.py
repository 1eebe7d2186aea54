"""Saving and loading fitted models with skops: no pickle, and no type but known ones is made."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted AutoSVC or AutoKLR, or a scikit-learn Pipeline that holds one, to a file.

    What ``load`` would refuse is refused here, before anything is written: functions, and objects
    of classes that are neither ours nor trusted by skops.
    """
    from zipfile import ZIP_DEFLATED

    from skops.io import dumps, get_untrusted_types

    content = dumps(model, compression=ZIP_DEFLATED)
    foreign = sorted(set(get_untrusted_types(data=content)) - _ours())
    if foreign:
        raise ValueError(
            f"the model holds objects of types that load() does not trust: {', '.join(foreign)}; "
            "leave them out, or use skops.io.dump and name them when loading"
        )
    Path(path).write_bytes(content)


def load(path: str | os.PathLike[str]) -> Any:
    """Read a file that ``save`` wrote.

    Only types of this library and those that skops itself trusts are made; a file that asks for
    any other is refused.
    """
    from skops.io import get_untrusted_types, loads

    content = Path(path).read_bytes()
    if content[:2] != b"PK":
        raise ValueError(f"{path} is no model file: svmselect.save writes zip archives")
    foreign = sorted(set(get_untrusted_types(data=content)) - _ours())
    if foreign:
        raise ValueError(
            f"{path} asks for types that are not trusted: {', '.join(foreign)}; it was not written "
            "by svmselect.save, or holds objects of another library"
        )
    return loads(content, trusted=sorted(_ours()))


def _ours() -> set[str]:
    """Types of this library that a model may hold: estimators, and what they are told to use."""
    from svmselect import criteria, kernels, priors, search
    from svmselect.estimators import AutoKLR, AutoSVC

    beliefs = (priors.Flat, priors.Gaussian, priors.Box, priors.Shrinkage, priors.Integrated)
    types = {AutoSVC, AutoKLR, kernels.Sum, kernels.Product, *beliefs, priors.Together}
    types |= {priors.Hierarchical, *kernels.available().values()}
    types |= {*criteria.available().values(), *search.available().values()}
    return {f"{cls.__module__}.{cls.__qualname__}" for cls in types}
