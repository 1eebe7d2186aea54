"""Two fits at once, from threads: the results are those of one after another."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from svmselect import AutoKLR, AutoSVC
from svmselect.datasets.toys import half_relevant
from svmselect.machine import batch

X, Y = half_relevant(70, 0)
SETTINGS = {
    "default": lambda: AutoSVC(random_state=0, ard="no"),
    "logistic": lambda: AutoKLR(random_state=0, ard="no"),
    "named": lambda: AutoSVC(criterion="smoothed-cv", search="irprop", random_state=0),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_two_fits_at_once(name: str) -> None:
    made = SETTINGS[name]
    tasks = [(X[:, :3], Y), (X[:, 3:6], Y), (X[:, :3], -Y)]
    alone = [made().fit(*task) for task in tasks]
    together = Barrier(len(tasks))

    def fit(task: tuple[np.ndarray, np.ndarray]) -> AutoSVC | AutoKLR:
        together.wait(timeout=60)
        return made().fit(*task)

    with ThreadPoolExecutor(len(tasks)) as pool:
        for one, other in zip(alone, pool.map(fit, tasks), strict=True):
            assert one.C_ == other.C_
            np.testing.assert_array_equal(one.dual_coef_, other.dual_coef_)
            np.testing.assert_array_equal(
                one.predict_proba(X[:, :3]), other.predict_proba(X[:, :3])
            )


@pytest.mark.parametrize("cls", [AutoSVC, AutoKLR])
@pytest.mark.parametrize("probability", ["sigmoid", "posterior"])
def test_machines_of_few_rows_get_one_thread_of_linear_algebra(
    cls: Any, probability: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More only wait for one another, and round otherwise; the folds' and the final machine's."""
    seen = []

    def threads() -> set[int]:
        return {one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"}

    def watched(*arguments: Any) -> Any:
        seen.append(threads())
        return train(*arguments)

    train = batch.train_compiled
    monkeypatch.setattr("svmselect.machine.train.train_compiled", watched)
    with threadpool_limits(2, "blas"):
        assert threads() == {2}
        y = np.where(Y > 0, 1, 0) + (X[:, 0] > 0.5)
        cls(random_state=0, ard="no", probability=probability).fit(X[:, :3], y)
        assert threads() == {2}
    assert len(seen) > 5
    assert all(one == {1} for one in seen)
