"""Two fits at once, from threads: the results are those of one after another."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest

from svmselect import AutoKLR, AutoSVC
from svmselect.datasets.toys import half_relevant

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
