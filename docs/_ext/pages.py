"""Sphinx: write the pages that are made from the package and from ``examples/`` before reading."""

from __future__ import annotations

from pathlib import Path

import catalogue
import gallery
from sphinx.application import Sphinx


def _write(app: Sphinx) -> None:
    docs = Path(app.srcdir)
    catalogue.write(docs)
    gallery.write(docs, docs.parent / "examples")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("builder-inited", _write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
