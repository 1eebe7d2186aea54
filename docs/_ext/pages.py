"""Sphinx: write the pages that are made from the package and from ``examples/`` before reading.

When the package changes everything is made anew, as every output may have changed.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import catalogue
import gallery
from sphinx.application import Sphinx

import svmselect


def digest(folder: Path) -> str:
    """Of all Python files of a folder."""
    found = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        found.update(path.read_bytes())
    return found.hexdigest()[:12]


def _write(app: Sphinx) -> None:
    docs = Path(app.srcdir)
    catalogue.write(docs)
    gallery.write(docs, docs.parent / "examples", app.config.package_digest)


def _link(_: Sphinx, name: str, source: list[str]) -> None:
    """On how_to_choose.md, which is read elsewhere too, lead from each section to its page."""
    if name == "how_to_choose":
        link = r"### \1\n\n[Formula and example](criteria/\1.md)\n"
        source[0] = re.sub(r"^### ([\w-]+)\n", link, source[0], flags=re.MULTILINE)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    package = Path(svmselect.__file__).parent
    app.add_config_value("package_digest", digest(package), "env")
    app.connect("builder-inited", _write)
    app.connect("source-read", _link)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
