"""The recipe for AutoGluon, by AutoGluon's own base class where it is installed.

Elsewhere by what its documentation says of that class ("Adding a custom model"): ``fit`` calls
``_fit`` with a frame, coded labels and limits, ``predict_proba`` preprocesses and gives one column
for two classes.
"""

import importlib.util
import pickle
import sys
import types
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

RECIPE = Path(__file__).parents[2] / "docs" / "recipes" / "autogluon_model.py"
THERE = importlib.util.find_spec("autogluon") is not None


class AbstractModel:
    """As documented, and no more."""

    def __init__(self, path=None, name=None, problem_type=None, hyperparameters=None):
        self.problem_type, self.params = problem_type, dict(hyperparameters or {})
        self.model = None

    def fit(self, **given):
        self._fit(**given)
        return self

    def preprocess(self, X, **kwargs):
        return self._preprocess(X, **kwargs)

    def _preprocess(self, X, **kwargs):
        return X

    def _get_model_params(self):
        return dict(self.params)

    def predict_proba(self, X):
        p = self.model.predict_proba(self.preprocess(X))
        return p[:, 1] if self.problem_type == "binary" else p


@pytest.fixture
def recipe(monkeypatch):
    if not THERE:
        for name in ("autogluon", "autogluon.core", "autogluon.core.models"):
            monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
        sys.modules["autogluon.core.models"].AbstractModel = AbstractModel
    spec = importlib.util.spec_from_file_location("autogluon_model", RECIPE)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "autogluon_model", module)
    spec.loader.exec_module(module)
    return module


def table(k, n=120):
    """As AutoGluon gives it: numbers with gaps, categories of codes, labels from 0 on."""
    rng = np.random.default_rng(k)
    frame = pd.DataFrame(
        {
            "a": rng.normal(size=n),
            "b": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)),
            "c": pd.Categorical.from_codes(rng.integers(0, 3, n), categories=[0, 1, 2]),
        }
    )
    f = frame["a"] + (frame["c"].cat.codes == 1) + 0.2 * rng.normal(size=n)
    return frame, pd.Series(pd.qcut(f, k, labels=False), name="y")


@pytest.mark.parametrize(("kind", "k"), [("binary", 2), ("multiclass", 3)])
def test_autogluon_can_use_it(recipe, kind, k, tmp_path):
    X, y = table(k)
    options = {"averaging": False, "random_state": 0}
    model = recipe.SVMSelectModel(
        path=str(tmp_path), name="svm", problem_type=kind, hyperparameters=options
    )
    assert kind in recipe.SVMSelectModel.supported_problem_types()
    model.fit(X=X, y=y, time_limit=10.0, num_cpus=1, num_gpus=0)
    assert model.model.get_params()["max_time"] <= 8.0
    assert model.model.get_params()["n_jobs"] == 1
    assert not model.model.averaging
    p = model.predict_proba(X)
    wanted = model.model.predict_proba(X)
    np.testing.assert_allclose(p, wanted[:, 1] if k == 2 else wanted, atol=1e-6)
    told = (p > 0.5).astype(int) if k == 2 else p.argmax(axis=1)
    assert (told == y).mean() > 0.8
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict_proba(X), p)
    assert model._estimate_memory_usage(X) < 2**25
