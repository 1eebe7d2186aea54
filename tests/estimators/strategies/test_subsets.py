"""Subsets of many rows: whom they hold, and how their choices combine."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from svmselect.data import Pair, stratified_folds
from svmselect.estimators.strategies.choice import Choice
from svmselect.estimators.strategies.default import choose
from svmselect.estimators.strategies.subsets import (
    Consensus,
    Subsets,
    classes_of,
    combine,
    draw_subset,
    value_error,
)
from svmselect.kernels import RBF, Laplacian
from svmselect.parallel import Serial
from svmselect.search.run import Progress, Session
from svmselect.types import Array, ErrorEstimate, Note


def pairs_of(codes: Array, k: int = 5) -> list[Pair]:
    fold = np.empty(len(codes), dtype=int)
    for f, rows in enumerate(stratified_folds(codes, k, 0)):
        fold[rows] = f
    pairs = []
    labels = np.unique(codes)
    for a, i in enumerate(labels):
        for j in labels[a + 1 :]:
            rows = np.flatnonzero((codes == i) | (codes == j))
            tests = tuple(np.flatnonzero(fold[rows] == f) for f in range(k))
            y = np.where(codes[rows] == j, 1.0, -1.0)
            pairs.append(Pair(rows, y, 1.0 + (rows % 3), tests))
    return pairs


def choice(
    C: float, scale: float | tuple[float, ...], tau: float, *messages: str, value: float = 0.0
) -> Choice:
    notes = tuple(Note("choice" if m in ("apart", "together") else "edge", m) for m in messages)
    return Choice(C, RBF(scale), (), value, ErrorEstimate(0.0, 1.0), (), tau, (), notes, 0.0)


def test_subset_is_stratified_by_class_and_fold() -> None:
    codes = np.random.default_rng(0).permutation(np.repeat([0, 1, 2], [600, 300, 100]))
    pairs = pairs_of(codes)
    rows, parts = draw_subset(1000, pairs, 500, np.random.default_rng(1))
    assert np.bincount(codes[rows]).tolist() == [300, 150, 50]
    for pair, part in zip(pairs, parts, strict=True):
        assert np.isin(rows[part.rows], pair.rows).all()
        where = np.searchsorted(pair.rows, rows[part.rows])
        assert np.array_equal(part.y, pair.y[where])
        assert np.allclose(part.weights, pair.weights[where])
        for test, whole in zip(part.tests, pair.tests, strict=True):
            assert np.isin(where[test], whole).all()  # held out together, as before
            assert abs(len(test) - len(whole) / 2) <= 2
        assert np.array_equal(np.sort(np.concatenate(part.tests)), np.arange(len(part.y)))
    other, _ = draw_subset(1000, pairs, 500, np.random.default_rng(2))
    assert not np.array_equal(rows, other)


def test_small_class_is_kept_and_counts_for_its_share() -> None:
    codes = np.repeat([0, 1], [4960, 40])
    pairs = pairs_of(codes)
    rows, (part,) = draw_subset(5000, pairs, 500, np.random.default_rng(1))
    assert (codes[rows] == 1).sum() == 40
    share = part.weights[part.y > 0].sum() / part.weights.sum()
    assert share == pytest.approx(40 / 5000, rel=0.1)


def test_classes_are_told_apart_by_their_pairs() -> None:
    codes = np.random.default_rng(0).integers(0, 4, 200)
    found = classes_of(200, pairs_of(codes))
    assert len({*zip(codes.tolist(), found.tolist(), strict=True)}) == 4


def test_averages_are_of_logarithms() -> None:
    one, two = choice(1.0, (1.0, 4.0), 0.5, "apart"), choice(4.0, (1.0, 1.0), 1.0, "apart")
    both = combine([one, two], [0.5] * 2, [0.1] * 2)
    assert np.exp(both.log_C) == pytest.approx(4.0)  # of machines on half of the rows
    assert both.kernel.length_scale == pytest.approx([1.0, 2.0])
    assert both.tau == 0.75
    assert both.notes == ("apart",)
    told = replace(one, notes=(Note("choice", "apart"), Note("edge", "edge")))
    assert combine([one, told], [1.0, 1.0], [0.1, 0.1]).notes == ("apart", "edge")


def test_what_missed_the_optimum_has_no_say() -> None:
    good, near = choice(2.0, (1.0, 4.0), 0.5, value=-0.2), choice(8.0, (1.0, 4.0), 0.5, value=-0.24)
    lost = choice(500.0, (9.0, 9.0), 0.25, value=-0.4)
    found = combine([lost, good, lost, near], [1.0] * 4, [0.01] * 4)
    assert np.exp(found.log_C) == pytest.approx(4.0)
    assert found.tau == 0.5
    assert found.notes == ("2 of 4 subsets missed the optimum",)
    unsure = combine([lost, good, lost, near], [1.0] * 4, [0.1] * 4)
    assert unsure.tau == 0.375


def test_what_was_cut_short_has_no_say() -> None:
    lead, other = choice(1.0, (1.0, 4.0), 0.5, "apart"), choice(4.0, (1.0, 1.0), 0.5)
    short = choice(100.0, 7.0, 0.0, value=1.0)  # stopped before it had a scale for each input
    found = combine([lead, short, other], [1.0] * 3, [0.1] * 3)
    assert np.exp(found.log_C) == pytest.approx(2.0)
    assert found.kernel.length_scale == pytest.approx([1.0, 2.0])
    assert found.notes == ("apart",)


def test_standard_error_of_a_likelihood() -> None:
    rng = np.random.default_rng(0)
    y, f = np.where(np.arange(50) % 2, 1.0, -1.0), rng.normal(size=50)
    weights = rng.integers(1, 4, 50)
    copies = np.repeat(np.arange(50), weights)
    f[:5] = np.nan
    part = Pair(np.arange(50), y, weights.astype(float), ())
    whole = Pair(np.arange(len(copies)), y[copies], np.ones(len(copies)), ())
    seen = copies[copies >= 5]
    gains = -np.log1p(np.exp(y[seen] * (-2.0 * f[seen] + 0.1)))
    expected = gains.std() / np.sqrt(len(seen))
    for pair, held_out in ((part, f), (whole, f[copies])):
        known = replace(choice(1.0, 1.0, 0.0), sigmoids=((-2.0, 0.1),), held_out=(held_out,))
        assert value_error(known, [pair]) == pytest.approx(expected)


def problem(n: int) -> tuple[Array, Array]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    return X, np.where(X[:, 0] * X[:, 1] + 0.2 * rng.normal(size=n) > 0, 1.0, -1.0)


def subsets(n: int, session: Session | None = None, **options: Any) -> Subsets:
    X, y = problem(n)
    given = {"limit": 100, "count": 2, "rng": np.random.default_rng(3)} | options
    return Subsets(X, pairs_of(y), session=session or Session(Serial()), **given)


def agreed(n: int, session: Session | None = None, **options: Any) -> Consensus:
    drawn = subsets(n, session, **options)
    return drawn.agreed(drawn.proposals([RBF()], "hinge", "no")[0])


def test_subset_of_everything_is_the_choice_itself() -> None:
    X, y = problem(100)
    (pair,) = pairs_of(y)
    found = agreed(100, count=1)
    whole = choose(X, [pair], ard="no")
    assert np.exp(found.log_C) * pair.share == pytest.approx(whole.C)


def test_same_subsets_twice_and_stops() -> None:
    assert agreed(300).log_C == agreed(300).log_C
    assert len(agreed(300).choices) == 2
    seen: list[Progress] = []

    def stop(progress: Progress) -> bool:
        seen.append(progress)
        return len(seen) == 3

    session = Session(Serial(), callback=stop)
    assert len(agreed(300, session, count=3).choices) == 1
    assert session.halted is not None
    hurried = agreed(300, seconds=0.0, count=3)
    assert len(hurried.choices) == 1
    assert hurried.log_C < np.log(1e6)


def test_proposals_have_one_length_scale_too() -> None:
    drawn = subsets(300, limit=150)
    found = drawn.proposals([Laplacian(), RBF()], "hinge", "auto")
    forms = {(type(one.kernel), one.tau > 0.0) for one in found}
    assert len(found) == 4
    assert forms == {(form, many) for form in (RBF, Laplacian) for many in (True, False)}
    assert [one.marginal for one in found] == sorted(one.marginal for one in found)
    assert all(len(one.kernel.theta) == (3 if one.tau > 0.0 else 1) for one in found)
    for ard, taus in (("no", [False]), ("yes", [True])):
        assert [one.tau > 0.0 for one in drawn.proposals([RBF()], "hinge", ard)] == taus


def test_later_subsets_keep_to_what_was_taken() -> None:
    drawn = subsets(300, limit=150)
    one, many = sorted(drawn.proposals([RBF()], "hinge", "auto"), key=lambda p: p.tau)
    parted = drawn.agreed(drawn.settled(replace(many, marginal=-1e9)))
    assert parted.tau > 0.0
    assert len(parted.kernel.theta) == 3
    assert parted.notes[0].startswith("a length scale for each input")
    together = drawn.agreed(drawn.settled(one))
    assert together.tau == 0.0
    assert len(together.kernel.theta) == 1
    assert together.notes[0].startswith("one length scale for all inputs: on all rows")
    runs = [record.run for record in drawn.session.records]
    assert runs.count("subset1/start") == 2
    assert not any(run.startswith("subset1/elsewhere") for run in runs)


def test_scales_that_hardly_pay_are_looked_for_anew() -> None:
    drawn = subsets(300, limit=150)
    (many,) = (p for p in drawn.proposals([RBF()], "hinge", "auto") if p.tau > 0.0)
    assert many.choice.common is not None
    assert many.decided == (many.choice.common[2] - many.marginal > 10.0)
    for marginal, decided in ((many.choice.common[2] - 5.0, False), (-1e9, True)):
        lead = replace(many, marginal=marginal)
        assert lead.decided == decided
        before = len(drawn.session.records)
        drawn.agreed(lead)
        runs = [record.run for record in drawn.session.records[before:]]
        assert any(run.startswith("subset1/elsewhere") for run in runs) != decided


def test_another_loss_on_the_first_subset() -> None:
    drawn = subsets(300, limit=150)
    (lead,) = drawn.proposals([RBF()], "hinge", "no")
    assert drawn.settled(lead) is lead
    X, y = problem(300)
    rows, parts = draw_subset(300, pairs_of(y), 150, np.random.default_rng(3))
    (found,) = drawn.elsewise(lead, "logistic", "no")
    alone = choose(X[rows], parts, loss="logistic", ard="no")
    assert found.loss == "logistic"
    assert found.marginal == pytest.approx(alone.marginal, abs=0.2)
    assert len(drawn.elsewise(lead, "squared_hinge", "auto")) == 2
    late = subsets(300, limit=150, seconds=0.0)
    assert late.elsewise(lead, "logistic", "no") == []
