"""Criteria are found by listing the folder, and looked up with their options."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path

import pytest

from svmselect import criteria
from svmselect.criteria import Context, Criterion, Verdict, available, get_criterion
from svmselect.criteria.base import FREE, PENALISED, every
from svmselect.kernels import RBF

# The least that each must serve: losses, offsets, and whether there is a gradient by default.
BOTH = (FREE, PENALISED)
MINIMUM = {
    "gacv": (("hinge", "logistic"), BOTH, False),
    "span": (("hinge", "squared_hinge"), BOTH, None),
    "xi-alpha": (("hinge", "logistic"), BOTH, False),
    "radius-margin": (("squared_hinge",), BOTH, True),
    "laplace": (("hinge", "squared_hinge"), (PENALISED,), True),
    "kwok": (("hinge",), BOTH, True),
    "kric": (("hinge", "logistic"), BOTH, True),
    "kric-sollich": (("hinge", "logistic"), BOTH, True),
    "logistic-laplace": (("hinge", "logistic"), BOTH, True),
    "abic": (("hinge", "logistic"), BOTH, True),
    "cv-error": (("hinge", "squared_hinge", "logistic"), BOTH, False),
    "loo-error": (("hinge", "squared_hinge", "logistic"), BOTH, False),
    "smoothed-cv": (("hinge", "squared_hinge", "logistic"), BOTH, True),
    "likelihood": (("hinge", "squared_hinge", "logistic"), BOTH, True),
    "evidence-ep": (("hinge", "squared_hinge", "logistic"), (PENALISED,), True),
    "evidence-hmc": (("hinge", "squared_hinge"), (PENALISED,), True),
    "alignment": (("hinge", "squared_hinge", "logistic"), BOTH, True),
    "dbtc": (("hinge", "squared_hinge", "logistic"), BOTH, True),
}
GREATER = {
    "laplace", "evidence-ep", "evidence-hmc", "likelihood", "kwok", "logistic-laplace",
    "alignment", "dbtc",
}  # fmt: skip


def test_every_criterion_takes_random_state() -> None:
    for name in available():
        twice = [get_criterion(name, random_state=seed) for seed in (1, 2)]
        random = any(field.name == "random_state" for field in fields(twice[0]))
        assert (twice[0] == twice[1]) is not random, name
    with pytest.raises(ValueError, match="no option 'seed'"):
        get_criterion("gacv", seed=1)


UNITS = {
    "laplace": "mean",
    "evidence-ep": "mean",
    "evidence-hmc": "mean",
    "likelihood": "mean",
    "kwok": "total",
    "logistic-laplace": "total",
    "abic": "deviance",
    "kric": "deviance",
    "kric-sollich": "deviance",
}


def test_the_folder_holds_the_published_names() -> None:
    assert set(available()) == set(MINIMUM)


@pytest.mark.parametrize("name", MINIMUM)
def test_each_serves_at_least_what_is_promised(name: str) -> None:
    losses, offsets, gradient = MINIMUM[name]
    made = get_criterion(name)
    assert made.name == name
    assert made.serves >= every(*losses, offsets=offsets)
    assert made.greater_is_better is (name in GREATER)
    assert made.units == UNITS.get(name, "score")
    if gradient is not None:
        assert made.differentiable is gradient


@pytest.mark.parametrize("name", ["laplace", "evidence-ep", "evidence-hmc"])
def test_evidence_refuses_an_intercept(name: str) -> None:
    made = get_criterion(name)
    for loss, offset in made.serves:
        assert offset == PENALISED
        assert made.refusal(RBF() + 0.1, loss, True) is not None


def test_names_are_the_classes_own() -> None:
    for name, cls in available().items():
        assert cls.name == name
        assert issubclass(cls, Criterion)
    assert list(available()) == sorted(available())


def test_a_file_added_to_the_folder_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "trace_of_k.py").write_text(
        "from dataclasses import dataclass\n"
        "from svmselect.criteria.alignment import Alignment\n"
        "@dataclass(frozen=True)\n"
        "class TraceOfK(Alignment):\n"
        "    name = 'trace-of-k'\n"
    )
    monkeypatch.setattr(criteria, "__path__", [*criteria.__path__, str(tmp_path)])
    available.cache_clear()
    try:
        found = available()
        assert found["trace-of-k"].__name__ == "TraceOfK"
        assert "alignment" in found
    finally:
        monkeypatch.undo()
        available.cache_clear()
    assert "trace-of-k" not in available()


def test_unknown_criterion_is_named_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"criterion 'spam' is not one of .*'alignment'"):
        get_criterion("spam")


def test_unknown_option_is_named_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"'alignment' has no option 'centered'; it takes centred"):
        get_criterion("alignment", centered=False)


def test_options_reach_the_criterion() -> None:
    assert get_criterion("alignment", centred=False) == available()["alignment"](centred=False)  # type: ignore[call-arg]


@dataclass(frozen=True)
class Stranger(Criterion):
    """A criterion from elsewhere."""

    name = "stranger"
    greater_is_better = True
    serves = every("hinge", offsets=(FREE,))
    formula = "1"
    cost = "O(1)"
    reference = "none"

    def evaluate(self, context: Context, gradient: bool) -> Verdict:
        return Verdict(1.0)


def test_a_made_criterion_is_passed_through() -> None:
    made = Stranger()
    assert get_criterion(made) is made
    assert "stranger" not in available()
    with pytest.raises(ValueError, match=r"options \['cv'\] belong inside Stranger\(\)"):
        get_criterion(made, cv=3)
