"""Matplotlib's figures as files, with words for those who do not see them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any


def open_figures() -> tuple[Any, ...]:
    """The figures that are open, now closed; none if pyplot was not imported."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is None:
        return ()
    found = tuple(pyplot.figure(number) for number in pyplot.get_fignums())
    pyplot.close("all")
    return found


def save(figure: Any, path: Path) -> None:
    """Write one, the same bytes for the same figure."""
    figure.savefig(path, dpi=144, bbox_inches="tight", metadata={"Software": None})


def width(figure: Any) -> int:
    """Pixels on a page, so that letters are as large in every figure."""
    return round(88 * figure.get_figwidth())


def words(figure: Any) -> str:
    """The titles and labels of a figure."""
    axes = [a for a in figure.axes if a.get_label() != "<colorbar>"]
    titles = [figure.get_suptitle(), *(a.get_title() for a in axes)]
    labels = [f"{a.get_ylabel()} against {a.get_xlabel()}" for a in axes if a.get_xlabel()]
    found = dict.fromkeys([*filter(None, titles), *labels])
    return "; ".join(" ".join(one.split()) for one in found) or "figure"
