"""Axes to draw on; matplotlib is loaded here, when something is drawn, and nowhere before."""

from __future__ import annotations

from typing import Any

import numpy as np

ACCENT, MARK, QUIET = "#1f7a8c", "#c2552d", "#7b8a91"
CYCLE = ("#1f7a8c", "#c2552d", "#7a9e3f", "#8a5fa3", "#b98b1d", "#4f6d8f", "#a34f6d", "#5c6b73")
RAMP = ("#f1f4f3", "#b9d9d6", "#5fb0b4", "#22808f")


def axes_of(ax: Any, size: tuple[float, float] = (6.0, 4.0)) -> tuple[Any, Any]:
    """The axes given, or new ones in a new figure; and their figure."""
    if ax is None:
        from matplotlib import pyplot

        figure, ax = pyplot.subplots(figsize=size, layout="constrained")
        return ax, figure
    return ax, ax.figure


def tidy(ax: Any) -> None:
    """Thin frame, no lines above and to the right."""
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    ax.grid(True, color="#e2e3de", linewidth=0.7)
    ax.set_axisbelow(True)


def ramp(colours: tuple[str, ...] = RAMP) -> Any:
    """A colour map from pale to dark."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("svmselect", list(colours))


def even(edges: Any) -> Any:
    """Colours in even steps for bands of uneven width."""
    from matplotlib.colors import BoundaryNorm

    return BoundaryNorm(edges, 256)


def natural(log_values: Any) -> Any:
    """Values for a logarithmic axis."""
    return np.exp(np.asarray(log_values))


def words(text: str) -> str:
    """Names as they are: a dollar sign is no formula."""
    return text.replace("$", r"\$")
