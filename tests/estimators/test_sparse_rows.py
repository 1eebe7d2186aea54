"""Rows that are mostly zeros: they are never written out, and stay as they are."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from svmselect import AutoClassifier, AutoKLR, AutoSVC, load, save
from svmselect.kernels import RBF, Linear
from svmselect.machine import solve
from svmselect.types import Array


def documents(n: int = 60, d: int = 200, k: int = 2) -> tuple[sparse.csr_matrix, Array]:
    """Counts of words, frequent ones and rare ones, that depend on the class a little."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % k
    tilt = np.where(rng.random((k, d)) < 0.2, 4.0, 1.0)
    p = tilt / np.arange(1, d + 1)
    counts = np.array([rng.multinomial(12, p[c] / p[c].sum()) for c in y], dtype=np.float64)
    return sparse.csr_matrix(counts / np.linalg.norm(counts, axis=1, keepdims=True)), y


WAYS: dict[str, tuple[Any, int]] = {
    "gauss": (AutoSVC(random_state=0), 2),
    "linear": (AutoSVC("linear", random_state=0), 2),
    "logistic": (AutoKLR("linear", random_state=0), 2),
    "classes": (AutoSVC("linear", random_state=0), 3),
    "pairs apart": (AutoSVC(multi_class="ovo-separate", random_state=0), 3),
    "criterion": (AutoSVC(RBF(1.0), criterion="kwok", random_state=0, max_time=2.0), 2),
    "averaged": (AutoClassifier(kernel=[Linear(), RBF()], random_state=0), 2),
}


@pytest.mark.parametrize("way", WAYS)
def test_sparse_vectors_and_decisions_of_the_kernel(way: str, monkeypatch: Any) -> None:
    model, k = WAYS[way]
    X, y = documents(k=k)
    model.fit(X, y)
    assert sparse.issparse(model.support_vectors_)
    np.testing.assert_array_equal(model.support_vectors_.toarray(), X[model.support_].toarray())
    np.testing.assert_array_equal([model.mean_.any(), (model.scale_ == 1.0).all()], [False, True])
    assert model.feature_importances_.shape == (X.shape[1],)
    assert model.score(X, y) > 1.5 / k
    dense = X.toarray()
    np.testing.assert_allclose(model.predict_proba(X), model.predict_proba(dense), atol=1e-12)
    assert "not standardised" in model.explain()
    if k == 2 and len(model.weights_) == 1:
        K = model.kernel_(dense, model.support_vectors_.toarray())
        f = K @ model.dual_coef_[0] + model.intercept_[0]
        np.testing.assert_allclose(model.decision_function(X), f, atol=1e-9)


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_the_machine_is_that_of_the_rows_themselves(kernel: str) -> None:
    X, y = documents()
    model = AutoSVC(kernel, random_state=0).fit(X, y)
    exact = solve(model.kernel_(X.toarray()), 2.0 * y - 1.0, model.C_)
    np.testing.assert_allclose(model.dual_coef_[0], exact.beta[model.support_], atol=1e-6)
    order = np.random.default_rng(0).permutation(len(y))
    again = AutoSVC(kernel, random_state=0).fit(X[order], y[order])
    assert pytest.approx(model.C_, rel=1e-6) == again.C_


def test_zeros_are_never_written_out(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = documents()
    monkeypatch.setattr("svmselect.estimators.base.dense", None)
    monkeypatch.setattr("svmselect.estimators.predictor.dense", None)
    assert AutoSVC(random_state=0).fit(X, y).score(X, y) > 0.7


@pytest.mark.parametrize(
    "model",
    [AutoSVC(ard="yes", max_time=0.2), AutoSVC(probability="posterior", max_time=2.0)],
    ids=["scales", "posterior"],
)
def test_what_needs_the_inputs_gets_them_unscaled(model: Any) -> None:
    X, y = documents(d=80)
    X.data[::7] = 0.0
    X.eliminate_zeros()
    X = sparse.csr_matrix(sparse.hstack([X, sparse.csr_matrix((60, 80))]))
    model.set_params(random_state=0).fit(X, y)
    assert not sparse.issparse(model.support_vectors_)
    assert not model.mean_.any()
    assert model.score(X, y) > 0.6


def test_full_rows_in_sparse_form_are_standardised_as_others() -> None:
    X = np.random.default_rng(0).normal(3.0, 2.0, size=(40, 60))
    y = (X[:, 0] > 3.0).astype(int)
    one = AutoSVC(random_state=0, ard="no").fit(sparse.csr_matrix(X), y)
    two = AutoSVC(random_state=0, ard="no").fit(X, y)
    np.testing.assert_allclose(one.decision_function(X), two.decision_function(X))
    assert one.mean_.all()


def test_saved_and_exported(tmp_path: Path) -> None:
    X, y = documents()
    model = AutoSVC(random_state=0).fit(X, y)
    save(model, tmp_path / "text.svm")
    for other in (load(tmp_path / "text.svm"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(other.decision_function(X), model.decision_function(X))
    plain = model.to_sklearn()
    np.testing.assert_allclose(
        plain.decision_function(X.toarray()), model.decision_function(X), atol=1e-9
    )
