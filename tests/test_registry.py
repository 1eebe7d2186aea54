"""Classes are found where they are defined, and made by name with their options."""

from __future__ import annotations

import pytest

from svmselect.criteria.base import Criterion
from svmselect.criteria.laplace import Laplace
from svmselect.criteria.span import Span
from svmselect.registry import classes_of, make


def test_each_class_is_found_once_and_abstract_ones_are_not() -> None:
    found = classes_of("svmselect.criteria", Criterion)
    assert {Laplace, Span} <= set(found)
    assert Criterion not in found
    assert len(set(found)) == len(found)


def test_made_by_name_or_returned() -> None:
    known = {"span": Span}
    assert make("criterion", "span", Criterion, known, {"smooth": False}) == Span(smooth=False)
    given = Span()
    assert make("criterion", given, Criterion, known, {}) is given


@pytest.mark.parametrize(
    ("given", "options", "message"),
    [
        (Span(), {"smooth": True}, r"options \['smooth'\] belong inside"),
        ("spam", {}, "criterion 'spam' is not one of 'span'"),
        ("span", {"smoth": 1}, "criterion 'span' has no option 'smoth'; it takes .*smooth"),
    ],
)
def test_what_cannot_be_made_is_said(given: object, options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make("criterion", given, Criterion, {"span": Span}, options)
