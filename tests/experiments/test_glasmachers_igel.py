"""Glasmachers & Igel: the tables' data, the signs, their settings, and a smoke run."""

import csv
from dataclasses import replace

import numpy as np
import pytest

from svmselect import datasets
from svmselect.experiments import available, read_published, reproduce
from svmselect.experiments import glasmachers_igel as gi
from svmselect.experiments.glasmachers_igel_data import BENCHMARKS, MOST_TEST, split
from svmselect.experiments.glasmachers_igel_signs import sign
from svmselect.experiments.reproduction.paper import Task

SIZES = {  # Raetsch, Onoda & Mueller 2001
    "banana": 400,
    "breast-cancer": 200,
    "diabetis": 468,
    "flare-solar": 666,
    "german": 700,
    "heart": 170,
    "image": 1300,
    "ringnorm": 400,
    "splice": 1000,
    "thyroid": 140,
    "titanic": 150,
    "twonorm": 400,
    "waveform": 400,
}


def test_every_benchmark_has_its_numbers_and_its_data():
    printed = {
        (r["dataset"], r["method"]) for r in read_published("glasmachers_igel_tables_1_2.csv")
    }
    assert printed == {(p.title, m) for p in BENCHMARKS for m in gi.METHODS}
    known = datasets.catalogue()
    assert all("glasmachers-igel" in known[p.name].papers for p in BENCHMARKS)
    assert {p.name: p.train for p in BENCHMARKS if p.name in SIZES} == SIZES


def test_inferred_sizes_explain_the_printed_quartiles():
    """A test error is a multiple of 1/n: medians of 1/(2n), quartiles of 1/(4n), up to rounding."""
    known = datasets.catalogue()
    for benchmark in BENCHMARKS:
        if benchmark.known != "inferred":
            continue
        n = known[benchmark.name].n - benchmark.train
        for row in read_published("glasmachers_igel_tables_1_2.csv"):
            if row["dataset"] == benchmark.title:
                for key, parts in (("q25", 4), ("median", 2), ("q75", 4)):
                    value, unit = float(row[key]), 1 / (parts * n)
                    assert abs(value - round(value / unit) * unit) <= 0.00051, (benchmark, row, key)


def test_split_draws_what_it_cuts():
    data = datasets.load("half-relevant")
    held = split(data, 3, 500, 120)
    assert (held.X.shape, held.X_test.shape) == ((120, 10), (9500, 10))
    assert not held.original
    again = split(data, 3, 500, 120)
    assert np.array_equal(held.X, again.X)
    order = np.argsort(data.y, kind="stable")  # sorted by class, as UCI files often are
    bigger = replace(data, X=np.repeat(data.X[order], 2, 0), y=np.repeat(data.y[order], 2))
    held = split(bigger, 0, 500, 100)
    assert len(held.y_test) == MOST_TEST
    assert abs(held.y_test.mean()) < 0.1
    assert abs(held.y.mean()) < 0.5


def test_signs():
    rng = np.random.default_rng(0)
    base = rng.random(100)
    assert sign(base - 0.1, base) == "<<"
    assert sign(base + 0.1, base) == ">>"
    assert sign(base, base) == ""
    assert sign(base + rng.standard_normal(100), base) == ""
    assert sign([0.1] * 8, [0.2] * 8) == "<"  # p = 2/256


@pytest.mark.parametrize("method", gi.METHODS)
def test_start_and_search_are_the_paper_s(method):
    search = gi._search(method, 4, 200)
    assert search.iterations == 200
    if method in ("cross-validation", "leave-one-out"):
        assert (search.step, search.patience) == (0.1, 20)
        assert search.units == (1.0, 0.5, 0.5, 0.5, 0.5)
    else:
        assert search.step == (0.1, 0.05, 0.05, 0.05, 0.05)  # log l is half of -log gamma
        assert search.shortest == 1e-3


def test_no_step_leaves_the_start():
    settings = {"train": 500, "most_train": 60, "iterations": 1}
    values = gi.run(Task(("half-relevant", "likelihood"), 0, 1, settings), None)
    assert values["log C"] == pytest.approx(0.0)
    assert values["log gamma"] == pytest.approx([-np.log(20)] * 10, abs=1e-4)


def test_smoke(tmp_path, monkeypatch):
    """The toy and two small sets that need no files; a set that is missing is named."""
    names = ("half-relevant", "balance-scale", "cylinder-bands")
    chosen = [b for b in BENCHMARKS if b.name in names]
    monkeypatch.setattr(gi, "BENCHMARKS", tuple(chosen))
    paper = available()["glasmachers-igel"]
    exhibits = (
        replace(paper.exhibits[0], tasks=lambda t, r: gi._tasks(chosen[:1], t, r)),
        gi._table(1, chosen, "short"),
    )
    result = reproduce(
        replace(paper, exhibits=exhibits), output=tmp_path, data_dir=tmp_path, trials=1
    )
    assert not result.failures
    assert len(result.missing) == 1
    assert "cylinder-bands.npz" in result.missing[0]
    with (tmp_path / "glasmachers-igel.csv").open() as file:
        rows = {(r["exhibit"], r["row"], r["column"]): r for r in csv.DictReader(file)}
    toy = rows["table 1", "artificial toy problem", "likelihood"]
    assert 0.13 < float(toy["ours"]) < 0.2
    assert rows["table 1", "cylinder bands", "likelihood"]["verdict"].startswith("not run")
    gap = rows["figure 2", "artificial toy problem", "likelihood"]
    assert float(gap["ours"]) > 0.5  # relevant inputs are told from noise
    assert (tmp_path / "figure-2.png").is_file()
