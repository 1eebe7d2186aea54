"""C and the width of several classes: moved on by what the held-out rows say of the classes."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import log_loss

from svmselect import AutoSVC, clock
from svmselect.estimators import by_classes as module
from svmselect.estimators.by_classes import MOST, STEPS, WORTH, _Looks, by_classes, moved_on
from svmselect.estimators.chosen import Chosen, Setting, hold_out, sharpen
from svmselect.estimators.problem import Problem
from svmselect.kernels import RBF
from svmselect.priors import Gaussian


def scales(n: int = 240, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Weights and distances on a pair of scales, which tip to the left, to the right, or not."""
    X = np.random.default_rng(seed).integers(1, 6, size=(n, 4)).astype(float)
    return X, np.sign(X[:, 0] * X[:, 1] - X[:, 2] * X[:, 3]).astype(int)


def posed(C: float = 1.0) -> tuple[Problem, Chosen]:
    """That problem with a setting that is too timid, as pairs may choose it."""
    problem = Problem.of(*scales(), None, None, 5, None, True, 0)
    pairs = problem.pairs()
    setting = Setting((C,), (RBF(2.0),))
    held = hold_out(problem, pairs, setting, "hinge")
    sigmoids = held.sigmoids(problem)
    error, kept = held.judged(problem, sigmoids)
    prior = Gaussian({"C": (0.0, 2.0), "rbf.length_scale": (np.log(2.0), 0.5)})
    chosen = Chosen(
        setting, sigmoids, -0.1, "likelihood", True, (), (), error, kept, share=0.8, prior=prior
    )
    return problem, sharpen(problem, chosen)


def test_the_point_is_better_than_all_around_it() -> None:
    problem, chosen = posed()
    pairs = problem.pairs()
    moved = by_classes(problem, pairs, chosen, "hinge", None)
    assert moved.setting.C[0] > 2.0 * chosen.setting.C[0]
    assert [note.kind for note in moved.notes] == ["course"]
    assert f"C times {moved.setting.C[0]:.3g}" in moved.notes[0]
    looks = _Looks(problem, pairs, replace(moved, sharpness=1.0), "hinge")
    here = looks.at((0.0, 0.0)).height
    before = float(np.log(moved.setting.C[0])), float(moved.setting.kernels[0].theta[0] - np.log(2))
    assert here > looks.at((-before[0], -before[1])).height + WORTH
    for which, step in STEPS[-1:]:
        for side in (step, -step):
            there = (side, 0.0) if which == 0 else (0.0, side)
            assert looks.at(there).height < here + WORTH


def test_what_is_kept_is_of_the_new_setting() -> None:
    problem, chosen = posed()
    moved = by_classes(problem, problem.pairs(), chosen, "hinge", None)
    held = hold_out(problem, problem.pairs(), moved.setting, "hinge")
    assert moved.held_out is not None
    np.testing.assert_array_equal(held.decisions, moved.held_out.decisions)
    coupled = held.probabilities(moved.sigmoids, 3) ** moved.sharpness
    coupled /= coupled.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(coupled, moved.held_out.probabilities, rtol=1e-9)
    wrong = problem.counts[held.rows] @ (coupled.argmax(axis=1) != problem.codes[held.rows])
    assert moved.error.error == pytest.approx(wrong / problem.counts[held.rows].sum())


def test_new_rows_are_told_better() -> None:
    X, y = scales(seed=3)
    new, truth = scales(2000, 103)
    model = AutoSVC(random_state=0).fit(X, y)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "WORTH", np.inf)
        stayed = AutoSVC(random_state=0).fit(X, y)
    said = [note for note in model.selection_.notes if "all classes together" in note]
    assert len(said) == 1
    assert model.C_ != stayed.C_
    loss, before = (log_loss(truth, m.predict_proba(new)) for m in (model, stayed))
    assert loss < 0.8 * before


def test_two_classes_and_very_many_have_their_pairs_last_word() -> None:
    X, y = scales()
    two = AutoSVC(random_state=0).fit(X, y > 0)
    assert not any("all classes" in note for note in two.selection_.notes)
    problem, chosen = posed()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MOST", 2)
        assert MOST > 2
        assert by_classes(problem, problem.pairs(), chosen, "hinge", None) is chosen


def test_nothing_moves_where_there_is_no_time_or_no_say() -> None:
    problem, chosen = posed()
    pairs = problem.pairs()
    assert by_classes(problem, pairs, chosen, "hinge", clock.now() - 1.0) is chosen
    several = replace(chosen, setting=Setting((1.0, 1.0, 2.0), (RBF(2.0),)))
    assert by_classes(problem, pairs, several, "hinge", None) is several
    unseen = replace(chosen, held_out=None)
    assert by_classes(problem, pairs, unseen, "hinge", None) is unseen


def test_machines_that_will_not_count_are_left_as_they_are() -> None:
    problem, chosen = posed()
    hopeless = replace(chosen, charge=1000.0)
    found = moved_on(problem, problem.pairs(), ["hinge", "hinge"], [hopeless, chosen], None)
    assert found[0] is hopeless
    assert found[1] is not chosen
