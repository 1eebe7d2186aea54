"""SVMlight and LIBSVM files: "label index:value ...", zeros left out."""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from svmselect.tables.packed import open_bytes
from svmselect.tables.source import Source

LABEL = "label"
_LINE = re.compile(r"\s*[^\s:,;]+(\s+qid:\d+)?(\s+\d+:[^\s:]+)+\s*(#.*)?")
_BARE = re.compile(r"\s*[^\s:,;]+\s*(#.*)?")
_INDEX = re.compile(rb"\s(\d+):")
_WIDEST = 20_000


@dataclass(frozen=True)
class SvmLight:
    """Lines of labels and numbered inputs, ``first`` the least number."""

    path: Path
    title: str
    names: tuple[str, ...]
    first: int

    def frames(self, rows: int) -> Iterator[Any]:
        """Data frames of numbers, the label first, as it is written."""
        import pandas as pd
        from sklearn.datasets import load_svmlight_file

        width = len(self.names) - 1
        seen = 0
        with open_bytes(self.path) as file:
            while lines := list(islice(_content(file), rows)):
                labels = [line.split(None, 1)[0].decode(errors="replace") for line in lines]
                rest = [b"0 " + line.partition(b" ")[2] for line in map(_blanks, lines)]
                try:
                    X, _ = load_svmlight_file(
                        io.BytesIO(b"\n".join(rest)), n_features=width, zero_based=self.first == 0
                    )
                except (ValueError, OverflowError) as error:
                    raise ValueError(
                        f"rows {seen + 1} to {seen + len(lines)} of {self.title} cannot be read "
                        f"as SVMlight: {error}; correct them"
                    ) from None
                frame = pd.DataFrame(X.toarray(), columns=list(self.names[1:]))
                frame.insert(0, LABEL, labels)
                frame.index = range(seen, seen + len(lines))
                seen += len(lines)
                yield frame


def is_svmlight(lines: Sequence[str]) -> bool:
    """Whether every line is a label and index:value pairs, or a label alone."""
    kept = [line for line in lines[:100] if line.strip() and not line.lstrip().startswith("#")]
    fits = [_LINE.fullmatch(line) is not None for line in kept]
    return any(fits) and all(f or _BARE.fullmatch(x) for f, x in zip(fits, kept, strict=True))


def svmlight_source(path: Path, title: str) -> Source:
    """Find the least and the largest index, which takes one pass."""
    least, most = 1, 0
    with open_bytes(path) as file:
        for line in _content(file):
            found = [_number(index) for index in _INDEX.findall(line.replace(b" qid:", b" "))]
            if found:
                least, most = min(least, min(found)), max(most, max(found))
    width = most - least + 1
    if width > _WIDEST:
        raise ValueError(
            f"{title} has {width} columns; more than {_WIDEST} do not fit kernels of dense rows, "
            "so reduce them first, e.g. by sklearn.decomposition.TruncatedSVD"
        )
    names = (LABEL, *(f"x{index}" for index in range(least, most + 1)))
    source = SvmLight(path, title, names, least)
    return Source(path, title, "SVMlight", names, source, target=LABEL, sparse=True)


def _number(index: bytes) -> int:
    """An index; of one with hundreds of digits the first, which are too many columns already."""
    return int(index.lstrip(b"0")[:18] or b"0")


def _content(file: Any) -> Iterator[bytes]:
    """Lines without comments and blanks."""
    for number, line in enumerate(file):
        if number == 0:
            line = line.removeprefix(codecs.BOM_UTF8)
        text = line.partition(b"#")[0].strip()
        if text:
            yield text


def _blanks(line: bytes) -> bytes:
    return b" ".join(line.split()) + b" "
