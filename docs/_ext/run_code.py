"""Sphinx: the code blocks of a page are run when it is read, and what they print stands below.

myst-nb does that too, by way of Jupyter: some forty more packages, a kernel started for each page,
no command lines. Here a page is plain Markdown, and tests run it without Sphinx (``snippets``).
"""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path
from typing import Any

import matplotlib
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

import figures
import svmselect
from snippets import LANGUAGES, Block, Output, reading

NOT_RUN = ("gallery/", "papers/")  # run as scripts; run by their own commands, for hours
EXTRA = "extra"  # goes into the site as it is: pages that pages have written
FIGURES = "figures"  # below the source folder, where Sphinx looks for images


class RunCode(SphinxTransform):
    """Run what a Markdown page shows."""

    default_priority = 150

    def apply(self, **kwargs: Any) -> None:
        found = [node for node in self.document.findall(nodes.literal_block) if _ours(node)]
        if not found or self.env.docname.startswith(NOT_RUN):
            return
        with reading(self.env.docname) as page:
            for node in found:
                block = Block(node["language"], node.astext(), node.line or 1)
                self._show(node, page.run(block))
            for path in page.folder.glob("*.html"):
                shutil.copy(path, Path(self.env.srcdir) / EXTRA / "reports")

    def _show(self, node: nodes.literal_block, output: Output) -> None:
        after: list[nodes.Node] = []
        if node["language"] == "console":
            node.children[:] = [nodes.Text(output.text)]
            node.rawsource = output.text
        elif output.text:
            text = output.text.rstrip("\n")
            after.append(nodes.literal_block(text, text, language="text", classes=["output"]))
        for figure in output.figures:
            after.append(
                nodes.image(
                    uri=self._save(figure),
                    alt=figures.words(figure),
                    width=f"{figures.width(figure)}px",
                )
            )
        parent = node.parent
        place = parent.index(node) + 1
        parent[place:place] = after

    def _save(self, figure: Any) -> str:
        """Write a figure under a name made of its page and its content; give where it is."""
        folder = Path(self.env.srcdir) / FIGURES
        folder.mkdir(exist_ok=True)
        path = folder / "new.png"
        figures.save(figure, path)
        digest = hashlib.sha256(path.read_bytes()).hexdigest()[:8]
        name = f"{self.env.docname.replace('/', '-')}-{digest}.png"
        path.replace(folder / name)
        return f"/{FIGURES}/{name}"


def _ours(node: nodes.literal_block) -> bool:
    """Whether it is written on the page, not in a docstring, and in a language that is run."""
    return node.get("language") in LANGUAGES and "docstring" not in str(node.source)


def digest(folder: Path) -> str:
    """Of all Python files of a folder."""
    found = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        found.update(path.read_bytes())
    return found.hexdigest()[:12]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx; when the package changes every page is read anew."""
    matplotlib.use("agg")
    app.add_config_value("package_digest", digest(Path(svmselect.__file__).parent), "env")
    app.add_transform(RunCode)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
