"""Gold & Sollich's figures, drawn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from svmselect.experiments.reproduction.outcomes import Outcomes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Draw = Callable[[Outcomes, "Figure"], None]
LENGTHS = 5  # of the length scales, as in the paper


def draw_walk(outcomes: Outcomes, figure: Figure) -> None:
    """Figure 1: hyperparameters, the criterion, GACV and test error along a walk."""
    values = outcomes.cell("twonorm", "walk-trace")[0].values
    points = np.array(values["points"])
    steps = values["steps"]
    panels = figure.subplots(3, 2, sharex=True).ravel()
    curves = {
        "log C": points[:, :1],
        "log k0": points[:, 1:2],
        "log l": points[:, 2 : 2 + LENGTHS],
        "log k_off": points[:, -1:],
        "Laplace evidence, GACV": np.column_stack([values["evidence"], values["gacv"]]),
        "test error (%)": np.array(values["errors"])[:, None],
    }
    for panel, (title, curve) in zip(panels, curves.items(), strict=True):
        panel.plot(steps, curve)
        panel.set_title(title)
    for panel in panels[-2:]:
        panel.set_xlabel("evaluation")


def draw_histograms(name: str, methods: Sequence[str]) -> Draw:
    """Figures 2 to 4: test errors in bins of 2 %, one panel a method."""

    def draw(outcomes: Outcomes, figure: Figure) -> None:
        found = {m: outcomes.values(name, m, of="error") for m in methods}
        shown = {m: errors for m, errors in found.items() if errors}
        top = max(max(errors) for errors in shown.values())
        bins = np.arange(0.0, top + 2.0, 2.0)
        panels = figure.subplots(len(shown), 1, sharex=True, squeeze=False).ravel()
        for panel, (method, errors) in zip(panels, shown.items(), strict=True):
            panel.hist(errors, bins=bins, edgecolor="white")
            panel.set_ylabel("trials")
            panel.set_title(method, fontsize="small")
        panels[-1].set_xlabel("test error (%)")

    return draw


def draw_ascent(part: str) -> Draw:
    """Figures 5 and 6: parameters, their gradients and the test error along an ascent."""

    def draw(outcomes: Outcomes, figure: Figure) -> None:
        values = outcomes.cell("twonorm", "ascent-trace")[0].values
        points = np.array(values["points"])
        width = points.shape[1]
        slopes = np.array([g or [np.nan] * width for g in values["gradients"]])
        if part == "lengths":
            groups = {"log l": list(range(2, 2 + LENGTHS))}
        else:
            groups = {"log k0": [1], "log k_off": [width - 1], "log C": [0]}
        grid = figure.subplots(len(groups) + 1, 2, sharex=True)
        for row, (title, columns) in zip(grid, groups.items(), strict=False):
            row[0].plot(points[:, columns])
            row[0].set_title(title)
            row[1].plot(slopes[:, columns])
            row[1].set_title(f"gradient in {title}")
        errors = np.array(values["errors"])
        for panel, title in zip(grid[-1], ("test error (%)", "the same, close"), strict=True):
            panel.plot(errors)
            panel.set_title(title)
            panel.set_xlabel("step")
        grid[-1][1].set_ylim(errors.min() - 0.2, errors.min() + 3.0)

    return draw
