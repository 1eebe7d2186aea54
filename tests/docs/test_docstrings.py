"""The docstrings of what is public are numpydoc, complete, and their examples run."""

from __future__ import annotations

import doctest
import inspect
from dataclasses import fields, is_dataclass

import pytest
from numpydoc.docscrape import get_doc_object
from numpydoc.validate import validate

from public_names import documented
from svmselect.criteria import available

NOT_ASKED = {
    "GL01": "the summary stands on the line of the quotes",
    "SA01": "a See Also is welcome, not required",
    "ES01": "nor is an extended summary",
    "EX01": "nor an example",
}
DOCUMENTED = documented()


def faults(place: str) -> list[str]:
    """What numpydoc finds fault with."""
    found = [f"{code}: {text}" for code, text in validate(place)["errors"] if code not in NOT_ASKED]
    value = DOCUMENTED[place]
    if getattr(value, "_is_protocol", False):  # it is not called, though it has a signature
        found = [one for one in found if not one.startswith("PR01")]
    if inspect.isclass(value) and is_dataclass(value):
        # a record, which users are handed, has Attributes where an object with options has
        # Parameters; numpydoc knows the latter only
        attributes = get_doc_object(value, config={"show_class_members": False})["Attributes"]
        if [name for a in attributes for name in a.name.split(", ")] == [
            field.name for field in fields(value)
        ]:
            found = [one for one in found if not one.startswith("PR01")]
    return found


@pytest.mark.parametrize("place", DOCUMENTED)
def test_docstring_is_numpydoc(place: str) -> None:
    assert faults(place) == []


@pytest.mark.parametrize("name", sorted(available()))
def test_summary_of_a_criterion_can_be_quoted(name: str) -> None:
    summary = str(available()[name].__doc__).partition("\n")[0]
    assert "`" not in summary  # explain() and the report put it into a sentence
    assert summary.endswith(".")


EXAMPLES = [
    pytest.param(test, id=test.name)
    for place, value in DOCUMENTED.items()
    for test in doctest.DocTestFinder(recurse=False).find(value, place, module=False, globs={})
    if test.examples
]


@pytest.mark.parametrize("example", EXAMPLES)
def test_example_prints_what_it_shows(example: doctest.DocTest) -> None:
    assert doctest.DocTestRunner().run(example).failed == 0
