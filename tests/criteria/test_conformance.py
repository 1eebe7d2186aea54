"""Every criterion of the folder, and every option that changes its formula, meets the kit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from svmselect.criteria import available, get_criterion
from svmselect.testing import criterion_checks

# Options that make a default quick enough for these tests.
QUICK: dict[str, dict[str, Any]] = {"evidence-hmc": {"draws": 1024, "chains": 32}}

# Formulas a criterion has besides its default: options, and kinds of checks that do not apply.
Variant = tuple[dict[str, Any], tuple[str, ...]]
LANDMARKS: Variant = ({"nystrom": (8, 5)}, ("permutation", "weights"))  # drawn among the rows
VARIANTS: dict[str, list[Variant]] = {
    "abic": [LANDMARKS, ({"variant": "printed"}, ())],
    "alignment": [({"centred": False}, ())],
    "dbtc": [({"normalised": False}, ("scaling",))],
    # ties among landmarks go to the first row
    "evidence-ep": [({"normalised": True}, ()), ({"rank": 12}, ("permutation",))],
    "kric": [LANDMARKS, ({"offset": "exact"}, ())],
    "kric-sollich": [
        LANDMARKS,
        ({"offset": "exact", "sign": "printed"}, ()),
        ({"loss_term": "printed", "penalty_scale": "model"}, ()),
    ],
    "kwok": [({"level": 3}, ()), ({"curvature": "literal"}, ())],
    "likelihood": [({"targets": "platt"}, ())],
    "logistic-laplace": [LANDMARKS, ({"variant": "printed"}, ())],
    "smoothed-cv": [({"slope": 3.0}, ())],
    "span": [({"over": "all"}, ()), ({"smooth": False}, ()), ({"variant": "bound"}, ())],
    "xi-alpha": [({"variant": "kk"}, ())],
}


def cases() -> list[Any]:
    found = []
    default: Variant = ({}, ())
    for name in available():
        for options, skip in (default, *VARIANTS.get(name, [])):
            criterion = get_criterion(name, **{**QUICK.get(name, {}), **options})
            title = ", ".join([name, *(f"{key}={value}" for key, value in options.items())])
            found += [
                pytest.param(check, id=f"{title}: {label}")
                for label, check in criterion_checks(criterion, skip)
            ]
    return found


@pytest.mark.parametrize("check", cases())
def test_conformance(check: Callable[[], None]) -> None:
    check()


def test_tables_name_real_criteria() -> None:
    assert set(QUICK) | set(VARIANTS) <= set(available())
