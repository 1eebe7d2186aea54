"""Machines trained at once from several threads are those that are trained one after another."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from machine.problems import LOSSES, regimes
from svmselect.machine import Solution, solve

WORKERS = 4


def train(task: tuple[np.ndarray, np.ndarray, float, str]) -> Solution:
    K, y, C, loss = task
    return solve(K, y, C, loss)


@pytest.mark.parametrize("loss", LOSSES)
def test_threads_share_nothing(loss: str) -> None:
    tasks = [(K, y, C, loss) for K, y in regimes(40).values() for C in (0.1, 1e3)]
    alone = [train(task) for task in tasks]
    together = threading.Barrier(WORKERS)  # else the first thread may do it all

    def begin() -> None:
        together.wait(timeout=60)

    with ThreadPoolExecutor(WORKERS, initializer=begin) as pool:
        for _ in range(2):
            for one, other in zip(alone, pool.map(train, tasks), strict=True):
                np.testing.assert_array_equal(one.beta, other.beta)
                np.testing.assert_array_equal(one.decision, other.decision)
                assert (one.intercept, one.gap, one.status) == (
                    other.intercept,
                    other.gap,
                    other.status,
                )


def test_one_matrix_may_be_read_by_all() -> None:
    K, y = regimes(60)["gaussian"]
    K.setflags(write=False)
    with ThreadPoolExecutor(WORKERS) as pool:
        found = list(pool.map(lambda C: solve(K, y, C), [1.0, 10.0] * 8))
    for i, one in enumerate(found):
        np.testing.assert_array_equal(one.beta, found[i % 2].beta)
