"""Inside scikit-learn's other tools: searches, stacks, thresholds, frozen, routed, with frames."""

import numpy as np
import pandas as pd
import polars
import pytest
import sklearn
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.ensemble import BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, balanced_accuracy_score, make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    StratifiedKFold,
    TunedThresholdClassifierCV,
    cross_val_predict,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from svmselect import AutoClassifier, AutoKLR, AutoSVC

X, y = make_classification(
    120, 4, n_informative=3, n_redundant=0, weights=[0.7], flip_y=0.05, random_state=0
)
Z = np.random.default_rng(0).normal(size=(40, 4)) * 2
FOLDS = StratifiedKFold(3, shuffle=True, random_state=0)
ALL = [AutoClassifier, AutoSVC, AutoKLR]


def quick(cls=AutoSVC, **options):
    return cls(random_state=0, ard="no", max_time=0.3, cv=3, **options)


def test_grid_search():
    grid = {"kernel": ["rbf", "linear"], "loss": ["hinge", "squared_hinge"]}
    search = GridSearchCV(quick(search="auto"), grid, cv=FOLDS, error_score="raise").fit(X, y)
    assert search.best_params_["kernel"] in ("rbf", "linear")
    assert len(search.cv_results_["params"]) == 4
    np.testing.assert_array_equal(
        search.predict(Z), quick(search="auto", **search.best_params_).fit(X, y).predict(Z)
    )
    piped = make_pipeline(SelectKBest(k=3), quick())
    search = GridSearchCV(
        piped, {"selectkbest__k": [2, 4], "autosvc__ard": ["no"]}, cv=2, error_score="raise"
    )
    assert search.fit(X, y).best_score_ > 0.6


@pytest.mark.parametrize("cls", ALL)
def test_stacking(cls):
    named = [("svm", quick(cls)), ("tree", DecisionTreeClassifier(max_depth=2, random_state=0))]
    stack = StackingClassifier(named, LogisticRegression(), cv=FOLDS).fit(X, y)
    columns = stack.transform(X)
    assert columns.shape == (120, 2)
    np.testing.assert_array_equal(columns[:, 0], stack.estimators_[0].predict_proba(X)[:, 1])
    assert stack.score(X, y) > 0.7
    ready = [(name, one.fit(X, y)) for name, one in named]
    frozen = StackingClassifier(ready, LogisticRegression(), cv="prefit").fit(X, y)
    assert frozen.predict_proba(Z).shape == (40, 2)


def test_held_out_probabilities_serve_a_stack():
    """Where a stack would fit again for each of its folds, ours are there."""
    model = AutoSVC(random_state=0, ard="no", cv=FOLDS).fit(X, y)
    again = cross_val_predict(
        AutoSVC(random_state=0, ard="no"), X, y, cv=FOLDS, method="predict_proba"
    )
    ours = model.held_out_proba_[:, 1]
    assert np.corrcoef(ours, again[:, 1])[0, 1] > 0.9
    assert LogisticRegression().fit(ours[:, None], y).score(ours[:, None], y) > 0.75


@pytest.mark.parametrize("cls", ALL)
def test_tuned_threshold(cls):
    tuner = TunedThresholdClassifierCV(quick(cls), scoring="balanced_accuracy", cv=FOLDS)
    tuner.fit(X, y)
    p = tuner.estimator_.predict_proba(Z)[:, 1]
    np.testing.assert_array_equal(tuner.predict(Z), p >= tuner.best_threshold_)
    # on the very same held-out probabilities it finds no better threshold than we do
    own = quick(cls, threshold="balanced_accuracy").fit(X, y)
    held = own.held_out_proba_[:, 1]
    prefit = TunedThresholdClassifierCV(
        FrozenEstimator(Lookup(held).fit(X, y)), scoring="balanced_accuracy", cv="prefit",
        refit=False, thresholds=np.sort(held),
    ).fit(np.arange(120)[:, None], y)  # fmt: skip
    found = balanced_accuracy_score(y, held > own.threshold_)
    assert found == pytest.approx(prefit.best_score_)


class Lookup(LogisticRegression):
    """Gives the probabilities that it was made with, for numbers of rows."""

    def __init__(self, p=None):
        super().__init__()
        self.p = p

    def predict_proba(self, X):
        p = self.p[np.asarray(X)[:, 0].astype(int)]
        return np.column_stack([1.0 - p, p])


@pytest.mark.parametrize("cls", ALL)
def test_frozen(cls):
    model = quick(cls).fit(X[:80], y[:80])
    frozen = FrozenEstimator(model)
    np.testing.assert_array_equal(frozen.fit(X, y).predict(Z), model.predict(Z))
    assert frozen.threshold_ == 0.5
    calibrated = CalibratedClassifierCV(frozen, method="isotonic").fit(X[80:], y[80:])
    assert calibrated.predict_proba(Z).shape == (40, 2)


def test_bagging_voting_and_one_against_rest():
    bag = BaggingClassifier(quick(), n_estimators=2, random_state=0).fit(X, y)
    assert bag.score(X, y) > 0.7
    vote = VotingClassifier([("a", quick()), ("b", quick(AutoKLR))], voting="soft").fit(X, y)
    wanted = np.mean([one.predict_proba(Z) for one in vote.estimators_], axis=0)
    np.testing.assert_allclose(vote.predict_proba(Z), wanted)
    labels = (X[:, 0] > 0.5).astype(int) + y
    assert OneVsRestClassifier(quick()).fit(X, labels).predict_proba(Z).shape == (40, 3)


# metadata routing


def test_weights_and_groups_reach_it_through_searches_and_pipelines():
    weights, groups = 1.0 + np.arange(120) % 2, np.arange(120) // 3
    with sklearn.config_context(enable_metadata_routing=True):
        asking = quick().set_fit_request(sample_weight=True, groups=True)
        piped = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), asking)
        scoring = make_scorer(accuracy_score).set_score_request(sample_weight=True)
        kernels = {"autosvc__kernel": ["rbf"]}
        search = GridSearchCV(
            piped, kernels, scoring=scoring, cv=GroupKFold(3), error_score="raise"
        )
        search.fit(X, y, sample_weight=weights, groups=groups)
        scaled = search.best_estimator_[0].transform(X)
        alone = quick(kernel="rbf").fit(scaled, y, sample_weight=weights, groups=groups)
        found = search.best_estimator_[1]
        np.testing.assert_array_equal(found.held_out_proba_, alone.held_out_proba_)
        plain = quick().fit(scaled, y)
        assert (plain.held_out_proba_ != found.held_out_proba_).any()


@pytest.mark.parametrize("cls", ALL)
def test_routing_asks_for_what_is_to_be_routed(cls):
    with sklearn.config_context(enable_metadata_routing=True):
        assert quick(cls).fit(X, y).predict(Z).shape == (40,)
        pipe = make_pipeline(StandardScaler(), quick(cls))
        with pytest.raises(sklearn.exceptions.UnsetMetadataPassedError, match="sample_weight"):
            pipe.fit(X, y, sample_weight=np.ones(120))
        requests = quick(cls).get_metadata_routing().fit.requests
        assert set(requests) == {"sample_weight", "groups"}


def test_a_stack_routes_weights():
    with sklearn.config_context(enable_metadata_routing=True):
        named = [("svm", quick().set_fit_request(sample_weight=True))]
        final = LogisticRegression().set_fit_request(sample_weight=True)
        weights = 1.0 + 2.0 * y
        stack = StackingClassifier(named, final, cv=FOLDS).fit(X, y, sample_weight=weights)
        alone = quick().fit(X, y, sample_weight=weights)
        np.testing.assert_array_equal(stack.estimators_[0].predict_proba(Z), alone.predict_proba(Z))


# set_output: frames of the steps before


@pytest.mark.parametrize("container", ["pandas", "polars"])
def test_frames_of_the_step_before(container):
    make = {"pandas": pd.DataFrame, "polars": polars.DataFrame}[container]
    frame = make(dict(zip("abcd", X.T, strict=True)))
    new = make(dict(zip("abcd", Z.T, strict=True)))
    piped = make_pipeline(StandardScaler(), quick()).set_output(transform=container)
    piped.fit(frame, y)
    np.testing.assert_array_equal(piped[-1].feature_names_in_, list("abcd"))
    plain = make_pipeline(StandardScaler(), quick()).fit(X, y)
    np.testing.assert_allclose(piped.predict_proba(new), plain.predict_proba(Z), atol=1e-12)
    with sklearn.config_context(transform_output=container):
        again = make_pipeline(StandardScaler(), quick()).fit(frame, y)
        np.testing.assert_array_equal(again.predict(new), piped.predict(new))
        assert isinstance(again.predict(new), np.ndarray)


def test_frames_with_words_in_a_search_and_a_stack():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(e=rng.choice(["u", "v", "w"], 120))
    frame.loc[::7, "a"] = np.nan
    labels = np.where(y + (frame["e"] == "u") > 0, "yes", "no")
    search = GridSearchCV(quick(), {"kernel": ["rbf"]}, cv=FOLDS, error_score="raise")
    assert search.fit(frame, labels).best_score_ > 0.6
    stack = StackingClassifier([("svm", quick())], LogisticRegression(), cv=FOLDS)
    assert stack.fit(frame, labels).score(frame, labels) > 0.7
    tuner = TunedThresholdClassifierCV(quick(), cv=FOLDS, response_method="predict_proba")
    assert set(tuner.fit(frame, labels).predict(frame)) <= {"yes", "no"}
