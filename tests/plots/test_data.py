"""The data behind the plots: criteria found again to the last digits, hills, bins, shares."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import brier_score_loss, log_loss

from plots.conftest import three_classes, two_classes
from svmselect import AutoSVC, score, select
from svmselect.estimators.chosen import OutOfFold
from svmselect.estimators.options import is_default
from svmselect.kernels import RBF, Constant
from svmselect.machine.train import train
from svmselect.plots.data import boundary, scales
from svmselect.plots.data.axes import others, projected, width_label, width_of
from svmselect.plots.data.calibration import calibration_data, codes_of, of_rows
from svmselect.plots.data.criteria import criteria_data
from svmselect.plots.data.hills import lowest_on_the_way, other_hills
from svmselect.plots.data.influence import influence
from svmselect.plots.data.landscape import landscape_data, paths_of
from svmselect.plots.data.levels import BANDS, Levels
from svmselect.plots.data.refit import Refit, criterion_of
from svmselect.plots.data.source import of_refit, of_selection
from svmselect.plots.data.trace import trace_data
from svmselect.priors import Gaussian
from svmselect.probability.recalibration import Recalibration

FITS = ["two", "ard", "logistic", "three", "gacv", "evidence", "linear"]


@pytest.mark.parametrize("name", FITS)
def test_the_criterion_of_a_fit_is_found_again(fits: Any, name: str) -> None:
    model, X, y = fits[name]
    source = of_refit(Refit.of(model, X, y))
    assert source.evaluate(source.point, None)[0] == pytest.approx(model.best_score_, rel=1e-9)
    assert np.exp(source.point[0]) == pytest.approx(model.C_)
    assert (source.criterion, source.greater_is_better) == criterion_of(model)
    # and it is the best the search saw, among what compares with it
    data = landscape_data(source, 3, slices=0)
    sign = 1 if source.greater_is_better else -1
    seen = np.concatenate([path.value for path in data.paths])
    if not is_default(model):  # there a prior has its say
        assert sign * data.best == pytest.approx((sign * seen).max(), rel=1e-9)


def test_pairs_that_chose_apart_are_found_again(fits: Any) -> None:
    model, X, y = fits["separate"]
    refit = Refit.of(model, X, y)
    values = []
    for pair in range(3):
        source = of_refit(refit, pair)
        assert np.exp(source.point[0]) == pytest.approx(model.C_[pair])
        values.append(source.evaluate(source.point, None)[0])
        assert source.records
    assert np.mean(values) == pytest.approx(model.best_score_, rel=1e-6)
    with pytest.raises(ValueError, match="pair=3 is none of the 3 pairs"):
        of_refit(refit, 3)


def test_a_pair_has_its_own_trace_where_labels_begin_alike() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 10], 12)
    X = rng.normal(size=(36, 2)) + y[:, None]
    model = AutoSVC(multi_class="ovo-separate", ard="no", random_state=0).fit(X, y)
    refit = Refit.of(model, X, y)
    seen = [{r.run.partition(": ")[0] for r in of_refit(refit, pair).records} for pair in range(3)]
    assert seen == [{"0 or 1"}, {"0 or 10"}, {"1 or 10"}]


@pytest.mark.parametrize("name", ["two", "three", "logistic", "gacv"])
def test_the_folds_of_a_fit_are_found_again(fits: Any, name: str) -> None:
    model, X, y = fits[name]
    refit = Refit.of(model, X, y)
    found = refit.calibration()
    assert found.error == pytest.approx(model.selection_.error.seen)
    # the sigmoids are the model's: with them the final machines give its probabilities
    decisions = np.empty((len(refit.problem), len(refit.pairs)))
    for p, pair in enumerate(refit.pairs):
        C, kernel = refit.setting().of(p)
        K = kernel(refit.problem.X, refit.problem.X[pair.rows])
        loss, intercept = model.selection_.loss, refit.fit_intercept
        machine = train(
            kernel(refit.problem.X[pair.rows]), pair.y, C, loss, intercept, pair.weights
        )
        decisions[:, p] = K @ machine.beta + machine.intercept
    held = OutOfFold(np.arange(len(decisions)), decisions)
    mine = held.probabilities(refit.sigmoids(), len(model.classes_))
    mine = mine if model.recalibration_ is None else Recalibration(model.recalibration_)(mine)
    assert np.allclose(mine, model.predict_proba(X[refit.problem.first]), atol=1e-7)


def test_the_landscape_is_the_criterion(selection: Any) -> None:
    X, y = two_classes()
    data = landscape_data(of_selection(selection), 5, slices=2)
    assert data.values.shape == (5, 5)
    factor = np.exp(data.log_width[4] - data.at[1])
    kernel = RBF(np.asarray(selection.kernel.length_scale) * factor)
    corner = score(X, y, "likelihood", np.exp(data.log_C[0]), kernel, random_state=0)
    assert data.values[4, 0] == pytest.approx(corner.value, rel=1e-8)
    assert data.values[2, 2] == pytest.approx(selection.value, rel=1e-8)
    one = data.slices[0]
    moved = np.array(selection.kernel.length_scale)
    moved[int(one.name[-2])] = np.exp(one.log_value[0])
    along = score(X, y, "likelihood", selection.C, RBF(moved), random_state=0)
    assert one.value[0] == pytest.approx(along.value, rel=1e-8)
    assert one.value[6] == pytest.approx(selection.value, rel=1e-8)


@pytest.mark.parametrize("name", ["logistic", "ard"])
def test_the_prior_that_decided_is_in_the_landscape(fits: Any, name: str) -> None:
    model, X, y = fits[name]
    source = of_refit(Refit.of(model, X, y))
    assert source.prior is not None
    assert not source.notes
    most = max(r.evaluation.details["folds"] for r in source.records)
    full = [r for r in source.records if r.evaluation.details["folds"] == most]
    if name == "logistic":  # under one prior throughout, so the trace has what is drawn
        chosen = max(full, key=lambda r: -r.loss)
        assert source.evaluate(source.point, None)[0] == pytest.approx(chosen.value)
        for record in full:
            point = record.point + np.eye(len(record.point))[0] * source.shift
            drawn = source.evaluate(point, None)[0]
            assert drawn - chosen.value == pytest.approx(chosen.loss - record.loss, abs=1e-9)
    # no neighbour is better than the choice, of which the criterion alone does not know
    data = landscape_data(source, 3, doublings=(0.1, 0.1), slices=3)
    assert data.with_prior
    assert data.values.max() <= data.best + 0.05 * data.unit
    for one in data.slices:
        assert one.value.max() <= data.best + 0.05 * data.unit


def test_the_prior_of_a_selection_is_in_its_landscape() -> None:
    X, y = two_classes(40)
    chosen = select(X, y, search="lbfgs", prior=Gaussian({"C": (0.5, 0.2)}), random_state=0)
    source = of_selection(chosen)
    for record in chosen.trace:
        drawn = source.evaluate(record.point, None)[0]
        assert drawn - chosen.value == pytest.approx(chosen.record.loss - record.loss, abs=1e-9)


def test_a_landscape_keeps_to_its_time(selection: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = 0.0
    source = of_selection(selection)

    def evaluate(point: Any, warm: Any) -> Any:
        nonlocal clock
        clock += costs[-1]
        return -float(np.square(point - source.point).sum()), None

    slow = replace(source, evaluate=evaluate)
    monkeypatch.setattr("svmselect.plots.data.landscape.time.process_time", lambda: clock)
    sizes, costs = [], [10.0, 0.1, 0.01, 0.004, 1e-4]
    while costs:
        clock = 0.0
        data = landscape_data(slow, seconds=1.0)
        sizes.append((data.values.shape[0], len(data.slices), len(data.slices[0].value)))
        assert clock <= 1.5 or sizes[-1] == (5, 2, 5)
        costs.pop()
    assert sizes[0] == (17, 3, 13)
    assert sizes[-1] == (5, 2, 5)
    assert sizes == sorted(sizes, reverse=True)


def test_the_paths_are_those_of_the_runs(selection: Any) -> None:
    paths = paths_of(of_selection(selection))
    assert [path.run for path in paths] == ["0", "1"]
    for path, run in zip(paths, selection.trace.runs.values(), strict=True):
        assert np.array_equal(path.value, run.values)
        last = np.flatnonzero(path.leading)[-1]
        assert path.value[last] == run.best().value
        assert path.leading[0] == 1


def test_a_landscape_without_a_width() -> None:
    X, y = two_classes(30)
    chosen = select(X, y, kernel=Constant(1.0) * RBF(1.0), search="grid", budget=9, random_state=0)
    data = landscape_data(of_selection(chosen), 3)
    assert data.width == "length scale"
    assert [one.name for one in data.slices] == ["constant.value"]
    with pytest.raises(ValueError, match="3 or more"):
        landscape_data(of_selection(chosen), 2)


@pytest.mark.parametrize(
    ("kernel", "width", "label", "rest"),
    [
        (RBF(1.0), [1], "length scale", []),
        (RBF([1.0, 2.0]), [1, 2], "length scale (mean)", [1, 2]),
        (Constant(1.0) * RBF(1.0) + Constant(0.1), [2], "length scale", [1, 3]),
        (Constant(1.0), [1], "constant.value", []),
    ],
)
def test_axes(kernel: Any, width: list[int], label: str, rest: list[int]) -> None:
    names = ("log C", *kernel.names)
    assert width_of(names) == width
    assert width_label(names) == label
    assert others(names) == rest
    point = np.arange(len(names), dtype=float)
    assert projected(point, names) == (0.0, np.mean(width))
    assert width_of(("log C",)) == []
    assert np.isnan(projected(np.zeros(1), ("log C",))[1])


def surface(*hills: tuple[float, float, float]) -> Any:
    x = np.arange(21.0)
    return sum(h * np.exp(-((x - a) ** 2 + (x[:, None] - b) ** 2) / 10) for a, b, h in hills)


def test_hills_that_are_apart_and_bumps_that_are_not() -> None:
    assert other_hills(surface((10, 10, 1)), (10, 10)) == []
    assert other_hills(surface((5, 5, 1), (15, 15, 0.8)), (5, 5)) == [(15, 15)]
    # from the lower one the higher is the other
    assert other_hills(surface((5, 5, 1), (15, 15, 0.8)), (15, 15)) == [(5, 5)]
    # two tops of one hill, a slope, the edge, and what is no number
    assert other_hills(surface((9, 10, 1), (11, 10, 1)), (10, 9)) == []
    assert other_hills(surface((10, 10, 1)), (10, 6)) == []
    assert other_hills(surface((5, 5, 1), (20, 20, 0.8)), (5, 5)) == []
    holed = surface((5, 5, 1), (15, 15, 0.8))
    holed[0, 0] = np.nan
    assert other_hills(holed, (5, 5)) == [(15, 15)]
    assert other_hills(np.zeros((5, 5)), (2, 2)) == []
    # too small a difference to mean anything
    assert other_hills(surface((5, 5, 1), (15, 15, 0.8)), (5, 5), least=0.9) == []


def test_a_unit_is_one_of_log_likelihood_or_one_row(fits: Any, selection: Any) -> None:
    assert of_selection(selection).unit == pytest.approx(1 / 60)
    model, X, y = fits["two"]
    assert of_refit(Refit.of(model, X, y)).unit == pytest.approx(1 / 60)
    model, X, y = fits["three"]
    assert of_refit(Refit.of(model, X, y)).unit == pytest.approx(1 / 75)
    counted = select(*two_classes(), criterion="cv-error", search="grid", budget=4, random_state=0)
    assert of_selection(counted).unit == pytest.approx(1 / 60)


def test_the_way_that_keeps_highest_against_brute_force() -> None:
    rng = np.random.default_rng(0)
    heights = rng.normal(size=(6, 7))
    way = lowest_on_the_way(heights, (0, 0))
    for level in np.sort(heights.ravel()):
        reached = np.zeros(heights.shape, dtype=bool)
        reached[0, 0] = heights[0, 0] >= level
        for _ in range(heights.size):
            grown = np.pad(reached, 1)
            near = sum(grown[a : a + 6, b : b + 7] for a in range(3) for b in range(3)) > 0
            reached |= near & (heights >= level)
        assert np.array_equal(way >= level, reached)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_bands_are_narrow_near_the_best(sign: float) -> None:
    values = sign * np.linspace(-3.0, 0.0, 50)
    levels = Levels.of(values, sign > 0)
    assert levels.best == 0.0
    assert np.all(np.diff(levels.edges, 2) > 0)
    bands = [levels.band(v) for v in values]
    assert bands == sorted(bands)
    assert (bands[0], bands[-1]) == (0, BANDS - 1)
    assert levels.band(np.nan) == 0
    assert Levels.of(np.full(3, 2.0), True).band(2.0) == BANDS - 1


def test_the_best_so_far_counts_rough_values_apart(fits: Any) -> None:
    model = fits["two"][0]
    data = trace_data(tuple(model.trace_), "likelihood", True)
    assert 0 < data.rough.sum() < len(data.rough)
    for rough in (0, 1):
        at = np.flatnonzero(data.rough == rough)
        assert np.array_equal(data.best[at], np.maximum.accumulate(data.value[at]))
    assert data.best[data.rough == 0][-1] >= model.best_score_ - 1e-9
    with pytest.raises(ValueError, match="the trace is empty"):
        trace_data((), "likelihood", True)


def test_the_trace_of_a_selection(selection: Any) -> None:
    data = trace_data(tuple(selection.trace), "likelihood", True)
    assert data.runs == ("0", "1")
    assert np.array_equal(data.value, selection.trace.values)
    assert not data.rough.any()
    assert data.width == "length scale (mean)"


def test_calibration_counts_every_row_once() -> None:
    rng = np.random.default_rng(0)
    p = rng.random(400)
    y = (rng.random(400) < p).astype(int)
    both = np.column_stack([1 - p, p])
    data = calibration_data(both, y, np.array(["a", "b"]), "rows", bins=8)
    assert data.count.sum() == data.rows == 400
    assert data.count.min() >= 49
    assert data.label == "b"
    assert data.observed @ data.count == pytest.approx(y.sum())
    assert data.predicted @ data.count == pytest.approx(p.sum())
    # probabilities that are true: the intervals hold them, 95 of 100 times
    assert np.mean((data.low <= data.predicted) & (data.predicted <= data.high)) >= 0.75
    assert data.log_loss == pytest.approx(log_loss(y, both))
    assert data.brier == pytest.approx(brier_score_loss(y, p))


def test_calibration_of_three_classes_is_of_the_predicted_one(fits: Any) -> None:
    model, X, y = fits["three"]
    data = of_rows(model, X, y, bins=4)
    right = model.predict(X) == y
    assert data.label == "the predicted class"
    assert data.observed @ data.count == pytest.approx(right.sum())
    assert data.error == pytest.approx(1 - right.mean())
    gaps = model.predict_proba(X) - (y[:, None] == model.classes_)
    assert data.brier == pytest.approx((gaps**2).sum(axis=1).mean())  # scikit-learn's, from 1.7 on
    with pytest.raises(ValueError, match=r"label 9 in row 1 is no class"):
        of_rows(model, X[:2], [1, 9])


def test_calibration_of_certain_answers() -> None:
    p = np.repeat([[1.0, 0.0], [0.0, 1.0]], 20, axis=0)
    data = calibration_data(p, np.repeat([0, 1], 20), np.array([0, 1]), "rows")
    assert data.count.tolist() == [20, 20]
    assert data.observed.tolist() == [0.0, 1.0]
    assert data.log_loss == 0.0


def test_codes_of_labels() -> None:
    assert codes_of(["b", "a"], np.array(["a", "b"])).tolist() == [1, 0]
    with pytest.raises(ValueError, match="'c' in row 0"):
        codes_of(["c"], np.array(["a", "b"]))


def test_scales_of_a_fit_and_of_a_selection(fits: Any, selection: Any) -> None:
    model, X, _ = fits["ard"]
    data = scales.of_estimator(model, ["a", "b", "c"], X)
    assert data.separate
    assert np.array_equal(data.relevance, model.feature_importances_)
    assert np.allclose(data.length_scale, model.length_scale_)
    assert data.influence.argmax() == 0
    chosen = scales.of_selection(selection)
    assert chosen.names == ("input 0", "input 1", "input 2")
    lengths = np.array(selection.kernel.length_scale)
    share = (X.std(axis=0) / lengths) ** 2
    assert np.allclose(chosen.relevance, share / share.sum())
    assert np.isnan(chosen.influence).all()
    linear = scales.of_estimator(fits["linear"][0])
    assert np.isnan(linear.length_scale).all()
    assert not linear.separate
    with pytest.raises(ValueError, match="names has 2 entries but there are 3 inputs"):
        scales.of_estimator(model, ["a", "b"])


def test_influence_sees_what_the_machine_looks_at() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    X[:, 2] = 7.0
    y = X[:, 0] > 0
    model = AutoSVC(random_state=0, ard="no").fit(X, y)
    moved = influence(model, X)
    assert moved[0] > 3 * moved[1] > 0
    assert moved[2] == 0.0
    assert (moved <= 1).all()
    # by hand for one input
    order = np.random.default_rng(0)
    order.permutation(80)
    changed = X.copy()
    changed[:, 0] = order.permutation(X[:, 0])
    by_hand = np.abs(model.predict_proba(changed) - model.predict_proba(X)).sum(axis=1).mean() / 2
    assert moved[0] == pytest.approx(by_hand)


def test_criteria_along_a_parameter(selection: Any) -> None:
    X, y = two_classes()
    names = ["likelihood", "xi-alpha", "laplace"]
    data = criteria_data(of_selection(selection), names, "C", points=5)
    assert [curve.name for curve in data.curves] == ["likelihood", "xi-alpha"]
    assert [name for name, _ in data.left_out] == ["laplace"]
    first, second = data.curves
    there = score(X, y, "xi-alpha", np.exp(data.log_value[1]), selection.kernel)
    assert second.value[1] == pytest.approx(there.value)
    for curve, sign in ((first, 1), (second, -1)):
        assert (curve.merit.max(), curve.merit.min()) == (1.0, 0.0)
        assert (curve.merit.argmax()) == (sign * curve.value).argmax()
    wide = criteria_data(of_selection(selection), ["likelihood"], "width", points=3)
    assert wide.parameter == "length scale (mean)"
    assert wide.curves[0].value[1] == pytest.approx(selection.value)
    with pytest.raises(ValueError, match="neither 'C' nor 'width'"):
        criteria_data(of_selection(selection), names, "gamma")
    with pytest.raises(ValueError, match=r"no criterion serves.*laplace"):
        criteria_data(of_selection(selection), ["laplace"])


def test_the_boundary_is_the_models(fits: Any, selection: Any) -> None:
    model, X, y = fits["two"]
    data = boundary.of_estimator(model, X, y, (2, 0), size=7)
    row = np.median(X, axis=0)
    row[2], row[0] = data.x[5], data.y[1]
    assert np.allclose(data.values[1, 5], model.predict_proba(row[None])[0])
    assert data.names == ("input 2", "input 0")
    guessed = boundary.of_estimator(model, X, None, (0, 1), size=3)
    assert np.array_equal(model.classes_[guessed.codes], model.predict(X))
    assert data.x[0] < X[:, 2].min() < X[:, 2].max() < data.x[-1]
    chosen = boundary.of_selection(selection, ("b", "c"), ["a", "b", "c"], size=5)
    assert not chosen.probabilities
    row = np.median(X, axis=0)
    row[1], row[2] = chosen.x[0], chosen.y[4]
    there = selection.decision_function(row[None])[0] - selection.threshold
    assert chosen.values[4, 0, 0] == pytest.approx(there)


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ((0, 0), "two different inputs"),
        ((0, 1, 2), "two different inputs"),
        ((0, 7), "input 7 is none of the 3"),
        (("a", "q"), "no input is called 'a'"),
    ],
)
def test_inputs_that_are_none(fits: Any, inputs: Any, message: str) -> None:
    model, X, y = fits["two"]
    with pytest.raises(ValueError, match=message):
        boundary.of_estimator(model, X, y, inputs)


def test_rows_and_labels_must_agree(fits: Any) -> None:
    model, X, y = fits["two"]
    with pytest.raises(ValueError, match="60 rows and y 59 labels"):
        Refit.of(model, X, y[:-1])


def test_a_sample_of_many_rows_keeps_the_classes(fits: Any) -> None:
    X, y = three_classes(40)
    model = fits["three"][0]
    refit = Refit.of(model, X, y, most=50)
    assert refit.sampled
    assert refit.rows == 120
    assert 39 <= len(refit.problem) <= 50
    counts = np.bincount(refit.problem.codes)
    assert counts.max() - counts.min() <= 1
    assert any("sample" in note for note in of_refit(refit).notes)


@pytest.mark.parametrize("name", ["two", "three", "logistic", "gacv"])
def test_a_fit_has_not_forgotten_what_its_folds_said(
    fits: Any, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, X, y = fits[name]
    again = pickle.loads(pickle.dumps(model))  # which has: neither rows nor folds are kept
    anew = Refit.of(again, X, y).calibration()
    refit = Refit.of(model, X, y)
    assert refit.problem is model.selection_.problem
    monkeypatch.setattr("svmselect.plots.data.refit.hold_out", None)
    kept = refit.calibration()
    assert kept.error == pytest.approx(model.selection_.error.seen)
    assert kept.error == pytest.approx(anew.error, abs=0.02)
    # other rows, or the same in another order, are not taken for those it knows
    assert Refit.of(model, X[::-1], y[::-1]).problem is not model.selection_.problem
