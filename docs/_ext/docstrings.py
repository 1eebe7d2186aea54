"""Sphinx: our docstrings are plain text with formulas; keep reStructuredText from reading them.

Bars, stars and underscores of a formula would be markup there. Only ``code`` keeps its meaning,
and lists of parameters become lists.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_CODE = re.compile(r"(``.+?``)")
_ITEM = re.compile(r"(\w+(?:, \w+)*) : (.*)")
_MARKUP = re.compile(r"([\\*_|`])")


def plain(lines: list[str]) -> list[str]:
    """The same lines with everything outside ``code`` taken literally.

    A line "name : meaning" begins an item of a list, which goes on where lines are indented. An
    indented block after a blank line, as formulas on lines of their own are, is set as it is.
    """
    done: list[str] = []
    formula = item = False
    for i, line in enumerate(lines):
        indented = line.startswith("    ")
        after_blank = i == 0 or not lines[i - 1].strip()
        found = _ITEM.fullmatch(line)
        if indented and after_blank and not formula:
            done += ["::", ""]
            formula = True
        elif line.strip() and not indented:
            formula = False
            if bool(found) != item and not after_blank:
                done.append("")
            item = bool(found)
        if formula:
            done.append(line)
        elif found:
            done.append(f"* **{_escaped(found[1])}**: {_escaped(found[2])}")
        else:
            done.append("  " + _escaped(line.strip()) if item and indented else _escaped(line))
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
