"""``select`` from end to end: results, limits, refusals, warnings, checkpoints."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from svmselect import score, select
from svmselect.criteria import get_criterion
from svmselect.criteria.alignment import Alignment
from svmselect.criteria.base import Context, Verdict
from svmselect.datasets.toys import half_relevant
from svmselect.kernels import RBF, Constant, Linear, Polynomial
from svmselect.machine import solve
from svmselect.priors import Box, Gaussian
from svmselect.search import get_search
from svmselect.search.run import Progress
from svmselect.search.trace import Trace

X, Y = half_relevant(60, 1)
X = X[:, :4]
ARD = RBF([2.0] * 4)


def lines(path: Path) -> list[dict[str, Any]]:
    """Evaluations of a checkpoint without their times, in an order that workers do not change."""
    found = [json.loads(line) for line in path.read_text().splitlines()[1:]]
    for fields in found:
        del fields["seconds"]
    return sorted(found, key=lambda fields: (fields["run"], fields["index"]))


def test_the_best_of_the_trace_is_what_is_given() -> None:
    found = select(X, Y, "likelihood", "irprop", ARD, random_state=0)
    best = max(found.trace, key=lambda record: record.value)
    assert found.value == best.value
    assert np.log(found.C) == pytest.approx(best.point[0], abs=1e-14)
    np.testing.assert_allclose(found.kernel.theta, best.point[1:], rtol=1e-14)
    again = score(X, Y, "likelihood", found.C, found.kernel, random_state=0)
    assert again.value == pytest.approx(found.value, rel=1e-9)
    machine = solve(found.kernel(X), Y, found.C)
    np.testing.assert_allclose(found.solution.decision, machine.decision, atol=1e-8)
    np.testing.assert_allclose(found.decision_function(X), machine.decision, atol=1e-8)
    assert found.status.name == "converged"
    assert found.names == ("log C", *ARD.names)


@pytest.mark.parametrize(
    ("criterion", "search", "kernel"),
    [
        ("cv-error", "cma-es", "rbf"),
        ("cv-error", "grid", "rbf"),
        ("gacv", "random-walk", "rbf"),
        ("loo-error", "coordinate", "rbf"),
        ("likelihood", "lbfgs", ARD),
        ("likelihood", "gradient-ascent", "rbf"),
        ("kric", "auto", "rbf"),
        ("alignment", "irprop", ARD),
    ],
)
def test_no_search_ends_worse_than_it_began(criterion: str, search: str, kernel: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # alignment does not depend on C, and so on
        found = select(X, Y, criterion, search, kernel, random_state=0, budget=40)
    better = get_criterion(criterion).greater_is_better
    first = found.trace[0].value
    assert found.value >= first if better else found.value <= first
    assert len(found.trace) <= 40


def test_fixed_point_ends_where_kwok_does() -> None:
    """At the end lambda = gamma / (2 E_W), KW eq. 9."""
    found = select(X, Y, "kwok", "fixed-point", RBF(2.0))
    details = score(X, Y, "kwok", found.C, found.kernel).details
    assert found.status.name == "converged"
    assert np.log(found.C) == pytest.approx(np.log(details["next_C"]), abs=2e-3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the best kernel may be the widest of the five
        sweep = select(X, Y, "kwok", get_search("fixed-point", size=5), RBF(2.0))
    ends = {}
    for record in sweep.trace:
        ends[record.point[1]] = record
    details = [r.evaluation.details for r in ends.values()]
    level3 = [d["value"] - 0.5 * np.log(d["effective_parameters"]) for d in details]
    assert len(level3) == 5
    assert sweep.kernel.theta[0] == pytest.approx(list(ends)[int(np.argmax(level3))])


def test_a_prior_is_added_to_the_total() -> None:
    prior = Gaussian({"C": (0.5, 0.1), "rbf.length_scale": (0.2, 0.1)})
    found = select(X, Y, "likelihood", "lbfgs", "rbf", prior=prior, random_state=0)
    for record in found.trace:
        log_pi = -0.5 * (((record.point - [0.5, 0.2]) / 0.1) ** 2).sum()
        total = len(Y) * record.value + log_pi
        assert record.loss == pytest.approx(-total / len(Y), rel=1e-12)
    free = select(X, Y, "likelihood", "lbfgs", "rbf", random_state=0)
    assert np.abs(found.point - [0.5, 0.2]).max() < np.abs(free.point - [0.5, 0.2]).max()


def test_a_box_is_not_left() -> None:
    box = Box({"rbf.length_scale": (-2.0, -1.0)})
    with pytest.warns(
        UserWarning, match=r"upper edge of the search box: rbf.length_scale = 0.3679"
    ):
        found = select(X, Y, "likelihood", "irprop", "rbf", prior=box)
    assert all(-2.0 <= record.point[1] <= -1.0 for record in found.trace)


def test_an_edge_is_named() -> None:
    bounds = {"rbf.length_scale": (0.5, 0.8), "C": (1e-3, 1e3)}
    with pytest.warns(UserWarning, match=r"upper edge of the search box: rbf.length_scale = 0.8"):
        found = select(X, Y, "likelihood", "irprop", "rbf", bounds=bounds, random_state=0)
    edges = [str(note) for note in found.notes if note.kind == "edge"]
    assert len(edges) == 1
    assert "rbf.length_scale = 0.8" in edges[0]
    assert "widen `bounds`" in edges[0]


def test_bounds_that_were_not_given_cannot_be_widened() -> None:
    rng = np.random.default_rng(0)
    noise, coin = rng.normal(size=(30, 2)), rng.integers(2, size=30)
    with pytest.warns(UserWarning, match="give `bounds` that reach further"):
        select(noise, coin, "radius-margin", "grid", loss="squared_hinge")


def test_an_input_without_influence_is_no_edge() -> None:
    rng = np.random.default_rng(3)
    inputs = rng.normal(size=(80, 3))
    labels = np.where(np.sin(2.0 * inputs[:, 0]) + 0.4 * rng.normal(size=80) > 0, 1, -1)
    bounds = {"rbf.length_scale": (0.01, 4.0), "C": (1e-3, 1e3)}
    found = select(inputs, labels, "likelihood", "lbfgs", RBF([1.0] * 3), bounds=bounds)
    (message,) = [m for m in found.notes if m.startswith("without influence")]
    assert "rbf.length_scale[0]" not in message
    assert "rbf.length_scale[1] = 4" in message


def test_several_starts_and_their_optima() -> None:
    found = select(X, Y, "likelihood", "irprop", ARD, n_starts=4, random_state=0)
    assert len(found.outcomes) == 4
    ends = [outcome.best.loss for outcome in found.outcomes]
    assert found.record.loss == min(ends)
    assert found.optima[0].loss == min(ends)
    losses = [record.loss for record in found.optima]
    assert losses == sorted(losses)
    for better, worse in zip(found.optima, found.optima[1:], strict=False):
        line = [
            found.posterior(better.point + t * (worse.point - better.point), False, None)[0].value
            for t in np.linspace(0, 1, 25)
        ]
        assert max(line) > worse.loss


def test_seeds_reproduce_and_matter() -> None:
    one, two, other = (
        select(X, Y, "cv-error", "cma-es", "rbf", random_state=seed, budget=30)
        for seed in (5, 5, 6)
    )
    assert [r.point.tolist() for r in one.trace] == [r.point.tolist() for r in two.trace]
    assert one.trace[5].point.tolist() != other.trace[5].point.tolist()


def test_workers_do_not_change_the_result(tmp_path: Path) -> None:
    settings: dict[str, Any] = {
        "criterion": "likelihood", "search": "irprop", "kernel": ARD, "n_starts": 3,
        "random_state": 0, "budget": 60,
    }  # fmt: skip
    one = select(X, Y, **settings, checkpoint=tmp_path / "one")
    two = select(X, Y, **settings, checkpoint=tmp_path / "two", n_jobs=2)
    assert lines(tmp_path / "one") == lines(tmp_path / "two")
    assert one.point.tolist() == two.point.tolist()
    np.testing.assert_array_equal(one.solution.beta, two.solution.beta)
    assert [r.run for r in one.trace] == [r.run for r in two.trace]


KILLED = """
import os, signal, sys
import numpy as np
from svmselect import select
from svmselect.datasets.toys import half_relevant
from svmselect.kernels import RBF

def callback(progress):
    if progress.evaluations == int(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)

if __name__ == "__main__":
    X, y = half_relevant(60, 1)
    select(X[:, :4], y, kernel=RBF([2.0] * 4), callback=callback, checkpoint=sys.argv[1],
           random_state=0, **eval(sys.argv[3]))
"""


@pytest.mark.parametrize(
    ("settings", "count"),
    [
        ({"criterion": "likelihood", "search": "irprop", "n_starts": 2, "budget": 50}, 21),
        ({"criterion": "likelihood", "prior": "hierarchical", "search": "lbfgs"}, 60),
        ({"criterion": "cv-error", "search": "cma-es", "budget": 40, "n_jobs": 2}, 13),
    ],
)
def test_killed_and_resumed_is_uninterrupted(
    settings: dict[str, Any], count: int, tmp_path: Path
) -> None:
    path = tmp_path / "trace.jsonl"
    command = [sys.executable, "-c", KILLED, str(path), str(count), repr(settings)]
    # no pipes: workers of the killed process would keep them open for a while
    done = subprocess.run(command, stderr=subprocess.DEVNULL, check=False)
    assert done.returncode == -signal.SIGKILL
    assert len(lines(path)) == count
    resumed = select(X, Y, kernel=ARD, random_state=0, checkpoint=path, **settings)
    whole = tmp_path / "whole.jsonl"
    expected = select(X, Y, kernel=ARD, random_state=0, checkpoint=whole, **settings)
    assert len(lines(whole)) > count
    assert lines(path) == lines(whole)
    assert resumed.point.tolist() == expected.point.tolist()
    np.testing.assert_array_equal(resumed.solution.beta, expected.solution.beta)
    assert len(Trace.load(path)) == len(resumed.trace)


def test_a_finished_checkpoint_is_only_read(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    one = select(X, Y, "likelihood", "irprop", "rbf", checkpoint=path)
    before = path.read_bytes()
    seen: list[Progress] = []
    two = select(X, Y, "likelihood", "irprop", "rbf", checkpoint=path, callback=seen.append)
    assert path.read_bytes() == before
    assert seen == []
    assert one.point.tolist() == two.point.tolist()
    assert two.trace.provenance["seed"] == one.trace.provenance["seed"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"search": "lbfgs"}, "search was IRprop"),
        ({"kernel": RBF(2.0)}, "kernel was"),
        ({"loss": "squared_hinge"}, "loss was 'hinge', now 'squared_hinge'"),
        ({"prior": Gaussian({"C": (0.0, 1.0)})}, "prior was Flat"),
        ({"n_starts": 2}, "starts was"),
        ({"options": {"cv": 4}}, "criterion was"),
        ({"random_state": 8}, "begun with random_state=7, not 8"),
    ],
)
def test_a_checkpoint_of_other_settings_is_refused(
    change: dict[str, Any], message: str, tmp_path: Path
) -> None:
    path = tmp_path / "trace.jsonl"
    settings: dict[str, Any] = {"budget": 3, "random_state": 7, "checkpoint": path}
    select(X, Y, **settings)
    select(X, Y, **settings | {"budget": 5})  # a larger budget goes on
    assert len(lines(path)) == 5
    with pytest.raises(ValueError, match=message):
        select(X, Y, **settings | change)
    with pytest.raises(ValueError, match="other data"):
        select(X + 1.0, Y, **settings | {"start": [[0.0, 0.0]]})


def test_limits_give_the_best_so_far_and_say_so() -> None:
    spent = select(X, Y, "likelihood", "irprop", "rbf", budget=4)
    assert len(spent.trace) == 4
    assert spent.status.name == "budget"
    assert "the budget of 4 evaluations is spent" in spent.notes[0]

    def stop(progress: Progress) -> bool:
        return progress.evaluations == 6

    stopped = select(X, Y, "likelihood", "irprop", "rbf", callback=stop)
    assert len(stopped.trace) == 6
    assert stopped.status.name == "callback"
    assert "the callback said stop" in stopped.notes[0]

    def interrupt(progress: Progress) -> None:
        if progress.evaluations == 5:
            raise KeyboardInterrupt

    cut = select(X, Y, "likelihood", "irprop", "rbf", callback=interrupt)
    assert cut.status.name == "interrupted"
    assert cut.record.loss == min(record.loss for record in cut.trace)

    def slowly(progress: Progress) -> None:
        time.sleep(0.02)

    hurried = select(X, Y, "likelihood", "grid", "rbf", max_time=0.05, callback=slowly)
    assert hurried.status.name == "time"
    assert 0 < len(hurried.trace) < 100
    at_once = select(X, Y, max_time=0.0)  # one evaluation there is always
    assert at_once.status.name == "time"
    assert len(at_once.trace) == 1


def test_where_no_value_is_finite_the_error_says_what_to_do() -> None:
    class Nowhere(Alignment):
        def evaluate(self, context: Context, gradient: bool) -> Verdict:
            return Verdict(-np.inf)

    with pytest.raises(ValueError, match=r"no evaluation gave a finite value .*; standardise the"):
        select(X, Y, Nowhere(), "grid", "rbf", budget=4)


def test_early_stopping_is_reported() -> None:
    held = half_relevant(200, 2)
    validation = held[0][:, :4], held[1]
    found = select(X, Y, "likelihood", "irprop", ARD, validation=validation, patience=5)
    errors = [record.evaluation.details["validation"] for record in found.trace]
    assert found.record.evaluation.details["validation"] == min(errors)
    assert found.status.name == "early"
    assert "stopped early" in found.notes[0]
    wrong = np.mean(found.predict(validation[0]) != validation[1])
    assert wrong == pytest.approx(min(errors))


def test_kernels_are_compared_with_their_parameters_counted() -> None:
    forms = ["linear", RBF(2.0), ARD]
    found = select(X, Y, "likelihood", "lbfgs", forms, random_state=0)
    assert len(found.candidates) == 3
    ranks = [c.record.loss + len(c.names) / len(Y) for c in found.candidates]
    assert found.record.loss == found.candidates[int(np.argmin(ranks))].record.loss
    assert type(found.kernel) is type(found.candidates[int(np.argmin(ranks))].kernel)
    # with error estimates there is nothing to count
    plain = select(X, Y, "cv-error", "coordinate", ["linear", "rbf"], random_state=0)
    assert plain.value == min(c.value for c in plain.candidates)


def test_weights_are_copies() -> None:
    weights = np.ones(len(Y))
    weights[:5], weights[5:8] = 2.0, 0.0
    rows = np.repeat(np.arange(len(Y)), weights.astype(int))
    start = [0.0, 0.5]
    one = select(X, Y, "gacv", "random-walk", "rbf", weights=weights, start=start, random_state=0)
    two = select(X[rows], Y[rows], "gacv", "random-walk", "rbf", start=start, random_state=0)
    assert one.value == pytest.approx(two.value, rel=1e-6)
    assert pytest.approx(one.C, rel=1e-6) == two.C


def test_the_sigmoids_threshold() -> None:
    found = select(X, Y, "likelihood", "irprop", "rbf", budget=5, random_state=0)
    details = found.record.evaluation.details
    odds = details["sigmoid_slope"] * found.decision_function(X) + details["sigmoid_offset"]
    np.testing.assert_array_equal(found.predict(X, found.threshold) > 0, odds < 0)
    assert select(X, Y, "gacv", "random-walk", "rbf", budget=3).threshold == 0.0


def test_labels_are_the_users() -> None:
    names = np.where(Y > 0, "yes", "no")
    found = select(X, names, budget=5)
    assert set(found.predict(X)) <= {"yes", "no"}
    np.testing.assert_array_equal(found.predict(X) == "yes", found.decision_function(X) > 0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"search": "newton"}, "'newton' is not one of"),
        ({"criterion": "magic"}, "'magic' is not one of"),
        (
            {"criterion": "cv-error"},
            "'irprop' follows gradients and 'cv-error'.*has none; searches",
        ),
        ({"criterion": "laplace"}, "does not serve loss='hinge' with fit_intercept=True"),
        ({"kernel": []}, "the list of kernels is empty"),
        ({"n_starts": 0}, "n_starts must be 1 or more"),
        ({"budget": 0}, "budget must be 1 or more"),
        ({"start": "middle"}, "start='middle' is not"),
        ({"start": [0.0]}, "a point has 2 finite coordinates"),
        ({"start": {"C": -1.0}}, "give positive numbers"),
        ({"start": {"D": 1.0}}, "no parameter is called 'D'"),
        ({"bounds": {"C": (0.0, 1.0)}}, "give 0 < low <= high"),
        ({"bounds": [[0, 1]]}, r"bounds has shape \(1, 2\)"),
        ({"prior": "hierarchical"}, "shrinks a vector of length scales"),
        ({"prior": "hierarchical", "kernel": ARD, "criterion": "alignment"}, "needs a log-likel"),
        ({"validation": (X[:, :2], Y)}, "the validation set has 2 columns"),
        ({"search": "fixed-point"}, "needs 'effective_parameters' among the details"),
    ],
)
def test_refusals_come_with_a_remedy(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        select(X, Y, **arguments)


@pytest.mark.parametrize(
    "kernel",
    [
        RBF(1.7),
        RBF([1.0, 2.0, 3.0, 0.5]),
        Constant(2.0) * RBF([1.0, 2.0, 3.0, 0.5]) + Constant(0.3),
        3.0 * (Constant(0.5) * Polynomial(3, 0.2, 1.5) + 0.1) + 0.2,
        Constant(2.0) * Linear(0.3),
    ],
    ids=repr,
)
@pytest.mark.parametrize(("loss", "fit_intercept"), [("hinge", True), ("squared_hinge", False)])
def test_a_pipeline_predicts_the_same(kernel: Any, loss: str, fit_intercept: bool) -> None:
    labels = np.where(Y > 0, "yes", "no")
    arguments: dict[str, Any] = {"loss": loss, "fit_intercept": fit_intercept}
    found = select(X, labels, "likelihood", "irprop", kernel, budget=2, **arguments)
    rows = np.vstack([X, 3.0 * X, X[::-1] - 1.0])
    pipeline = found.to_sklearn()
    ours = found.decision_function(rows)
    np.testing.assert_allclose(pipeline.decision_function(rows), ours, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(pipeline.predict(rows), found.predict(rows))
    assert pipeline[-1].n_support_.sum() == len(found.solution.support)
    assert sorted(pipeline[-1].support_) == found.solution.support.tolist()


def test_what_sklearn_cannot_express_is_refused() -> None:
    found = select(X, Y, kernel=RBF(1.0) + RBF(3.0), budget=2)
    with pytest.raises(ValueError, match="SVC has no kernel like"):
        found.to_sklearn()
