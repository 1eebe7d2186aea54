"""``svmselect list``: what there is to choose from, found by listing folders."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from svmselect.cli import options as of


class What(StrEnum):
    """Things that can be listed."""

    criteria = "criteria"
    kernels = "kernels"
    searches = "searches"
    datasets = "datasets"
    papers = "papers"


def listing(
    what: Annotated[
        What | None, typer.Argument(help="What to list.", show_default="everything")
    ] = None,
    as_json: of.Json = False,
    debug: of.Debug = False,
) -> None:
    """List criteria, kernels, searches, data sets or papers, one line each."""
    from svmselect.cli.console import Output

    makers = {
        What.criteria: _criteria,
        What.kernels: _kernels,
        What.searches: _searches,
        What.datasets: _datasets,
        What.papers: _papers,
    }
    found = {one: makers[one]() for one in ([what] if what else What)}
    output = Output(as_json=as_json)
    output.result(
        {
            one.value: [dict(zip(columns, row, strict=True)) for row in rows]
            for one, (columns, rows) in found.items()
        }
    )
    for one, (columns, rows) in found.items():
        if what is None:
            output.say(f"{one.value}:" if one is What.criteria else f"\n{one.value}:")
        output.table(columns, rows, left=len(columns))
        if one is What.criteria:
            output.say("")
            output.tell(_LEGEND)


_LOSSES = {"hinge": "h", "squared_hinge": "s", "logistic": "l"}
_LEGEND = "losses: h hinge, s squared_hinge, l logistic; slope: whether there is a gradient"

_Listing = tuple[list[str], list[list[str]]]


def _criteria() -> _Listing:
    from svmselect.criteria import available

    rows = []
    for name, cls in available().items():
        served = {loss for loss, _ in cls.serves}
        losses = " ".join(letter for loss, letter in _LOSSES.items() if loss in served)
        slope = "yes" if cls.smooth else "no"
        best = "max" if cls.greater_is_better else "min"
        rows.append([name, _first(cls.__doc__), best, slope, losses])
    return ["name", "what it is", "best", "slope", "losses"], rows


def _kernels() -> _Listing:
    from svmselect.kernels import available

    rows = []
    for name, cls in available().items():
        rows.append([name, _first(cls.__doc__)])
    return ["name", "what it is"], rows


def _searches() -> _Listing:
    from svmselect.search import available

    rows = []
    for name, cls in available().items():
        rows.append([name, _first(cls.__doc__), "yes" if cls.gradients else "no"])
    return ["name", "what it does", "needs slopes"], rows


def _datasets() -> _Listing:
    from svmselect import datasets

    rows = [
        [one.name, str(one.n), str(one.d), one.about, one.here or "not here"]
        for one in datasets.available()
    ]
    return ["name", "rows", "inputs", "what it is", "source"], rows


def _papers() -> _Listing:
    from svmselect.experiments import available

    return ["name", "title"], [[name, paper.title] for name, paper in available().items()]


def _first(text: str | None) -> str:
    """The first sentence of a docstring."""
    line = " ".join((text or "").strip().split("\n\n")[0].split())
    return line.replace("``", "").rstrip(".")
