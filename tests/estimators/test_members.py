"""Averaging over losses and kernels: the weights, the probabilities, what the attributes say."""

import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_classification

from svmselect import AutoClassifier, AutoKLR, AutoSVC, load, save
from svmselect.cli.summary import chosen_words
from svmselect.estimators import by_default
from svmselect.estimators.members import height
from svmselect.kernels import RBF, Laplacian
from svmselect.kernels.words import kernel_form
from svmselect.report.words import of_model


@pytest.fixture(scope="module")
def two() -> tuple[np.ndarray, np.ndarray]:
    return make_classification(120, 5, n_informative=3, flip_y=0.1, random_state=0)


@pytest.fixture(scope="module")
def model(two: tuple[np.ndarray, np.ndarray]) -> AutoClassifier:
    return AutoClassifier(kernel=["rbf", "laplacian"], averaging=True, random_state=0).fit(*two)


def members(model: AutoClassifier) -> list:
    return [model, *model.companions_]


def own(member: AutoClassifier, X: np.ndarray) -> np.ndarray:
    return member._judge.probabilities(member._of_matrix(X))


def test_weights_are_shares_of_the_marginal_likelihood(model: AutoClassifier) -> None:
    assert len(model.weights_) == len(model.companions_) + 1 > 1
    assert model.weights_.sum() == pytest.approx(1.0)
    assert np.all(np.diff(model.weights_) <= 0)


def test_probabilities_are_the_weighted_mean(model: AutoClassifier, two: tuple) -> None:
    X = two[0] + 0.1
    mean = sum(w * own(m, X) for w, m in zip(model.weights_, members(model), strict=True))
    np.testing.assert_allclose(model.predict_proba(X), mean, atol=1e-12)
    np.testing.assert_allclose(model.predict_log_proba(X), np.log(mean), atol=1e-9)
    odds = np.log(mean[:, 1] / mean[:, 0])
    np.testing.assert_allclose(model.decision_function(X), odds, atol=1e-8)
    assert np.array_equal(model.predict(X), model.classes_[mean.argmax(axis=1)])


def test_each_member_is_the_machine_fitted_alone(model: AutoClassifier, two: tuple) -> None:
    losses = {member.selection_.loss for member in members(model)}
    assert losses == {"hinge", "logistic"}
    for member in members(model):
        form, n = type(member.kernel_)(), len(two[0])
        if member.selection_.loss == "hinge":
            alone = AutoSVC(form, random_state=0).fit(*two)
            assert pytest.approx(alone.C_, rel=1e-12) == member.C_
            np.testing.assert_array_equal(own(member, two[0]), alone.predict_proba(two[0]))
        else:  # which has begun where the hinge loss ended, and comes as far with less
            alone = AutoKLR(form, random_state=0).fit(*two)
            assert member.best_score_ * n > alone.best_score_ * n - 0.1
            assert len(member.trace_) < 0.6 * len(alone.trace_)


@pytest.mark.parametrize(("lack", "others"), [(-1.0, 0), (0.0, 1), (np.inf, 2)])
def test_kernels_that_are_far_worse_are_not_tried_with_other_losses(
    two: tuple, lack: float, others: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = []
    choose = by_default._chosen

    def watched(problem: Any, pairs: Any, options: Any, *rest: Any) -> Any:
        found = choose(problem, pairs, options, *rest)
        tried.append((options["loss"], options["kernels"], height(problem, found)))
        return found

    monkeypatch.setattr(by_default, "_chosen", watched)
    monkeypatch.setattr(by_default, "HOPELESS", lack)
    AutoClassifier(kernel=["rbf", "laplacian"], averaging=True, random_state=0).fit(*two)
    assert [loss for loss, *_ in tried] == ["hinge"] * 2 + ["logistic"] * others
    if others == 1:
        assert tried[2][1] is max(tried[:2], key=lambda one: one[2])[1]


def test_held_out_rows_are_told_the_average(model: AutoClassifier, two: tuple) -> None:
    held = model.selection_.held_out
    problem = model.selection_.problem
    assert held is not None
    wrong = held.probabilities.argmax(axis=1) != problem.codes[held.rows]
    assert model.selection_.error.seen == pytest.approx(wrong.mean())
    assert "averaged over" in model.explain()


def test_words_name_the_loss_and_the_kernel_that_were_chosen(
    model: AutoClassifier, two: tuple
) -> None:
    loss = model.selection_.loss.replace("_", " ")
    form = kernel_form(model.kernel_)
    assert f"the {loss} loss, C = {model.C_:.4g} and a {form} kernel with" in model.explain()
    assert f"the {loss} loss, and a {form} kernel with" in of_model(model)[0]
    assert f", {loss} loss, {form} kernel, " in chosen_words(model)
    card = model._repr_html_()
    assert f">{loss}</dd>" in card
    assert f"{len(model.companions_)} more of other losses or kernels" in card
    fixed = AutoSVC("laplacian", random_state=0).fit(*two)
    assert "hinge</dd>" not in fixed._repr_html_()
    for text in (fixed.explain(), of_model(fixed)[0], chosen_words(fixed)):
        assert "hinge loss" not in text
        assert "Laplacian kernel" in text


def test_one_kernel_one_loss_is_one_machine(two: tuple) -> None:
    plain = AutoClassifier(RBF(), loss="logistic", random_state=0).fit(*two)
    assert plain.companions_ == []
    np.testing.assert_array_equal(
        plain.predict_proba(two[0]), AutoKLR(random_state=0).fit(*two).predict_proba(two[0])
    )


def test_without_averaging_the_best_is_taken(model: AutoClassifier, two: tuple) -> None:
    options = {"kernel": ["rbf", "laplacian"], "random_state": 0}
    single = AutoClassifier(averaging=False, **options).fit(*two)
    assert single.companions_ == []
    assert single.weights_.tolist() == [1.0]
    assert isinstance(single.kernel_, RBF | Laplacian)


def test_several_classes(tmp_path) -> None:
    X, y = load_iris(return_X_y=True)
    model = AutoClassifier(random_state=0).fit(X[::2], y[::2])
    P = model.predict_proba(X[1::2])
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    assert np.array_equal(model.predict(X[1::2]), P.argmax(axis=1))
    assert np.array_equal(model.decision_function(X[1::2]).argmax(axis=1), P.argmax(axis=1))
    save(model, tmp_path / "model.svm")
    for again in (load(tmp_path / "model.svm"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
        assert again.weights_.tolist() == model.weights_.tolist()


def test_height_charges_for_freedom(model: AutoClassifier) -> None:
    selection = model.selection_
    problem = selection.problem
    from svmselect.estimators.chosen import Chosen, Setting

    base = Chosen(
        Setting((1.0,), (RBF(),)), (), -0.5, "likelihood", True, (), (), selection.error,
        held_out=selection.held_out,
    )  # fmt: skip
    from dataclasses import replace

    assert height(problem, base) - height(problem, replace(base, charge=3.0)) == pytest.approx(3.0)


def test_the_three_take_the_same_options() -> None:
    shared = AutoSVC().get_params()
    assert list(AutoClassifier().get_params()) == list(shared)
    assert list(AutoKLR().get_params()) == [name for name in shared if name != "loss"]
    differ = {
        name for name, value in AutoClassifier().get_params().items() if value != shared[name]
    }
    assert differ == {"loss", "averaging"}
    for cls in (AutoClassifier, AutoKLR, AutoSVC):
        assert cls.__doc__ is not None
        listed = cls.__doc__.split("Attributes")[0]
        assert [n for n in cls().get_params() if f"    {n} : " not in listed] == []


@pytest.mark.parametrize(
    "options", [{"criterion": "span"}, {"scoring": "accuracy"}, {"probability": "posterior"}]
)
def test_averaging_asks_for_the_default_strategy(two: tuple, options: dict) -> None:
    with pytest.raises(ValueError, match="averaging=True goes with"):
        AutoClassifier(averaging=True, **options).fit(*two)


@pytest.mark.filterwarnings("ignore:the result lies on")
def test_a_criterion_picks_among_the_losses_it_serves(two: tuple) -> None:
    found = AutoClassifier(criterion="span", search="grid", max_time=2.0).fit(*two)
    assert found.selection_.loss == "hinge"
    assert found.companions_ == []


def test_unknown_loss(two: tuple) -> None:
    with pytest.raises(ValueError, match="'auto', 'logistic'"):
        AutoClassifier(loss="absolute").fit(*two)
