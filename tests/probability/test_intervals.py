"""Intervals of rates against the textbook."""

import pytest

from svmselect.probability.intervals import wilson


def test_wilson_intervals_are_the_textbooks() -> None:
    low, high = wilson(0.1, 100)  # Agresti & Coull: (0.0552, 0.1744)
    assert (float(low), float(high)) == pytest.approx((0.05522914, 0.17436566), abs=1e-6)
    assert float(wilson(0.0, 10)[0]) == 0.0
    assert float(wilson(0.0, 10)[1]) == pytest.approx(0.2775, abs=1e-3)
