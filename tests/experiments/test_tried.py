"""The experiments on what may be behind disagreements: their numbers against plainer ones."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from experiments.toy_paper import PAPER, make_paper
from svmselect import score
from svmselect.criteria.base import Context
from svmselect.criteria.span_hinge import HingeSpans
from svmselect.data import Dataset
from svmselect.datasets import load
from svmselect.experiments import Published, Task, available, reproduce
from svmselect.experiments.glasmachers_igel_data import BENCHMARKS
from svmselect.experiments.glasmachers_igel_signs import (
    FEW,
    paired,
    printed_signs,
    sign_table,
    signs_against,
)
from svmselect.experiments.glasmachers_igel_tried import (
    VARIANTS,
    held_slope,
    signed_slope,
    tried_tasks,
)
from svmselect.experiments.gold_sollich_trials import run as run_gold_sollich
from svmselect.experiments.gold_sollich_tried import (
    AS_LONG,
    PRINTED,
    label,
    printed_tasks,
    walk_tasks,
)
from svmselect.experiments.kobayashi_komaki_readings import readings
from svmselect.experiments.kobayashi_komaki_tried import LESS, SCALINGS, tried_on
from svmselect.experiments.kobayashi_komaki_words import p_values
from svmselect.experiments.kwok import TrainTest, make
from svmselect.experiments.kwok_tried import loosely, next_C
from svmselect.experiments.reproduction.claims import Evidence, Explanation, UntestedError
from svmselect.experiments.reproduction.kept import kept_trials
from svmselect.experiments.reproduction.more import more
from svmselect.experiments.reproduction.outcomes import Outcome, Outcomes
from svmselect.experiments.wahba_lin_zhang import (
    cross_section,
    draw_data,
    machine_at,
    minimisers,
    settings_of,
    terms_of_free,
)
from svmselect.kernels import RBF
from svmselect.machine import solve


def test_more_trials_go_on_with_kept_ones(tmp_path: Path) -> None:
    path = tmp_path / "toy.csv.gz"
    assert more(PAPER, path, "a/near", 3) == (3, 0)
    first = path.read_bytes()
    assert more(PAPER, path, "a/near", 3) == (0, 0)
    assert path.read_bytes() == first
    assert more(PAPER, path, "a/.*", 2, seconds=0.0) == (0, 4)  # two far, two absent
    assert more(PAPER, path, "a/.*", 2) == (2, 2)  # what is absent is left for the next time
    known = kept_trials(path, {})
    assert len(known.cell("a", "near")) == 3
    whole = reproduce(PAPER, trials=3, output=tmp_path / "whole").outcomes
    assert known.values("a", "near", of="error") == pytest.approx(
        whole.values("a", "near", of="error"), rel=1e-6
    )


def test_an_interrupted_trial_loses_none_before_it(tmp_path: Path) -> None:
    paper = make_paper(columns=("near",))
    run = paper.run

    def stops(task: Task, data_dir: Path | None) -> dict[str, float]:
        if task.trial == 2:
            raise KeyboardInterrupt
        return dict(run(task, data_dir))

    path = tmp_path / "toy.csv.gz"
    with pytest.raises(KeyboardInterrupt):
        more(replace(paper, run=stops), path, "a/near", 5)
    assert more(paper, path, "a/near", 5) == (3, 0)


def test_the_largest_disagreements_have_their_experiments(tmp_path: Path) -> None:
    def decided(verdict: bool):
        return lambda evidence: (verdict, f"{evidence.value('table 1', 'a', 'far'):.1f}")

    explanations = (
        Explanation("Table 1", "Theirs is shifted.", "a look", decided(True), "table 1/a/far"),
        Explanation("Table 1", "It is luck.", "another", decided(False), "table 1/a/far"),
    )
    paper = make_paper(columns=("near", "far"))
    table = paper.exhibits[0]

    def rows(outcomes: Outcomes):
        return [
            replace(row, published=Published(0.0, sd=1.0, trials=10))
            for row in table.rows(outcomes)
        ]

    def words(outcomes: Outcomes) -> list[list[str]]:
        return [["what", "how often"], ["near", str(len(outcomes.cell("a", "near")))]]

    shown = replace(table, rows=rows, beside=words)
    result = reproduce(
        replace(paper, exhibits=(shown,), explanations=explanations), trials=4, output=tmp_path
    )
    (one,) = result.disagreements  # near agrees; far is about five from zero
    assert one.row.column == "far"
    assert one.row.apart == pytest.approx(one.row.value / one.row.error)
    assert [d.verdict for _, d in one.tried] == ["holds", "fails"]
    page = (tmp_path / "toy.md").read_text()
    assert page.index("## Largest disagreements") < page.index("## Table 1")
    assert f"| Theirs is shifted. | a look | **holds** | {one.row.value:.1f} |" in page
    assert "| what | how often |\n| --- | --- |\n| near | 4 |" in page


def test_each_largest_disagreement_has_an_experiment() -> None:
    """On every page: none of the three is left with a guess."""
    from svmselect.experiments.reproduction.kept import kept_result

    results = Path(__file__).parents[2] / "docs" / "papers" / "results"
    for name, paper in available().items():
        for one in kept_result(paper, results).disagreements:
            where = f"{name}: {one.exhibit}, {one.row.row}, {one.row.column}"
            assert one.tried, where
            assert any(d.verdict != "not tested" for _, d in one.tried), where


def test_the_held_slope_is_the_derivative_at_fixed_alpha() -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(24, 2))
    y = np.where(X[:, 0] + 0.7 * rng.normal(size=24) > 0, 1.0, -1.0)
    kernel = RBF([0.8, 1.3])
    spans = HingeSpans.of(Context(Dataset.of(X, y), kernel, 2.0, "hinge", True).system, 0.0)
    free, alpha = spans.free, spans.system.solution.alpha
    assert len(free) > 3

    def total(K):
        """Sum of alpha_p |x_p - span of the others|^2, by solving for each span anew."""
        value = 0.0
        for p in free:
            others = np.setdiff1d(free, [p])
            m = len(others)
            N = np.block([[K[np.ix_(others, others)], np.ones((m, 1))], [np.ones((1, m)), 0.0]])
            v = np.append(K[others, p], 1.0)
            value += alpha[p] * (K[p, p] - v @ np.linalg.solve(N, v))
        return value

    K, slope = kernel(X), held_slope(spans, len(X))
    assert total(K) == pytest.approx(spans.change[: len(free)].sum(), rel=1e-8)
    for _ in range(3):
        D = rng.normal(size=K.shape)
        D, h = D + D.T, 1e-6
        central = (total(K + h * D) - total(K - h * D)) / (2 * h)
        assert float((slope * D).sum()) == pytest.approx(central, rel=1e-5)


def test_the_signed_slope_moves_beta_where_alpha_should_move() -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(24, 2))
    y = np.where(X[:, 0] + 0.7 * rng.normal(size=24) > 0, 1.0, -1.0)
    kernel, C, h = RBF([0.8, 1.3]), 2.0, 1e-6
    data = Dataset.of(X, y)
    theta = np.r_[np.log(C), kernel.theta]

    def at(point):
        context = Context(data, kernel.at(point[1:]), float(np.exp(point[0])), "hinge", True)
        spans = HingeSpans.of(context.system, 0.0)
        free = spans.free
        return spans.squared[: len(free)], context.solution.alpha[free], y[free]

    S2, alpha, signs = at(theta)
    assert len(set(signs)) == 2
    expected = []
    for step in h * np.eye(len(theta)):
        (S2_up, alpha_up, _), (S2_down, alpha_down, _) = at(theta + step), at(theta - step)
        moves = alpha * (S2_up - S2_down) + S2 * signs * (alpha_up - alpha_down)
        expected.append(float(moves.sum()) / (2.0 * h))
    found = signed_slope(Context(data, kernel, C, "hinge", True))
    slopes = [found.log_C, *kernel.pullback(X, found.gram)]
    np.testing.assert_allclose(slopes, expected, rtol=1e-5)


def test_variants_differ_in_what_they_say() -> None:
    def made(benchmarks, count, methods):
        return [Task((b.name, m), t, 1, {"train": 9}) for t in range(count)
                for b in benchmarks for m in methods]  # fmt: skip

    tasks = tried_tasks(made, 2, False)
    assert {t.name[1] for t in tasks} >= set(VARIANTS)
    toys = [t for t in tasks if t.name[0] == "half-relevant"]
    assert {t.settings["train"] for t in toys} == {250}
    held = [t for t in tasks if t.name[1] == "span-bound, alpha held, last point"]
    assert {(t.settings["alpha"], t.settings["point"]) for t in held} == {("held", "last")}


def test_printed_signs_are_the_text_s() -> None:
    """Worse than likelihood on 15 sets, better on 2 (section 5)."""
    marks = [mark for (_, other), mark in printed_signs().items() if other == "smoothed-cv"]
    assert (sum("<" in m for m in marks), sum(">" in m for m in marks)) == (15, 2)
    assert {name for name, _ in printed_signs()} == {b.title for b in BENCHMARKS}


def test_signs_stand_beside_the_printed_ones() -> None:
    rng = np.random.default_rng(0)
    base = rng.random(FEW)
    cells = [("likelihood", base), ("cross-validation", base + 0.1), ("smoothed-cv", base[1:])]
    outcomes = Outcomes.of(
        Outcome(("banana", method), t, {}, {"error": float(v)})
        for method, values in cells
        for t, v in enumerate(values)
    )
    (banana,) = [b for b in BENCHMARKS if b.name == "banana"]
    heads, line = sign_table([banana], outcomes)
    assert line[1] == f"<<; << ({FEW})"
    assert line[4] == f"<<; too few ({FEW - 1})"
    assert len(heads) == len(line) == 5
    one, two = paired(outcomes, "banana", "likelihood", "smoothed-cv")
    assert len(one) == len(two) == FEW - 1


def test_scalings_are_what_their_names_say() -> None:
    X = load("twonorm").X[:50]
    assert (SCALINGS["unit columns"](X) ** 2).sum(axis=0) == pytest.approx(np.ones(X.shape[1]))
    assert (SCALINGS["unit rows"](X) ** 2).sum(axis=1) == pytest.approx(np.ones(50))
    assert SCALINGS["standardised"](X).std(axis=0) == pytest.approx(np.ones(X.shape[1]))
    assert SCALINGS["unit columns, centred"](X).mean(axis=0) == pytest.approx(
        np.zeros(X.shape[1]), abs=1e-12
    )
    assert SCALINGS["raw"](X) is X
    less = SCALINGS[LESS](X)
    assert less.shape[1] == X.shape[1] - 1
    assert less == pytest.approx(SCALINGS["unit columns"](X)[:, :-1])
    assert LESS in tried_on("hea")
    assert LESS not in tried_on("ion")


@pytest.mark.parametrize(("machine", "loss"), [("svm", "hinge"), ("klr", "logistic")])
def test_the_small_term_is_the_second_one_over_4_n(machine: str, loss: str) -> None:
    data = load("twonorm")
    X, y = data.X[:40], data.y[:40]
    context = Context(Dataset.of(X, y), RBF(4.0), 0.7, loss, True)
    s = context.solution
    measures = readings(machine, (20, 10), 0)
    z = y * s.decision
    fit = np.maximum(1 - z, 0) if loss == "hinge" else np.log1p(np.exp(-z))
    whole = measures["gacv"](context) - fit.mean()
    assert measures["gacv, small term"](context) == pytest.approx(fit.mean() + whole / 160)
    assert measures["gacv, term over 2 n"](context) == pytest.approx(fit.mean() + whole / 80)


def test_p_values_are_printed_recomputed_and_ours() -> None:
    outcomes = Outcomes.of(
        Outcome(("svm", "bld"), t, {}, {"kric-logistic": 0.2 + 0.01 * t, "gacv": 0.4 + 0.011 * t})
        for t in range(5)
    )
    heads, *lines = p_values("svm", outcomes)
    assert len(heads) == 6
    assert len(lines) == 6 * 5
    found = {(line[0], line[1]): line for line in lines}
    line = found["bld", "gacv"]
    assert float(line[2]) == pytest.approx(float(line[3]), abs=5e-4)  # the formula is theirs
    assert float(line[5]) < 1e-8  # paired, the difference hardly varies
    assert found["snr", "gacv"][4:] == ["", ""]


def test_next_C_is_the_criterion_s() -> None:
    data = TrainTest("toy", 3, "raw", None)
    X, y, kernel = data.X[:120], data.y[:120], RBF(0.7)
    s = solve(kernel(X), y, 2.0)
    theirs = score(X, y, "kwok", 2.0, kernel).details["next_C"]
    energy = 0.5 * float(s.beta @ (s.decision - s.intercept))
    assert next_C(kernel(X), energy, y * s.decision, 2.0) == pytest.approx(theirs, rel=1e-6)


def test_a_tight_tolerance_is_the_exact_iteration() -> None:
    data = TrainTest("toy", 1, "raw", None)
    kernel = make("gaussian", 1.0)
    C, _, _ = data.level_2(kernel, "clipped", 0.05)
    found = loosely(data, kernel, 1e-9, 0.05)
    assert found["log10_C"] == pytest.approx(np.log10(C), abs=0.05)
    assert found["accuracy"] == pytest.approx(data.accuracy(kernel, C), abs=0.3)
    loose = loosely(data, kernel, 1.0, 0.05)
    assert loose["log10_C"] != pytest.approx(np.log10(C), abs=0.05)


def test_minimisers_are_those_of_the_figures() -> None:
    X, y, p = draw_data("sines", 60, 5)
    s = settings_of("sines")
    found = minimisers(X, y, p, s)
    points = [(s["log_lambda"], float(v)) for v in np.arange(-2.0, 1.125, 0.25)]
    whole = cross_section(X, y, p, "sigma", points)
    assert found["gacv_at_sigma"] == whole["gacv_at_sigma"]
    assert found["gckl_at_sigma"] == whole["gckl_at_sigma"]


def test_walks_take_their_first_step_from_the_settings() -> None:
    wanted = label("laplace-squared-hinge", 2.0, 30)
    task, _ = [t for t in walk_tasks(2, False) if t.name == ("pima", wanted)]
    assert (task.settings["step"], task.settings["sweeps"]) == (2.0, 30)
    short = {"sweeps": 1, "bounds": task.settings["bounds"], "walk": "laplace-hinge"}
    ends = [
        run_gold_sollich(Task(("twonorm", "any name"), 0, 7, short | {"step": step}), None)
        for step in (0.5, 2.0)
    ]
    plain = {key: value for key, value in short.items() if key != "walk"}
    usual = run_gold_sollich(Task(("twonorm", "laplace-hinge"), 0, 7, plain), None)
    assert ends[0]["value"] == usual["value"] != ends[1]["value"]


def test_claims_by_wilcoxons_test_want_enough_partitions() -> None:
    rng = np.random.default_rng(1)
    three = [b for b in BENCHMARKS if b.name in ("banana", "heart", "german")]

    def evidence(shifts: tuple[float, ...], count: int) -> Evidence:
        outcomes = []
        for benchmark, shift in zip(three, shifts, strict=True):
            base = rng.random(count)
            for method, errors in (("likelihood", base), ("smoothed-cv", base + shift)):
                outcomes += [
                    Outcome((benchmark.name, method), t, {}, {"error": float(v)})
                    for t, v in enumerate(errors)
                ]
        return Evidence(Outcomes.of(outcomes), {})

    test = signs_against(three, "smoothed-cv", 1.0)
    assert test(evidence((0.1, 0.1, -0.1), FEW)) == (True, "better on 2, worse on 1, of 3 sets")
    assert test(evidence((0.1, 0.0, -0.1), FEW)) == (False, "better on 1, worse on 1, of 3 sets")
    with pytest.raises(UntestedError, match=f"0 sets of {FEW} partitions"):
        test(evidence((0.1, 0.1, 0.1), FEW - 1))


def test_how_often_a_median_lies_between_the_quartiles() -> None:
    """The two probabilities on Glasmachers & Igel's page."""
    rng = np.random.default_rng(0)
    for size, expected in ((8, 0.91), (22, 0.99)):
        medians = np.median(rng.random((100_000, size)), axis=1)  # uniform: quartiles at 1/4, 3/4
        assert np.mean((medians > 0.25) & (medians < 0.75)) == pytest.approx(expected, abs=0.007)


def test_ascents_by_their_sampler_have_a_twin() -> None:
    """As many steps by expectation propagation, from the same start; none in a short run."""
    assert printed_tasks(1, reduced=True) == []
    tasks = {t.name: t for t in printed_tasks(1, reduced=False)}
    assert len(tasks) == 6
    for (name, way), task in tasks.items():
        twin = tasks[name, AS_LONG if way == PRINTED else PRINTED]
        assert task.seed == twin.seed
        assert task.settings["budget"] == twin.settings["budget"]
        assert task.settings.get("split") == twin.settings.get("split")
    short = dict(tasks["twonorm", PRINTED].settings) | {"budget": 2}
    short["options"] = {"scheme": "paper", "draws": 200, "scale_time": True}
    found = run_gold_sollich(Task(("twonorm", PRINTED), 0, 3, short), None)
    assert found["steps"] == 2
    assert 0.0 < found["best_error"] <= found["error"] < 60.0


def test_free_vectors_that_rounding_loses() -> None:
    """Without them GACV's second sum has the bounded vectors alone."""
    X, y, p = draw_data("sines", 60, 1)
    machine, kernel = machine_at(X, y, -2.0, -1.0)
    whole = score(X, y, "gacv", machine.C, kernel).value
    bounded = machine.alpha >= machine.C * (1 - 1e-12)
    twice = np.where(machine.margin < -1.0, 2.0, 1.0)
    left = np.maximum(1.0 - machine.margin, 0.0).sum() + (machine.alpha * twice)[bounded].sum()
    assert 0 < bounded.sum() < 60
    assert whole - terms_of_free(machine).sum() / 60 == pytest.approx(left / 60, rel=1e-9)
    settings = settings_of("sines") | {"n": 60}
    lost = minimisers(X, y, p, settings | {"lost": 1.0})
    assert lost != minimisers(X, y, p, settings)
