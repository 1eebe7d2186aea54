"""Many rows: exact and mapped machines, the climb, the sigmoid, memory."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from svmselect.data import Pair, stratified_folds
from svmselect.estimators.strategies import many_rows
from svmselect.estimators.strategies.many_rows import Large, _held_out, choose_large
from svmselect.estimators.strategies.subsets import Proposal, Subsets
from svmselect.estimators.strategies.trainers import Trainer
from svmselect.kernels import RBF
from svmselect.machine import solve
from svmselect.parallel import Serial
from svmselect.probability import sigmoid_likelihood
from svmselect.search.run import Progress, Session
from svmselect.types import Array, IntArray


def problem(n: int, d: int = 3, seed: int = 0) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.where(X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=n) > 0, 1.0, -1.0)


def pair(y: Array, weights: Array | None = None) -> Pair:
    w = np.ones(len(y)) if weights is None else weights
    return Pair(np.arange(len(y)), y, w, stratified_folds(y, 5, 0))


def decisions(found: Large, X: Array, new: Array, p: int = 0) -> Array:
    machine = found.machines[p]
    return found.choice.kernel(new, X[machine.rows]) @ machine.coefficients + machine.intercept


def test_exact_machine_and_the_sigmoid_of_its_held_out_part() -> None:
    X, y = problem(400)
    weights = np.random.default_rng(1).integers(1, 4, 400).astype(float)
    found = choose_large(X, [pair(y, weights)], limit=150, subsets=2)
    choice, (machine,) = found.choice, found.machines
    held = pair(y).tests[0]
    share = 1.0 - weights[held].sum() / weights.sum()
    final = solve(choice.kernel(X), y, choice.C, weights=weights)
    assert machine.exact
    assert np.array_equal(machine.rows, final.support)
    assert np.allclose(decisions(found, X, X), final.decision, atol=1e-7)
    rest = np.setdiff1d(np.arange(400), held)
    part = solve(choice.kernel(X[rest]), y[rest], choice.C / share, weights=weights[rest])
    f = choice.kernel(X[held], X[rest]) @ part.beta + part.intercept
    assert np.allclose(choice.held_out[0][held], f, atol=1e-7)
    assert np.isnan(choice.held_out[0][rest]).all()
    fit = sigmoid_likelihood(f, y[held], weights[held], "platt", one_sided=True)
    assert choice.sigmoids[0] == pytest.approx((fit.slope, fit.offset), rel=1e-5)
    assert choice.value == pytest.approx(fit.value, rel=1e-6)
    wrong = y[held] * -(fit.slope * f + fit.offset) <= 0
    assert choice.error.error == pytest.approx(weights[held] @ wrong / weights[held].sum())
    assert choice.notes[0] == "hyperparameters chosen on 2 subsets of 150 of 400 rows"
    assert "trained on all rows exactly" in choice.notes


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
def test_every_row_a_landmark_is_exact(loss: str) -> None:
    X, y = problem(120)
    weights = np.random.default_rng(1).integers(0, 3, 120).astype(float)
    rows = np.arange(120)
    exact = Trainer(X, [pair(y)], [None], loss).train(0, RBF(1.0), 3.0, weights)
    mapped = Trainer(X, [pair(y)], [rows], loss).train(0, RBF(1.0), 3.0, weights)
    assert not mapped.exact
    # the hinge keeps a rounded corner, 0.02 wide in the margin
    assert np.allclose(mapped.decision, exact.decision, atol=0.05 if loss == "hinge" else 1e-5)
    expanded = RBF(1.0)(X, X[mapped.rows]) @ mapped.coefficients + mapped.intercept
    assert np.allclose(expanded, mapped.decision, atol=1e-6)


def test_landmarks_predict_as_well_as_all_rows() -> None:
    X, y = problem(900)
    new, y_new = problem(3000, seed=1)
    options = {"limit": 250, "subsets": 1, "random_state": 4}
    exact = choose_large(X, [pair(y)], **options)
    mapped = choose_large(X, [pair(y)], exact=100, landmarks=120, **options)
    errors = []
    for found in (exact, mapped):
        slope, offset = found.choice.sigmoids[0]
        errors.append(np.mean(y_new * -(slope * decisions(found, X, new) + offset) <= 0))
    assert errors[1] < errors[0] + 0.01
    noise = np.mean(y_new * new[:, 0] * new[:, 1] <= 0)
    assert errors[0] < noise + 0.02
    assert len(mapped.machines[0].rows) == 120
    assert any("120 landmarks (Nystrom)" in message for message in mapped.choice.notes)
    again = choose_large(X, [pair(y)], exact=100, landmarks=120, **options)
    assert again.choice.C == mapped.choice.C
    assert np.array_equal(again.machines[0].coefficients, mapped.machines[0].coefficients)


def test_climbs_to_what_more_rows_want() -> None:
    X, y = problem(1500, 2)
    y = np.where(np.sin(4.0 * X[:, 0]) * X[:, 1] > 0, 1.0, -1.0)
    found = choose_large(X, [pair(y)], limit=80, subsets=2, ard="no")
    climb = [r.value for r in found.choice.records if r.run == "all rows"]
    assert found.choice.value > climb[0] + 1.0 / 300
    assert found.choice.value >= max(climb) - 1.0 / 300
    assert any("adjusted for machines on more rows" in m for m in found.choice.notes)


def test_more_rows_decide_what_a_subset_proposes(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = problem(400)
    proposed: list[list[Proposal]] = []

    def wrong_order(self: Subsets, *args: object) -> list[Proposal]:
        lead = original(self, *args)[0]
        far = replace(lead, kernel=RBF(100.0), marginal=-1e9)
        proposed.append([far, lead])
        return proposed[-1]

    original = Subsets.proposals
    monkeypatch.setattr(Subsets, "proposals", wrong_order)
    found = choose_large(X, [pair(y)], limit=150, subsets=1, ard="no")
    (_, lead) = proposed[0]
    assert found.choice.kernel.length_scale < 10.0
    looks = [r for r in found.choice.records if r.run.startswith("all rows/")]
    assert [r.evaluation.point[1] for r in looks] == [np.log(100.0), lead.kernel.theta[0]]
    assert looks[1].value > looks[0].value


def test_the_loss_is_told() -> None:
    X, y = problem(300)
    for losses in (("logistic",), ("squared_hinge", "hinge")):
        found = choose_large(X, [pair(y)], limit=150, subsets=1, ard="no", losses=losses)
        assert found.loss in losses
        machine = solve(found.choice.kernel(X), y, found.choice.C, loss=found.loss)
        assert np.allclose(decisions(found, X, X), machine.decision, atol=1e-5)


def test_three_classes() -> None:
    rng = np.random.default_rng(0)
    codes = np.repeat([0, 1, 2], [200, 150, 100])
    X = rng.normal(size=(450, 2)) + np.array([[0.0, 0.0], [2.5, 0.0], [0.0, 2.5]])[codes]
    folds = stratified_folds(codes, 5, 0)
    pairs = []
    for i, j in ((0, 1), (0, 2), (1, 2)):
        rows = np.flatnonzero((codes == i) | (codes == j))
        tests = tuple(np.flatnonzero(np.isin(rows, fold)) for fold in folds)
        y = np.where(codes[rows] == j, 1.0, -1.0)
        pairs.append(Pair(rows, y, np.ones(len(rows)), tests))
    found = choose_large(X, pairs, limit=150, subsets=1, exact=300, landmarks=60)
    assert [machine.exact for machine in found.machines] == [False, True, True]
    for p, one in enumerate(pairs):
        assert np.isin(found.machines[p].rows, one.rows).all()
        slope, offset = found.choice.sigmoids[p]
        f = decisions(found, X, X[one.rows], p)
        assert np.mean(one.y * -(slope * f + offset) <= 0) < 0.2
    assert any("for 1 of 3 pairs" in message for message in found.choice.notes)


def test_stops_when_told_and_trains_all_the_same() -> None:
    X, y = problem(300)
    seen: list[Progress] = []

    def stop(progress: Progress) -> bool:
        seen.append(progress)
        return len(seen) == 5

    told = choose_large(X, [pair(y)], limit=100, session=Session(Serial(), callback=stop))
    hurried = choose_large(X, [pair(y)], limit=100, session=Session(Serial(), max_time=0.0))
    for found in (told, hurried):
        assert any("stopped early" in message for message in found.choice.notes)
        assert found.machines[0].status.ok
        assert np.isfinite(found.choice.value)
    assert len(told.choice.records) <= 8
    assert told.choice.records[-1] is seen[-1].record


def test_starts_from_a_choice() -> None:
    X, y = problem(300)
    first = choose_large(X, [pair(y)], limit=150, subsets=1, ard="no")
    start = (first.choice.C, first.choice.kernel)
    again = choose_large(X, [pair(y)], limit=150, subsets=1, ard="no", start=start)
    assert len(again.choice.records) < 0.7 * len(first.choice.records)


def held(y: Array, *tests: IntArray) -> list[int]:
    return _held_out(Pair(np.arange(len(y)), y, np.ones(len(y)), tests)).tolist()


def test_held_out_part() -> None:
    y = np.where(np.arange(40) % 2, 1.0, -1.0)
    one, two, rest = np.arange(4), np.array([4]), np.arange(5, 40)
    assert held(y, one, two, rest) == [0, 1, 2, 3]
    assert held(y, two, one, rest) == [0, 1, 2, 3, 4]  # one row alone judges nothing
    odd, even = np.flatnonzero(y > 0), np.flatnonzero(y < 0)
    assert sorted(y[held(y, odd, even)].tolist()) == [-1.0] * 4 + [1.0] * 4


def test_memory_stays_below_a_gram_matrix() -> None:
    n = 4000
    X, y = problem(n)
    trainer = Trainer(X, [pair(y)], [np.arange(0, n, 100)], "hinge")
    tracemalloc.start()
    trainer.train(0, RBF(1.0), 1.0, np.ones(n))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.1 * 8 * n * n


def test_what_has_no_room_on_a_card_goes_through_landmarks(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = problem(400)
    monkeypatch.setattr(many_rows, "most_rows", lambda device: 300)
    found = choose_large(X, [pair(y)], limit=150, subsets=1, landmarks=30, device="cuda")
    assert not found.machines[0].exact
    assert "'cuda' has room for the Gram matrix of 300 rows, not of 400" in found.choice.notes


def test_little_time_is_enough_for_fewer_landmarks() -> None:
    rows = 50_000
    assert many_rows._affordable(Session(Serial()), rows, 10_000, 1000) == (10_000, 1000)
    found = [
        many_rows._affordable(Session(Serial(), max_time=s), rows, 10_000, 1000)
        for s in (1e5, 5.0, 1e-9)
    ]
    assert found[0] == (10_000, 1000)
    assert many_rows._FEW <= found[1][1] < 1000
    assert found[2][0] < 10_000
    assert found[2][1] == many_rows._FEW
    assert many_rows._affordable(Session(Serial(), max_time=1e-9), rows, 10, 50)[1] == 50


def test_a_choice_without_time_trains_on_few_landmarks() -> None:
    X, y = problem(900)
    session = Session(Serial(), max_time=1e-6)
    found = choose_large(X, [pair(y)], limit=150, subsets=1, ard="no", session=session)
    (machine,) = found.machines
    assert not machine.exact
    assert len(machine.rows) <= many_rows._FEW
    assert np.mean(np.sign(decisions(found, X, X)) == y) > 0.7
