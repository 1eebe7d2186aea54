"""Who follows a fit: sees every evaluation, may stop it, and where it may begin or go on."""

from pathlib import Path

import numpy as np
import pytest

from svmselect import AutoSVC
from svmselect.estimators.callbacks import Watch
from svmselect.search.trace import Trace
from svmselect.types import Evaluation


@pytest.fixture(scope="module")
def data() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    return X, np.where(X[:, 0] + 0.3 * rng.normal(size=80) > 0, "yes", "no")


class Listener:
    def __init__(self, stop_at: int | None = None) -> None:
        self.seen: list[Evaluation] = []
        self.stop_at = stop_at

    def __call__(self, evaluation: Evaluation) -> bool:
        self.seen.append(evaluation)
        return len(self.seen) == self.stop_at


def test_a_listener_sees_every_evaluation_and_changes_nothing(data) -> None:
    listener = Listener()
    model = AutoSVC(random_state=0)._fit(*data, None, None, Watch(listener))
    plain = AutoSVC(random_state=0).fit(*data)
    assert vars(model).keys() == vars(plain).keys()
    assert len(listener.seen) == len(model.trace_)
    assert model.C_ == plain.C_
    np.testing.assert_array_equal(model.length_scale_, plain.length_scale_)


@pytest.mark.parametrize("options", [{}, {"criterion": "smoothed-cv"}])
def test_a_listener_stops_with_the_best_so_far(data, options) -> None:
    listener = Listener(stop_at=3)
    model = AutoSVC(random_state=0, **options)._fit(*data, None, None, Watch(listener))
    whole = AutoSVC(random_state=0, **options).fit(*data)
    assert len(listener.seen) < len(whole.trace_)
    assert model.score(*data) > 0.7


@pytest.mark.parametrize("criterion", ["auto", "gacv"])
def test_a_search_goes_on_from_its_file(data, tmp_path: Path, criterion: str) -> None:
    file = tmp_path / "trace.jsonl"
    options = {"criterion": criterion, "random_state": 0}
    AutoSVC(**options)._fit(*data, None, None, Watch(Listener(stop_at=20), file))
    kept = len(Trace.load(file))
    listener = Listener()
    model = AutoSVC(**options)._fit(*data, None, None, Watch(listener, file))
    whole = AutoSVC(**options).fit(*data)
    assert kept >= 20
    assert len(listener.seen) == len(whole.trace_) - kept
    assert model.best_params_ == whole.best_params_
    np.testing.assert_array_equal(model.dual_coef_, whole.dual_coef_)
