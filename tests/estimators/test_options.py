"""Every option of the constructor, and what it refuses."""

import logging

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.gaussian_process import kernels as gp
from sklearn.metrics import balanced_accuracy_score, make_scorer
from sklearn.model_selection import (
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
)

from svmselect import AutoKLR, AutoSVC, select
from svmselect.criteria import get_criterion
from svmselect.estimators.by_scoring import HeldOutModel
from svmselect.estimators.problem import Problem
from svmselect.kernels import RBF, Constant, Linear, Matern, Product, Sum
from svmselect.priors import Gaussian

X, y = make_classification(60, 3, n_informative=2, n_redundant=0, random_state=0)
x3, y3 = make_classification(75, 4, n_informative=3, n_redundant=0, n_classes=3, random_state=0)


def probabilities(model):
    return model.predict_proba(X)


# criteria, searches, kernels, priors


@pytest.mark.parametrize(
    "options",
    [
        {"criterion": "likelihood", "search": "irprop"},
        {"criterion": "gacv"},
        {"criterion": "span", "loss": "squared_hinge", "search": "lbfgs"},
        {"criterion": "cv-error", "search": "grid"},
        {"criterion": get_criterion("smoothed-cv", cv=3)},
        {"prior": Gaussian({"C": (0.0, 1.0)})},
        {"search": "random-walk"},
    ],
    ids=str,
)
@pytest.mark.parametrize("rows", [(X, y), (x3, y3)], ids=["two", "three"])
def test_criteria_and_searches(options, rows):
    model = AutoSVC(random_state=0, max_time=0.5, **options).fit(*rows)
    assert model.score(*rows) > 0.55  # a machine in a hurry may not get far in that time
    assert isinstance(model.kernel_, RBF)
    name = options.get("criterion", "likelihood")
    assert (name if isinstance(name, str) else name.name) in model.explain()
    record = model.trace_.best()
    assert record.parameters["C"] > 0


def test_the_choice_of_a_pair_is_that_of_select():
    model = AutoSVC(criterion="gacv", search="grid", random_state=0).fit(X, y)
    problem = Problem.of(X, y, None, None, 5, None, True, 0)
    (pair,) = problem.pairs()
    chosen = select(problem.X, pair.y, "gacv", "grid", "rbf", random_state=0)
    np.testing.assert_allclose(model.C_, chosen.C)
    assert model.kernel_.length_scale == pytest.approx(chosen.kernel.length_scale)
    assert model.best_score_ == pytest.approx(chosen.value)


def test_an_offset_in_the_kernel_where_the_criterion_asks_for_it():
    with pytest.warns(UserWarning, match="edge"):  # the evidence grows with the kernel's size
        model = AutoSVC(criterion="laplace", random_state=0).fit(X, y)
    assert isinstance(model.kernel_, Sum)
    scaled = (X - model.mean_) / model.scale_
    K = model.kernel_(scaled, scaled[model.support_])
    by_hand = K @ model.dual_coef_[0] + model.intercept_
    np.testing.assert_allclose(model.decision_function(X), by_hand, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    ("kernel", "kind"),
    [
        ("linear", Linear),
        ("matern", Matern),
        (RBF([1.0, 2.0, 3.0]), RBF),
        (gp.ConstantKernel(2.0) * gp.RBF(1.5), Product),
        ([RBF(1.0), Linear()], (RBF, Linear)),
        (Linear() + Constant(0.5) * RBF(1.0), Sum),
    ],
    ids=str,
)
def test_kernels(kernel, kind):
    model = AutoSVC(kernel, max_time=0.3, random_state=0).fit(X, y)
    assert isinstance(model.kernel_, kind)
    assert model.score(X, y) > 0.55
    assert set(model.best_params_) == {"C", *model.kernel_.names}
    np.testing.assert_allclose(model.feature_importances_.sum(), 1.0)


def test_length_scales_for_each_input():
    for ard in ("yes", True):
        assert len(AutoSVC(ard=ard, random_state=0).fit(X, y).length_scale_) == 3
    for ard in ("no", False):
        assert isinstance(AutoSVC(ard=ard, random_state=0).fit(X, y).length_scale_, float)
    named = AutoSVC("matern", ard="yes", prior="integrated", max_time=0.3, random_state=0)
    assert len(named.fit(X, y).length_scale_) == 3
    assert named.kernel_.theta.std() > 0
    hierarchical = AutoSVC(prior="hierarchical", max_time=1.0, random_state=0).fit(X, y)
    assert len(hierarchical.length_scale_) == 3
    assert AutoSVC("linear", max_time=0.1, random_state=0).fit(X, y).length_scale_ is None


def test_standardisation():
    shifted = X * [1.0, 1e6, 1e-6] + 5.0
    same = AutoSVC(random_state=0).fit(shifted, y).predict_proba(shifted)
    np.testing.assert_allclose(same, probabilities(AutoSVC(random_state=0).fit(X, y)), atol=1e-6)
    raw = AutoSVC(standardize=False, random_state=0).fit(X, y)
    np.testing.assert_array_equal(raw.mean_, 0.0)
    np.testing.assert_array_equal(raw.scale_, 1.0)
    assert "not standardised" in raw.explain()


# folds and scores


def test_folds_of_any_kind():
    ready = list(StratifiedKFold(4).split(X, y))
    by_splitter = AutoSVC(cv=StratifiedKFold(4), random_state=0).fit(X, y)
    by_splits = AutoSVC(cv=ready, random_state=3).fit(X, y)
    np.testing.assert_array_equal(probabilities(by_splitter), probabilities(by_splits))
    assert "4 folds" in by_splits.explain()
    repeated = RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0)
    for cv in (repeated, ShuffleSplit(4, test_size=0.3, random_state=0)):
        assert AutoSVC(cv=cv, random_state=0).fit(X, y).score(X, y) > 0.7
    growing = TimeSeriesSplit(3)
    for cv in (growing, repeated):
        for options in ({}, {"criterion": "cv-error", "max_time": 0.2}):
            named = AutoSVC(cv=cv, random_state=0, **options).fit(X, y)
            assert named.score(X, y) > 0.55


@pytest.mark.parametrize(
    "scoring", ["balanced_accuracy", "roc_auc", make_scorer(balanced_accuracy_score)], ids=str
)
def test_scoring_decides_among_finalists(scoring):
    rows, labels = make_classification(
        120, 3, n_redundant=0, weights=[0.8], flip_y=0.1, random_state=1
    )
    plain = AutoSVC(random_state=0).fit(rows, labels)
    scored = AutoSVC(scoring=scoring, random_state=0).fit(rows, labels)
    assert 0.5 < scored.best_score_ < 1.0
    assert "decided among" in scored.explain()
    assert plain.best_score_ < 0  # a log-likelihood


def test_scoring_by_a_function_of_three_classes_with_weights():
    seen = []

    def scoring(model, rows, labels, sample_weight):
        seen.append((len(rows), sample_weight.sum(), isinstance(model, HeldOutModel)))
        assert model.predict_proba(rows).shape == (len(rows), 3)
        return -float(len(seen))  # the first of them wins

    weights = np.arange(75) % 2 + 1.0
    fitted = AutoSVC(scoring=scoring, random_state=0).fit(x3, y3, sample_weight=weights)
    plain = AutoSVC(random_state=0).fit(x3, y3, sample_weight=weights)
    assert fitted.kernel_ == plain.kernel_
    assert fitted.best_score_ == -1.0
    assert 2 <= len(seen) <= 8
    assert set(seen) == {(75, weights.sum(), True)}


def test_scoring_that_cannot_be():
    with pytest.raises(ValueError, match="accuracies"):
        AutoSVC(scoring="accuracies").fit(X, y)
    with pytest.raises(ValueError, match="scoring=3"):
        AutoSVC(scoring=3).fit(X, y)
    with pytest.raises(ValueError, match="all pairs of classes share"):
        AutoSVC(scoring="accuracy", multi_class="ovo-separate").fit(x3, y3)
    with pytest.raises(ValueError, match="takes no sample_weight"):
        AutoSVC(scoring=lambda model, X, y: 0.0).fit(X, y, sample_weight=np.full(60, 2.0))


def test_class_weights():
    rows, labels = make_classification(
        150, 3, n_redundant=0, weights=[0.85], flip_y=0.1, random_state=2
    )
    plain = AutoSVC(random_state=0).fit(rows, labels)
    balanced = AutoSVC(class_weight="balanced", random_state=0).fit(rows, labels)
    assert balanced.predict(rows).mean() > plain.predict(rows).mean()
    share = np.bincount(labels) / len(labels)
    written = AutoSVC(class_weight=dict(enumerate(0.5 / share)), random_state=0).fit(rows, labels)
    np.testing.assert_allclose(written.predict_proba(rows), balanced.predict_proba(rows), rtol=1e-6)
    # the bound of a row is C_ times its class weight
    bound = balanced.C_ * (0.5 / share)[labels[balanced.support_]]
    used = np.abs(balanced.dual_coef_[0]) / bound
    assert used.max() == pytest.approx(1.0, abs=1e-9)
    # a common factor of all class weights is a matter of C alone
    doubled = AutoSVC(class_weight=dict(enumerate(1.0 / share)), random_state=0).fit(rows, labels)
    np.testing.assert_allclose(doubled.C_, written.C_ / 2)
    np.testing.assert_allclose(doubled.predict_proba(rows), written.predict_proba(rows), rtol=1e-9)


# seeds, time, workers, words


def test_the_seed_fixes_the_folds():
    one = AutoSVC(random_state=1).fit(X, y)
    np.testing.assert_array_equal(
        probabilities(one), probabilities(AutoSVC(random_state=1).fit(X, y))
    )
    others = [AutoSVC(random_state=s).fit(X, y).best_score_ for s in range(2, 5)]
    assert len({one.best_score_, *others}) > 1
    drawn = AutoSVC(random_state=np.random.RandomState(0)).fit(X, y)
    assert drawn.score(X, y) > 0.7


def test_time_limit():
    rows, labels = make_classification(400, 30, random_state=0)
    model = AutoSVC(max_time=1e-3, random_state=0).fit(rows, labels)
    assert "stopped early" in model.explain()
    assert len(model.trace_) < 10
    apart = AutoSVC(max_time=1e-3, multi_class="ovo-separate", random_state=0).fit(x3, y3)
    assert apart.score(x3, y3) > 0.5


@pytest.mark.slow  # starting workers is
def test_workers_do_not_change_the_result():
    alone = AutoSVC(multi_class="ovo-separate", random_state=0).fit(x3, y3)
    together = AutoSVC(multi_class="ovo-separate", n_jobs=2, random_state=0).fit(x3, y3)
    np.testing.assert_allclose(alone.predict_proba(x3), together.predict_proba(x3), rtol=1e-9)


def test_warm_start_begins_where_the_last_fit_ended():
    model = AutoSVC(warm_start=True, random_state=0).fit(X, y)
    cold = len(model.trace_)
    model.fit(X, y)
    assert len(model.trace_) < cold
    assert model.score(X, y) > 0.7
    model.fit(x3, y3)  # other columns and classes: from the beginning
    assert len(model.classes_) == 3
    assert len(AutoSVC(random_state=0).fit(X, y).fit(X, y).trace_) == cold


def test_what_is_logged(caplog, capsys):
    with caplog.at_level(logging.INFO, logger="svmselect"):
        AutoSVC(random_state=0).fit(X, y)
        assert not caplog.records
        model = AutoSVC(verbose=2, random_state=0).fit(X, y)
    assert len(caplog.records) == len(model.trace_) + 1
    assert caplog.records[-1].getMessage() == model.explain()
    assert capsys.readouterr() == ("", "")


def test_explanation_in_words():
    names = ["height", "weight", "flat"]
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(np.column_stack([X[:, :2], np.ones(60)]), columns=names)
    text = AutoSVC(random_state=0, ard="yes").fit(frame, y).explain()
    for words in (
        "60 rows",
        "3 inputs",
        "2 classes",
        "C = ",
        "5 folds",
        "evaluations",
        "do not vary: flat",
    ):
        assert words in text
    few = AutoSVC(random_state=0).fit(X[:24], y[:24]).explain()
    assert "fewer than 20 rows" in few
    three = AutoSVC(multi_class="ovo-separate", random_state=0).fit(x3, y3).explain()
    assert "3 pairs of classes, each with hyperparameters of its own" in three


def test_ten_classes():
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(10, 4)) * 3
    labels = np.repeat(np.arange(10), 6)
    rows = centres[labels] + rng.normal(size=(60, 4))
    model = AutoSVC(random_state=0, ard="no", cv=2).fit(rows, labels)
    unseen = centres[labels] + rng.normal(size=(60, 4))
    assert model.score(unseen, labels) > 0.8
    p = model.predict_proba(unseen)
    assert p.shape == (60, 10)
    np.testing.assert_array_equal(p.argmax(axis=1), model.predict(unseen))
    assert model.intercept_.shape == (45,)
    assert model.dual_coef_.shape[0] == 9


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ard": "perhaps"}, "ard='perhaps'"),
        ({"multi_class": "ovr"}, "multi_class='ovr'"),
        ({"decision_function_shape": None}, "decision_function_shape=None"),
        ({"max_time": 0}, "max_time=0"),
        ({"max_time": "1"}, "max_time='1'"),
        ({"loss": "logistic"}, "use AutoKLR"),
        ({"loss": "log"}, "loss='log'"),
        ({"kernel": "sigmoid"}, "not positive definite"),
        ({"kernel": 0.0}, "positive"),
        ({"criterion": "accuracy"}, "accuracy"),
        ({"search": "annealing"}, "annealing"),
        ({"prior": "wide"}, "wide"),
        ({"criterion": "gacv", "search": "lbfgs"}, "follows gradients"),
    ],
    ids=str,
)
def test_options_that_mean_nothing(options, message):
    with pytest.raises(ValueError, match=message):
        AutoSVC(**options).fit(X, y)


def test_the_logistic_machine_has_no_loss_to_choose():
    assert "loss" not in AutoKLR().get_params()
    assert set(AutoSVC().get_params()) - set(AutoKLR().get_params()) == {"loss"}


def test_an_edge_of_the_box_has_a_remedy_that_is_there():
    rng = np.random.default_rng(0)
    noise, coin = rng.normal(size=(30, 2)), rng.integers(2, size=30)
    model = AutoSVC(criterion="radius-margin", search="grid", loss="squared_hinge")
    with pytest.warns(UserWarning, match=r"edge of the search box: C = .* by another criterion"):
        model.fit(noise, coin)
    assert "`svmselect.select`, which takes `bounds`" in model.explain()
