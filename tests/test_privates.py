"""What begins with an underscore is its owner's: no other file asks for it across packages."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import svmselect

SOURCE = Path(svmselect.__file__).parent

OTHERS = {
    "machine/box_qp.py": {"_native"},  # the compiled extension
    "selection/export.py": {"_n_support", "_dual_coef_", "_intercept_"},  # scikit-learn's SVC
}
"""Names that are private by their look only, or another library's."""


def private(tree: ast.Module) -> Iterator[str]:
    """Private attributes and names that a file uses, and neither it nor its classes define."""
    own = {
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef)
    }
    used = []
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name):
                own.add(name)
            case ast.Attribute(attr=name):
                used.append(name)
            case ast.ImportFrom(module=str(module)) if module.startswith("svmselect"):
                used += [alias.name for alias in node.names]
    for node in ast.walk(tree):  # a class's own fields
        if isinstance(node, ast.AnnAssign | ast.Assign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            own |= {target.id for target in targets if isinstance(target, ast.Name)}
    yield from (n for n in used if n.startswith("_") and not n.startswith("__") and n not in own)


def test_no_file_asks_for_what_is_private_to_another() -> None:
    """Within ``estimators`` the files are parts of one class, and know what a fit has kept."""
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        place = path.relative_to(SOURCE).as_posix()
        names = set(private(ast.parse(path.read_text()))) - OTHERS.get(place, set())
        if names and not place.startswith("estimators/"):
            found[place] = names
    assert not found


@pytest.mark.parametrize(
    ("code", "asks"),
    [
        ("model._posterior", True),
        ("from svmselect.data import _missing", True),
        ("from numpy import _core", False),
        ("self._own", False),
        ("class A:\n    _x = 1\n    def f(self, other): return other._x", False),
        ("model.__dict__", False),
    ],
)
def test_the_scan_sees(code: str, asks: bool) -> None:
    assert bool(list(private(ast.parse(code)))) == asks
