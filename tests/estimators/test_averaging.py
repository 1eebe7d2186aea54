"""Probabilities that average over the posterior, beside those of the sigmoid."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit
from sklearn.datasets import make_classification, make_moons
from sklearn.model_selection import StratifiedKFold

from svmselect import AutoKLR, AutoSVC, load, report, save
from svmselect.estimators import averaging
from svmselect.kernels import Constant
from svmselect.plots.data.refit import Refit
from svmselect.posterior import expectation_propagation
from svmselect.posterior.predictive import predict_probability

X2, y2 = make_moons(60, noise=0.3, random_state=0)
X3, y3 = make_classification(
    75, 4, n_informative=3, n_redundant=0, n_classes=3, class_sep=0.7, random_state=1
)
LABELS = np.array(["ant", "bee", "cat"])
FOLDS = list(StratifiedKFold(3, shuffle=True, random_state=0).split(X2, y2))

# of so few rows the evidence wants a larger amplitude than it may have, which is beside the point
EDGE = pytest.mark.filterwarnings("ignore:the result lies on")


def points(X):
    rng = np.random.default_rng(0)
    low, high = X.min(axis=0), X.max(axis=0)
    return rng.uniform(low - (high - low), high + (high - low), size=(300, X.shape[1]))


def averaged(cls=AutoSVC, X=X2, y=y2, weight=None, **options):
    options = {"cv": 3, "ard": "no", "random_state": 0, "probability": "posterior"} | options
    return cls(**options).fit(X, y, weight)


def widened(model, Z):
    """The kernel of the posterior: the model's, and a constant for the intercept."""
    return model.kernel_ + Constant(averaging.WIDE * float(model.kernel_.diag(Z).mean()))


@pytest.mark.parametrize("cls", [AutoSVC, AutoKLR])
def test_it_is_the_predictive_distribution_of_the_evidence_model(cls):
    model = averaged(cls)
    Z = (X2 - X2.mean(axis=0)) / X2.std(axis=0)
    new = points(X2)
    at = (new - X2.mean(axis=0)) / X2.std(axis=0)
    kernel, loss = widened(model, Z), "hinge" if cls is AutoSVC else "logistic"
    ep = expectation_propagation(
        kernel(Z), np.where(y2, 1.0, -1.0), model.C_, loss, normalised=True
    )
    expected = predict_probability(ep, kernel(at, Z), kernel.diag(at))
    assert_allclose(model.predict_proba(new)[:, 1], expected, atol=1e-7)


@EDGE
def test_an_evidence_criterion_lends_its_own_model():
    model = averaged(criterion="evidence-ep", search="irprop", kernel="rbf")
    assert model.selection_.normalised is False
    assert model._posterior["offset"] == [0.0]  # the kernel has a constant of its own
    assert averaged().selection_.normalised is True


@pytest.mark.parametrize(("X", "y"), [(X2, y2), (X3, y3)])
@pytest.mark.parametrize("cls", [AutoSVC, AutoKLR])
def test_all_answers_are_one(cls, X, y):
    model = averaged(cls, X, LABELS[y])
    new = points(X)
    p, f, said = model.predict_proba(new), model.decision_function(new), model.predict(new)
    assert_allclose(p.sum(axis=1), 1.0, atol=1e-12)
    assert (said == model.classes_[p.argmax(axis=1)]).all()
    assert_allclose(model.predict_log_proba(new), np.log(p), atol=1e-9)
    if f.ndim == 1:
        assert_allclose(expit(f), p[:, 1], atol=1e-12)
        assert ((f > 0) == (said == model.classes_[1])).all()
    else:
        assert (f.argmax(axis=1) == p.argmax(axis=1)).all()


def test_far_away_it_knows_nothing():
    far = np.array([[1e3, 1e3], [-1e3, 1e3]])
    p = averaged().predict_proba(far)
    sure = AutoSVC(random_state=0).fit(X2, y2).predict_proba(X2[:5])
    assert np.abs(p - 0.5).max() < np.abs(sure - 0.5).max()
    assert np.abs(p - 0.5).max() < 0.2


@EDGE
def test_what_serves_held_out_rows_better_is_taken():
    likelihoods = {}
    for probability in ("posterior", "auto"):
        model = averaged(probability=probability)
        (note,) = [m for m in model.selection_.notes if "log-likelihood of held-out" in m]
        likelihoods[probability] = [float(word) for word in note.split() if word[:2] == "-0"]
    assert likelihoods["posterior"] == likelihoods["auto"]
    by_posterior, by_sigmoid = likelihoods["auto"]
    assert (model.selection_.normalised is None) == (by_sigmoid >= by_posterior)
    # the evidence chooses for its own model, and there the posterior serves better
    chosen = averaged(criterion="evidence-ep", search="irprop", kernel="rbf", probability="auto")
    assert chosen.selection_.normalised is not None


def test_the_held_out_error_is_that_of_refitted_posteriors():
    model = averaged(cv=FOLDS, standardize=True)
    mean, scale = X2.mean(axis=0), X2.std(axis=0)
    Z, y = (X2 - mean) / scale, np.where(y2, 1.0, -1.0)
    kernel = widened(model, Z)
    wrong, value = 0, 0.0
    for train, test in FOLDS:
        ep = expectation_propagation(kernel(Z[train]), y[train], model.C_, "hinge", normalised=True)
        p = predict_probability(ep, kernel(Z[test], Z[train]), kernel.diag(Z[test]))
        wrong += int(((p > 0.5) != (y[test] > 0)).sum())
        value += float(np.log(np.where(y[test] > 0, p, 1.0 - p)).sum())
    assert model.selection_.error.error == pytest.approx(wrong / len(y))
    assert any(f"{value / len(y):.4f} by the posterior" in m for m in model.selection_.notes)


def test_weights_are_copies():
    copies = np.random.default_rng(0).integers(0, 3, len(y2))
    test = np.arange(len(y2)) % 3
    splits = [(np.flatnonzero(test != k), np.flatnonzero(test == k)) for k in range(3)]
    rows = np.repeat(np.arange(len(y2)), copies)
    written = [(np.flatnonzero(test[rows] != k), np.flatnonzero(test[rows] == k)) for k in range(3)]
    weighted = averaged(cv=splits, weight=copies)
    repeated = averaged(X=X2[rows], y=y2[rows], cv=written)
    new = points(X2)
    assert_allclose(weighted.predict_proba(new), repeated.predict_proba(new), atol=1e-6)


def test_it_is_saved_reported_and_explained(tmp_path):
    model = averaged()
    save(model, tmp_path / "model.skops")
    again = load(tmp_path / "model.skops")
    assert (again.predict_proba(X2) == model.predict_proba(X2)).all()
    assert "averages over the posterior" in model.explain()
    assert "log-likelihood of held-out rows" in model.explain()
    record = report.of_fit(model, X2, y2)
    assert not any("log-likelihood of held-out" in warning for warning in record.warnings)
    assert "</html>" in report.render(record)


def test_the_calibration_curve_is_of_held_out_posteriors():
    model = averaged()
    data = Refit.of(model, X2, y2).calibration()
    assert data.error == pytest.approx(model.selection_.error.error)


def test_a_plain_svc_cannot_average():
    with pytest.raises(ValueError, match="averages over a posterior; fit with probability='sigm"):
        averaged().to_sklearn()


def test_many_rows_are_refused_or_left_to_the_sigmoid(monkeypatch):
    monkeypatch.setattr(averaging, "MOST", 50)
    with pytest.raises(ValueError, match=r"at most 50 rows, and there are 60; use probability="):
        averaged()
    model = averaged(probability="auto")
    assert model.selection_.normalised is None
    assert "the sigmoid serves" in model.explain()


@pytest.mark.parametrize("wrong", [True, "platt", None])
def test_other_words_are_refused(wrong):
    with pytest.raises(ValueError, match=r"probability=.* is not one of 'sigmoid', 'posterior'"):
        averaged(probability=wrong)


def test_a_posterior_is_compared_with_what_the_machines_would_say() -> None:
    fitted = {
        p: AutoSVC(probability=p, ard="no", random_state=0).fit(X3, y3)
        for p in ("auto", "posterior", "sigmoid")
    }
    said = next(n for n in fitted["auto"].selection_.notes if "by the posterior" in n)
    held = fitted["sigmoid"].held_out_proba_
    own = np.log(held[np.arange(len(y3)), np.searchsorted(np.unique(y3), y3)]).mean()
    assert f"{own:.4f} by the sigmoids" in said
    assert fitted["posterior"].recalibration_ is None
    assert fitted["sigmoid"].recalibration_.shape == (3, 4)
