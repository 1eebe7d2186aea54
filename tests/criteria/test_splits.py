"""Ready splits: what is refused, and where a mask is as good as numbers."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from svmselect.criteria.splits import as_pairs, check_range, check_trained, row_numbers


@pytest.mark.parametrize("cv", ["five", b"five", 2.5, True, None, [1, 2]])
def test_what_holds_no_pairs_is_refused(cv: object) -> None:
    with pytest.raises(ValueError, match="cv must be a number of folds, a splitter"):
        as_pairs(cv)


@pytest.mark.parametrize("cv", [[], [([0],)], [([0], [1], [2])]])
def test_pairs_of_two_are_wanted(cv: object) -> None:
    with pytest.raises(ValueError, match="at least one pair"):
        as_pairs(cv)


def test_an_iterator_will_do() -> None:
    assert as_pairs(iter([([0], [1])])) == [([0], [1])]


def test_masks_are_numbers() -> None:
    assert_array_equal(row_numbers([True, False, True], 0), [0, 2])
    assert_array_equal(row_numbers([], 0), [])
    for wrong in ([0.5], [[1, 2]], ["a"]):
        with pytest.raises(ValueError, match="split 3 must list row numbers"):
            row_numbers(wrong, 3)


def test_rows_and_classes_must_be_there() -> None:
    check_range(np.array([0, 4]), 5, 0)
    for row in (-1, 5):
        with pytest.raises(ValueError, match=f"split 2 names row {row}; there are rows 0 to 4"):
            check_range(np.array([1, row]), 5, 2)
    check_trained(np.array([1.0, 0.5]), np.array(["no", "yes"]), 0)
    with pytest.raises(ValueError, match="split 1 leaves no row of class 'yes' to train on"):
        check_trained(np.array([1.0, 0.0]), np.array(["no", "yes"]), 1)
