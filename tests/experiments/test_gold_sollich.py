"""Gold & Sollich: a smoke run, and what a trial's numbers mean."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from svmselect import score
from svmselect.experiments import Task, read_published, reproduce
from svmselect.experiments.gold_sollich import BOUNDS, PAPER, table_3_tasks
from svmselect.experiments.gold_sollich_optima import optima
from svmselect.experiments.gold_sollich_trials import TrainTest, run, walked
from svmselect.kernels import RBF


def test_smoke(tmp_path: Path) -> None:
    sizes = reproduce("gold-sollich", table=2, output=tmp_path / "sizes")
    rows = {(row.row, row.column): row.verdict for row in sizes.rows["table 2"]}
    assert {rows["twonorm", c] for c in ("inputs", "train", "test")} == {"equal"}
    assert not sizes.failures
    traced = reproduce("gold-sollich", figure=5, output=tmp_path / "trace")
    assert not traced.failures
    assert (tmp_path / "trace" / "figure-5.png").exists()
    assert (tmp_path / "trace" / "gold-sollich.csv").exists()


def test_early_stopping_is_the_least_test_error_on_the_way() -> None:
    settings = {"criterion": "evidence-ep", "options": {}, "search": {"step": 0.1}, "budget": 6}
    values = run(Task(("twonorm", "ascent-trace"), 0, 3, settings), None)
    assert values["best_error"] == min(values["errors"])
    assert values["best_error"] <= values["error"]
    assert len(values["errors"]) == values["steps"] == 6


@pytest.mark.parametrize(
    ("method", "criterion", "loss", "sign"),
    [("gacv", "gacv", "hinge", -1), ("laplace-squared-hinge", "laplace", "squared_hinge", 1)],
)
def test_a_walk_begins_at_the_papers_start(
    method: str, criterion: str, loss: str, sign: int
) -> None:
    data = TrainTest("twonorm", None)
    start = score(data.X, data.y, criterion, 1.0, data.kernel, loss, False).value
    ended = run(Task(("twonorm", method), 0, 1, {"bounds": BOUNDS, "sweeps": 1}), None)
    assert sign * ended["value"] > sign * start
    if method == "gacv":
        assert ended["C"] == 1.0


def test_errors_are_those_of_a_machine_without_offset() -> None:
    data = TrainTest("twonorm", None)
    kernel = RBF(4.0)
    error = data.error_at(kernel, 1.0, "squared_hinge")
    # the squared hinge without offset: a nonnegative least-squares problem, solved another way
    from scipy.optimize import nnls

    K = kernel(data.X) + np.eye(len(data.y))
    Q = K * np.outer(data.y, data.y)
    L = np.linalg.cholesky(Q)
    alpha, _ = nnls(L.T, np.linalg.solve(L, np.ones(len(Q))), maxiter=10_000)
    f = kernel(data.test_X, data.X) @ (data.y * alpha)
    assert error == pytest.approx(100 * np.mean(np.sign(f) != data.test_y), abs=1e-9)


def test_one_trial_is_reduced_and_hmc_stops_at_ten() -> None:
    full = {task.name[0]: 0 for task in table_3_tasks(25, False)}
    for task in table_3_tasks(25, False):
        full[task.name[0]] += task.name[1] == "evidence-gradient"
    assert full == {"crabs": 25, "pima": 10, "wdbc": 10, "twonorm": 10, "ringnorm": 10}
    short = {t.name: t.settings for t in table_3_tasks(1, True)}
    assert short["pima", "gacv"]["sweeps"] <= 10
    assert ("pima", "evidence-gradient") not in short
    assert [e.name for e in PAPER.exhibits] == [
        *(f"table {n}" for n in range(1, 10)),
        *(f"figure {n}" for n in range(1, 7)),
    ]


def test_the_printed_numbers_fit_together() -> None:
    mean = {
        (line["dataset"], line["method"]): float(line["error_percent_mean"])
        for line in read_published("gold_sollich_table_3.csv")
    }
    best = {
        (line["dataset"], method): float(line[method])
        for line in read_published("gold_sollich_table_4.csv")
        for method in line
        if method != "dataset"
    }
    assert len(mean) == 30
    assert mean.keys() == best.keys()
    assert all(best[cell] <= mean[cell] for cell in mean)


def test_lines_between_ends_are_looked_at() -> None:
    settings = {"bounds": BOUNDS, "sweeps": 2, "walks": 3, "between": 3}
    data = TrainTest("twonorm", None)
    values = optima(data, "gacv", 5, settings)
    assert len(values["depths"]) == 3
    assert values["parted"] == np.mean(np.array(values["depths"]) > 0)
    ends = [walked(data, "gacv", 5 + k, settings) for k in (0, 1)]
    # the middle of the line between the first two ends, by hand
    points = [np.r_[np.log(e.C), e.kernel.theta] for e in ends]
    line = []
    for t in (0.25, 0.5, 0.75):
        at = t * points[0] + (1 - t) * points[1]
        kernel = data.kernel.at(at[1:])
        line.append(score(data.X, data.y, "gacv", np.exp(at[0]), kernel, "hinge", False).value)
    assert values["depths"][0] == pytest.approx(max(line) - max(e.value for e in ends), abs=1e-9)
    assert values["mean_error"] == np.mean(values["errors"])


def test_a_third_of_the_rows_decides_where_to_stop() -> None:
    whole = TrainTest("twonorm", None)
    rest, held = whole.parted(1 / 3, 4)
    assert (len(rest.y), len(held.test_y), len(rest.test_y)) == (200, 100, len(whole.test_y))
    rows = {tuple(x) for x in np.vstack([rest.X, held.test_X])}
    assert rows == {tuple(x) for x in whole.X}
    settings = {"criterion": "evidence-ep", "options": {}, "search": {"step": 0.1}, "budget": 5}
    task = Task(("twonorm", "evidence-gradient-ep-validated"), 0, 3, settings | {"validation": 0.3})
    values = run(task, None)
    assert values["best_error"] <= values["stopped_error"]
