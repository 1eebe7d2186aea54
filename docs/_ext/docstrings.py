"""Sphinx: our docstrings are plain text with formulas; keep reStructuredText from reading them.

Bars, stars and underscores of a formula would be markup there. Only ``code`` keeps its meaning,
and lists of parameters, which are definition lists already.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_CODE = re.compile(r"(``.+?``)")
_MARKUP = re.compile(r"([\\*_|`])")


def plain(lines: list[str]) -> list[str]:
    """The same lines with everything outside ``code`` taken literally.

    An indented block after a blank line, as formulas on lines of their own are, is set as it is.
    """
    done: list[str] = []
    formula = False
    for i, line in enumerate(lines):
        indented = line.startswith("    ")
        after_blank = i > 0 and not lines[i - 1].strip()
        if indented and after_blank and not formula:
            done += ["::", ""]
            formula = True
        elif line.strip() and not indented:
            formula = False
        done.append(line if formula else _escaped(line))
    return done


def _escaped(line: str) -> str:
    parts = _CODE.split(line)
    return "".join(p if _CODE.fullmatch(p) else _MARKUP.sub(r"\\\1", p) for p in parts)


def _process(*arguments: Any) -> None:
    lines: list[str] = arguments[-1]
    lines[:] = plain(lines)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("autodoc-process-docstring", _process)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
