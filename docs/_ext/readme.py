"""Sphinx: the benchmark tables of the README, with the paragraph that says how they were made.

    ```{benchmarks}
    ```

They stand in one place, and a page that discusses them cannot fall behind.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

_TABLE = re.compile(r"((?:^[^\n|#`].*\n)+)\n((?:^\|.*\n)+)", re.MULTILINE)


def benchmarks(readme: str) -> str:
    """Every table of a README that follows a paragraph naming a script of benchmarks/."""
    found = [
        f"{above}\n{table}" for above, table in _TABLE.findall(readme) if "benchmarks/" in above
    ]
    if not found:
        raise ValueError("README.md has no table after a paragraph that names benchmarks/*.py")
    return "\n".join(found)


if TYPE_CHECKING:
    from sphinx.application import Sphinx


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    from docutils import nodes
    from sphinx.util.docutils import SphinxDirective

    class Benchmarks(SphinxDirective):
        """The tables, read as Markdown."""

        def run(self) -> list[nodes.Node]:
            path = Path(self.env.srcdir).parent / "README.md"
            self.env.note_dependency(str(path))
            return self.parse_text_to_nodes(benchmarks(path.read_text()))

    app.add_directive("benchmarks", Benchmarks)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
