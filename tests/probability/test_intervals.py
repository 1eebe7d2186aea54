"""Intervals of rates against the textbook."""

import pytest

from svmselect.probability.intervals import interval, wilson
from svmselect.types import ErrorEstimate


def test_wilson_intervals_are_the_textbooks() -> None:
    low, high = wilson(0.1, 100)  # Agresti & Coull: (0.0552, 0.1744)
    assert (float(low), float(high)) == pytest.approx((0.05522914, 0.17436566), abs=1e-6)
    assert float(wilson(0.0, 10)[0]) == 0.0
    assert float(wilson(0.0, 10)[1]) == pytest.approx(0.2775, abs=1e-3)


def test_an_estimate_without_spread_has_wilsons_interval() -> None:
    estimate = ErrorEstimate(0.1, 100.0)
    assert interval(estimate) == pytest.approx([float(end) for end in wilson(0.1, 100)], rel=1e-12)


def test_what_choosing_adds_widens_the_interval() -> None:
    low, high = interval(ErrorEstimate(0.1, 100.0))
    wide = interval(ErrorEstimate(0.1, 100.0, spread=0.03))
    assert wide[0] < low
    assert wide[1] > high
    # variances add: n rows of spread s are worth as many as have both variances together
    rate = 11.0 / 102.0
    worth = 1.0 / (1.0 / 100 + 0.03**2 / (rate * (1 - rate)))
    assert wide == pytest.approx([float(end) for end in wilson(0.1, worth)], rel=1e-12)


def test_no_error_at_all_is_not_certain_either() -> None:
    low, high = interval(ErrorEstimate(0.0, 50.0, spread=0.02))
    assert low == 0.0
    assert high > float(wilson(0.0, 50)[1])
