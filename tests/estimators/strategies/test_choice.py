"""What is left to do when the time is over."""

from types import SimpleNamespace

import numpy as np
import pytest

from svmselect.criteria import get_criterion
from svmselect.data import Dataset
from svmselect.estimators.strategies.choice import _affordable
from svmselect.estimators.strategies.constants import CONSTANTS
from svmselect.kernels import RBF
from svmselect.selection.pairwise import Pairwise, Part
from svmselect.types import Evaluation


@pytest.mark.parametrize(("sample", "folds"), [(None, None), ((0, 1), 2)])
def test_judging_all_pairs_takes_longer_than_judging_the_sample(sample, folds):
    data = Dataset.of(np.eye(2), np.array([-1.0, 1.0]))
    part = Part(np.arange(2), data, get_criterion("likelihood"))
    objective = SimpleNamespace(criterion=Pairwise([part] * 10, 5, sample))
    steps = SimpleNamespace(
        session=SimpleNamespace(max_time=2.0),
        going=False,
        constants=CONSTANTS,
        task=SimpleNamespace(first_round=5, rounds=1, kernel=RBF(), objective=lambda _: objective),
    )
    # 0.25 seconds on all five folds for the pairs that were looked at
    seen = Evaluation(np.zeros(2), 1.0, seconds=0.1, details={"folds": 2})
    assert _affordable(steps, seen) == folds
