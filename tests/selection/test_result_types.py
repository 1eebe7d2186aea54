"""One result: what select gives and what a fitted classifier has is one public, frozen record."""

import json
import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_moons

from svmselect import AutoKLR, AutoSVC, load, save, select
from svmselect.estimators.keeping import as_plain, from_plain
from svmselect.selection import Selection
from svmselect.types import ErrorEstimate, Note

X, y = make_moons(100, noise=0.3, random_state=0)


def test_select_and_a_classifier_give_the_same_record() -> None:
    chosen = select(X, y, "likelihood", "lbfgs", random_state=0)
    fitted = AutoSVC(random_state=0).fit(X, y).selection_
    for selection in (chosen, fitted):
        assert isinstance(selection, Selection)
        assert selection.criterion == "likelihood"
        assert selection.loss == "hinge"
        assert selection.fit_intercept
        assert selection.rows == 100
        assert selection.folds in (5, 10)
        assert selection.evaluations == len(selection.trace)
        assert 0.0 < selection.error.error < 0.3
        assert selection.error.n == 100
        assert sum(selection.members) == 100
        with pytest.raises(FrozenInstanceError):
            selection.C = 1.0


def test_a_note_is_a_sentence_that_knows_its_kind() -> None:
    note = Note("edge", "C is at the edge")
    assert note == "C is at the edge"
    assert note.startswith("C is")
    assert (note.kind, f"{note}.") == ("edge", "C is at the edge.")
    again = pickle.loads(pickle.dumps(note))
    assert (again.kind, str(again)) == (note.kind, str(note))
    assert json.dumps([note]) == '["C is at the edge"]'


def test_an_error_has_the_spread_of_a_mean() -> None:
    estimate = ErrorEstimate(0.2, 65.0)
    wrong = np.repeat([1.0, 0.0], [13, 52])
    assert estimate.standard_error == pytest.approx(0.4 / np.sqrt(65.0))
    assert estimate.standard_error == pytest.approx(wrong.std() / np.sqrt(65.0))
    assert ErrorEstimate(0.0, 10.0).standard_error == 0.0


@pytest.mark.parametrize("data", [(X, y), load_iris(return_X_y=True)], ids=["two", "three"])
@pytest.mark.parametrize("cls", [AutoSVC, AutoKLR])
def test_what_the_folds_said_is_kept(cls, data) -> None:
    rows, labels = data
    model = cls(random_state=0).fit(rows, labels)
    selection, held = model.selection_, model.selection_.held_out
    problem = selection.problem
    assert held.probabilities.shape == (len(held.rows), len(model.classes_))
    np.testing.assert_allclose(held.probabilities.sum(axis=1), 1.0)
    codes, counts = problem.codes[held.rows], problem.counts[held.rows]
    assert counts.sum() == len(labels)
    error = counts @ (held.probabilities.argmax(axis=1) != codes) / counts.sum()
    assert selection.error.seen == pytest.approx(error)
    # they are of other machines than the final ones, and calibrated by the same sigmoids
    final = model.predict_proba(rows[problem.first])
    close = np.abs(held.probabilities - final[held.rows]).mean()
    assert 0.0 < close < 0.15
    assert [one.slope for one in selection.calibration] == pytest.approx(
        model.sigmoid_slope_.tolist()
    )


def test_a_saved_model_keeps_the_words_and_not_the_rows(tmp_path) -> None:
    model = AutoSVC(random_state=0).fit(X, y)
    save(model, tmp_path / "a.skops")
    for again in (load(tmp_path / "a.skops"), pickle.loads(pickle.dumps(model))):
        kept, known = again.selection_, model.selection_
        assert kept.problem is None
        assert kept.held_out is None
        assert as_plain(kept) == as_plain(known)
        assert [note.kind for note in kept.notes] == [note.kind for note in known.notes]
        assert kept.error == known.error
        assert again.explain() == model.explain()
        np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert model.selection_.problem is not None  # saving changes nothing


def test_plain_values_come_back() -> None:
    selection = AutoSVC(random_state=0).fit(X, y).selection_
    again = from_plain(as_plain(selection))
    assert again.calibration == selection.calibration
    assert again.kernel == selection.kernel
    assert [r.loss for r in again.trace] == [r.loss for r in selection.trace]


def test_predicting_unpacks_nothing_anew(monkeypatch) -> None:
    from svmselect.estimators import predictor

    model = AutoSVC(random_state=0).fit(*load_iris(return_X_y=True))

    def never(*arguments: object) -> None:
        raise AssertionError("unpacked at a prediction")

    monkeypatch.setattr(predictor, "from_dual_coef", never)
    assert model.predict(load_iris().data[:3]).shape == (3,)


def test_kinds_of_notes() -> None:
    model = AutoSVC(random_state=0).fit(X, y)
    kinds = {note.kind for note in model.selection_.notes}
    assert "choice" in kinds
    short = AutoSVC(random_state=0, max_time=1e-9).fit(X, y)
    assert short.selection_.status.name == "early"
    assert not short.selection_.status.ok
    with pytest.warns(UserWarning, match="edge of the search box"):
        edge = select(X, y, "likelihood", "lbfgs", bounds={"C": (2.0, 2.1)}, random_state=0)
    assert any(note.kind == "edge" for note in edge.notes)


def test_what_a_classifier_does_by_itself_its_selection_says() -> None:
    selection = AutoSVC(random_state=0).fit(X, y).selection_
    for ask in (
        lambda: selection.predict(X),
        lambda: selection.decision_function(X),
        lambda: selection.to_sklearn(),
        lambda: selection.names,
        lambda: selection.optima,
        lambda: selection.threshold,
    ):
        with pytest.raises(AttributeError, match="ask the classifier"):
            ask()
