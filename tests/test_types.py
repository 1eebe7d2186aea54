"""The shared records."""

from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from svmselect.types import OK, Evaluation, Note, Score, Sensitivity, Status


def test_a_status_is_a_word_and_advice() -> None:
    assert OK.ok
    assert str(OK) == "ok"
    bad = Status("inexact", "lower C")
    assert not bad.ok
    assert str(bad) == "inexact: lower C"
    assert pickle.loads(pickle.dumps(bad)) == bad
    assert len({OK, Status("ok"), bad}) == 2


@pytest.mark.parametrize(
    "record",
    [
        OK,
        Sensitivity(np.zeros((2, 1)), np.zeros((2, 1)), 0.0),
        Score(1.0, ("log C",)),
        Evaluation(np.zeros(1), 2.0),
    ],
    ids=lambda r: type(r).__name__,
)
def test_records_are_frozen_and_picklable(record: object) -> None:
    for name in vars(record):
        with pytest.raises(FrozenInstanceError):
            setattr(record, name, None)
    copy = pickle.loads(pickle.dumps(record))
    for name, value in vars(record).items():
        np.testing.assert_array_equal(getattr(copy, name), value)


def random_sensitivity(seed: int, columns: int, dense: bool) -> Sensitivity:
    rng = np.random.default_rng(seed)
    left, right = rng.normal(size=(2, 5, columns))
    return Sensitivity(left, right, float(rng.normal()), rng.normal(size=(5, 5)) if dense else None)


@pytest.mark.parametrize("dense", [(False, False), (True, False), (False, True), (True, True)])
def test_sensitivities_add_as_what_they_stand_for(dense: tuple[bool, bool]) -> None:
    a, b = random_sensitivity(0, 1, dense[0]), random_sensitivity(1, 3, dense[1])
    before = a.gram.copy(), b.gram.copy()
    both = a + b
    np.testing.assert_allclose(both.gram, a.gram + b.gram, rtol=1e-13, atol=1e-13)
    assert both.log_C == a.log_C + b.log_C
    np.testing.assert_array_equal(a.gram, before[0])  # addition changes neither
    np.testing.assert_array_equal(b.gram, before[1])


@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize("factor", [0.0, -2.5, 3])
def test_sensitivities_scale(dense: bool, factor: float) -> None:
    a = random_sensitivity(2, 2, dense)
    for scaled in (a * factor, factor * a):
        np.testing.assert_allclose(scaled.gram, factor * a.gram, rtol=1e-13, atol=1e-13)
        assert scaled.log_C == factor * a.log_C


def test_the_cotangent_is_left_right_and_dense() -> None:
    a = random_sensitivity(3, 2, True)
    expected = np.einsum("ik,jk->ij", a.left, a.right) + a.dense
    np.testing.assert_allclose(a.gram, expected, rtol=1e-14)


@pytest.mark.parametrize("dense", [False, True])
def test_a_tile_is_a_part_of_the_cotangent(dense: bool) -> None:
    a = random_sensitivity(4, 2, dense)
    rows, columns = slice(1, 4), slice(0, 5)
    np.testing.assert_allclose(a.tile(rows, columns), a.gram[rows, columns], rtol=1e-13)


def test_remarks_of_what_was_done_warn_of_nothing() -> None:
    assert not any(Note(kind, "so").warns for kind in ("choice", "course", "training"))
    assert all(Note(kind, "so").warns for kind in ("edge", "data", "status", "early", "time"))
