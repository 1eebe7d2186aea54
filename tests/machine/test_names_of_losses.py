"""Nobody but the losses' own package compares the names of losses, or asks for their classes."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import svmselect
from svmselect.machine.losses import available

SOURCE = Path(svmselect.__file__).parent
OWN = SOURCE / "machine" / "losses"
NAMES = frozenset(available())
CLASSES = frozenset(type(loss).__name__ for loss in available().values())

ALLOWED = {
    # arguments: which loss belongs to which estimator
    "estimators/auto_svc.py": "AutoSVC says which losses it takes, and who takes the other",
    "cli/model.py": "the estimator that takes the loss named on the command line",
    # what the command line says of losses
    "cli/commands/listing.py": "one letter a loss, for a narrow table",
    "cli/compare.py": "remarks that a C of another loss than the usual does not compare",
    # tables keyed by the class of a loss: one in each package, where the mathematics is
    "machine/left_out.py": "the table of how removals are followed",
    "machine/removal_logistic.py": "follows removals for the logistic loss and for no other",
    "posterior/factors.py": "the table of what the posterior knows of each loss",
}


def comparisons(tree: ast.AST) -> Iterator[ast.AST]:
    """Where a loss's name is compared, matched or looked up, or a loss's class is used."""
    for node in ast.walk(tree):
        match node:
            case ast.Compare():
                sides = [node.left, *node.comparators]
            case ast.MatchValue():
                sides = [node.value]
            case ast.Dict():  # a table of names is a comparison in other words
                sides = [key for key in node.keys if key is not None]
            case ast.Call(func=ast.Attribute(attr="startswith" | "endswith")):
                sides = node.args
            case ast.ImportFrom(module=str(module)) if module.startswith("svmselect.machine.los"):
                if CLASSES & {alias.name for alias in node.names}:
                    yield node
                continue
            case ast.Attribute(attr=name) if name in CLASSES:
                yield node
                continue
            case _:
                continue
        constants = [c for side in sides for c in ast.walk(side) if isinstance(c, ast.Constant)]
        if any(c.value in NAMES for c in constants if isinstance(c.value, str)):
            yield node


def test_nobody_else_compares() -> None:
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        lines = [node.lineno for node in comparisons(ast.parse(path.read_text()))]
        if lines and OWN not in path.parents:
            found[path.relative_to(SOURCE).as_posix()] = lines
    new = {place: lines for place, lines in found.items() if place not in ALLOWED}
    assert not new, f"{new} compare losses by name: ask a property of the loss, or give it one"
    gone = sorted(set(ALLOWED) - set(found))
    assert not gone, f"{gone} no longer compare losses: take them off the list"


@pytest.mark.parametrize(
    "code",
    [
        "loss == 'hinge'",
        "s.loss != 'logistic'",
        "loss in ('hinge', 'squared_hinge')",
        "'hinge' == loss",
        "{'hinge': 1, 'other': 2}[loss]",
        "loss.startswith('squared_hinge')",
        "match loss:\n    case 'hinge':\n        pass",
        "from svmselect.machine.losses import Hinge",
        "from svmselect.machine.losses.logistic import Logistic",
        "isinstance(rule, losses.SquaredHinge)",
    ],
)
def test_the_scan_sees(code: str) -> None:
    assert list(comparisons(ast.parse(code)))


@pytest.mark.parametrize(
    "code",
    [
        "def f(loss='hinge'): ...",
        "serves = every('hinge', 'logistic')",
        "get_loss(loss).curved",
        "machine = {'svm': 'hinge'}",
        "loss == 'other'",
    ],
)
def test_the_scan_lets_pass(code: str) -> None:
    assert not list(comparisons(ast.parse(code)))
