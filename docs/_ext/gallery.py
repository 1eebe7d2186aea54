"""The gallery: every script of ``examples/`` is run, and its pictures and words make a page.

A script is a module whose docstring has a title, a blank line and a few sentences. It prints, and
may leave figures open. Runs are kept, by a digest of script and package, and not repeated.
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import io
import json
import runpy
from dataclasses import dataclass
from pathlib import Path

import figures


@dataclass(frozen=True)
class Shown:
    """One example as it ran."""

    name: str
    title: str
    words: str
    code: str
    output: str
    pictures: tuple[tuple[str, int], ...]  # names and widths


def write(docs: Path, examples: Path, package: str = "") -> None:
    """Run what is new and write the pages and the index."""
    folder = docs / "gallery"
    folder.mkdir(exist_ok=True)
    shown = [show(script, folder, package) for script in sorted(examples.glob("*.py"))]
    texts = {f"{one.name}.md": page(one) for one in shown}
    texts["index.md"] = index(shown)
    for name, text in texts.items():
        path = folder / name
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
    for old in {path.name for path in folder.glob("*.md")} - set(texts):
        (folder / old).unlink()


def show(script: Path, folder: Path, package: str = "") -> Shown:
    """Run one script, unless it has been run as it is, with this package."""
    source = script.read_text()
    kept = (
        folder
        / f"{script.stem}-{hashlib.sha256((package + source).encode()).hexdigest()[:12]}.json"
    )
    if not kept.exists():
        for old in folder.glob(f"{script.stem}-*"):
            old.unlink()
        output, pictures = run(script, folder)
        kept.write_text(json.dumps({"output": output, "pictures": pictures}))
    found = json.loads(kept.read_text())
    title, words, code = parts(source)
    return Shown(
        script.stem, title, words, code, found["output"], tuple(map(tuple, found["pictures"]))
    )


def run(script: Path, folder: Path) -> tuple[str, list[tuple[str, int]]]:
    """What a script prints, and the names and widths of the pictures it draws."""
    with contextlib.redirect_stdout(io.StringIO()) as printed, figures.collected() as drawn:
        runpy.run_path(str(script), run_name="__main__")
    names = []
    for number, figure in enumerate(drawn):
        name = f"{script.stem}-{number}.png"
        figures.save(figure, folder / name)
        names.append((name, figures.width(figure)))
    return printed.getvalue(), names


def parts(source: str) -> tuple[str, str, str]:
    """Title, words and code of a script."""
    tree = ast.parse(source)
    lead = ast.get_docstring(tree)
    if not lead:
        raise ValueError("an example begins with a docstring: a title, a blank line, sentences")
    title, _, words = lead.partition("\n\n")
    end = tree.body[0].end_lineno or 0
    code = "\n".join(source.splitlines()[end:]).strip("\n").replace("  # fmt: skip", "")
    return title.rstrip("."), words.strip(), code


def page(one: Shown) -> str:
    """The page of one example."""
    text = [f"# {one.title}", one.words]
    text += [f"![{one.title}]({name}){{width={width}px}}" for name, width in one.pictures]
    if one.output.strip():
        text += ["It prints", f"```text\n{one.output.rstrip()}\n```"]
    text += [f"The script, `examples/{one.name}.py`:", f"```python\n{one.code}\n```"]
    return "\n\n".join(part for part in text if part) + "\n"


def index(shown: list[Shown]) -> str:
    """The gallery's front page: a card for each example, those with pictures first."""
    ordered = sorted(shown, key=lambda one: not one.pictures)
    cards = []
    for one in ordered:
        picture = f"![]({one.pictures[0][0]})\n\n" if one.pictures else ""
        lead = one.words.split("\n\n")[0]
        cards.append(
            f"::::{{container}} card\n{picture}**[{one.title}]({one.name}.md)**\n\n{lead}\n::::"
        )
    body = "\n\n".join(cards)
    names = "\n".join(one.name for one in ordered)
    return (
        "# Gallery\n\nEach is a script in `examples/` that runs in seconds; pictures and outputs "
        f"were made when this site was built.\n\n:::::{{container}} cards\n{body}\n:::::\n\n"
        f"```{{toctree}}\n:hidden:\n\n{names}\n```\n"
    )
