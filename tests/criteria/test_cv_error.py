"""The cross-validation error: against scikit-learn's, and what it says besides."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.svm import SVC

from criteria.resampled_cases import KERNEL, MACHINES, brute, cloud, objective, splits
from svmselect import score
from svmselect.kernels import RBF


def test_scikit_learns_table_of_errors() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    X = ((X - X.mean(axis=0)) / X.std(axis=0))[:200]
    y = y[:200]
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    ours, theirs = {}, {}
    for C in (0.1, 1.0, 10.0):
        for width in (2.0, 5.0, 15.0):
            kernel = RBF(width)
            ours[C, width] = score(X, y, "cv-error", C=C, kernel=kernel, cv=folds).value
            svc = SVC(C=C, gamma=0.5 / width**2, tol=1e-8)
            theirs[C, width] = 1.0 - cross_val_score(svc, X, y, cv=folds).mean()
    assert len(set(ours.values())) > 3
    assert ours == pytest.approx(theirs, abs=1e-12)


@pytest.mark.parametrize(("loss", "intercept"), MACHINES)
def test_by_brute_force(loss: str, intercept: bool) -> None:
    X, y = cloud(shift=0.3)
    pairs = splits(len(y))
    r = score(X, y, "cv-error", C=2.0, kernel=KERNEL, loss=loss, fit_intercept=intercept, cv=pairs)
    rows, decision = brute(X, y, KERNEL, 2.0, loss, intercept, pairs)
    missed = y[rows] * decision < 0
    assert 0 < r.value == pytest.approx(missed.mean())
    by_fold = [missed[rows % 4 == j].mean() for j in range(4)]
    np.testing.assert_allclose(r.details["fold_errors"], by_fold)
    assert r.details["standard_error"] == pytest.approx(np.std(by_fold, ddof=1) / 2)
    assert r.stderr is None  # that is for Monte Carlo errors


def test_no_gradient_and_it_says_why() -> None:
    X, y = cloud()
    r = score(X, y, "cv-error", kernel=KERNEL, gradient=True)
    assert r.gradient is None
    assert "step" in r.details["gradient"]


def test_one_split_has_no_standard_error() -> None:
    X, y = cloud()
    r = score(X, y, "cv-error", kernel=KERNEL, cv=splits(len(y))[:1])
    assert np.isnan(r.details["standard_error"])


def test_an_inexact_machine_is_reported() -> None:
    X, y = cloud()
    o = objective(X, y, "cv-error", RBF(1e7), cv=4)
    result, trained = o.score(1e15, RBF(1e7))
    exact = all(machine.status.ok for machine in trained.values())
    assert result.status.ok == exact
    assert np.isfinite(result.value)
