"""A selection as a card in a notebook: HTML that keeps to the notebook's colours."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from svmselect.kernels.names import stem
from svmselect.kernels.words import kernel_words
from svmselect.probability.intervals import interval
from svmselect.types import ErrorEstimate

if TYPE_CHECKING:
    from svmselect.selection.result import Selection

_BOX = (
    "border: 1px solid color-mix(in srgb, currentColor 25%, transparent); border-radius: 6px; "
    "padding: .6em .9em; margin: .3em 0; max-width: 44em; font-family: system-ui, sans-serif; "
    "font-size: 14px; line-height: 1.45; overflow-wrap: anywhere"
)
_LIST = (
    "display: grid; grid-template-columns: minmax(6em, max-content) minmax(0, 1fr); "
    "gap: .15em 1.2em; margin: .4em 0 0"
)
_QUIET = "opacity: .7; margin: 0"


def card(title: str, rows: Sequence[tuple[str, str]], notes: Sequence[str], page: str = "") -> str:
    """A title, names with what they are, remarks, and a link to the report page if there is one."""
    listed = "".join(
        f'<dt style="{_QUIET}">{escape(name)}</dt><dd style="margin: 0">{escape(text)}</dd>'
        for name, text in rows
    )
    said = "".join(f'<p style="{_QUIET}; margin-top: .4em">{escape(note)}.</p>' for note in notes)
    link = ""
    if page:
        where = escape(page, quote=True)
        link = f'<p style="margin: .5em 0 0"><a href="{where}" target="_blank">The report</a></p>'
    return (
        f'<div class="svmselect-card" style="{_BOX}"><strong>{escape(title)}</strong>'
        f'<dl style="{_LIST}">{listed}</dl>{said}{link}</div>'
    )


def of_selection(selection: Selection) -> str:
    """The card of what ``select`` returned."""
    rows = [*choice_rows(selection.C, selection.kernel)]
    rows += error_rows(selection.error)
    top = _shortest(selection.kernel)
    if top:
        rows.append(("shortest length scales", top))
    rows.append(search_row(selection))
    return card("Selection", rows, remarks(selection), page_beside(selection.trace.path))


def choice_rows(C: Any, kernel: Any) -> list[tuple[str, str]]:
    """C and the kernel."""
    if isinstance(kernel, tuple):
        C = np.asarray(C)
        return [("C", f"{C.min():.3g} to {C.max():.3g}"), ("kernel", "one a pair of classes")]
    return [("C", f"{float(C):.4g}"), ("kernel", kernel_words(kernel))]


def error_rows(error: ErrorEstimate | None) -> list[tuple[str, str]]:
    """The error of held-out rows, with its interval."""
    if error is None:
        return []
    low, high = interval(error)
    of = ", in pairs of classes" if error.of == "pairs" else ""
    rows = f"of {error.n:.0f} held-out rows" if error.seen is None else "of new rows, expected"
    return [("error", f"{error.error:.1%} {rows} (95 %: {low:.1%} to {high:.1%}){of}")]


def search_row(selection: Selection) -> tuple[str, str]:
    """What was looked at, and how it went."""
    value = f"{selection.criterion} {selection.value:.4g}"
    spent = f"{selection.evaluations} evaluations, {selection.seconds:.2g} s"
    return "chosen by", f"{value}, {spent}"


def remarks(selection: Selection) -> list[str]:
    """What a reader should know, beside how the choice was made."""
    return [str(note) for note in selection.notes if note.warns]


def page_beside(trace: Any) -> str:
    """The report page that stands beside a trace file; empty where there is none."""
    page = None if trace is None else trace.with_name("report.html")
    return str(page) if page is not None and page.exists() else ""


def _shortest(kernel: Any, most: int = 3) -> str:
    """The inputs whose length scales are the shortest, where they have their own."""
    scales = [
        (name.removeprefix(stem(name)).strip("[]"), float(np.exp(value)))
        for name, value in zip(kernel.names, kernel.theta, strict=True)
        if stem(name).endswith("length_scale") and stem(name) != name
    ]
    scales.sort(key=lambda one: one[1])
    return ", ".join(f"input {a} ({length:.3g})" for a, length in scales[:most])
