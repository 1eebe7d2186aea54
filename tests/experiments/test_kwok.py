"""Kwok: a smoke run, and what its numbers mean."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.svm import SVC

from svmselect.experiments import reproduce
from svmselect.experiments.kwok import PAPER, TrainTest, make
from svmselect.kernels import RBF


def test_smoke(tmp_path: Path) -> None:
    result = reproduce("kwok", table=5, output=tmp_path)
    assert not result.failures
    rows = {(row.row, row.column): row for row in result.rows["table 5"]}
    assert rows["toy", "accuracy there"].verdict == "within 2"
    assert {name for name, _ in rows} == {"toy"}
    assert len(rows) == 6
    assert (tmp_path / "kwok.csv").exists()


@pytest.mark.parametrize(("kernel", "parameter"), [("polynomial", 3), ("gaussian", 0.7)])
def test_accuracies_are_those_of_scikit_learn(kernel: str, parameter: float) -> None:
    data = TrainTest("toy", 1, "raw", None)
    form = make(kernel, parameter)
    theirs = SVC(C=0.5, kernel="precomputed", tol=1e-8).fit(form(data.X), data.y)
    labels = theirs.predict(form(data.test_X, data.X))
    expected = 100 * np.mean(labels == data.test_y)
    assert data.accuracy(form, 0.5) == pytest.approx(expected, abs=0.02)


def test_level_2_is_a_fixed_point() -> None:
    from svmselect import score

    data = TrainTest("toy", 0, "raw", None)
    C, iterations, evidence = data.level_2(RBF(0.5), "clipped", 1e-3)
    there = score(data.X, data.y, "kwok", C, RBF(0.5))
    # gamma jumps as points come near the margin, and C may alternate between two values
    assert there.details["next_C"] == pytest.approx(C, rel=0.03)
    gamma = there.details["effective_parameters"]
    assert evidence == pytest.approx(there.value - 0.5 * np.log(gamma), rel=1e-6)
    assert iterations > 1


def test_sizes_are_the_papers() -> None:
    data = TrainTest("toy", 0, "raw", None)
    assert (len(data.y), len(data.test_y)) == (500, 10_000)
    other = TrainTest("toy", 1, "raw", None)
    assert not np.array_equal(data.X, other.X)
    assert [e.name for e in PAPER.exhibits] == [
        "table 1", "table 2", "table 3", "table 4", "table 5",
        "figure 4", "figure 5", "figure 6", "figure 7",
    ]  # fmt: skip
