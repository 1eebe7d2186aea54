"""Local optima told apart on a function whose basins are known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from svmselect.search.trace import Record
from svmselect.selection.optima import distinct
from svmselect.types import Array, Evaluation


def two_wells(point: Array, gradient: bool = False, warm: Any = None) -> tuple[Evaluation, Any]:
    """Minima at x = -1 (0.1 higher) and x = 1, a ridge between; flat along y."""
    x, y = point
    value = (x * x - 1.0) ** 2 + 0.05 * (1.0 - x) + 0.0 * y
    return Evaluation(point, float(value), None, 0.0), warm


def end(x: float, y: float = 0.0) -> Record:
    return Record("start", 0, ("log C", "rbf.length_scale"), two_wells(np.array([x, y]))[0])


def test_ends_of_two_wells_are_two_optima_best_first() -> None:
    found = distinct([end(-1.0), end(1.0)], two_wells)
    assert [record.point[0] for record in found] == [1.0, -1.0]


@pytest.mark.parametrize("other", [end(1.001), end(0.9), end(1.0, 2.0)])
def test_ends_of_one_well_are_one(other: Record) -> None:
    # as near as makes no difference; not converged; along a valley that is flat
    found = distinct([end(1.0), other, end(-1.0)], two_wells)
    assert len(found) == 2
    assert found[0].loss == min(end(1.0).loss, other.loss)


def test_an_end_on_the_ridge_belongs_to_the_well_below() -> None:
    assert len(distinct([end(1.0), end(0.2)], two_wells)) == 1


def test_a_value_that_is_not_a_number_separates() -> None:
    def broken(point: Array, gradient: bool = False, warm: Any = None) -> tuple[Evaluation, Any]:
        answer, warm = two_wells(point, gradient, warm)
        inside = 0.1 < point[0] < 0.9
        return Evaluation(point, np.nan if inside else answer.value, None, 0.0), warm

    assert len(distinct([end(1.0), end(0.05)], broken)) == 2


def test_no_ends_no_optima() -> None:
    assert distinct([], two_wells) == ()
