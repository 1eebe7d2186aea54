"""What a graph is given, as nodes that make the matrix that the machines compute with.

An array is one input ``X``. A data frame is an input for each column, of shape (rows, 1): numbers
as float64, dates as seconds since 1970 (UTC) in float64, all else as strings. The input has the
name of the column, with a stroke after it, ``label_``, where that is the name of an output. Tables
of words are made by the encoder itself: a node looks up the row of a word.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from svmselect.estimators.onnx.graph import Graph, package
from svmselect.tables.cells import MISSING
from svmselect.tables.encoder import Encoder
from svmselect.tables.gaps import Gaps
from svmselect.tables.inputs import Category, Input, Moment, Number, Ordered, Unused
from svmselect.tables.targets import Target
from svmselect.types import Array

_DAY = 86400.0
_STRANGER = "\x00"  # no cell of a table is this
_GAPS = (*sorted(MISSING), "NaN", "NaT", "<NA>", "None")
_TRUTH = {"True": ("1", "1.0"), "False": ("0", "0.0")}


def matrix(graph: Graph, model: Any) -> tuple[list[Any], str]:
    """The inputs of the graph, and the tensor of the encoded columns."""
    helper, types = package().helper, package().TensorProto
    encoder = vars(model).get("encoder_")
    if not isinstance(encoder, Encoder):
        given = [helper.make_tensor_value_info("X", types.DOUBLE, [None, model.n_features_in_])]
        if isinstance(encoder, Gaps) and model.missing != "error":
            return given, _without_gaps(graph, encoder)
        return given, graph.add("Identity", "X")
    given, parts = [], []
    outputs = frozenset(graph.taken)
    graph.taken.update(encoder.names)
    for learned in encoder.inputs:
        one = replace(learned, name=_called(learned.name, outputs, graph.taken))
        number = isinstance(one, Number | Moment)
        kind = types.DOUBLE if number else types.STRING
        given.append(helper.make_tensor_value_info(one.name, kind, [None, 1]))
        if not isinstance(one, Unused):
            parts.append(_COLUMNS[type(one)](graph, one, encoder.missing))
    return given, graph.add("Concat", *parts, axis=1)


def _called(name: str, outputs: frozenset[str], taken: set[str]) -> str:
    """The name of the input for a column."""
    if name not in outputs:
        return name
    while name in taken:
        name += "_"
    taken.add(name)
    return name


def _without_gaps(graph: Graph, gaps: Gaps) -> str:
    """An array with medians for gaps, and the columns that tell of gaps in their places."""
    missing = graph.add("IsNaN", "X")
    filled = graph.add("Where", missing, gaps.middle[None, :], "X")
    if gaps.plain:
        return filled
    flags = graph.add("Cast", missing, to=package().TensorProto.DOUBLE)
    both = graph.add("Concat", filled, flags, axis=1)
    told = ~np.isnan(gaps.spans)
    return graph.add("Gather", both, [*(gaps.owners + told * len(gaps.middle)).tolist()], axis=1)


def _number(graph: Graph, one: Number, _: str) -> str:
    return _measured(graph, one.name, one.middle, one.gap)


def _moment(graph: Graph, one: Moment, _: str) -> str:
    days = graph.add("Div", one.name, _DAY)
    parts = [_measured(graph, days, one.middle, one.gap)]
    missing = graph.add("IsNaN", days)
    for length in one.rounds:
        angle = graph.add("Mul", days, 2.0 * np.pi / length)
        for quarter in (0.0, 0.5 * np.pi):  # the sine, and that a quarter later: the cosine
            wave = graph.add("Sin", graph.add("Add", angle, quarter))
            parts.append(graph.add("Where", missing, 0.0, wave))
    return graph.add("Concat", *parts, axis=1)


def _measured(graph: Graph, x: str, middle: float, gap: bool) -> str:
    """A number, filled in, and whether it was missing."""
    missing = graph.add("IsNaN", x)
    filled = graph.add("Where", missing, middle, x)
    if not gap:
        return filled
    flags = graph.add("Cast", missing, to=package().TensorProto.DOUBLE)
    return graph.add("Concat", filled, flags, axis=1)


def _category(graph: Graph, one: Category, missing: str) -> str:
    return _looked_up(graph, one, one.categories, one.common if missing == "impute" else None)


def _ordered(graph: Graph, one: Ordered, _: str) -> str:
    return _looked_up(graph, one, one.levels, None)


def _looked_up(
    graph: Graph, one: Category | Ordered, levels: tuple[str, ...], gap: str | None
) -> str:
    """The encoder's rows for words: for levels in their usual spellings, for gaps, for all else."""
    rows = one.encode(np.array([*levels, gap, _STRANGER], dtype=object))
    place: dict[str, int] = {}
    for i, level in enumerate(levels):
        for text in _spellings(level):
            if np.array_equal(one.encode(np.array([text], dtype=object))[0], rows[i]):
                place.setdefault(text, i)
    return _by_place(graph, one.name, rows, place)


def _target(graph: Graph, one: Target, _: str) -> str:
    levels = [level for level in one.levels.tolist() if one.is_word(level)]
    rows = one.encode(np.array([*levels, None, _STRANGER], dtype=object))
    return _by_place(graph, one.name, rows, {level: i for i, level in enumerate(levels)})


def _by_place(graph: Graph, name: str, rows: Array, place: dict[str, int]) -> str:
    """The row of each word; the last row is for words without a place, that before it for gaps."""
    for marker in _GAPS:
        for text in _spellings(marker):
            place.setdefault(text, len(rows) - 2)
    words = graph.add("Reshape", name, [-1])
    code = graph.add(
        "LabelEncoder",
        words,
        keys_strings=list(place),
        values_int64s=list(place.values()),
        default_int64=len(rows) - 1,
    )
    return graph.add("Gather", rows, code, axis=0)


def _spellings(text: str) -> list[str]:
    """A word as people write it: a graph compares texts letter by letter."""
    ways = [text, text.lower(), text.upper(), text.capitalize(), text.title(), f"{text}.0"]
    if text in _TRUTH:
        ways += _TRUTH[text]
    return list(dict.fromkeys(ways))


_COLUMNS: dict[type[Input] | type[Target], Callable[[Graph, Any, str], str]] = {
    Category: _category,
    Moment: _moment,
    Number: _number,
    Ordered: _ordered,
    Target: _target,
}
