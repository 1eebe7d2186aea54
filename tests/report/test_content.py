"""What the page says: every section, in words and numbers that agree with the model."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_iris

from report.conftest import LABELS, UGLY, problem
from svmselect import AutoKLR, AutoSVC, clock, report, select
from svmselect.report import Report, render
from svmselect.report.words import number, percent, seconds

SECTIONS = [
    "choice", "error", "classes", "inputs", "next", "search", "landscape", "optima", "grid",
    "repeat",
]  # fmt: skip


class Reader(HTMLParser):
    """Elements, their attributes, and the text without style and script."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.words: list[str] = []
        self.open: list[str] = []
        self.feed(page)
        self.text = re.sub(r"[ \n]+", " ", " ".join(self.words))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if not {"style", "script"} & set(self.open):
            self.words.append(data)


def sections(page: str) -> list[str]:
    return re.findall(r'<section id="(\w+)">', page)


def test_every_section_is_there_in_order(ugly: Report) -> None:
    page = render(ugly)
    assert sections(page) == SECTIONS
    assert page.count("<svg") == 7 + 8
    assert len(page) < 500_000


def test_nothing_is_loaded_and_only_our_script_may_run(ugly: Report) -> None:
    read = Reader(render(ugly))
    assert read.tags.count("script") == 1
    addresses = [v for name, v in read.attributes if name in ("href", "src", "action", "data")]
    assert addresses == ["data:,"]
    policy = next(v for name, v in read.attributes if name == "content" and "default-src" in str(v))
    assert policy is not None
    assert "default-src 'none'" in policy
    assert "script-src 'sha256-" in policy
    assert not [name for name, _ in read.attributes if name.startswith("on")]


def test_names_and_labels_are_data(ugly: Report) -> None:
    page = render(ugly)
    read = Reader(page)
    assert not {"img", "b"} & set(read.tags)
    for text in (*UGLY, LABELS[1]):
        assert text in read.text, text
    assert page.count("document.title='hacked'") == 0  # quotes are escaped as well
    assert "svmselect fit '" + UGLY[0] in read.text
    assert f"{UGLY[1]} looks like an identifier" in read.text


def test_runs_of_the_trace_are_data_too() -> None:
    X, y = problem(60, 3)
    wild = AutoSVC(random_state=0, multi_class="ovo-separate", max_time=2.0)
    labels = np.where(X[:, 0] > 0.5, "</svg><script>1</script>", y)
    page = render(report.of_fit(wild.fit(X, labels), X, labels))
    read = Reader(page)
    assert read.tags.count("script") == 1
    assert "</svg><script>1</script> or" in read.text


def test_the_numbers_are_those_of_the_model() -> None:
    X, y = load_iris(return_X_y=True)
    model = AutoSVC(random_state=3).fit(X, y)
    made = report.of_fit(model, X, y, names=["a", "b", "c", "d"], title="Flowers")
    text = Reader(render(made)).text
    assert made.error is not None
    assert made.error.folds.error == model.selection_.error.error
    assert made.error.folds.rows == 150
    assert made.error.baseline == pytest.approx(2 / 3)
    assert f"expect {percent(made.error.folds.error)} to be" in text
    assert f"({percent(model.selection_.error.seen)} of them wrong)" in text
    assert f"C = {number(model.C_)} was chosen" in text
    assert f"Support vectors {model.n_support_.sum()}" in text
    assert "3 classes, so 3 machines" in text
    assert made.landscape is not None
    assert made.landscape.best == pytest.approx(model.best_score_, rel=1e-9)
    assert np.exp(made.landscape.at[0]) == pytest.approx(model.C_)
    assert made.trace is not None
    assert len(made.trace.value) == len(model.trace_)
    assert made.inputs is not None
    assert np.array_equal(made.inputs.relevance, model.feature_importances_)
    assert ("random_state", "3") in made.provenance
    assert made.repeat == "AutoSVC(random_state=3).fit(X, y)"


def test_rows_held_apart_are_judged_by_the_model() -> None:
    X, y = problem(90, 4)
    X_new, y_new = problem(120, 4)
    model = AutoKLR(random_state=0).fit(X, y)
    made = report.of_fit(model, X, y, held_out=(X_new, y_new))
    assert made.error is not None
    assert made.error.held_out is not None
    error = 1 - model.score(X_new, y_new)
    assert made.error.held_out.error == pytest.approx(error)
    assert made.error.held_out.low < error < made.error.held_out.high
    assert made.calibration is not None
    assert made.calibration.source == "120 rows held apart"
    assert "On 120 rows held apart" in Reader(render(made)).text


def test_warnings_and_notes_are_told_apart() -> None:
    X, y = problem(30, 3)
    model = AutoSVC(random_state=0).fit(X, y)
    made = report.of_fit(model, X, y, warnings=["column q is constant"])
    assert "column q is constant" in made.warnings
    assert any("fewer than 20 rows" in warning for warning in made.warnings)
    assert not any("length scale for" in warning for warning in made.warnings)
    assert "Worth knowing" in render(made)
    large, y = problem(90, 3)
    calm = report.of_fit(AutoSVC(random_state=0).fit(large, y), large, y)
    assert calm.warnings == ()
    assert "Worth knowing" not in render(calm)


def test_sections_without_data_are_left_out(three_classes: Report) -> None:
    assert sections(render(three_classes)) == [s for s in SECTIONS if s != "grid"]


@pytest.mark.parametrize("kernel", ["linear", "polynomial"])
def test_kernels_without_length_scales(kernel: str) -> None:
    X, y = problem(40, 3)
    model = AutoSVC(kernel, criterion="likelihood", random_state=0, max_time=5.0).fit(X, y)
    page = render(report.of_fit(model, X, y))
    assert "The kernel has no length scales" in page
    assert "figure-landscape" in page


def test_a_scorer_or_several_kernels_decided() -> None:
    X, y = problem(50, 3)
    scored = AutoSVC(random_state=0, scoring="balanced_accuracy").fit(X, y)
    made = report.of_fit(scored, X, y)
    assert made.criterion == "balanced_accuracy"
    assert made.landscape is not None
    assert made.landscape.criterion == "likelihood"
    assert np.exp(made.landscape.at[0]) == pytest.approx(scored.C_)
    both = AutoSVC(["rbf", "linear"], criterion="likelihood", random_state=0, max_time=4.0)
    text = Reader(render(report.of_fit(both.fit(X, y), X, y))).text
    assert "The landscape" in text


def test_folds_that_can_be_had_only_once() -> None:
    X, y = problem(50, 3)
    splits = iter([(np.arange(25), np.arange(25, 50)), (np.arange(25, 50), np.arange(25))])
    model = AutoSVC(random_state=0, cv=splits, ard="no").fit(X, y)
    assert report.of_fit(model, X, y).landscape is not None


def test_data_frames_and_sparse_rows() -> None:
    X, y = problem(50, 3)
    frame = pd.DataFrame(X, columns=["a", "b", "<i>c</i>"])
    model = AutoSVC(random_state=0, ard="no").fit(frame, y)
    made = report.of_fit(model, frame, y, held_out=(frame, y))
    assert made.inputs is not None
    assert made.inputs.names == ("a", "b", "<i>c</i>")
    thin = sparse.csr_array(X)
    again = report.of_fit(AutoSVC(random_state=0, ard="no").fit(thin, y), thin, y)
    assert again.inputs is not None
    assert np.allclose(again.inputs.influence, made.inputs.influence)
    assert dict(again.provenance)["data (SHA-256)"] == dict(made.provenance)["data (SHA-256)"]


@pytest.mark.slow
def test_many_rows_are_drawn_from_a_sample() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2100, 2))
    y = X[:, 0] + 0.5 * rng.normal(size=2100) > 0
    made = report.of_fit(AutoSVC(random_state=0, ard="no").fit(X, y), X, y)
    assert made.landscape is not None
    assert any("sample of 700 of 2100 rows" in note for note in made.landscape.notes)
    assert made.calibration is not None
    assert made.calibration.rows == 1050


def test_the_plain_grid_beside_it() -> None:
    X, y = problem(60, 2)
    held_out = problem(50, 2)
    rival = report.plain_grid(X, y, held_out=held_out, cv=3)
    assert rival.evaluations == 110
    assert rival.seconds > 0
    assert rival.fold_error is not None
    assert 0 <= rival.fold_error < 0.3
    model = AutoSVC(random_state=0).fit(X, y)
    text = Reader(render(report.of_fit(model, X, y, held_out=held_out, grid=rival))).text
    assert "Beside the plain grid" in text
    assert f"Settings tried {model.selection_.evaluations} 110" in text
    assert rival.held_out_error is not None
    assert f"{percent(1 - model.score(*held_out))} {percent(rival.held_out_error)}" in text


def test_the_same_data_give_the_same_page(three_classes: Report) -> None:
    assert render(three_classes) == render(three_classes)


def test_of_a_search_that_was_not_fitted(tmp_path: Path) -> None:
    X, y = problem(40, 3)
    path = tmp_path / "trace.jsonl"
    chosen = select(X, y, n_starts=2, budget=16, random_state=0, checkpoint=path)
    made = report.of_trace(path)
    page = render(made)
    assert sections(page) == ["choice", "search", "optima", "repeat"]
    assert f"C = {number(chosen.C)}" in Reader(page).text
    assert 'id="figure-places"' in page
    assert made.trace is not None
    assert len(made.trace.value) == len(chosen.trace)
    assert made.optima[0].value == pytest.approx(chosen.value)
    assert ("seed", "0") in made.provenance


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.0, "0"),
        (3.0, "3.00"),
        (1234.5, "1\u202f230"),
        (0.012345, "0.0123"),
        (-0.0954, "−0.0954"),
        (250.0, "250"),
        (9.999, "10.0"),
        (1e6, "1·10⁶"),
        (2.34e-7, "2.34·10⁻⁷"),
        (99999.9, "1·10⁵"),
        (float("inf"), "inf"),
    ],
)
def test_numbers_in_words(value: float, shown: str) -> None:
    assert number(value) == shown


def test_shares_and_times_in_words() -> None:
    assert [percent(v) for v in (0.0, 0.021, 0.0994, 0.0996, 0.5)] == [
        "0.0\u202f%", "2.1\u202f%", "9.9\u202f%", "10\u202f%", "50\u202f%",
    ]  # fmt: skip
    assert [seconds(v) for v in (0.0123, 2.34, 61.0, 600.0, 9000.0)] == [
        "12 ms", "2.3 s", "61 s", "10 min", "2.5 h",
    ]  # fmt: skip


def test_right_and_wrong_by_class(three_classes: Report, ugly: Report) -> None:
    made = three_classes.decisions
    assert made is not None
    text = Reader(render(three_classes)).text
    for i, name in enumerate("abc"):
        row = " ".join(f"{count:.0f}" for count in made.table[i])
        assert f"{name} {row}" in text
        assert f"{name} 25 {percent(made.error[i])}" in text
    assert made.source == "75 rows, held out in turn in 5 folds"
    assert [curve.label for curve in three_classes.curves] == ["a", "b", "c"]
    for curve in three_classes.curves:
        assert f"{curve.label}, average precision {curve.average:.3f}" in text
    (curve,) = ugly.curves
    assert f"the area below it is {curve.auc:.3f}" in Reader(render(ugly)).text


def test_a_class_that_nothing_is_called_and_pairs_that_look_alike() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    y = np.where(X[:, 0] + 0.3 * rng.normal(size=120) > 0, "left", "stayed").astype(object)
    y[np.flatnonzero(y == "left")[:20]] = "Left"  # spelled in another way
    model = AutoSVC(random_state=0, ard="no").fit(X, y)
    made = report.of_fit(model, X, y)
    assert made.decisions is not None
    assert np.isnan(made.decisions.right[0])
    page = render(made)
    assert "nan" not in Reader(page).text
    assert 'data-value="nan"' not in page
    said = "the held-out decision values hardly tell 'Left' from 'left'"
    told = [warning for warning in made.warnings if "hardly" in warning]
    assert len(told) == 1
    assert told[0].startswith(said)
    assert "'left' from 'stayed'" not in told[0]
    assert said in model.explain()


def test_of_many_classes_the_worst_confusions() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(12), 8)
    X = rng.normal(size=(96, 2)) * 0.7 + np.column_stack([y % 4, y // 4])
    made = report.of_fit(AutoSVC(random_state=0, max_time=5.0, ard="no").fit(X, y), X, y)
    page = render(made)
    assert 'id="confusion"' not in page
    assert "What is most often taken for something else" in page
    assert made.decisions is not None
    one, other, count, share = made.decisions.confusions(1)[0]
    assert f"{one} {other} {count:.0f} {percent(share)}" in Reader(page).text
    assert "figure-found" not in page  # too many curves to tell apart
    assert made.learning is None


def test_what_next() -> None:
    X, y = problem(120, 3)
    model = AutoSVC(random_state=0, ard="no").fit(X, y)
    made = report.of_fit(model, X, y, settings={"predict": "svmselect predict m.skops NEW"})
    assert "svmselect predict m.skops NEW" in Reader(render(made)).text
    assert "predict" not in dict(made.provenance)
    p = model.held_out_proba_
    order = np.argsort(np.abs(p[:, 0] - 0.5), kind="stable")
    assert [one.row for one in made.unsure] == order[:8].tolist()
    wrong = np.flatnonzero(model.classes_[p.argmax(axis=1)] != y)
    worst = wrong[np.argsort(-p[wrong].max(axis=1), kind="stable")]
    assert [(one.row, one.label) for one in made.wrong] == [(i, str(y[i])) for i in worst[:8]]
    assert "Rows are counted as in X, from 0" in render(made)
    named = report.of_fit(model, X, y, numbers=np.arange(2, 122))
    assert [one.row for one in named.unsure] == (order[:8] + 2).tolist()
    assert "svmselect.load('model.skops').predict_proba(X_new)" in Reader(render(named)).text


def test_what_more_rows_would_bring(three_classes: Report) -> None:
    learning = three_classes.learning
    assert learning is not None
    for gain, said in ((0.5, "More rows would help"), (0.0, "would bring little")):
        changed = replace(learning, gain=gain, spread=0.1)
        page = render(replace(three_classes, learning=changed))
        assert said in page
        assert number(float(learning.log_loss[-1])) in page


def test_rows_held_apart_are_the_headline(ugly: Report, three_classes: Report) -> None:
    assert ugly.error is not None
    assert ugly.error.held_out is not None
    text = Reader(render(ugly)).text
    assert f"Error on rows held apart {percent(ugly.error.held_out.error)}" in text
    assert three_classes.error is not None
    text = Reader(render(three_classes)).text
    assert f"Expected error {percent(three_classes.error.folds.error)}" in text


def test_inputs_are_sorted_by_what_they_do(ugly: Report) -> None:
    assert ugly.inputs is not None
    page = render(ugly)
    table = page[page.index('id="relevance"') : page.index('<section id="next"')]
    values = [float(value) for value in re.findall('data-value="(.*?)"', table)]
    influence = values[1::3]  # beside relevance and length scale
    assert influence == sorted(ugly.inputs.influence, reverse=True)
    assert '<th class="n" data-kind="number" aria-sort="descending">Influence</th>' in page
    blind = replace(ugly, inputs=replace(ugly.inputs, influence=np.full(20, np.nan)))
    page = render(blind)
    assert '<th class="n" data-kind="number" aria-sort="descending">Relevance</th>' in page


def test_marks_are_spoken_of_where_there_are_some(three_classes: Report) -> None:
    data = three_classes.landscape
    assert data is not None
    assert data.with_prior
    assert "Small dots are settings" in render(three_classes)
    assert "and the prior say together" in render(three_classes)
    away = tuple(replace(way, log_C=way.log_C + 100.0) for way in data.paths)
    hidden = render(replace(three_classes, landscape=replace(data, paths=away)))
    assert "Small dots are settings" not in hidden
    here = replace(data.paths[0], **{
        name: getattr(data.paths[0], name)[:1] for name in ("value", "leading", "rough")
    }, log_C=data.at[:1], log_width=data.at[1:])  # fmt: skip
    hidden = render(replace(three_classes, landscape=replace(data, paths=(here,))))
    assert "Small dots are settings" not in hidden


def test_a_fit_without_a_single_evaluation_has_a_page(monkeypatch):
    looks = itertools.count()
    monkeypatch.setattr(clock, "now", lambda: 1e3 * next(looks))
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 2)) + 2.0 * np.eye(2)[y]
    model = AutoSVC(max_time=5.0, random_state=0).fit(X, y)
    monkeypatch.undo()
    assert not len(model.trace_)
    made = report.of_fit(model, X, y)
    assert made.trace is None
    assert "stopped early" in render(made)
