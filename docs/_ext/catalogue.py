"""Sphinx: a page for each criterion, kernel and search, made by listing their folders.

autosummary would have to be told each of them, would name its page after the class and would write
reStructuredText. These pages are found, have the name that users type, and hold Markdown: what the
class declares, what is written by hand in ``bodies/``, and the class itself. A file added to the
package has a page before anyone writes a body for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import MISSING, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, FileSystemLoader

from svmselect import criteria, kernels, search

if TYPE_CHECKING:
    from sphinx.application import Sphinx

UNITS = {
    "mean": "log-probability per point",
    "total": "log-probability of all data",
    "deviance": "−2 times a log-probability of all data",
    "score": "the estimate itself",
}
OFFSETS = {
    criteria.FREE: "an intercept (`fit_intercept=True`)",
    criteria.PENALISED: "a `Constant` in the kernel (`fit_intercept=False`)",
}
HEADS = {
    "criteria": ["criterion", "in a sentence", "better", "gradient"],
    "kernels": ["kernel", "in a sentence", "parameters"],
    "searches": ["search", "in a sentence", "gradients"],
}
TEMPLATES = Path(__file__).parents[1] / "_templates" / "catalogue"


def write(docs: Path) -> None:
    """Write every page; one that is unchanged is left alone, one that is obsolete removed."""
    template = Environment(loader=FileSystemLoader(TEMPLATES)).get_template
    for folder, found in (
        ("criteria", criteria.available()),
        ("kernels", kernels.available()),
        ("searches", search.available()),
    ):
        bodies = {path.stem: path.read_text() for path in (docs / "bodies" / folder).glob("*.md")}
        pages = {
            name: template("page.md").render(
                title=cls.__name__ if folder == "kernels" else name,
                sentence="" if folder == "kernels" else sentence(cls),
                facts={fact: cell(value) for fact, value in facts(folder, cls).items()},
                body=bodies.get(name, "").strip(),
                formula=getattr(cls, "formula", ""),
                discussed=f"### {name}\n" in (docs / "how_to_choose.md").read_text(),
                place=f"{cls.__module__}.{cls.__name__}",
            )
            for name, cls in found.items()
        }
        rows = [[f"[`{name}`]({name}.md)", sentence(c), *row(c)] for name, c in found.items()]
        pages["index"] = template("index.md").render(
            title=folder.title(), intro=bodies["index"].strip(), head=HEADS[folder], rows=rows,
            names=list(found),
        )  # fmt: skip
        (docs / folder).mkdir(exist_ok=True)
        for path in (docs / folder).glob("*.md"):
            if path.stem not in pages:
                path.unlink()
        for name, text in pages.items():
            path = docs / folder / f"{name}.md"
            if not path.exists() or path.read_text() != text:
                path.write_text(text)


def facts(folder: str, cls: type[Any]) -> dict[str, str]:
    """What a class declares, in words."""
    if folder == "kernels":
        box = [f"`{name}` from {low:g} to {high:g}" for name, (low, high) in cls.box.items()]
        return {
            "Searched": ", ".join(box) + " unless `bounds` say otherwise",
            "Fixed": ", ".join(f"`{f.name}`" for f in fields(cls) if f.name not in cls.box),
            "One for each input": ", ".join(f"`{name}`" for name in sorted(cls.per_input)),
            "Standardise first": "yes" if cls.needs_scaling else "no need",
        }
    common = {"Options": ", ".join(options(cls)) or "none", "Reference": cls.reference}
    if folder == "searches":
        return {"Needs gradients": "yes" if cls.gradients else "no", **common}
    losses = ("hinge", "squared_hinge", "logistic")
    steady = (
        "exact" if cls().continuous else "exact; the value can jump where an active set changes"
    )
    return {
        "Losses": ", ".join(
            a.replace("_", " ") for a in losses if a in {loss for loss, _ in cls.serves}
        ),
        "Offset": " or ".join(w for o, w in OFFSETS.items() if o in {b for _, b in cls.serves}),
        "Value": f"{UNITS[cls.units]}; {better(cls)} is better",
        "Gradient": steady if cls().differentiable else "none",
        "Cost": f"{cls.cost}, beyond the Gram matrix",
        **common,
    }


def row(cls: type[Any]) -> list[str]:
    """The last columns of the table of an index page."""
    if issubclass(cls, criteria.Criterion):
        return [better(cls), "yes" if cls().differentiable else "no"]
    if issubclass(cls, kernels.Leaf):
        return [", ".join(f"`{p}`" for p in cls.box)]
    return ["needed" if cls.gradients else "not needed"]


def better(cls: type[criteria.Criterion]) -> str:
    """Which way a criterion is better."""
    return "greater" if cls.greater_is_better else "smaller"


def options(cls: type[Any]) -> Iterator[str]:
    """Fields with their defaults, as code."""
    for field in fields(cls):
        value = field.default_factory() if field.default_factory is not MISSING else field.default
        yield f"`{field.name}={value!r}`"


def sentence(cls: type[Any]) -> str:
    """The first sentence of a docstring, as Markdown."""
    lead = " ".join((cls.__doc__ or "").strip().split("\n\n")[0].split())
    words = re.split(r"(?<=\.) (?=[A-Z])", lead)[0].replace("``", "`")
    parts = re.split(r"(`[^`]*`)", words)
    return "".join(
        cell(p) if p.startswith("`") else re.sub(r"([*_|<\[\]$])", r"\\\1", p) for p in parts
    )


def cell(text: str) -> str:
    """A text that can stand in a table."""
    return text.replace("|", r"\|").replace("^2", "²").replace("^3", "³")


def _link(_: Sphinx, name: str, source: list[str]) -> None:
    """On how_to_choose.md, which is read elsewhere too, lead from each section to its page."""
    if name == "how_to_choose":
        link = r"### \1\n\n[Formula and example](criteria/\1.md)\n"
        source[0] = re.sub(r"^### ([\w-]+)\n", link, source[0], flags=re.MULTILINE)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("config-inited", lambda app, _: write(Path(app.srcdir)))
    app.connect("source-read", _link)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
