"""What a model file may hold, checked before anything is made of it.

A model file is a zip archive of a tree in JSON and of arrays. Whoever wrote it may have meant harm,
so nothing it says is believed: how large it is, how it is packed, which kinds of nodes its tree
has, and what the headers of its arrays announce are looked at first.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import re
import tokenize
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import numpy as np

from svmselect.files.unpacked import DAMAGE, limit, too_large

DIGEST = "svmselect.sha256"
MAKER = "svmselect.json"
"""The member that says which version wrote the file, in which format; the first had none."""
FORMAT = 1
"""To be raised where versions before could not make sense of what is written from then on."""

LOADED = frozenset(
    {
        "BytearrayNode", "BytesNode", "CachedNode", "ConstructorFromReduceNode", "DTypeNode",
        "DefaultDictNode", "DictNode", "FunctionNode", "JsonNode", "ListNode", "LossNode",
        "MaskedArrayNode", "NdArrayNode", "ObjectNode", "PartialNode", "RandomGeneratorNode",
        "RandomStateNode", "SetNode", "SliceNode", "SparseMatrixNode", "TreeNode", "TupleNode",
        "TypeNode",
    }
)  # fmt: skip
"""The kinds of nodes that are loaded, by the names skops gives them.

Not among them are those that look up a method by name (from which ``__globals__`` is a few steps),
that call an operator, and those of packages other than NumPy, SciPy and scikit-learn. That the
types are trusted is checked besides.
"""
_PROTOCOL = 2
_VERSION = re.compile(r"[\w.+!-]{1,60}", re.ASCII)
_ENCRYPTED = 0x1 | 0x40
_PATCHED = 0x20


def check(content: bytes, title: object) -> None:
    """Refuse an archive that is damaged, unpacks to too much, or is of no kind that we write."""
    with _opened(content, title) as archive:
        _check_members(archive, len(content), title)
        if "schema.json" not in archive.namelist():
            raise _foreign(title)
        files = _files(_tree(archive, title), title)
        sizes = {one.filename: one.file_size for one in archive.infolist()}
        most = limit(len(content))
        # an array that is named twice is also read twice
        if sum(sizes.get(name, 0) for name in files) > most:
            raise too_large(title, most)
        for name in archive.namelist():
            _check_array(name, _read(archive, name, title), title)
        _check_format(_maker(archive, title), title)


def maker(content: bytes) -> str:
    """Who wrote a file that was checked, in words."""
    with _opened(content, "the model") as archive:
        version = _maker(archive, "the model").get("version")
    return f"svmselect {version}" if version else "another version of svmselect"


def digest(archive: ZipFile) -> str:
    """SHA-256 over names and contents of the members, in the order of names."""
    found = hashlib.sha256()
    for name in sorted(archive.namelist()):
        if name != DIGEST:
            part = hashlib.sha256(archive.read(name)).hexdigest()
            found.update(f"{name}\n{part}\n".encode())
    return found.hexdigest()


def _opened(content: bytes, title: object) -> ZipFile:
    try:
        return ZipFile(io.BytesIO(content))
    except DAMAGE:
        raise _damaged(title) from None


def _read(archive: ZipFile, name: str, title: object) -> bytes:
    try:
        return archive.read(name)
    except DAMAGE:
        raise _damaged(title) from None


def _damaged(title: object) -> ValueError:
    return ValueError(f"{title} is damaged or cut short; copy or save it again")


def _foreign(title: object) -> ValueError:
    return ValueError(f"{title} is no model file: svmselect.save wrote no such archive")


def _check_members(archive: ZipFile, size: int, title: object) -> None:
    """Refuse members that are encrypted, packed in other ways than ours, too large or twofold."""
    held = archive.infolist()
    for one in held:
        if one.flag_bits & _ENCRYPTED:
            raise ValueError(
                f"{title} is encrypted ({one.filename[:60]!r}), which model files are not; decrypt "
                "it, or get one that svmselect.save wrote"
            )
        if one.compress_type not in (ZIP_STORED, ZIP_DEFLATED) or one.flag_bits & _PATCHED:
            raise ValueError(
                f"{title} is packed in a way that model files are not ({one.filename[:60]!r}); get "
                "one that svmselect.save wrote"
            )
    if len({one.filename for one in held}) < len(held):
        raise ValueError(f"{title} has two members of one name, which svmselect.save never writes")
    most = limit(size)
    if sum(one.file_size for one in held) > most:
        raise too_large(title, most)


def _tree(archive: ZipFile, title: object) -> dict[str, Any]:
    """The tree of nodes, as JSON has it."""
    text = _read(archive, "schema.json", title)
    try:
        tree = json.loads(text)
    except (ValueError, RecursionError):
        raise _foreign(title) from None
    if not isinstance(tree, dict) or tree.get("protocol") != _PROTOCOL:
        raise _foreign(title)
    return tree


def _maker(archive: ZipFile, title: object) -> dict[str, Any]:
    """What the file says of its format; nothing where it has no such member."""
    if MAKER not in archive.namelist():
        return {}
    try:
        found = json.loads(_read(archive, MAKER, title))
    except (ValueError, RecursionError):
        raise _damaged(title) from None
    match found:
        case {"format": int(), "version": str() as version} if _VERSION.fullmatch(version):
            return dict(found)
    raise _damaged(title)


def _check_format(maker: dict[str, Any], title: object) -> None:
    """Refuse a format that a later version has brought."""
    if maker.get("format", FORMAT) > FORMAT:
        raise ValueError(
            f"{title} was written by svmselect {maker['version']}, whose model files this version "
            "does not know; use that version or a later one"
        )


def _files(tree: Any, title: object) -> list[str]:
    """The members that nodes of the tree refer to; refuses kinds of nodes that are not loaded."""
    found: list[str] = []
    left = [tree]
    while left:
        node = left.pop()
        if isinstance(node, list):
            left += node
        elif isinstance(node, dict):
            kind = node.get("__loader__")
            if kind is not None and (not isinstance(kind, str) or kind not in LOADED):
                raise ValueError(
                    f"{title} holds a {str(kind)[:60]}, a kind of object that is not trusted; "
                    "svmselect.save does not write it"
                )
            file = node.get("file")
            if kind is not None and isinstance(file, str):
                found.append(file)
            left += node.values()
    return found


def _check_array(name: str, data: bytes, title: object) -> None:
    """Refuse an array whose header is none, or announces more than there is."""
    if name.endswith(".npz"):  # of a sparse matrix: an archive in the archive
        with _opened(data, title) as archive:
            _check_members(archive, len(data), title)
            for inner in archive.namelist():
                _check_array(inner, _read(archive, inner, title), title)
    if not name.endswith(".npy"):
        return
    stream = io.BytesIO(data)
    readers: dict[tuple[int, int], Any] = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }
    try:
        shape, _, dtype = readers[np.lib.format.read_magic(stream)](stream)
    except (ValueError, TypeError, KeyError, SyntaxError, tokenize.TokenError, RecursionError):
        raise ValueError(
            f"{title} holds an array without a proper header ({name[:60]!r}); copy or save it again"
        ) from None
    announced = math.prod(shape) * dtype.itemsize
    if dtype.hasobject or not dtype.itemsize or announced != len(data) - stream.tell():
        raise ValueError(
            f"{title} holds an array that is not what its header announces ({name[:60]!r}); copy "
            "or save it again"
        )
