"""The public boundary: what is listed, and that pages and examples stay on this side of it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from public_names import PROVISIONAL, PUBLIC, exported

ROOT = Path(__file__).parents[2]
MADE = ("criteria", "kernels", "searches", "gallery", "generated")
PAGES = [
    path
    for path in sorted((ROOT / "docs").rglob("*.md"))
    if path.relative_to(ROOT / "docs").parts[0] not in MADE
]
SHOWN = [ROOT / "README.md", *PAGES, *sorted((ROOT / "examples").glob("*.py"))]


def _imports(path: Path) -> list[tuple[str, str]]:
    """Modules of ours, and the names taken from them, in the code a reader sees."""
    text = path.read_text()
    codes = (
        [text] if path.suffix == ".py" else re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
    )
    found = []
    for code in codes:
        for node in ast.walk(ast.parse(code)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("svmselect"):
                found += [(node.module or "", alias.name) for alias in node.names]
    return found


@pytest.mark.parametrize("path", SHOWN, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_readers_see_imports_public_names_only(path: Path) -> None:
    for module, name in _imports(path):
        assert module in PUBLIC + PROVISIONAL, module
        if module in PUBLIC:
            assert name in exported(module), f"{module}.{name}"


def test_pages_import_something() -> None:
    assert sum(len(_imports(path)) for path in SHOWN) > 50


@pytest.mark.parametrize("name", ["CONTRIBUTING.md", "docs/reference/index.md"])
def test_the_list_is_where_it_is_promised(name: str) -> None:
    text = (ROOT / name).read_text()
    assert [package for package in PUBLIC + PROVISIONAL if f"`{package}`" not in text] == []
