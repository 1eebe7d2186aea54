"""With the rest of the world: frames, sparse matrices, pipelines, routing, callbacks, files."""

import pickle
from importlib.metadata import version

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.feature_selection import RFE, SelectFromModel
from sklearn.gaussian_process import kernels as gp
from sklearn.model_selection import GroupKFold, cross_val_score, cross_validate
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils import get_tags

import svmselect
from svmselect import AutoClassifier, AutoKLR, AutoSVC
from svmselect.criteria import get_criterion
from svmselect.estimators import given
from svmselect.kernels import RBF, Constant, Linear, Matern, Polynomial

X, y = make_classification(60, 4, n_informative=2, n_redundant=0, shuffle=False, random_state=0)
x3, y3 = make_classification(75, 4, n_informative=3, n_redundant=0, n_classes=3, random_state=0)
NEWER = tuple(map(int, version("scikit-learn").split(".")[:2]))


@pytest.fixture(scope="module")
def model():
    return AutoSVC(random_state=0).fit(X, y)


@pytest.fixture(scope="module")
def three():
    return AutoSVC(random_state=0).fit(x3, np.array(["a", "b", "c"])[y3])


def same(a, b, rows):
    np.testing.assert_array_equal(a.predict_proba(rows), b.predict_proba(rows))
    np.testing.assert_array_equal(a.predict(rows), b.predict(rows))


# frames


def test_pandas_names_are_kept(model):
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    fitted = AutoSVC(random_state=0).fit(frame, pd.Series(y))
    np.testing.assert_array_equal(fitted.feature_names_in_, ["a", "b", "c", "d"])
    np.testing.assert_array_equal(fitted.predict_proba(frame), model.predict_proba(X))
    with pytest.raises(ValueError, match="Feature names must be in the same order"):
        fitted.predict(frame[["b", "a", "c", "d"]])
    with pytest.raises(ValueError, match="Feature names unseen at fit time"):
        fitted.predict(frame.rename(columns={"a": "z"}))
    np.testing.assert_array_equal(fitted.to_sklearn().feature_names_in_, ["a", "b", "c", "d"])


def test_polars_names_are_kept(model):
    if NEWER < (1, 9):
        pytest.skip("needs a newer scikit-learn (1.9) for the names of polars' frames")
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(dict(zip("abcd", X.T, strict=True)))
    fitted = AutoSVC(random_state=0).fit(frame, polars.Series(y))
    np.testing.assert_array_equal(fitted.feature_names_in_, ["a", "b", "c", "d"])
    np.testing.assert_array_equal(fitted.predict_proba(frame), model.predict_proba(X))
    with pytest.raises(ValueError, match="same order"):
        fitted.predict(frame.select("b", "a", "c", "d"))


def test_sparse_rows_are_made_dense(model):
    fitted = AutoSVC(random_state=0).fit(sparse.csr_array(X), y)
    same(fitted, model, X)
    np.testing.assert_array_equal(fitted.predict(sparse.csc_array(X)), model.predict(X))
    assert isinstance(fitted.support_vectors_, np.ndarray)
    assert get_tags(fitted).input_tags.sparse


def test_sparse_rows_too_large_to_be_dense_are_refused(monkeypatch):
    monkeypatch.setattr(given, "DENSE_LIMIT", 1000)
    with pytest.raises(ValueError, match=r"sparse X of shape \(60, 4\).*TruncatedSVD"):
        AutoSVC().fit(sparse.csr_array(X), y)


# scikit-learn's tools


def test_pipelines_clones_and_cross_validation(model):
    pipeline = make_pipeline(StandardScaler(), AutoSVC(random_state=0))
    scores = cross_val_score(pipeline, X, y, cv=3)
    assert scores.mean() > 0.7
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    same(copy.fit(X, y), model, X)
    same(pickle.loads(pickle.dumps(model)), model, X)


def test_parameters_that_are_objects_survive_clone():
    made = AutoSVC(kernel=Constant(2.0) * RBF([1.0, 2.0]), class_weight={0: 2.0})
    assert clone(made).kernel == made.kernel
    assert "RBF" in repr(clone(made))


def test_inputs_can_be_selected(model):
    np.testing.assert_allclose(model.feature_importances_.sum(), 1.0)
    rows = np.random.default_rng(0).normal(size=(80, 4))
    ring = np.hypot(rows[:, 1], rows[:, 2]) > 1.2
    ard = AutoSVC(ard="yes", random_state=0)
    kept = SelectFromModel(ard).fit(rows, ring).get_support()
    np.testing.assert_array_equal(kept, [False, True, True, False])
    kept = RFE(ard, n_features_to_select=2).fit(rows, ring).get_support()
    np.testing.assert_array_equal(kept, [False, True, True, False])


def test_importances_of_inputs():
    even = AutoSVC(ard="no", random_state=0).fit(X, y)
    np.testing.assert_allclose(even.feature_importances_, 0.25)
    assert isinstance(even.length_scale_, float)
    apart = AutoSVC(ard="yes", random_state=0).fit(X, y)
    wanted = apart.length_scale_**-2.0
    np.testing.assert_allclose(apart.feature_importances_, wanted / wanted.sum())
    constant = np.column_stack([X, np.full(60, 3.0)])
    flat = AutoSVC(ard="no", random_state=0).fit(constant, y)
    np.testing.assert_allclose(flat.feature_importances_, [0.25, 0.25, 0.25, 0.25, 0.0])


def test_html_shows_the_estimator(model):
    assert "AutoSVC" in model._repr_html_()
    assert "AutoSVC" in make_pipeline(StandardScaler(), AutoSVC())._repr_html_()


def test_weights_and_groups_are_routed():
    groups = np.arange(60) // 4
    weights = np.arange(60) % 3 + 1.0
    with sklearn.config_context(enable_metadata_routing=True):
        asking = AutoSVC(random_state=0).set_fit_request(sample_weight=True, groups=True)
        asking.set_score_request(sample_weight=True)
        found = cross_validate(
            asking,
            X,
            y,
            cv=GroupKFold(3),
            params={"sample_weight": weights, "groups": groups},
            return_estimator=True,
        )
    folds = GroupKFold(3).split(X, y, groups)
    for fitted, (train, _) in zip(found["estimator"], folds, strict=True):
        alone = AutoSVC(random_state=0)
        alone.fit(X[train], y[train], sample_weight=weights[train], groups=groups[train])
        same(fitted, alone, X)


# callbacks


def test_progress_bar_and_stopping(capsys):
    if NEWER < (1, 9):
        pytest.skip("needs a newer scikit-learn (1.9) for callbacks")
    from sklearn.callback import ProgressBar

    fitted = AutoSVC(random_state=0).set_callbacks(ProgressBar()).fit(X, y)
    assert "AutoSVC - fit" in capsys.readouterr().out
    heard = Listener(after=5)
    stopped = AutoSVC(random_state=0).set_callbacks(heard).fit(X, y)
    assert 5 <= heard.tasks.count("evaluation") == len(stopped.trace_) < 10
    assert heard.tasks[-1] == "fit"
    assert heard.fitted is not None
    np.testing.assert_array_equal(heard.fitted.predict(X), stopped.predict(X))
    assert "stopped early" in stopped.explain()
    assert len(fitted.trace_) > len(stopped.trace_)
    heard = Listener(after=7)
    AutoSVC(criterion="likelihood", random_state=0).set_callbacks(heard).fit(X, y)
    assert heard.tasks.count("evaluation") == 7


class Listener:
    """A callback that stops after some evaluations."""

    def __init__(self, after):
        self.after, self.tasks, self.fitted = after, [], None

    def setup(self, estimator, context):
        """Nothing to prepare."""

    def teardown(self, estimator, context):
        """Nothing to clear."""

    def on_fit_task_begin(self, estimator, context):
        """Nothing to note."""

    def on_fit_task_end(self, estimator, context, *, fitted_estimator):
        self.tasks.append(context.task_name)
        self.fitted = fitted_estimator
        return self.tasks.count("evaluation") >= self.after


# plain scikit-learn


def votes(pairs):
    """How many pairs each of three classes wins."""
    a, b, c = (pairs > 0).astype(int).T
    return np.column_stack([a + b, 1 - a + c, 2 - b - c])


@pytest.mark.parametrize(
    "kernel",
    [
        "auto",
        "linear",
        Polynomial(2, 0.5),
        Constant(2.0) * RBF([1.0, 2.0, 3.0, 4.0]) + Constant(0.5),
        gp.RBF(1.0),
    ],
)
@pytest.mark.parametrize("rows", [(X, y), (x3, y3)], ids=["two", "three"])
def test_export_has_the_same_decision_values(kernel, rows):
    Z = np.random.default_rng(0).normal(size=(40, 4)) * 2
    data, target = rows
    fitted = AutoSVC(
        kernel, search="auto", decision_function_shape="ovo", random_state=0, max_time=0.2
    ).fit(data, target)
    plain = fitted.to_sklearn()
    assert type(plain) is Pipeline
    assert [type(step) for _, step in plain.steps] == [StandardScaler, SVC]
    found = plain.decision_function(Z)
    np.testing.assert_allclose(found, fitted.decision_function(Z), rtol=1e-9, atol=1e-9)
    # with three classes by vote; where one of them wins both its pairs, that is it
    winner = found > 0 if found.ndim == 1 else votes(found).argmax(axis=1)
    clear = np.ones(40, dtype=bool) if found.ndim == 1 else votes(found).max(axis=1) == 2
    np.testing.assert_array_equal(plain.predict(Z)[clear], winner[clear])
    if found.ndim == 1:
        np.testing.assert_array_equal(plain.predict(Z), fitted.predict(Z))
    np.testing.assert_allclose(clone(plain[-1]).get_params()["C"], plain[-1].C)


@pytest.mark.parametrize("classes", [2, 3])
def test_export_of_columns_that_are_bent(classes):
    """Leaning to the right, to the left, not at all, to neither side in a unit of its own."""
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(160, 4))
    skewed = np.column_stack(
        [np.exp(1.5 * Z[:, 0]), 7.0 - np.exp(1.5 * Z[:, 1]), 1e-9 * Z[:, 2], 1e9 + Z[:, 3]]
    )
    target = np.digitize(Z[:, 0] - Z[:, 1] + Z[:, 2], [0.0] if classes == 2 else [-0.7, 0.7])
    fitted = AutoSVC(random_state=0, decision_function_shape="ovo").fit(skewed[:100], target[:100])
    assert (fitted.bend_[2] != 1.0).tolist() == [True, True, False, False]
    assert fitted.bend_[1][1] < 0.0
    plain = fitted.to_sklearn()
    np.testing.assert_allclose(
        plain.decision_function(skewed), fitted.decision_function(skewed), rtol=1e-7, atol=1e-7
    )
    names = pd.DataFrame(skewed, columns=list("abcd"))
    fitted = AutoSVC(random_state=0, decision_function_shape="ovo").fit(names[:100], target[:100])
    plain = fitted.to_sklearn()
    np.testing.assert_array_equal(plain.feature_names_in_, list("abcd"))
    np.testing.assert_allclose(
        plain.decision_function(names), fitted.decision_function(names), rtol=1e-7, atol=1e-7
    )


def test_export_of_kernel_logistic_regression():
    fitted = AutoKLR(random_state=0).fit(X, y)
    np.testing.assert_allclose(
        fitted.to_sklearn().decision_function(X), fitted.decision_function(X), atol=1e-10
    )


def test_what_cannot_be_exported():
    fitted = AutoSVC(kernel=Matern(1.0, 1.5), max_time=0.1, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="no kernel like Matern"):
        fitted.to_sklearn()
    fitted = AutoSVC(multi_class="ovo-separate", random_state=0).fit(x3, y3)
    with pytest.raises(ValueError, match="ovo-separate"):
        fitted.to_sklearn()
    fitted = AutoClassifier("rbf", random_state=0).fit(X, y)
    assert len(fitted.companions_) == 1
    with pytest.raises(ValueError, match=r"averages 2.*averaging=False"):
        fitted.to_sklearn()
    fitted.set_params(averaging=False).fit(X, y).to_sklearn()


@pytest.mark.parametrize("frame", [False, True])
@pytest.mark.parametrize("missing", ["auto", "impute"])
def test_export_fills_gaps_as_the_model_does(missing, frame):
    gaps = X.copy()
    gaps[::7, 1] = np.nan
    rows = pd.DataFrame(gaps, columns=list("abcd")) if frame else gaps
    fitted = AutoSVC(missing=missing, random_state=0).fit(rows, y)
    found = fitted.to_sklearn().decision_function(rows)
    np.testing.assert_allclose(found, fitted.decision_function(rows), rtol=1e-9, atol=1e-9)


# files


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"kernel": RBF([1.0, 1.0, 1.0, 1.0]) * Constant(2.0), "max_time": 0.1},
        {"kernel": Linear(), "criterion": get_criterion("likelihood", cv=3), "max_time": 0.1},
    ],
    ids=["default", "expression", "criterion"],
)
def test_models_are_saved_and_loaded(options, tmp_path):
    file = tmp_path / "model.skops"
    fitted = AutoSVC(random_state=0, **options).fit(X, y)
    svmselect.save(fitted, file)
    loaded = svmselect.load(str(file))
    same(loaded, fitted, X)
    assert type(loaded) is AutoSVC
    assert loaded.kernel_ == fitted.kernel_
    assert loaded.explain() == fitted.explain()
    assert [r.loss for r in loaded.trace_] == [r.loss for r in fitted.trace_]


def test_pipelines_are_saved_and_loaded(three, tmp_path):
    pipeline = make_pipeline(StandardScaler(), AutoKLR(random_state=0)).fit(x3, y3)
    svmselect.save(pipeline, tmp_path / "pipeline")
    same(svmselect.load(tmp_path / "pipeline"), pipeline, x3)
    svmselect.save(three, tmp_path / "three")
    same(svmselect.load(tmp_path / "three"), three, x3)
    assert (tmp_path / "three").stat().st_size < 50_000


class Foreign:
    """A type that nobody has vouched for."""


def test_strange_types_are_refused(tmp_path):
    from skops.io import dump

    fitted = AutoSVC(random_state=0).fit(X, y)
    fitted.extra = Foreign()
    with pytest.raises(ValueError, match=r"does not trust: .*Foreign"):
        svmselect.save(fitted, tmp_path / "model")
    assert not (tmp_path / "model").exists()
    dump(fitted, tmp_path / "model")
    with pytest.raises(ValueError, match=r"not trusted: .*Foreign"):
        svmselect.load(tmp_path / "model")
    (tmp_path / "pickle").write_bytes(pickle.dumps(fitted.C_))
    with pytest.raises(ValueError, match="no model file"):
        svmselect.load(tmp_path / "pickle")
