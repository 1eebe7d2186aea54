"""Held-out probabilities by row, thresholds made of them, prediction sets."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError
from sklearn.metrics import balanced_accuracy_score, f1_score, make_scorer
from sklearn.model_selection import KFold, ShuffleSplit, TunedThresholdClassifierCV
from sklearn.svm import SVC

import svmselect
from svmselect import AutoKLR, AutoSVC
from svmselect.probability import fit_sigmoid, sigmoid_probability

X, y = make_classification(
    150, 4, n_informative=3, n_redundant=0, weights=[0.75], flip_y=0.05, class_sep=0.8,
    random_state=0,
)  # fmt: skip
X3, y3 = make_classification(
    150, 4, n_informative=3, n_redundant=0, n_classes=3, weights=[0.7, 0.2], random_state=1
)
names = np.array(["a", "b", "c"])
Z = np.random.default_rng(0).normal(size=(50, 4)) * 2


def fitted(cls=AutoSVC, rows=(X, y), **options):
    given = {name: options.pop(name) for name in ("sample_weight", "groups") if name in options}
    return cls(random_state=0, ard="no", **options).fit(*rows, **given)


@pytest.fixture(scope="module")
def model():
    return fitted()


@pytest.fixture(scope="module")
def three():
    return fitted(rows=(X3, names[y3]))


def with_copies():
    """A fit to rows of which some come three times, one to weights, and the rows."""
    copies = np.where(np.arange(150) % 5 == 0, 3, 1)
    rows = np.repeat(np.arange(150), copies)
    folds = list(KFold(5, shuffle=True, random_state=1).split(X))
    again = [tuple(np.flatnonzero(np.isin(rows, part)) for part in fold) for fold in folds]
    repeated = fitted(rows=(X[rows], y[rows]), cv=again)
    return repeated, fitted(sample_weight=copies.astype(float), cv=folds), rows


# held-out probabilities


def test_held_out_probabilities_are_those_of_machines_that_did_not_see_the_rows():
    cv = KFold(5, shuffle=True, random_state=1)
    model = fitted(cv=cv)
    held = np.full(len(y), np.nan)
    scaled = (X - model.mean_) / model.scale_
    gamma = 0.5 / model.length_scale_**2
    for train, test in cv.split(X):
        C = model.C_ * len(y) / len(train)  # the penalty a row stays what it is
        machine = SVC(C=C, gamma=gamma, tol=1e-10).fit(scaled[train], y[train])
        held[test] = machine.decision_function(scaled[test])
    slope, offset = fit_sigmoid(held, np.where(y == 1, 1.0, -1.0), targets="platt")
    wanted = sigmoid_probability(held, slope, offset)
    np.testing.assert_allclose(model.held_out_proba_[:, 1], wanted, atol=1e-4)
    np.testing.assert_allclose(model.held_out_proba_.sum(axis=1), 1.0)


@pytest.mark.parametrize("cls", [AutoSVC, AutoKLR])
def test_their_error_is_what_the_expected_error_was_made_of(cls, three):
    for model, labels in ((fitted(cls), y), (three, names[y3])):
        told = model.classes_[model.held_out_proba_.argmax(axis=1)]
        assert (told != labels).mean() == pytest.approx(model.selection_.error.seen)
        assert model.held_out_proba_.shape == (150, len(model.classes_))


def test_they_stand_in_the_order_of_the_rows(three):
    order = np.random.default_rng(1).permutation(150)
    shuffled = fitted(rows=(X3[order], names[y3][order]))
    np.testing.assert_array_equal(shuffled.held_out_proba_, three.held_out_proba_[order])


def test_equal_rows_share_theirs():
    repeated, weighed, rows = with_copies()
    assert len(repeated.selection_.problem) == 150
    np.testing.assert_array_equal(repeated.held_out_proba_, weighed.held_out_proba_[rows])


def test_rows_without_weight_have_none():
    weights = np.where(np.arange(150) % 4 == 0, 0.0, 1.0)
    there = weights > 0
    part = fitted(sample_weight=weights)
    alone = fitted(rows=(X[there], y[there]))
    assert np.isnan(part.held_out_proba_[~there]).all()
    np.testing.assert_array_equal(part.held_out_proba_[there], alone.held_out_proba_)


def test_rows_that_cv_never_holds_out_have_none():
    cv = ShuffleSplit(3, test_size=0.2, random_state=0)
    model = fitted(cv=cv)
    held = np.unique(np.concatenate([test for _, test in cv.split(X)]))
    np.testing.assert_array_equal(np.flatnonzero(~np.isnan(model.held_out_proba_[:, 0])), held)


@pytest.mark.parametrize(
    "options",
    [
        {"scoring": "roc_auc"},
        {"criterion": "gacv", "max_time": 0.1},
        {"probability": "posterior"},
        {"class_weight": "balanced"},
        {"max_time": 1e-9},
    ],
    ids=lambda options: next(iter(options)),
)
@pytest.mark.filterwarnings("ignore:the result lies on")  # where so little time is enough for that
def test_every_way_to_choose_has_them(options):
    model = fitted(**options)
    held = model.held_out_proba_
    assert not np.isnan(held).any()
    kept = model.selection_.held_out
    np.testing.assert_allclose(np.sort(held[:, 1]), np.sort(kept.probabilities[:, 1]), rtol=1e-12)


# thresholds


def test_the_threshold_is_the_best_of_the_held_out_rows(model):
    tuned = fitted(threshold="balanced_accuracy")
    p = tuned.held_out_proba_[:, 1]
    np.testing.assert_array_equal(p, model.held_out_proba_[:, 1])
    told = p > tuned.threshold_
    value = balanced_accuracy_score(y, told)
    assert value == max(balanced_accuracy_score(y, p > cut) for cut in p)
    assert value > balanced_accuracy_score(y, p > 0.5)
    (note,) = [n for n in tuned.selection_.notes if "balanced_accuracy" in n]
    assert f"{value:.4g} on held-out rows" in note
    assert note in tuned.explain()
    # the fit is the same, and so are the probabilities; predictions are not
    np.testing.assert_array_equal(tuned.predict_proba(Z), model.predict_proba(Z))
    np.testing.assert_array_equal(tuned.predict(Z), tuned.predict_proba(Z)[:, 1] > tuned.threshold_)
    assert (tuned.predict(Z) != model.predict(Z)).any()
    assert model.threshold_ == 0.5


@pytest.mark.parametrize("name", ["balanced_accuracy", "f1"])
def test_it_serves_new_rows_as_scikit_learns_tuner_does(name):
    data, labels = make_classification(
        1200,
        5,
        n_informative=4,
        n_redundant=0,
        weights=[0.8],
        flip_y=0.05,
        class_sep=0.7,
        random_state=3,
    )
    rows, rest = slice(None, 300), slice(300, None)
    metric = {"balanced_accuracy": balanced_accuracy_score, "f1": f1_score}[name]
    ours = fitted(threshold=name, rows=(data[rows], labels[rows]))
    plain = fitted(rows=(data[rows], labels[rows]))
    tuner = TunedThresholdClassifierCV(clone(plain), scoring=name, cv=3, random_state=0)
    tuner.fit(data[rows], labels[rows])
    found, theirs, before = (
        metric(labels[rest], one.predict(data[rest])) for one in (ours, tuner, plain)
    )
    assert abs(found - theirs) < 0.03
    assert found > before
    assert abs(ours.threshold_ - tuner.best_threshold_) < 0.15


def test_costs_decide_by_the_expected_cost(three):
    costs = np.array([[0.0, 1.0, 1.0], [5.0, 0.0, 1.0], [9.0, 9.0, 0.0]])
    careful = fitted(rows=(X3, names[y3]), threshold=costs)
    p = careful.predict_proba(Z)
    np.testing.assert_array_equal(p, three.predict_proba(Z))
    np.testing.assert_array_equal(careful.predict(Z), names[(p @ costs).argmin(axis=1)])
    np.testing.assert_array_equal(careful.threshold_, -costs)
    listed = fitted(threshold=[[0, 1], [4, 0]])
    assert listed.threshold_ == pytest.approx(0.2)
    np.testing.assert_array_equal(listed.predict(Z), listed.predict_proba(Z)[:, 1] > 0.2)
    held = listed.held_out_proba_[:, 1] > 0.2
    paid = np.where(y == 1, 4.0 * ~held, 1.0 * held).mean()
    assert f"a held-out row costs {paid:.4g}" in listed.explain()


def test_three_classes_have_a_threshold_each(three):
    tuned = fitted(rows=(X3, names[y3]), threshold="balanced_accuracy")
    assert tuned.threshold_.shape == (3, 3)
    np.testing.assert_array_equal(three.threshold_, np.eye(3))
    wanted = names[(tuned.predict_proba(Z) @ tuned.threshold_).argmax(axis=1)]
    np.testing.assert_array_equal(tuned.predict(Z), wanted)
    held = tuned.held_out_proba_
    value = balanced_accuracy_score(names[y3], names[(held @ tuned.threshold_).argmax(axis=1)])
    assert value > balanced_accuracy_score(names[y3], names[held.argmax(axis=1)])


def test_which_class_is_positive():
    tuned = fitted(threshold="f1")
    words = fitted(rows=(X, np.array(["no", "yes"])[y]), threshold="f1")
    assert words.threshold_ == tuned.threshold_  # the second class
    one_two = fitted(rows=(X, 2 - y), threshold="f1")  # 1 is the label, so it is the first class
    p = one_two.held_out_proba_[:, 1]
    best = max(f1_score(y == 1, ~(p > cut)) for cut in p)
    assert f1_score(y == 1, ~(p > one_two.threshold_)) == pytest.approx(best)
    no = make_scorer(f1_score, pos_label="no")
    other = fitted(rows=(X, np.array(["no", "yes"])[y]), threshold=no)
    p = other.held_out_proba_[:, 1]
    best = max(f1_score(y == 0, ~(p > cut)) for cut in p)
    assert f1_score(y == 0, ~(p > other.threshold_)) == pytest.approx(best)


def test_a_metric_without_weights():
    def right(truth, told):
        return float((truth == told).mean() + 0.1 * told.mean())

    scorer = make_scorer(right)
    tuned = fitted(threshold=scorer)
    p = tuned.held_out_proba_[:, 1]
    best = max(right(y, p > cut) for cut in p)
    assert right(y, p > tuned.threshold_) == pytest.approx(best)
    with pytest.raises(ValueError, match="takes no sample_weight"):
        fitted(threshold=scorer, sample_weight=np.full(150, 0.7))


@pytest.mark.parametrize(
    ("threshold", "said"),
    [
        ("balanced_acuracy", "'balanced_acuracy' is not the name of a scorer; did you mean 'bal"),
        ("roc_auc", "this one asks for probabilities"),
        ("neg_log_loss", "this one asks for probabilities"),
        (0.3, "threshold=0.3 is not 'argmax', the name of a metric"),
        (None, "threshold=None is not 'argmax'"),
        ([[0, 1, 1], [1, 0, 1]], r"2 classes need one of \(2, 2\)"),
    ],
)
def test_thresholds_that_mean_nothing_are_refused_before_the_search(threshold, said, monkeypatch):
    def searched(*arguments):
        raise AssertionError("the search has begun")

    monkeypatch.setattr(AutoSVC, "_choose", searched)
    with pytest.raises(ValueError, match=said):
        AutoSVC(threshold=threshold).fit(X, y)


def test_f1_of_three_classes_is_refused():
    with pytest.raises(ValueError, match="average"):
        AutoSVC(threshold="f1").fit(X3, y3)


def test_the_threshold_is_exported():
    careful = fitted(threshold=[[0, 1], [4, 0]])
    plain = careful.to_sklearn()
    np.testing.assert_array_equal(plain.predict(Z), careful.predict(Z))
    assert (plain.predict(Z) != (careful.decision_function(Z) > 0)).any()
    many = fitted(rows=(X3, names[y3]), threshold="balanced_accuracy", max_time=0.1)
    with pytest.raises(ValueError, match="votes, which know no threshold"):
        many.to_sklearn()


# prediction sets


@pytest.mark.parametrize("alpha", [0.05, 0.1, 0.3])
def test_sets_hold_the_true_class_of_held_out_rows(three, alpha):
    truth = three._given[0]  # of their own classes, allowing for the choice: see test_optimism
    assert abs(truth.mean() - three.held_out_proba_[np.arange(150), y3].mean()) < 0.02
    p = three.predict_proba(Z)
    found = three.predict_set(Z, alpha)
    assert found.shape == (50, 3)
    assert found.dtype == np.bool_
    k = int(alpha * 151)
    least = np.sort(truth)[k - 1]
    wanted = p >= least
    wanted[np.arange(50), p.argmax(axis=1)] = True
    np.testing.assert_array_equal(found, wanted)


def test_sets_grow_as_less_may_be_missed(three):
    sizes = [three.predict_set(Z, alpha).sum() for alpha in (0.5, 0.2, 0.1, 0.05, 0.001)]
    assert sizes == sorted(sizes)
    assert sizes[-1] == 150  # with 150 rows nothing can be said about one in a thousand
    np.testing.assert_array_equal(three.predict_set(Z), three.predict_set(Z, alpha=0.1))


def test_coverage_of_new_rows():
    """By simulation: of new rows at least 1 - alpha, on average over training sets."""
    covered, size = [], []
    for seed in range(12):
        data, labels = make_classification(
            1100, 4, n_informative=3, n_redundant=0, flip_y=0.1, class_sep=0.7, random_state=seed
        )
        model = fitted(rows=(data[:100], labels[:100]), max_time=0.3)
        sets = model.predict_set(data[100:], alpha=0.1)
        covered.append(sets[np.arange(1000), labels[100:]].mean())
        size.append(sets.sum(axis=1).mean())
    spread = np.std(covered) / np.sqrt(12)
    assert np.mean(covered) > 0.9 - 2.0 * spread
    assert np.mean(size) < 1.8


def test_weights_count_as_copies_in_sets():
    repeated, weighed, _ = with_copies()
    np.testing.assert_array_equal(repeated.predict_set(Z), weighed.predict_set(Z))


def test_they_refuse_what_they_cannot_do():
    with pytest.raises(NotFittedError):
        AutoSVC().predict_set(Z)
    with pytest.raises(ValueError, match=r"alpha=1\.5 must be"):
        fitted(max_time=1e-9).predict_set(Z, 1.5)


def test_decisions_survive_files(tmp_path):
    for options in ({"threshold": "f1"}, {"threshold": [[0, 1], [3, 0]]}):
        model = fitted(**options)
        svmselect.save(model, tmp_path / "model")
        for other in (svmselect.load(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
            np.testing.assert_array_equal(other.predict(Z), model.predict(Z))
            np.testing.assert_array_equal(other.predict_set(Z, 0.2), model.predict_set(Z, 0.2))
            np.testing.assert_array_equal(other.held_out_proba_, model.held_out_proba_)
            assert other.threshold_ == model.threshold_
