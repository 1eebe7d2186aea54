"""Every search of the folder meets the kit; the kit catches searches that do not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from svmselect.search import Search, available, get_search
from svmselect.search.base import Space, State, loss_of
from svmselect.search.irprop import IRprop, IRpropState
from svmselect.testing.searches import check_search, search_checks
from svmselect.types import Array, Evaluation, Status

NAMES = [
    "cma-es", "coordinate", "elitist-cma-es", "fixed-point", "gauss-newton", "gradient-ascent",
    "grid", "irprop", "lbfgs", "levenberg-marquardt", "random-walk",
]  # fmt: skip
VARIANTS: dict[str, list[dict[str, Any]]] = {
    "cma-es": [{"population": 12, "step": 0.5}],
    "elitist-cma-es": [{"step": 0.5, "patience": 50}],
    "fixed-point": [{"size": 5}],
    "grid": [{"size": 4, "refine": 2}],
    "irprop": [{"step": 0.5}],
}
CASES = [
    pytest.param(check, id=f"{name}{options or ''} {label}")
    for name in NAMES
    for options in [{}, *VARIANTS.get(name, [])]
    for label, check in search_checks(get_search(name, **options))
]


def test_the_folder_holds_the_searches_of_the_papers() -> None:
    assert list(available()) == NAMES


@pytest.mark.parametrize("check", CASES)
def test_conformance(check: Callable[[], None]) -> None:
    check()


@pytest.mark.parametrize(
    ("search", "options", "message"),
    [
        ("newton", {}, "'newton' is not one of 'cma-es'"),
        ("irprop", {"momentum": 1}, "no option 'momentum'; it takes step, shortest"),
        (IRprop(), {"step": 1}, r"options \['step'\] belong inside"),
    ],
)
def test_unknown_searches_and_options_are_named(search: Any, options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        get_search(search, **options)


@dataclass(frozen=True)
class Endless(Search[State]):
    """Asks for the start for ever."""

    name = "endless"
    reference = "none"

    def start(self, point: Array, space: Space, seed: int) -> State:
        return State(space=space, pending=(point,))

    def tell(self, state: State, answers: Sequence[Evaluation]) -> State:
        return state


@dataclass(frozen=True)
class Escapes(Endless):
    """Leaves the box."""

    name = "escapes"

    def tell(self, state: State, answers: Sequence[Evaluation]) -> State:
        if answers[0].point[0] > 50:
            return replace(state, stopped=Status("converged", "far out"))
        return replace(state, pending=(answers[0].point + 1.0,))


@dataclass(frozen=True)
class Forgets(IRprop):
    """Draws from a generator that is not in its State."""

    name = "forgets"

    def tell(self, state: IRpropState, answers: Sequence[Evaluation]) -> IRpropState:
        following = super().tell(state, answers)
        noise = np.random.default_rng().standard_normal(len(state.point))
        target = following.space.clip(following.pending[0] + 1e-3 * noise)
        return replace(following, pending=(target,))


@dataclass(frozen=True)
class Overwrites(IRprop):
    """Changes the point it had asked for."""

    name = "overwrites"

    def tell(self, state: IRpropState, answers: Sequence[Evaluation]) -> IRpropState:
        following = super().tell(state, answers)
        if np.isfinite(loss_of(answers[0])):
            state.pending[0][...] = following.pending[0]
        return following


@pytest.mark.parametrize(
    ("search", "message"),
    [
        (Endless(), "goes on after"),
        (Escapes(), "outside the box"),
        (Forgets(), "tell is not pure"),
        (Overwrites(), "pure: .*not pure|a State changed"),
    ],
)
def test_the_kit_catches(search: Search[Any], message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        check_search(search)
