"""Pages of criteria, kernels and searches, made by listing their folders.

A page is what the class declares, then what is written by hand in ``bodies/``, then the class as
the reference shows it. A file added to the package has a page before anyone writes a body for it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

from svmselect import criteria, kernels, search
from svmselect.criteria.base import FREE, PENALISED

UNITS = {
    "mean": "log-probability per point",
    "total": "log-probability of all data",
    "deviance": "−2 times a log-probability of all data",
    "score": "the estimate itself",
}
LOSSES = {"hinge": "hinge", "squared_hinge": "squared hinge", "logistic": "logistic"}
OFFSETS = {
    FREE: "an intercept (`fit_intercept=True`)",
    PENALISED: "a `Constant` in the kernel (`fit_intercept=False`)",
}
_ADVICE = re.compile(r"^- (\*\*(?:Use it|Beware|Found:|Options)[^\n]*(?:\n  [^\n]*)*)", re.M)


def write(docs: Path) -> list[Path]:
    """Write every page; one that is unchanged is left alone, one that is obsolete removed."""
    choosing = (docs / "how_to_choose.md").read_text()
    pages: dict[Path, str] = {}
    for folder, title, makers in (
        ("criteria", "Criteria", _criteria(choosing)),
        ("kernels", "Kernels", {n: _kernel(c) for n, c in kernels.available().items()}),
        ("searches", "Searches", {n: _search(c) for n, c in search.available().items()}),
    ):
        bodies = docs / "bodies" / folder
        for name, make in makers.items():
            body = bodies / f"{name}.md"
            pages[docs / folder / f"{name}.md"] = make(body.read_text() if body.exists() else "")
        intro = (bodies / "index.md").read_text()
        pages[docs / folder / "index.md"] = _index(title, intro, _rows(folder), list(makers))
    for path, text in pages.items():
        path.parent.mkdir(exist_ok=True)
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
    for folder in {path.parent for path in pages}:
        for path in set(folder.glob("*.md")) - set(pages):
            path.unlink()
    return list(pages)


Maker = Callable[[str], str]


def _criteria(choosing: str) -> dict[str, Maker]:
    sections = dict(re.findall(r"^### ([\w-]+)\n(.*?)(?=^##|\Z)", choosing, re.M | re.S))
    return {
        name: _criterion(cls, sections.get(name, "")) for name, cls in criteria.available().items()
    }


def _criterion(cls: type[criteria.Criterion], section: str) -> Maker:
    losses = [words for loss, words in LOSSES.items() if any(a == loss for a, _ in cls.serves)]
    offsets = [
        words for offset, words in OFFSETS.items() if any(b == offset for _, b in cls.serves)
    ]
    advice = re.findall(
        r"^- (\*\*(?:Use it|Beware|Found:|Options)[^\n]*(?:\n  [^\n]*)*)", section, re.M
    )
    facts = {
        "Losses": ", ".join(losses),
        "Offset": " or ".join(offsets),
        "Value": f"{UNITS[cls.units]}; {better(cls)} is better",
        "Gradient": _gradient(cls()),
        "Cost": f"{cls.cost}, beyond the Gram matrix",
        "Options": _options(cls),
        "Reference": cls.reference,
    }

    def make(body: str) -> str:
        parts = [f"# {cls.name}", f"*{_first_sentence(cls)}*", _facts(facts)]
        parts.append(body or f"## Formula\n\n```text\n{cls.formula}\n```")
        if advice:
            parts.append("## When to use it\n\n" + "\n".join(f"- {one}" for one in advice))
            parts.append("[All criteria side by side](../how_to_choose.md#all-of-them)")
        parts.append(_reference(cls))
        return "\n\n".join(part.strip() for part in parts) + "\n"

    return make


def _kernel(cls: type[Any]) -> Maker:
    searched = ", ".join(
        f"`{name}` from {low:g} to {high:g}" for name, (low, high) in cls.box.items()
    )
    fixed = [f"`{f.name}`" for f in fields(cls) if f.name not in cls.box]
    facts = {
        "Searched": searched + " unless `bounds` say otherwise",
        "Fixed": ", ".join(fixed),
        "One for each input": ", ".join(f"`{name}`" for name in sorted(cls.per_input)),
        "Standardise first": "yes" if cls.needs_scaling else "no need",
    }

    def make(body: str) -> str:
        parts = [f"# {cls.__name__}", _facts(facts), body, _reference(cls)]
        return "\n\n".join(part.strip() for part in parts if part) + "\n"

    return make


def _search(cls: type[search.Search[Any]]) -> Maker:
    facts = {
        "Needs gradients": "yes" if cls.gradients else "no",
        "Options": _options(cls),
        "Reference": cls.reference,
    }

    def make(body: str) -> str:
        parts = [f"# {cls.name}", f"*{_first_sentence(cls)}*", _facts(facts), body, _reference(cls)]
        return "\n\n".join(part.strip() for part in parts if part) + "\n"

    return make


def _rows(folder: str) -> str:
    """The table of an index page."""
    if folder == "criteria":
        head = "| criterion | in a sentence | better | gradient |\n|---|---|---|---|\n"
        return head + "\n".join(
            f"| [`{n}`]({n}.md) | {_first_sentence(c)} | {better(c)} "
            f"| {'yes' if c().differentiable else 'no'} |"
            for n, c in criteria.available().items()
        )
    if folder == "kernels":
        head = "| kernel | in a sentence | parameters |\n|---|---|---|\n"
        return head + "\n".join(
            f"| [`{c.__name__}`]({n}.md) | {_first_sentence(c)} "
            f"| {', '.join(f'`{p}`' for p in c.box)} |"
            for n, c in kernels.available().items()
        )
    head = "| search | in a sentence | gradients |\n|---|---|---|\n"
    return head + "\n".join(
        f"| [`{n}`]({n}.md) | {_first_sentence(c)} | {'needed' if c.gradients else 'not needed'} |"
        for n, c in search.available().items()
    )


def _index(title: str, intro: str, table: str, names: list[str]) -> str:
    toctree = "\n".join(["```{toctree}", ":hidden:", "", *names, "```"])
    return "\n\n".join([f"# {title}", intro.strip(), table, toctree]) + "\n"


def better(cls: type[criteria.Criterion]) -> str:
    """Which way a criterion is better."""
    return "greater" if cls.greater_is_better else "smaller"


def _gradient(criterion: criteria.Criterion) -> str:
    if not criterion.differentiable:
        return "none"
    if criterion.continuous:
        return "exact"
    return "exact; the value can jump where an active set changes"


def _options(cls: type[Any]) -> str:
    shown = []
    for field in fields(cls):
        value = field.default_factory() if field.default_factory is not MISSING else field.default
        shown.append(f"`{field.name}={value!r}`")
    return ", ".join(shown) or "none"


def _first_sentence(cls: type[Any]) -> str:
    """The first sentence of the docstring, as Markdown."""
    lead = " ".join((cls.__doc__ or "").strip().split("\n\n")[0].split())
    words = re.split(r"(?<=\.) (?=[A-Z])", lead)[0].replace("``", "`")
    parts = re.split(r"(`[^`]*`)", words)
    return "".join(p if p.startswith("`") else re.sub(r"([*_|<\[\]$])", r"\\\1", p) for p in parts)


def _facts(facts: dict[str, str]) -> str:
    rows = [f"| **{name}** | {_cell(value)} |" for name, value in facts.items() if value]
    return "\n".join(["| | |", "|---|---|", *rows])


def _cell(text: str) -> str:
    for plain, raised in (("|", r"\|"), ("^2", "²"), ("^3", "³")):
        text = text.replace(plain, raised)
    return text


def _reference(cls: type[Any]) -> str:
    module = cls.__module__
    lines = [
        "## In the code's words",
        "",
        "```{eval-rst}",
        f".. autoclass:: {module}.{cls.__name__}",
    ]
    return "\n".join([*lines, "   :no-index:", "```"])
