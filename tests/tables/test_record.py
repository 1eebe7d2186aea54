"""Inputs as one text: nothing is lost, and a file grows by text, not by objects."""

from __future__ import annotations

import copy
import json
from dataclasses import fields
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import pandas as pd
import pytest

import svmselect
from svmselect.tables import Encoder
from svmselect.tables.inputs import Category, Moment, Number, Ordered, Unused
from svmselect.tables.record import from_text, to_text
from svmselect.tables.targets import Target

INPUTS = (
    Category("place", ("Chur", "Zug, \"ZG\"\n", "\ud800"), "Chur", 0.25, True, True, 0.125),
    Number("size", -0.1 - 2e-17, gap=True),
    Moment("since", 18000.5, (365.2425, 7.0), filled=True),
    Unused("empty", "it is empty"),
    Number("huge", 1e308),
    Ordered("grade", ("low", "high"), 0.5),
    Target("code", np.array(["a", "bc"]), np.array([[0.5], [-1.25]]), "a", True, 0.5),
    Moment("day", 1.0, ()),
    Category("many", (), "x", 0.0, pooled=True),
)  # fmt: skip


def values(one: Any) -> list[Any]:
    found = [getattr(one, field.name) for field in fields(one)]
    return [v.tolist() if isinstance(v, np.ndarray) else v for v in found]


def same(first: Any, second: Any) -> None:
    assert [type(one) for one in first] == [type(one) for one in second]
    for one, other in zip(first, second, strict=True):
        assert values(one) == values(other)
        assert [type(v) for v in values(one)] == [type(v) for v in values(other)]
        assert one.columns == other.columns


def test_every_kind_of_input_comes_back() -> None:
    again = from_text(to_text(INPUTS))
    same(INPUTS, again)
    target = again[6]
    assert isinstance(target, Target)
    assert target.levels.dtype.kind == "U"
    assert from_text(to_text(())) == ()


def test_numbers_of_numpy_are_numbers() -> None:
    (found,) = from_text(to_text([Number("a", np.float64(0.1), np.bool_(True))]))  # type: ignore[arg-type]
    assert found == Number("a", 0.1, True)


def test_copies_of_an_encoder_and_what_older_files_hold() -> None:
    encoder = Encoder(INPUTS, "impute")
    again = copy.deepcopy(encoder)
    assert again.missing == "impute"
    same(INPUTS, again.inputs)
    old = object.__new__(Encoder)
    old.__setstate__({"inputs": INPUTS, "missing": "error"})
    assert (old.inputs, old.missing) == (INPUTS, "error")


@pytest.mark.parametrize(
    "text", ["", "{}", '{"kinds":["Path"],"Path":{"a":[1]}}', '{"kinds":["Number"]}']
)
def test_a_text_of_something_else_makes_nothing(text: str) -> None:
    with pytest.raises((ValueError, KeyError)):
        from_text(text)


def nodes(file: Path) -> int:
    """Objects that a model file holds."""
    with ZipFile(file) as archive:
        left, count = [json.loads(archive.read("schema.json"))], 0
    while left:
        node = left.pop()
        if isinstance(node, dict):
            count += "__loader__" in node
            left += node.values()
        elif isinstance(node, list):
            left += node
    return count


def test_a_file_has_no_object_for_a_column(tmp_path: Path) -> None:
    """Thousands of columns took longer to save than to fit."""
    rng = np.random.default_rng(0)
    X, found = rng.normal(size=(24, 400)), {}
    for d in (4, 400):
        frame = pd.DataFrame(X[:, :d], columns=[f"column {i}" for i in range(d)])
        frame["word"] = np.where(X[:, 0] > 0, "up", "down")
        model = svmselect.AutoSVC(ard="no")
        model.fit(frame, X[:, 0] + X[:, 1] > 0)
        svmselect.save(model, tmp_path / f"{d}")
        again = svmselect.load(tmp_path / f"{d}")
        assert again.feature_names_in_.tolist() == list(frame)
        assert again.feature_names_in_.dtype == object
        np.testing.assert_array_equal(again.predict_proba(frame), model.predict_proba(frame))
        found[d] = nodes(tmp_path / f"{d}")
    assert found[400] < found[4] + 100  # a node for each evaluation
