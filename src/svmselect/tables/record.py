"""The inputs of a model as one text, and back: what a model file holds of them.

A file has a node for every object and for every field, which for thousands of columns takes longer
than the fit. Here each kind of input is a list for each of its fields.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from svmselect.tables.inputs import Category, Input, Moment, Number, Ordered, Unused
from svmselect.tables.targets import Target

_KINDS: dict[str, Any] = {
    cls.__name__: cls for cls in (Number, Ordered, Category, Moment, Unused, Target)
}


def to_text(inputs: Sequence[Input | Target]) -> str:
    """The kind of every input, and by kind its fields as lists."""
    kinds = [type(one).__name__ for one in inputs]
    told: dict[str, Any] = {"kinds": kinds}
    for kind in dict.fromkeys(kinds):
        of_kind = [one for one, its in zip(inputs, kinds, strict=True) if its == kind]
        told[kind] = {
            field.name: [getattr(one, field.name) for one in of_kind]
            for field in fields(_KINDS[kind])
        }
    return json.dumps(told, separators=(",", ":"), default=lambda found: found.tolist())


def from_text(text: str) -> tuple[Input | Target, ...]:
    """Undo ``to_text``."""
    told = json.loads(text)
    waiting = {}
    for kind in set(told["kinds"]):
        held = told[kind]
        waiting[kind] = iter(
            [
                _made(_KINDS[kind], dict(zip(held, values, strict=True)))
                for values in zip(*held.values(), strict=True)
            ]
        )
    return tuple(next(waiting[kind]) for kind in told["kinds"])


def _made(cls: Any, values: dict[str, Any]) -> Any:
    if cls is Target:
        levels, statistic = np.array(values["levels"], dtype=np.str_), np.array(values["values"])
        return cls(**{**values, "levels": levels, "values": statistic})
    return cls(**{k: tuple(v) if isinstance(v, list) else v for k, v in values.items()})
