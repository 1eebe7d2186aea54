"""Whatever small data come: one answer, finite numbers, the same machine in scikit-learn."""

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from svmselect import AutoKLR, AutoSVC

KINDS = ("normal", "rounded", "scales", "copies", "binary")


def inputs(kind: str, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
    X = rng.normal(size=(n, d))
    if kind == "rounded":
        return np.round(X)
    if kind == "scales":
        return X * 10.0 ** rng.integers(-12, 12, size=d)
    if kind == "copies":
        X[:, rng.integers(d)] = 1.0
        return np.repeat(X, 2, axis=0)[:n]
    return np.where(X > 0, 1.0, 0.0) if kind == "binary" else X


@settings(max_examples=12)
@given(
    kind=st.sampled_from(KINDS),
    n=st.integers(4, 30),
    d=st.integers(1, 5),
    k=st.integers(2, 4),
    sorted_labels=st.booleans(),
    weights=st.sampled_from([None, (0.0, 1.0, 2.0), (0.3, 1.0, 10.0)]),
    balanced=st.booleans(),
    cls=st.sampled_from([AutoSVC, AutoSVC, AutoSVC, AutoKLR]),
    seed=st.integers(0, 1000),
)
def test_one_answer(kind, n, d, k, sorted_labels, weights, balanced, cls, seed):
    rng = np.random.default_rng(seed)
    X = inputs(kind, n, d, rng)
    y = rng.integers(0, k, size=n)
    if sorted_labels:
        y = np.argsort(np.argsort(X[:, 0], kind="stable")) * k // n
    w = np.ones(n) if weights is None else rng.choice(weights, size=n)
    counts = np.bincount(y[w > 0])
    assume(np.count_nonzero(counts) > 1)
    assume(counts[counts > 0].min() > 1)
    model = cls(random_state=seed, class_weight="balanced" if balanced else None)
    model.fit(X, y, sample_weight=w)
    Z = np.vstack([X, 5.0 * rng.normal(size=(20, d))])
    f, p, label = model.decision_function(Z), model.predict_proba(Z), model.predict(Z)
    assert np.isfinite(f).all()
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_array_equal(model.classes_[p.argmax(axis=1)], label)
    sides = (f > 0).astype(int) if f.ndim == 1 else f.argmax(axis=1)
    np.testing.assert_array_equal(model.classes_[sides], label)
    assert np.isfinite(model.best_score_)
    np.testing.assert_allclose(model.feature_importances_.sum(), 1.0)
    model.set_params(decision_function_shape="ovo")
    size = 1e-7 * max(1.0, float(np.abs(model.dual_coef_).sum()))
    np.testing.assert_allclose(
        model.to_sklearn().decision_function(Z), model.decision_function(Z), rtol=1e-6, atol=size
    )
