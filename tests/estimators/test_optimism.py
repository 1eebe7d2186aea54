"""What rows' own classes lose when their folds have no say: formulas, places, coverage."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.model_selection import KFold

from svmselect import AutoKLR, AutoSVC, clock
from svmselect.estimators.chosen import Chosen, Setting
from svmselect.estimators.optimism import UNCORRECTED, _precision, lost_odds, with_lost_odds
from svmselect.estimators.strategies.task import Task
from svmselect.probability.calibration import Sigmoid
from svmselect.probability.intervals import interval
from svmselect.selection.optimism import without_each_fold


def test_odds_are_lost_against_each_class():
    rng = np.random.default_rng(0)
    p, codes = rng.dirichlet(np.ones(4), 50), rng.integers(0, 4, 50)
    rows = np.arange(50)
    lost = rng.normal(size=(50, 4))
    lost[rows, codes] = 0.0
    logits = np.log(p) + lost
    wanted = np.exp(logits[rows, codes] - np.log(np.exp(logits).sum(axis=1)))
    np.testing.assert_allclose(with_lost_odds(p, codes, lost), wanted)
    np.testing.assert_allclose(with_lost_odds(p, codes, np.zeros((50, 4))), p[rows, codes])
    assert (with_lost_odds(p, codes, np.full((50, 4), 1e4)) < 1e-15).all()


def chosen(model, sigmoids):
    kernels = model.kernel_ if isinstance(model.kernel_, tuple) else (model.kernel_,)
    setting = Setting(tuple(np.atleast_1d(model.C_).tolist()), kernels)
    return Chosen(setting, sigmoids, 0.0, "", True, (), (), model.selection_.error)


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
@pytest.mark.parametrize("ard", ["yes", "no"])
def test_rows_find_their_own(loss, ard):
    X, y = make_classification(60, 3, n_informative=2, n_redundant=0, flip_y=0.2, random_state=0)
    cls = AutoSVC if loss == "hinge" else AutoKLR
    model = cls(ard=ard, cv=KFold(4), random_state=0).fit(X, y)
    problem = model.selection_.problem
    pairs = problem.pairs()
    task = Task.of(problem.X, pairs, model.kernel_, loss, 1)
    context = task.objective(model.kernel_).context(model.kernel_, model.C_ / task.share)
    (one,) = task.unfold(context, True)
    fitted = Sigmoid(one.fit.slope, 0.0, 1.0)
    point = np.concatenate([[np.log(model.C_)], model.kernel_.theta])
    precision = _precision(None, point, ("log C", *model.kernel_.names))
    (z,) = without_each_fold([one], precision, 1.0)
    moved = z + one.fit.slope * one.held.decision + one.fit.offset
    wanted = np.zeros((60, 2))
    for row, move, sign in zip(one.held.rows, moved, one.held.y, strict=True):
        # the halves' rows are the problem's: none is there twice
        wanted[task.halves[0].rows[row], 0 if sign > 0 else 1] = -sign * move
    found = lost_odds(problem, pairs, chosen(model, (fitted,)), loss)
    np.testing.assert_allclose(found, wanted, atol=1e-10)
    assert found.sum() > 0.0
    milder = Sigmoid(0.5 * one.fit.slope, 0.0, 1.0)
    half = lost_odds(problem, pairs, chosen(model, (milder,)), loss)
    np.testing.assert_allclose(half, 0.5 * found, atol=1e-10)


def test_machines_that_are_there_are_not_trained_again(monkeypatch):
    X, y = make_classification(60, 3, n_informative=2, n_redundant=0, n_classes=3,
                               n_clusters_per_class=1, random_state=0)  # fmt: skip
    model = AutoSVC(random_state=0).fit(X, y)
    problem = model.selection_.problem
    pairs = problem.pairs()
    sigmoids = tuple(Sigmoid(slope, 0.0, 1.0) for slope in model.sigmoid_slope_)
    anew = chosen(model, sigmoids)
    task = Task.of(problem.X, pairs, model.kernel_, "hinge", 1)
    context = task.objective(model.kernel_).context(model.kernel_, model.C_ / task.share)
    task.unfold(context, False)
    setting = replace(anew.setting, trained=context.trained)
    wanted = lost_odds(problem, pairs, anew, "hinge")
    monkeypatch.setattr("svmselect.criteria.base.train_together", None)
    found = lost_odds(problem, pairs, replace(anew, setting=setting), "hinge")
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)
    with pytest.raises(TypeError):
        lost_odds(problem, pairs, anew, "hinge")


@pytest.mark.parametrize("multi_class", ["ovo", "ovo-separate"])
def test_each_pair_of_three_classes_has_its_loss(multi_class):
    X, y = make_classification(
        120, 4, n_informative=3, n_redundant=0, n_classes=3, flip_y=0.1, random_state=1
    )
    model = AutoSVC(multi_class=multi_class, random_state=0).fit(X, y)
    problem = model.selection_.problem
    lost = lost_odds(problem, problem.pairs(), chosen(model, model.selection_.calibration), "hinge")
    rows = np.arange(len(problem))
    assert not lost[rows, problem.codes].any()
    others = np.ones((120, 3), dtype=bool)
    others[rows, problem.codes] = False
    assert lost[others].all()
    assert lost[others].mean() > 0.0
    np.testing.assert_array_equal(model._given[1], np.ones(120))
    plain = model.held_out_proba_[np.arange(120), y]
    assert model._given[0].mean() < plain.mean()


def test_copies_in_several_folds():
    X, y = make_classification(40, 3, n_informative=2, n_redundant=0, flip_y=0.2, random_state=0)
    twice = np.vstack([X, X])
    model = AutoSVC(cv=KFold(5, shuffle=True, random_state=0), random_state=0)
    model.fit(twice, np.concatenate([y, y]))
    assert len(model.selection_.problem) > 40  # some are held out apart
    assert np.isfinite(model._given).all()
    assert model._given[1].sum() == 80.0


@pytest.mark.slow
def test_sets_cover_new_rows_where_many_scales_are_chosen():
    """90 % are asked for, and not many more than that are to be covered."""
    covered = []
    for seed in range(30):
        X, y = make_classification(
            2100, 12, n_informative=3, n_redundant=0, flip_y=0.1, class_sep=0.7, random_state=seed
        )
        sets = AutoSVC(random_state=0).fit(X[:100], y[:100]).predict_set(X[100:], alpha=0.1)
        covered.append(sets[np.arange(2000), y[100:]].mean())
    spread = np.std(covered, ddof=1) / np.sqrt(30)
    assert 0.9 - spread < np.mean(covered) < 0.94
    assert spread < 0.012


def test_the_expected_error_is_nearer_the_truth_than_what_was_counted():
    """120 rows and eight inputs: the folds promise too much, and the interval knows it."""
    held, gaps = [], []
    for seed in range(20):
        X, y = make_classification(
            4120, 8, n_informative=3, n_redundant=0, flip_y=0.2, random_state=seed
        )
        model = AutoSVC(random_state=0).fit(X[:120], y[:120])
        estimate, true = model.selection_.error, 1.0 - model.score(X[120:], y[120:])
        low, high = interval(estimate)
        held.append(low <= true <= high)
        gaps.append((estimate.seen - true, estimate.error - true))
        assert estimate.spread > 0.0
    counted, expected = np.abs(np.mean(gaps, axis=0))
    assert expected < counted
    assert np.mean(held) >= 0.9


def test_what_the_time_does_not_allow_for_is_said(monkeypatch):
    X, y = make_classification(60, 3, n_informative=2, n_redundant=0, flip_y=0.2, random_state=0)
    model = AutoSVC(random_state=0).fit(X, y)
    problem = model.selection_.problem
    made = chosen(model, model.selection_.calibration)
    assert lost_odds(problem, problem.pairs(), made, "hinge", clock.now() - 1.0) is None
    assert model.selection_.error.seen is not None
    assert UNCORRECTED not in model.selection_.notes

    monkeypatch.setattr("svmselect.estimators.base.lost_odds", lambda *_: None)
    hurried = AutoSVC(random_state=0).fit(X, y)
    assert UNCORRECTED in hurried.selection_.notes
    assert hurried.selection_.status.name == "time"
    assert hurried.selection_.error.seen is None
    assert hurried.selection_.error.error == model.selection_.error.seen
    np.testing.assert_array_equal(hurried.predict_set(X).shape, (60, 2))
