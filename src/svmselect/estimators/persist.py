"""Saving and loading fitted models with skops: no pickle, and no type but known ones is made.

A file also holds a digest of its content, so that one that was damaged or edited is noticed. That
is no signature: who can write the file can write the digest.
"""

from __future__ import annotations

import io
import json
import os
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

from svmselect import __version__
from svmselect.estimators.model_file import DIGEST, FORMAT, MAKER, check, digest, maker
from svmselect.files.whole import write_whole


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted AutoSVC or AutoKLR, or a scikit-learn Pipeline that holds one, to a file.

    The command line's models, a ``TableModel`` each, go the same way.

    Parameters
    ----------
    model : object
        The model.
    path : path-like
        The file. One of that name is replaced when the new one is complete, and stays as it is
        where writing fails.

    Raises
    ------
    ValueError
        Before anything is written, for what ``load`` would refuse: functions, and objects of
        classes that are neither ours nor trusted by skops.
    """
    from skops.io import dumps, get_untrusted_types

    content = dumps(model, compression=ZIP_DEFLATED)
    foreign = sorted(set(get_untrusted_types(data=content)) - _ours())
    if foreign:
        raise ValueError(
            f"the model holds objects of types that load() does not trust: {', '.join(foreign)}; "
            "leave them out, or use skops.io.dump and name them when loading"
        )
    check(content, "the model")
    write_whole(path, _sealed(_signed(content)))


def load(path: str | os.PathLike[str]) -> Any:
    """Read a file that ``save`` wrote.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    object
        The model.

    Raises
    ------
    ValueError
        If the file asks for types other than those of this library and those that skops itself
        trusts, was changed after it was written, or unpacks to more than 256 MiB and a hundred
        times its size; the environment variable ``SVMSELECT_MAX_UNPACKED`` sets another bound, e.g.
        ``8G``.
    """
    from skops.io import get_untrusted_types, loads

    content = Path(path).read_bytes()
    if content[:2] != b"PK":
        raise ValueError(f"{path} is no model file: svmselect.save writes zip archives")
    check(content, path)
    try:
        foreign = sorted(set(get_untrusted_types(data=content)) - _ours())
    except Exception:  # whatever skops, which expects files of its own, says of one that is not
        raise ValueError(f"{path} is no model file: svmselect.save wrote no such archive") from None
    if foreign:
        types = ", ".join(" ".join(name.split())[:80] for name in foreign[:9])
        if all(name.startswith("svmselect.") for name in foreign):
            raise _of_another_version(path, content, f"it asks for {types}")
        raise ValueError(
            f"{path} asks for types that are not trusted: {types}; it was not written by "
            "svmselect.save, or holds objects of another library"
        )
    _check_seal(content, path)
    try:
        return loads(content, trusted=sorted(_ours()))
    except MemoryError:
        raise
    except Exception as error:  # the same: constructors of any class may have been at work
        why = " ".join(str(error).split())[:200]
        raise _of_another_version(path, content, f"{type(error).__name__}: {why}") from error


def _of_another_version(path: str | os.PathLike[str], content: bytes, why: str) -> ValueError:
    return ValueError(
        f"{path} was written by {maker(content)}, or with other packages, and cannot be read by "
        f"svmselect {__version__} ({why}); fit again, or use that version"
    )


def _signed(content: bytes) -> bytes:
    """The archive with a member that says who wrote it."""
    buffer = io.BytesIO(content)
    with ZipFile(buffer, "a", ZIP_DEFLATED) as archive:
        archive.writestr(MAKER, json.dumps({"format": FORMAT, "version": __version__}))
    return buffer.getvalue()


def _sealed(content: bytes) -> bytes:
    """The archive with a digest of its members added."""
    buffer = io.BytesIO(content)
    with ZipFile(buffer, "a", ZIP_DEFLATED) as archive:
        archive.writestr(DIGEST, digest(archive))
    return buffer.getvalue()


def _check_seal(content: bytes, path: str | os.PathLike[str]) -> None:
    """Refuse an archive whose digest is not that of its members."""
    with ZipFile(io.BytesIO(content)) as archive:
        known = DIGEST in archive.namelist()
        same = known and archive.read(DIGEST).decode("ascii", "replace") == digest(archive)
    if not known:
        raise ValueError(
            f"{path} was not written by svmselect.save: it has no digest; if you trust where it "
            "comes from, load it with skops.io.load and save it again"
        )
    if not same:
        raise ValueError(
            f"{path} was changed after svmselect.save wrote it: its content is not that of its "
            "digest; get the original, or fit again"
        )


def _ours() -> set[str]:
    """Types of this library that a model may hold: estimators, and what they are told to use."""
    from scipy import sparse

    from svmselect import criteria, kernels, priors, search
    from svmselect.estimators import AutoClassifier, AutoKLR, AutoSVC
    from svmselect.tables import Encoder, TableModel
    from svmselect.tables.gaps import Gaps
    from svmselect.tables.inputs import Category, Moment, Number, Ordered, Unused
    from svmselect.tables.targets import Target

    beliefs = (priors.Flat, priors.Gaussian, priors.Box, priors.Shrinkage, priors.Integrated)
    types = {AutoClassifier, AutoSVC, AutoKLR, kernels.Sum, kernels.Product}
    types |= {*beliefs, priors.Together}
    types |= {TableModel, Encoder, Gaps, Number, Category, Ordered, Moment, Unused, Target}
    types |= {priors.Hierarchical, *kernels.available().values()}
    types |= {sparse.csr_matrix}  # support vectors of sparse rows; skops reads plain arrays there
    types |= {*criteria.available().values(), *search.available().values()}
    return {f"{cls.__module__}.{cls.__qualname__}" for cls in types}
