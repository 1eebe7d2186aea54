"""Kobayashi & Komaki: columns against brute force, p-values against the paper, a smoke run."""

import csv

import numpy as np
import pytest

from svmselect import datasets
from svmselect.criteria.base import Context
from svmselect.data import Dataset
from svmselect.datasets.breiman import twonorm
from svmselect.experiments import kobayashi_komaki as kk
from svmselect.experiments import read_published, reproduce
from svmselect.experiments.kobayashi_komaki_p_values import p_from_moments, p_paired
from svmselect.experiments.kobayashi_komaki_readings import COLUMNS, EXTRA, readings
from svmselect.kernels import RBF


@pytest.fixture
def folder(tmp_path):
    """A stand-in for each of the six sets, of the right sizes and counts."""
    for name, _ in kk.SETS.values():
        entry = datasets.catalogue()[name]
        rng = np.random.default_rng(0)
        y = np.where(np.arange(entry.n) < entry.positives, 1, -1)
        X = rng.standard_normal((entry.n, entry.d)) + 0.7 * y[:, None]
        np.savez(tmp_path / f"{name}.npz", X=X, y=y.astype(np.int8))
    return tmp_path


def test_published_table_is_whole():
    rows = read_published("kobayashi_komaki_tables_2_3.csv")
    assert len(rows) == 2 * 6 * 7
    cells = {(r["machine"], r["dataset"], r["criterion"]) for r in rows}
    assert cells == {(m, d, c) for m in kk.LOSSES for d in kk.SETS for c in COLUMNS}


def test_printed_p_values_are_a_tail_of_the_sum_of_deviations():
    """All but one of the 60, to their rounding, and so no t-test."""
    rows = read_published("kobayashi_komaki_tables_2_3.csv")
    cell = {(r["machine"], r["dataset"], r["criterion"]): r for r in rows}
    gaps = []
    for (machine, name, _), row in cell.items():
        printed = row["error_p_value_vs_kric"].strip("@* ")
        if printed == "-":
            continue
        base = cell[machine, name, "kric-logistic"]
        moments = [float(r[k]) for r in (base, row) for k in ("error_mean", "error_sd")]
        gaps.append(abs(p_from_moments(*moments) - float(printed)))
    assert len(gaps) == 60
    assert sum(gap > 0.002 for gap in gaps) == 1


def test_paired_t_against_scipy():
    from scipy.stats import ttest_rel

    a, b = np.random.default_rng(0).random((2, 20))
    assert p_paired(a, b + 0.2) == pytest.approx(
        ttest_rel(b + 0.2, a, alternative="greater").pvalue
    )
    assert p_paired(a, a) == 0.5


def test_grid_and_scaling(folder):
    assert kk.GRID[0] == pytest.approx(1e-2)
    assert kk.GRID[-1] == pytest.approx(10**7.5)
    data, X, y = kk.prepared("bld", 3, folder)
    assert (len(data.y), len(y)) == (230, 115)
    assert (np.vstack([data.X, X]) ** 2).sum(axis=0) == pytest.approx(np.ones(6))


def test_columns_by_hand():
    """xi-alpha and GACV from the machine's numbers; the as-printed xi-alpha is 0 below C = 1/2."""
    X, y = twonorm(60, 0)
    data = Dataset.of(X, y)
    for machine, loss in kk.LOSSES.items():
        measures = readings(machine, (20, 10), 0)
        assert set(measures) == {*COLUMNS[1:], *EXTRA[machine]}
        context = Context(data, RBF(4.0), 0.3, loss, True)
        s = context.solution
        z = data.y * s.decision
        slack = np.maximum(1 - z, 0)
        suspects = 2 * s.alpha + np.where(s.alpha > 0, slack, 0) >= 1
        assert measures["xi-alpha"](context) == pytest.approx(suspects.mean())
        own = slack if loss == "hinge" else np.log1p(np.exp(-z))
        gacv = np.mean(own + s.alpha * np.where(z < -1, 2, 1))
        assert measures["gacv"](context) == pytest.approx(gacv)
    context = Context(data, RBF(4.0), 0.3, "hinge", True)
    assert readings("svm", (20, 10), 0)["xi-alpha, as printed"](context) == 0


def test_smoke(folder, tmp_path, monkeypatch):
    """One split of everything on stand-ins, with a short grid; a second run repeats nothing."""
    monkeypatch.setattr(kk, "GRID", (0.1, 1e3))
    monkeypatch.setattr(kk, "SIGMAS", (1e-5, 10.0))
    calls = []
    result = reproduce(
        "kobayashi-komaki", data_dir=folder, output=tmp_path / "out", callback=calls.append
    )
    assert len(calls) == 6 + 6 + 6 + 26 + 1 + 4 + 10
    assert not result.failures
    assert not result.missing
    with (tmp_path / "out" / "kobayashi-komaki.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert sum(r["published"] != "" for r in rows) == 18 + 84 + 84
    assert all(0 <= float(r["ours"]) <= 1 for r in rows if r["quantity"] == "test error")
    by_cell = {
        (r["exhibit"], r["row"], r["column"]): r for r in rows if r["quantity"] == "test error"
    }
    assert float(by_cell["table 2", "snr", "optimal"]["ours"]) <= float(
        by_cell["table 2", "snr", "cv10"]["ours"]
    )
    again = reproduce(
        "kobayashi-komaki",
        data_dir=folder,
        output=tmp_path / "out",
        resume=True,
        callback=calls.append,
    )
    assert len(calls) == 6 + 6 + 6 + 26 + 1 + 4 + 10
    assert again.verdicts == result.verdicts
