"""probability="moderated": Kwok's outputs as an estimator's probabilities."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_moons

from svmselect import AutoClassifier, AutoKLR, AutoSVC, load, save
from svmselect.machine import solve
from svmselect.posterior.moderation import Moderation
from svmselect.posterior.predictive import moderated_output

X, y = make_moons(120, noise=0.3, random_state=0)


@pytest.fixture(scope="module")
def model() -> AutoSVC:
    return AutoSVC(criterion="kwok", probability="moderated", random_state=0).fit(X[:90], y[:90])


def test_probabilities_are_moderated_outputs(model: AutoSVC) -> None:
    A = (X[:90] - model.mean_) / model.scale_
    B = (X[90:] - model.mean_) / model.scale_
    sign = np.where(y[:90] > 0, 1.0, -1.0)
    K = model.kernel_(A)
    machine = solve(K, sign, model.C_)
    cross = model.kernel_(B, A)
    f = cross @ machine.beta + machine.intercept
    spread = Moderation.of(K, machine)
    variance = spread.variance(cross[:, spread.rows], model.kernel_.diag(B))
    expected = moderated_output(f, variance)
    np.testing.assert_allclose(model.predict_proba(X[90:])[:, 1], expected, atol=1e-7)
    np.testing.assert_array_equal(model.predict(X[90:]), (f > 0).astype(int))


def test_far_from_all_data_the_machine_is_unsure(model: AutoSVC) -> None:
    p = model.predict_proba(np.array([[50.0, 50.0]]))[0]
    plain = AutoSVC(criterion="kwok", random_state=0).fit(X[:90], y[:90])
    # the intercept alone decides there, and its uncertainty is the prior's
    assert abs(p[1] - 0.5) < 0.2
    assert p.sum() == pytest.approx(1.0)
    assert any("moderated" in str(note) for note in model.selection_.notes)
    assert not any("moderated" in str(note) for note in plain.selection_.notes)


def test_it_is_kept_in_a_file(model: AutoSVC, tmp_path: Path) -> None:
    save(model, tmp_path / "m.svmselect")
    again = load(tmp_path / "m.svmselect")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_three_classes() -> None:
    data = load_iris()
    model = AutoSVC(criterion="kwok", probability="moderated", random_state=0)
    model.fit(data.data[::3], data.target[::3])
    p = model.predict_proba(data.data[1::3])
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert np.mean(p.argmax(axis=1) == data.target[1::3]) > 0.85


def test_where_the_loss_is_open_it_is_the_hinge() -> None:
    model = AutoClassifier(probability="moderated", random_state=0).fit(X, y)
    assert model.selection_.loss == "hinge"
    p = model.predict_proba(X)
    np.testing.assert_array_equal(model.predict(X), (p[:, 1] > 0.5).astype(int))


def test_it_is_for_the_hinge() -> None:
    with pytest.raises(ValueError, match=r"Kwok's posterior for the hinge.*'logistic'"):
        AutoKLR(probability="moderated").fit(X, y)
