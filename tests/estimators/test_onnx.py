"""ONNX graphs: what ONNX Runtime says of them is what the model says."""

import builtins
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError

from svmselect import AutoClassifier, AutoKLR, AutoSVC
from svmselect.estimators.machines import Machines
from svmselect.estimators.onnx.graph import Graph
from svmselect.estimators.onnx.judges import decisions
from svmselect.estimators.onnx.kernels import _MAKERS
from svmselect.estimators.rest import Rest
from svmselect.kernels import (
    RBF,
    Constant,
    GeneralGaussian,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    Product,
    Sum,
    available,
)

TOLERANCE = 1e-10  # asked for are 1e-6


def drawn(k, n=120, d=4):
    X, y = make_classification(
        n, d, n_informative=d - 1, n_redundant=0, n_classes=k, n_clusters_per_class=1,
        flip_y=0.1, random_state=k,
    )  # fmt: skip
    return X * np.geomspace(1.0, 100.0, d) + 10.0, y


def fitted(k=2, labels=None, cls=AutoSVC, **options):
    X, y = drawn(k)
    chosen = {"max_time": 0.05, "random_state": 0} | options
    return cls(**chosen).fit(X, y if labels is None else np.array(labels)[y])


def answers(model, X, folder):
    """What ONNX Runtime answers."""
    runtime = pytest.importorskip("onnxruntime")
    model.to_onnx(folder / "model.onnx")
    session = runtime.InferenceSession(
        str(folder / "model.onnx"), providers=["CPUExecutionProvider"]
    )
    assert [one.name for one in session.get_inputs()] == ["X"]
    assert [one.type for one in session.get_inputs()] == ["tensor(double)"]
    assert [one.name for one in session.get_outputs()] == ["label", "probabilities"]
    assert session.get_outputs()[1].type == "tensor(double)"
    return session.run(None, {"X": X})


def check(model, folder, k=2, X=None):
    """Labels and probabilities of the rows of the fit and of others, near and far."""
    X = drawn(k)[0] if X is None else X
    rng = np.random.default_rng(0)
    rows = np.vstack([X, X + rng.normal(size=X.shape) * X.std(axis=0), 1e6 * X[:5]])
    label, p = answers(model, rows, folder)
    np.testing.assert_allclose(p, model.predict_proba(rows), rtol=0, atol=TOLERANCE)
    np.testing.assert_array_equal(label, model.predict(rows))
    assert p.shape == (len(rows), len(model.classes_))
    return label


KERNELS = [
    "auto",
    RBF([1.0, 2.0, 3.0, 4.0]),
    Matern(1.0, 0.5),
    Matern(1.0, 1.5),
    Matern([1.0, 2.0, 3.0, 4.0], 2.5),
    Matern([1.0, 2.0, 3.0, 4.0], 0.5),
    Laplacian(2.0),
    Laplacian([1.0, 2.0, 3.0, 4.0]),
    RBF([1.0, 2.0], variables=[0, 0, 1, 1]),
    Matern([1.0, 2.0], 0.5, variables=[0, 1, 1, 0]),
    GeneralGaussian(0.5),
    GeneralGaussian.of(np.diag([1.0, 0.5, 0.2, 0.1]) + 0.05),
    Linear(),
    Polynomial(3, 0.5),
    Constant(2.0) * RBF(1.5) + Linear() + 0.5,
    RBF(1.0) * Matern(2.0, 0.5) * Constant(3.0),
]


@pytest.mark.onnx
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_kernels(kernel, k, tmp_path):
    check(fitted(k, kernel=kernel), tmp_path, k)


@pytest.mark.onnx
def test_a_constant_alone():
    runtime = pytest.importorskip("onnxruntime")
    graph = Graph()
    ones = np.ones(1)
    judge = Machines((Constant(2.0),), np.zeros((3, 4)), np.ones((3, 1)), ones, -ones, 2)
    graph.extend("Identity", [decisions(graph, judge, "X")], ["f"])
    onnx = pytest.importorskip("onnx")
    inputs, outputs = (
        [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.DOUBLE, [None, d])]
        for name, d in (("X", 4), ("f", 1))
    )
    content = graph.model(inputs, outputs).SerializeToString()
    session = runtime.InferenceSession(content, providers=["CPUExecutionProvider"])
    (f,) = session.run(None, {"X": np.zeros((5, 4))})
    np.testing.assert_array_equal(f, np.full((5, 1), 7.0))


def test_every_kernel_has_a_row():
    assert set(_MAKERS) == set(available().values())
    tried = {type(leaf) for kernel in KERNELS[1:] for leaf in kernel.leaves()}
    assert set(_MAKERS) == tried
    assert {Sum, Product} <= {type(kernel) for kernel in KERNELS[1:]}


@pytest.mark.onnx
@pytest.mark.parametrize(
    "options",
    [
        {"cls": AutoKLR},
        {"loss": "squared_hinge"},
        {"standardize": False, "kernel": RBF(30.0)},
        {"multi_class": "ovo-separate"},
        {"criterion": "evidence-ep"},
        {"class_weight": "balanced"},
        {"ard": "yes", "max_time": None},
    ],
    ids=lambda options: next(iter(options)),
)
def test_ways_to_fit(options, tmp_path):
    k = 3 if "multi_class" in options else 2
    check(fitted(k, **options), tmp_path, k)


@pytest.mark.onnx
@pytest.mark.parametrize("k", [5, 12])
def test_many_classes_are_coupled(k, tmp_path):
    X = np.random.default_rng(k).normal(size=(20 * k, 4))
    y = (np.arange(20 * k) + (X[:, 0] > 0)) % k
    X[:, 1] += y
    X[:, 2] -= y % 3
    model = AutoSVC(ard="no", max_time=0.1, random_state=0).fit(X, y)
    check(model, tmp_path, X=X)


@pytest.mark.onnx
@pytest.mark.parametrize(
    "labels",
    [["no", "yes"], [3, 7], [-1.0, 1.0], [False, True], np.array(["a", "b"], dtype=object)],
    ids=["texts", "numbers", "floats", "booleans", "objects"],
)
def test_labels_are_what_they_were(labels, tmp_path):
    found = check(fitted(labels=labels), tmp_path)
    assert set(found.tolist()) == set(np.asarray(labels).tolist())


@pytest.mark.onnx
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("threshold", ["balanced_accuracy", "costs"])
def test_thresholds_are_in_the_graph(threshold, k, tmp_path):
    costs = np.where(np.eye(k, dtype=bool), 0.0, 1.0) * np.geomspace(1.0, 9.0, k)[:, None]
    model = fitted(k, threshold=costs if threshold == "costs" else threshold)
    found = check(model, tmp_path, k)
    rows = drawn(k)[0]
    assert (found[: len(rows)] != model.predict_proba(rows).argmax(axis=1)).any()


@pytest.mark.onnx
def test_logits_of_one_class_against_the_rest(tmp_path):
    model = fitted(3)
    rng = np.random.default_rng(0)
    model.support_vectors_ = drawn(3)[0][:20]
    model.dual_coef_, model.intercept_ = rng.normal(size=(3, 20)), rng.normal(size=3)
    model._judge = model._unpacked()
    assert isinstance(model._judge, Rest)
    check(model, tmp_path, 3)


# frames and gaps


def table(n=160, seed=0):
    rng = np.random.default_rng(seed)
    chances = [0.4, 0.4, 0.1, *(5 * [0.02])]
    frame = pd.DataFrame(
        {
            "number": rng.normal(size=n),
            "with gaps": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)),
            "colour": rng.choice(["red", "Green", "blue"], n),
            "two": rng.choice(["yes", "no"], n),
            "many": rng.choice(list("abcdefgh"), n, p=chances),
            "words with gaps": pd.Series(rng.choice(["u", "v", "w"], n)).where(rng.random(n) < 0.8),
            "truth": rng.random(n) < 0.5,
            "order": pd.Categorical(
                rng.choice(["low", "mid", "high"], n), ["low", "mid", "high"], ordered=True
            ),
            "when": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 20000, n), "h"),
            "code": pd.Categorical(rng.integers(1, 4, n)),
            "always": ["same"] * n,
        }
    )
    y = frame["number"] + 1.5 * (frame["colour"] == "red") + (frame["order"] == "high")
    y += frame["with gaps"].isna() + 0.3 * rng.normal(size=n)
    return frame, np.where(y > 1.0, "high", "low")


def by_column(session, frame):
    """What the guide says that a column becomes."""
    fed = {}
    for one in session.get_inputs():
        column = frame[one.name]
        if one.type == "tensor(string)":
            values = column.astype(object).map(str).to_numpy(object)
        elif column.dtype.kind == "M":
            values = (column - pd.Timestamp(0)).dt.total_seconds().to_numpy()
        else:
            values = column.to_numpy(np.float64)
        fed[one.name] = values.reshape(-1, 1)
    return fed


@pytest.mark.onnx
@pytest.mark.parametrize("missing", ["auto", "impute"])
def test_frames_have_an_input_a_column(missing, tmp_path):
    runtime = pytest.importorskip("onnxruntime")
    frame, y = table()
    model = AutoSVC(random_state=0, max_time=0.5, missing=missing).fit(frame, y)
    model.to_onnx(tmp_path / "model.onnx")
    session = runtime.InferenceSession(
        str(tmp_path / "model.onnx"), providers=["CPUExecutionProvider"]
    )
    assert [one.name for one in session.get_inputs()] == list(frame.columns)
    kinds = {one.name: one.type for one in session.get_inputs()}
    numbers = {name for name, kind in kinds.items() if kind == "tensor(double)"}
    assert numbers == {"number", "with gaps", "when"}
    changed = table(seed=1)[0].astype({"order": object, "code": float})
    changed.loc[:20, "colour"] = "violet"
    changed.loc[21:30, "colour"] = "GREEN"
    changed.loc[10:30, "two"] = None
    changed.loc[5:25, "number"] = np.nan
    changed.loc[15:40, "when"] = pd.NaT
    changed.loc[3:9, "order"] = None
    changed.loc[9:12, "many"] = "z"
    changed["truth"] = changed["truth"].astype(str).str.upper()
    for rows in (frame, changed, frame[:1]):
        label, p = session.run(None, by_column(session, rows))
        np.testing.assert_allclose(p, model.predict_proba(rows), rtol=0, atol=TOLERANCE)
        np.testing.assert_array_equal(label, model.predict(rows))
    plain, other = (model.predict_proba(rows) for rows in (table(seed=1)[0], changed))
    assert (np.abs(plain - other).max(axis=1)[:40] > 1e-6).all()


@pytest.mark.onnx
def test_columns_called_as_outputs_and_nodes_are(tmp_path):
    runtime = pytest.importorskip("onnxruntime")
    rng = np.random.default_rng(0)
    names = ["label", "label_", "probabilities", "X", "Sub_10", *(f"Add_{i}" for i in range(20))]
    frame = pd.DataFrame({name: rng.normal(size=60) for name in names})
    frame["label"] = rng.choice(["a", "b", "c"], 60)
    model = AutoSVC(random_state=0, ard="no", max_time=0.5)
    model.fit(frame, (frame["X"] + (frame["label"] == "a") > 0.4).astype(int))
    model.to_onnx(tmp_path / "model.onnx")
    session = runtime.InferenceSession(
        str(tmp_path / "model.onnx"), providers=["CPUExecutionProvider"]
    )
    told = [one.name for one in session.get_inputs()]
    assert told == ["label__", "label_", "probabilities_", *names[3:]]
    called = frame.rename(columns={"label": "label__", "probabilities": "probabilities_"})
    label, p = session.run(["label", "probabilities"], by_column(session, called))
    np.testing.assert_allclose(p, model.predict_proba(frame), rtol=0, atol=TOLERANCE)
    np.testing.assert_array_equal(label, model.predict(frame))


@pytest.mark.onnx
@pytest.mark.parametrize("missing", ["auto", "impute"])
@pytest.mark.parametrize("where", ["some", "none"])
def test_gaps_of_arrays(missing, where, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    if where == "some":
        X[rng.random((120, 3)) < [0.1, 0.0, 0.2]] = np.nan
    y = (np.nan_to_num(X[:, 0]) + np.isnan(X[:, 2]) > 0.3).astype(int)
    model = AutoSVC(random_state=0, max_time=0.1, missing=missing).fit(X, y)
    new = np.where(rng.random((60, 3)) < 0.3, np.nan, rng.normal(size=(60, 3)))
    label, p = answers(model, new, tmp_path)
    np.testing.assert_allclose(p, model.predict_proba(new), rtol=0, atol=TOLERANCE)
    np.testing.assert_array_equal(label, model.predict(new))


@pytest.mark.onnx
@pytest.mark.parametrize("rows", [0, 1, 1000])
def test_any_number_of_rows(rows, tmp_path):
    X = np.random.default_rng(0).normal(size=(rows, 4))
    label, p = answers(fitted(3), X, tmp_path)
    assert label.shape == (rows,)
    assert p.shape == (rows, 3)


@pytest.mark.onnx
def test_one_input_and_one_vector(tmp_path):
    """Where numbers beside products of matrices would lose half their digits in the runtime."""
    X = np.random.default_rng(0).normal(size=(60, 1))
    model = AutoSVC(kernel=RBF(0.7) * Constant(3.3), max_time=0.05, random_state=0)
    model.fit(X, (X[:, 0] ** 2 > 0.5).astype(int))
    check(model, tmp_path, X=X)
    model.support_vectors_, model.n_support_ = model.support_vectors_[:1], np.array([1, 0])
    model.dual_coef_ = model.dual_coef_[:, :1]
    model._judge = model._unpacked()
    check(model, tmp_path, X=X)


@pytest.mark.onnx
def test_the_file_says_what_it_is(tmp_path):
    onnx = pytest.importorskip("onnx")
    model = fitted(labels=["no", "yes"])
    model.to_onnx(tmp_path / "model.onnx")
    kept = onnx.load(tmp_path / "model.onnx")
    onnx.checker.check_model(kept, full_check=True)
    assert kept.producer_name == "svmselect"
    described = {one.key: one.value for one in kept.metadata_props}
    assert described == {"classes": "no, yes", "kernel": repr(model.kernel_)}
    assert {one.domain: one.version for one in kept.opset_import} == {"": 18, "ai.onnx.ml": 3}


class Other(RBF):
    """A kernel that nobody has written nodes for."""


@pytest.mark.onnx
def test_what_has_no_graph():
    averaged = fitted(probability="posterior", max_time=None)
    with pytest.raises(ValueError, match="averages over a posterior"):
        averaged.to_onnx("never.onnx")
    model = fitted()
    object.__setattr__(model._judge, "kernels", (Other(1.0),))
    with pytest.raises(ValueError, match="Other has no form as an ONNX graph"):
        model.to_onnx("never.onnx")
    with pytest.raises(NotFittedError):
        AutoSVC().to_onnx("never.onnx")


def test_the_package_is_asked_for(monkeypatch):
    model = fitted()
    importing = builtins.__import__

    def without(name, *arguments, **options):
        if name == "onnx":
            raise ImportError("No module named 'onnx'")
        return importing(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=re.escape("pip install 'svmselect[onnx]'")):
        model.to_onnx("never.onnx")


@pytest.mark.onnx
@pytest.mark.parametrize("k", [2, 3])
def test_averages_over_machines(k, tmp_path):
    model = fitted(k, cls=AutoClassifier, max_time=None)
    assert len(model.weights_) > 1
    check(model, tmp_path, k)


@pytest.mark.onnx
def test_inputs_that_are_bent(tmp_path):
    X, y = drawn(2)
    X = np.sign([1.0, -1.0, 1.0, 1.0]) * np.exp((X - X.mean(axis=0)) / X.std(axis=0))
    model = AutoSVC(max_time=0.05, random_state=0).fit(X, y)
    assert (model.bend_[2] != 1.0).sum() > 1
    assert (model.bend_[1] < 0.0).any()
    check(model, tmp_path, X=X)
