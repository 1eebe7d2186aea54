"""Records of dataclasses to JSON and back: numbers, words, arrays, tuples, other records."""

from __future__ import annotations

import json
import math
import types
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

T = TypeVar("T")


def encode(record: Any) -> str:
    """A record as one line of JSON; floats come back exactly, without NaN or Infinity literals."""
    return json.dumps(_plain(record), allow_nan=False, ensure_ascii=False)


def decode(cls: type[T], text: str) -> T:
    """The record that ``encode`` wrote."""
    try:
        made: T = _made(cls, json.loads(text))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ValueError(f"no {cls.__name__} can be read from this: {error!r}") from None
    return made


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else repr(value)
    if value is None or isinstance(value, str | bool | int):
        return value
    raise TypeError(f"a report holds no {type(value).__name__}")


def _made(kind: Any, value: Any) -> Any:
    origin = get_origin(kind)
    if isinstance(kind, type) and is_dataclass(kind):
        hints = _hints(kind)
        return kind(**{name: _made(hints[name], item) for name, item in value.items()})
    if origin is np.ndarray:
        # a matrix without rows or columns keeps its two dimensions
        made = np.array(_numbers(value))
        if made.size == 0:
            return np.empty(made.shape)
        return made
    if origin in (Union, types.UnionType):
        (other,) = (part for part in get_args(kind) if part is not type(None))
        return None if value is None else _made(other, value)
    if origin is tuple:
        parts = get_args(kind)
        if len(parts) == 2 and parts[1] is Ellipsis:
            return tuple(_made(parts[0], item) for item in value)
        return tuple(_made(part, item) for part, item in zip(parts, value, strict=True))
    if kind is float:
        return float(value)
    if not isinstance(value, kind):
        raise TypeError(f"{value!r} is no {kind.__name__}")
    return value


def _numbers(value: Any) -> Any:
    """Lists of numbers, with names of those that JSON does not know, as floats or integers."""
    if isinstance(value, list):
        return [_numbers(item) for item in value]
    return float(value) if isinstance(value, str | float) else value


@cache
def _hints(cls: type) -> dict[str, Any]:
    return get_type_hints(cls)
