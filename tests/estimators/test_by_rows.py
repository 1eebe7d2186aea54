"""Very many rows: grown from a sample, wherever they are; what is held out, kept and refused."""

import pickle
import signal
import subprocess
import sys

import numpy as np
import pytest

from svmselect import AutoKLR, AutoSVC, clock, devices, load, save, select
from svmselect.estimators import by_default, by_rows
from svmselect.estimators.by_criterion import SearchOptions, _judge
from svmselect.estimators.callbacks import Watch
from svmselect.estimators.strategies import grown
from svmselect.kernels import RBF

rng = np.random.default_rng(0)
N = 3000
X = rng.normal(size=(N, 3)) * [1.0, 5.0, 0.2] + [0.0, 3.0, 1.0]
S = (X - [0.0, 3.0, 1.0]) / [1.0, 5.0, 0.2]
rule = np.sin(2.0 * S[:, 0]) + S[:, 1] + 0.3 * rng.normal(size=N)
y = np.where(rule > 0, "yes", "no")
y3 = np.where(rule > 1, "c", y)
new, t, t3 = X[2000:], y[2000:], y3[2000:]
X, y, y3 = X[:2000], y[:2000], y3[:2000]


@pytest.fixture(autouse=True)
def several_are_few(monkeypatch):
    monkeypatch.setattr(by_rows, "SEVERAL", 1000)
    monkeypatch.setattr(by_rows, "CHOSEN_ON", 400)
    monkeypatch.setattr(grown, "FIRST", 40)
    monkeypatch.setattr(by_rows, "Budget", few)


def few(**given):
    return grown.Budget(landmarks=80, first=40, **given)


def pieces(y):
    for at in range(0, len(y), 300):
        yield X[at : at + 300], y[at : at + 300]


@pytest.fixture(scope="module")
def fitted():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(by_rows, "SEVERAL", 1000)
        patch.setattr(by_rows, "CHOSEN_ON", 400)
        patch.setattr(by_rows, "Budget", few)
        return AutoSVC(random_state=0, ard="no").fit(X, y)


def test_two_classes(fitted):
    assert fitted.score(new, t) > 0.9
    p = fitted.predict_proba(new)
    np.testing.assert_array_equal(fitted.classes_[p.argmax(axis=1)], fitted.predict(new))
    np.testing.assert_array_equal(X[fitted.support_], fitted.support_vectors_)
    np.testing.assert_array_equal(np.repeat(["no", "yes"], fitted.n_support_), y[fitted.support_])
    assert "trained on all 2,000 rows through" in fitted.explain()
    assert fitted.selection_.rows == 2000
    assert fitted.selection_.members == (np.sum(y == "no"), np.sum(y == "yes"))
    plain = fitted.to_sklearn()
    np.testing.assert_allclose(
        plain.decision_function(new), fitted.decision_function(new), rtol=1e-6, atol=1e-6
    )


def test_what_was_held_out_is_what_is_told(fitted):
    selection = fitted.selection_
    seen = np.isfinite(fitted.held_out_proba_).all(axis=1)
    assert seen.sum() == 200
    wrong = fitted.classes_[fitted.held_out_proba_[seen].argmax(axis=1)] != y[seen]
    assert selection.error.error == pytest.approx(wrong.mean())
    assert selection.error.n == 200
    own = fitted.held_out_proba_[seen, (y[seen] == "yes").astype(int)]
    assert selection.value == pytest.approx(np.log(own).mean(), rel=1e-9)
    assert np.mean(fitted.predict_set(new, 0.1)[np.arange(len(t)), (t == "yes").astype(int)]) > 0.85


def test_kept_and_loaded(fitted, tmp_path):
    save(fitted, tmp_path / "m.skops")
    for copy in (load(tmp_path / "m.skops"), pickle.loads(pickle.dumps(fitted))):
        np.testing.assert_array_equal(copy.predict_proba(new), fitted.predict_proba(new))


def test_the_same_from_a_memory_map_and_from_an_iterator(fitted, tmp_path):
    mapped = np.memmap(tmp_path / "x", np.float64, "w+", shape=X.shape)
    mapped[:] = X
    for given in ((mapped, y), (pieces(y), None)):
        model = AutoSVC(random_state=0, ard="no").fit(*given)
        np.testing.assert_allclose(
            model.decision_function(new), fitted.decision_function(new), rtol=1e-6, atol=1e-6
        )
        np.testing.assert_allclose(model.C_, fitted.C_)


@pytest.mark.parametrize("kind", [AutoSVC, AutoKLR])
def test_three_classes_one_against_the_rest(kind, tmp_path):
    model = kind(random_state=0, ard="no").fit(pieces(y3), None)
    assert model.dual_coef_.shape == (3, len(model.support_))
    assert model.score(new, t3) > 0.8
    p = model.predict_proba(new)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(new))
    S = (new - model.mean_) / model.scale_
    V = (model.support_vectors_ - model.mean_) / model.scale_
    logits = model.kernel_(S, V) @ model.dual_coef_.T + model.intercept_
    expected = np.exp(logits - logits.max(axis=1, keepdims=True))
    np.testing.assert_allclose(p, expected / expected.sum(axis=1, keepdims=True), rtol=1e-6)
    save(model, tmp_path / "m.skops")
    np.testing.assert_array_equal(load(tmp_path / "m.skops").predict_proba(new), p)
    with pytest.raises(ValueError, match="one class against the rest"):
        model.to_sklearn()


def test_weights_and_class_weights():
    w = np.where(X[:, 1] > 3.0, 0.0, 2.0)
    model = AutoSVC(random_state=0, ard="no").fit(X, y, w)
    assert model.selection_.rows == np.sum(w > 0)
    assert (w[model.support_] > 0).all()
    plain = AutoSVC(random_state=0, ard="no").fit(X, y3)
    leaning = AutoSVC(random_state=0, ard="no", class_weight={"c": 5.0}).fit(X, y3)
    assert np.mean(leaning.predict(new) == "c") > np.mean(plain.predict(new) == "c")


def test_a_threshold_is_decided_on_rows_held_out():
    model = AutoSVC(random_state=0, ard="no", threshold=[[0, 1], [9, 0]]).fit(X, y)
    assert model.threshold_ == pytest.approx(0.1)
    p = model.predict_proba(new)[:, 1]
    np.testing.assert_array_equal(model.predict(new) == "yes", p > 0.1)


def test_stopped_and_taken_up_again(tmp_path):
    whole = AutoSVC(random_state=0, ard="no").fit(X, y)
    path, asked = tmp_path / "trace.jsonl", []

    def stop(done, rows, number):
        asked.append(number)
        return number == 12

    model = AutoSVC(random_state=0, ard="no")
    model._fit(X, y, None, None, Watch(checkpoint=path, passing=stop))
    assert any(note.kind == "early" for note in model.selection_.notes)
    assert model.score(new, t) > 0.8
    numbers = []
    again = AutoSVC(random_state=0, ard="no")
    passing = Watch(checkpoint=path, passing=lambda done, rows, n: bool(numbers.append(n)))
    again._fit(X, y, None, None, passing)
    assert max(numbers) < whole_passes(whole) - 8
    np.testing.assert_allclose(again.predict_proba(new), whole.predict_proba(new), atol=0.01)
    with pytest.raises(ValueError, match="other data"):
        AutoSVC(random_state=0, ard="no")._fit(X + 1.0, y, None, None, Watch(checkpoint=path))


def test_training_begins_with_what_was_said_of_the_landmarks(monkeypatch):
    growers = []
    grow = grown.Grower.grow
    monkeypatch.setattr(grown.Grower, "grow", lambda self: growers.append(self) or grow(self))
    AutoSVC(random_state=0, ard="no").fit(X, y)
    (grower,) = growers
    C = grower.chosen.C
    before = grower._trial("begin", grower.inner, C, 0.0, 40)
    for factor, m in ((0.0, 80), (-0.3, 40), (0.5, 20)):
        design = grower._design(factor, m, grower.inner)
        begun = grower._like(before, design)
        at = grower.sample.X[grower._landmarks(design.kernel, m)]
        said = [
            grown.decisions(at, of, machines.theta, machines.intercept)
            for of, machines in ((before.design, before.machines), (design, begun))
        ]
        np.testing.assert_allclose(*said, atol=1e-3)
        cold = grower._trial("cold", grower.inner, C, factor, m)
        warm = grower._trial("warm", grower.inner, C, factor, m, before)
        # the last corner is a rounded one, and machines are trained to 1e-4
        assert warm.machines.objective == pytest.approx(cold.machines.objective, rel=1e-3)
        assert warm.logs.mean() == pytest.approx(cold.logs.mean(), abs=2e-3)
        assert grower.steps[-1].passes < grower.steps[-2].passes
    assert grower._like(before, before.design).theta is before.machines.theta


def test_passes_end_when_the_time_is_over():
    numbers = []
    model = AutoSVC(random_state=0, ard="no", max_time=1e-6)
    model._fit(X, y, None, None, Watch(passing=lambda done, rows, n: bool(numbers.append(n))))
    assert any(note.kind == "time" and "passes" in note for note in model.selection_.notes)
    assert model.selection_.status.name in ("early", "time")
    assert max(numbers) < 12  # the first training is always there, and little else
    assert model.score(new, t) > 0.8


def test_the_passes_have_the_time_that_the_choice_has_left(monkeypatch):
    """They had all of it once more."""
    seconds, now = [], iter(np.arange(0.0, 1e6, 0.01))
    monkeypatch.setattr(clock, "now", lambda: float(next(now)))

    def noted(**given):
        seconds.append((given["seconds"], next(now)))
        return few(**given)

    monkeypatch.setattr(by_rows, "Budget", noted)
    AutoSVC(random_state=0, ard="no", max_time=100.0).fit(X, y)
    ((left, spent),) = seconds
    assert spent > 0.3
    assert left == pytest.approx(100.0 - spent, abs=0.05)


def test_the_first_training_is_in_time():
    assert by_rows._affordable(1e3, 10**6, 3) == by_rows.FIRST
    short = [by_rows._affordable(1.0, 10**6, k) for k in (2, 3, 30)]
    assert sorted(short, reverse=True) == short
    assert short[0] < by_rows.FIRST
    assert by_rows._affordable(0.0, 10**6, 2) == by_rows._LEAST


KILLED = """
import os, signal, sys
from pathlib import Path
import numpy as np
from svmselect import AutoSVC
from svmselect.estimators import by_rows
from svmselect.estimators.callbacks import Watch
from svmselect.estimators.strategies import grown

by_rows.SEVERAL, by_rows.CHOSEN_ON = 1000, 400
by_rows.Budget = lambda **given: grown.Budget(landmarks=80, first=40, **given)
data = np.load(sys.argv[1])

def die(done, rows, number):
    if number == 12:
        os.kill(os.getpid(), signal.SIGKILL)
    return False

watch = Watch(checkpoint=Path(sys.argv[2]), passing=die)
AutoSVC(random_state=0, ard="no")._fit(data["X"], data["y"], None, None, watch)
"""


def test_a_kill_loses_the_pass_it_came_in(fitted, tmp_path):
    path, rows = tmp_path / "trace.jsonl", tmp_path / "rows.npz"
    np.savez(rows, X=X, y=y)
    asked = [sys.executable, "-c", KILLED, str(rows), str(path)]
    assert subprocess.run(asked, check=False).returncode == -signal.SIGKILL
    numbers = []
    again = AutoSVC(random_state=0, ard="no")
    passing = Watch(checkpoint=path, passing=lambda done, rows, n: bool(numbers.append(n)))
    again._fit(X, y, None, None, passing)
    # two more, since the curvature is not kept and the objective is looked at anew
    assert max(numbers) <= whole_passes(again) - 11 + 2
    np.testing.assert_allclose(again.predict_proba(new), fitted.predict_proba(new), atol=0.01)


def whole_passes(model):
    numbers = []
    again = AutoSVC(random_state=0, ard="no")
    again._fit(X, y, None, None, Watch(passing=lambda done, rows, n: bool(numbers.append(n))))
    return max(numbers)


def test_what_cannot_be_read_in_chunks():
    for options, said in (
        ({"criterion": "span"}, "Gram matrix"),
        ({"multi_class": "ovo-separate"}, "each pair"),
        ({"scoring": "roc_auc"}, "scoring"),
    ):
        with pytest.raises(ValueError, match=said):
            AutoSVC(**options).fit(pieces(y), None)
    with pytest.raises(ValueError, match="one class only, 'no'"):
        AutoSVC().fit(iter([(X, np.full(len(X), "no"))]), None)
    rare = np.where(np.arange(len(y)) == 5, "rare", y)
    with pytest.raises(ValueError, match="class 'rare' has 1 of 2,000 rows"):
        AutoSVC(random_state=0).fit(pieces(rare), None)


def test_rows_of_groups_or_of_other_folds_stay_with_the_strategy_of_subsets():
    model = AutoSVC(random_state=0, ard="no", max_time=0.01)
    model.fit(X[:1200], y[:1200], groups=np.arange(1200) // 3)
    assert "all 1,200 rows through" not in model.explain()


def test_kernels_of_their_own_forms():
    model = AutoSVC([RBF(1.0) + 0.5 * RBF(3.0)], random_state=0, ard="no").fit(X, y)
    assert model.score(new, t) > 0.9
    assert "trained on all 2,000 rows" in model.explain()


@pytest.mark.torch
def test_on_torch(fitted):
    model = AutoSVC(random_state=0, ard="no", device="torch-cpu").fit(X, y)
    np.testing.assert_allclose(model.predict_proba(new), fitted.predict_proba(new), atol=0.02)


@pytest.mark.torch
def test_what_a_device_is_for():
    few = AutoSVC(random_state=0, ard="no", device="torch-cpu").fit(X[:100], y[:100])
    assert any("'torch-cpu' was not used" in note for note in few.selection_.notes)
    judge = AutoSVC(criterion="evidence-ep", device="torch-cpu")
    assert not by_rows.idle_device(judge, 100, False)
    asked = SearchOptions("rbf", "evidence-ep", "auto", None, "no", None, judge.device)
    assert _judge(asked, None, None, 0).device == "torch-cpu"


@pytest.mark.torch
def test_exact_machines_on_torch(monkeypatch):
    monkeypatch.setattr(by_default, "MANY", 200)
    monkeypatch.setattr(by_rows, "MANY", 200)
    here, there = (
        AutoSVC(random_state=0, ard="no", device=device).fit(X[:500], y[:500])
        for device in ("cpu", "torch-cpu")
    )
    assert "exactly, on 'torch-cpu'" in there.explain()
    assert "not used" not in there.explain()
    f = [model.decision_function(new) for model in (here, there)]
    np.testing.assert_allclose(*f, atol=1e-6)


def test_rows_that_fit_on_a_card_are_not_grown_to(monkeypatch):
    monkeypatch.setattr(by_rows, "most_rows", lambda device: 1500)
    assert by_rows.several("cuda") == 1500
    monkeypatch.setattr(by_rows, "most_rows", lambda device: 500)
    assert by_rows.several("cuda") == 1000


def test_a_device_that_is_not_there(monkeypatch):
    def none(device):
        raise ValueError(f"device={device!r}: torch finds no GPU here; use the processor")

    monkeypatch.setattr(devices, "load_torch", none)
    said = "'cuda:7': torch finds no GPU here; all was computed on the processor"
    with pytest.warns(RuntimeWarning, match=said):
        model = AutoSVC(device="cuda:7", random_state=0, ard="no").fit(X[:50], y[:50])
    assert said in model.explain()
    with pytest.warns(RuntimeWarning, match=said):
        select(X[:30], y[:30], "evidence-ep", fit_intercept=False, device="cuda:7", budget=2)
    with pytest.raises(ValueError, match="not one of"):
        AutoSVC(device="tpu").fit(X[:50], y[:50])
