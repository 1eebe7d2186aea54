"""Sphinx: the code blocks of a page are run when it is read, and what they print stands below."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import matplotlib
from docutils import nodes
from snippets import LANGUAGES, Block, Output, reading
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

FIGURES = "figures"  # below the source folder, where Sphinx looks for images


class RunCode(SphinxTransform):
    """Run what a Markdown page shows."""

    default_priority = 150

    def apply(self, **kwargs: Any) -> None:
        found = [node for node in self.document.findall(nodes.literal_block) if _ours(node)]
        if not found or "gallery/" in self.env.docname:
            return
        with reading(self.env.docname) as page:
            for node in found:
                block = Block(node["language"], node.astext(), node.line or 1)
                self._show(node, page.run(block))

    def _show(self, node: nodes.literal_block, output: Output) -> None:
        after: list[nodes.Node] = []
        if node["language"] == "console":
            node.children[:] = [nodes.Text(output.text)]
            node.rawsource = output.text
        elif output.text:
            text = output.text.rstrip("\n")
            after.append(nodes.literal_block(text, text, language="text", classes=["output"]))
        for figure in output.figures:
            after.append(nodes.image(uri=self._save(figure), alt=_words(figure)))
        parent = node.parent
        place = parent.index(node) + 1
        parent[place:place] = after

    def _save(self, figure: Any) -> str:
        folder = Path(self.env.srcdir) / FIGURES
        return (
            "/"
            + save_figure(figure, folder, self.env.docname).relative_to(self.env.srcdir).as_posix()
        )


def save_figure(figure: Any, folder: Path, name: str) -> Path:
    """Write a figure under a name made of its page and its content; the same one twice is one."""
    folder.mkdir(exist_ok=True, parents=True)
    path = folder / "new.png"
    figure.savefig(path, dpi=144, bbox_inches="tight", metadata={"Software": None})
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:8]
    return path.replace(folder / f"{name.replace('/', '-')}-{digest}.png")


def _words(figure: Any) -> str:
    """The titles and labels of a figure, for those who do not see it."""
    axes = [a for a in figure.axes if a.get_label() != "<colorbar>"]
    titles = [figure.get_suptitle(), *(a.get_title() for a in axes)]
    labels = [f"{a.get_ylabel()} against {a.get_xlabel()}" for a in axes if a.get_xlabel()]
    words = dict.fromkeys([*filter(None, titles), *labels])
    return "; ".join(" ".join(w.split()) for w in words) or "figure"


def _ours(node: nodes.literal_block) -> bool:
    """Whether it is written on the page, not in a docstring, and in a language that is run."""
    return node.get("language") in LANGUAGES and "docstring" not in str(node.source)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    matplotlib.use("agg")
    app.add_transform(RunCode)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
