"""What ``svmselect fit`` does with data and options, and what it refuses."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from cli.running import ENVIRONMENT, Here, clients, refused
from svmselect import AutoClassifier, load
from svmselect.cli.model import SMALL, plan
from svmselect.cli.prepare import TableOptions, prepare, split, subset
from svmselect.cli.progress import Bar
from svmselect.search.trace import Trace
from svmselect.tables import TableModel

QUICK = ("--no-report", "--json")


def fit(here: Here, *arguments: object) -> dict:
    ended = here("fit", *arguments, *QUICK)
    assert ended.code == 0, ended.err
    assert ended.err == ""
    return json.loads(ended.out)


def interrupting(at: int) -> Callable[[Bar], None]:
    """A bar's step that presses Ctrl-C once, when so many steps are done."""
    step = Bar.step

    def interrupted(bar: Bar) -> None:
        step(bar)
        if bar.steps == at:
            signal.raise_signal(signal.SIGINT)

    return interrupted


def test_no_time_at_all(here: Here, table: Path) -> None:
    options = ("-c", "evidence-ep", "--ard", "yes", "--max-time", "0.000001s")
    for asked in (options, options[-2:]):  # something there is always
        assert fit(here, "clients.csv", "-t", "churn", *asked)["error"]["value"] < 0.6


def _rows(table: Path) -> tuple[np.ndarray, np.ndarray]:
    prepared = prepare(str(table), TableOptions(target="churn"))
    return prepared.X, prepared.y


def test_the_model_is_the_estimators(here: Here, table: Path) -> None:
    found = fit(here, "clients.csv", "--target", "churn", "--seed", "3")
    frame = clients()
    towns = sorted(frame["town"].unique())
    X = frame[["age", "town", "member"]]
    model = AutoClassifier(random_state=3).fit(X, frame["churn"].to_numpy(dtype=str))
    assert found["C"] == pytest.approx(model.C_)
    assert found["error"]["value"] == pytest.approx(model.selection_.error.error)
    assert found["error"]["low"] < found["error"]["value"] < found["error"]["high"]
    assert found["guessing"] == pytest.approx(frame["churn"].value_counts(normalize=True).min())
    assert set(found["relevance"]) == {"age", "town", "member"}
    assert sum(found["relevance"].values()) == pytest.approx(1.0)
    kept = load("clients/model.skops")
    assert isinstance(kept, TableModel)
    assert kept.encoder.columns == ("age", *(f"town={town}" for town in towns), "member=yes")
    np.testing.assert_array_equal(kept.estimator.predict(X), model.predict(X))
    assert found["evaluations"] == len(model.trace_)
    # the file has the searches of all machines that are averaged, the model's is the heaviest's
    written = {(r.run, r.index): r.value for r in Trace.load("clients/trace.jsonl")}
    assert {(r.run, r.index): r.value for r in model.trace_}.items() <= written.items()


def test_holdout_and_test_files_agree(here: Here, table: Path) -> None:
    held = fit(here, "clients.csv", "-t", "churn", "--holdout", "0.3", "-o", "held")
    frame = clients()
    rest, apart = split(frame["churn"].to_numpy(dtype=str), 0.3, 0)
    assert len(apart) == held["test"]["rows"] == 24
    # the columns of the two files in another order, and one more
    frame.iloc[rest].to_csv("train.csv", index=False)
    frame.iloc[apart, ::-1].assign(extra=1).to_csv("test.csv", index=False)
    tested = fit(here, "train.csv", "-t", "churn", "--test", "test.csv")
    assert tested["C"] == held["C"]
    assert tested["test"]["value"] == held["test"]["value"]
    assert tested["test"]["by"] == "24 rows of test.csv"


def test_split_and_subset_keep_the_shares_of_classes() -> None:
    y = np.array(["a"] * 60 + ["b"] * 30 + ["c"] * 10 + ["d"])
    rest, apart = split(y, 0.5, 0)
    assert sorted([*rest, *apart]) == list(range(101))
    assert [(y[apart] == c).sum() for c in "abcd"] == [30, 15, 5, 0]
    assert [(y[split(y, part, 0)[0]] == "d").sum() for part in (0.1, 0.9)] == [1, 1]
    two = np.array(["a"] * 20 + ["b"] * 20 + ["c"] * 2)
    assert (two[split(two, 0.5, 0)[0]] == "c").sum() == 2  # folds need two
    kept = subset(101, y, 20, 0)
    assert [(y[kept] == c).sum() for c in "abcd"] == [12, 6, 2, 1]


def test_targets_by_position_and_several_classes(here: Here, table: Path) -> None:
    rng = np.random.default_rng(0)
    centres = np.repeat([[0, 0], [4, 0], [0, 4]], 25, axis=0)
    X = centres + rng.normal(size=(75, 2))
    rows = [f"{k}\t{a:.3f}\t{b:.3f}" for k, (a, b) in zip(np.arange(75) // 25, X, strict=True)]
    Path("blobs.data").write_text("\n".join(rows))
    found = fit(here, "blobs.data", "--target", "1")
    assert found["classes"] == {"0": 25, "1": 25, "2": 25}
    assert found["error"]["value"] < 0.1
    assert any("no header line" in note for note in found["notes"])


def test_missing_values(here: Here, table: Path) -> None:
    frame = clients()
    frame.loc[3, "age"] = np.nan
    frame.loc[5, "town"] = None
    frame.loc[7, "churn"] = "?"
    frame.to_csv("gaps.csv", index=False)
    refuse = ("--missing", "refuse")
    refused(here("fit", "gaps.csv", "-t", "churn", *refuse), "target 'churn'", "first in row 8")
    frame.drop(index=7).to_csv("gaps2.csv", index=False)
    ended = here("fit", "gaps2.csv", "-t", "churn", *refuse)
    refused(ended, "column 'age' (and 'town')", "row 4", "--missing auto")
    found = fit(here, "gaps.csv", "-t", "churn")
    assert found["rows"] == 79
    assert load("gaps/model.skops").encoder.inputs[0].filled  # one gap says nothing
    found = fit(here, "gaps.csv", "-t", "churn", "--missing", "impute")
    assert found["rows"] == 79
    encoder = load("gaps/model.skops").encoder
    assert encoder.inputs[0].middle == pytest.approx(np.nanmedian(frame["age"].drop(index=7)))
    assert encoder.inputs[1].common == frame["town"].drop(index=7).mode()[0]
    frame.drop(columns="churn").to_csv("new.csv", index=False)
    assert here("predict", "gaps/model.skops", "new.csv", "-o", "p.csv").code == 0
    assert len(pd.read_csv("p.csv")) == 80
    refused(
        here("predict", "gaps/model.skops", "new.csv", "--missing", "refuse", "-o", "q.csv"),
        "column 'age' (and 'town') of new.csv has 1 missing value",
    )
    assert not Path("q.csv").exists()


def test_columns_can_be_left_out_and_insisted_on(here: Here, table: Path) -> None:
    found = fit(here, "clients.csv", "-t", "churn", "--ignore", "town", "--use", "client_id")
    assert set(found["relevance"]) == {"client_id", "age", "member"}


def test_criterion_search_kernel_and_loss(here: Here, table: Path) -> None:
    options = (
        "--criterion",
        "smoothed-cv",
        "--search",
        "grid",
        "--kernel",
        "linear",
        "--seed",
        "1",
    )
    found = fit(here, "clients.csv", "-t", "churn", *options)
    assert found["criterion"] == "smoothed-cv"
    assert found["kernel"].startswith("Linear(")
    assert load("clients/model.skops").estimator.search == "grid"
    found = fit(here, "clients.csv", "-t", "churn", "--loss", "logistic", "--ard", "no")
    assert type(load("clients/model.skops").estimator).__name__ == "AutoKLR"


def test_quiet_says_nothing(here: Here, table: Path) -> None:
    ended = here("fit", "clients.csv", "-t", "churn", "--quiet", "--no-report", "-o", "a/b")
    assert (ended.code, ended.out, ended.err) == (0, "", "")
    assert Path("a/b/model.skops").exists()


def test_a_stopped_search_goes_on(here: Here, table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    options = ("clients.csv", "-t", "churn", "--criterion", "gacv", "--search", "cma-es")
    with monkeypatch.context() as patch:
        patch.setattr(Bar, "step", interrupting(20))
        ended = here("fit", *options, *QUICK)
    stopped = json.loads(ended.out)
    assert (ended.code, stopped["interrupted"]) == (130, True)
    resumed = fit(here, *options, "--resume")
    whole = fit(here, *options, "-o", "whole")
    assert 20 <= stopped["evaluations"] < resumed["evaluations"] == whole["evaluations"]
    assert resumed["parameters"] == whole["parameters"]
    refused(here("fit", *options[:-1], "grid", "--resume"), "other settings", "search was CMAES")


def test_the_default_goes_on_with_its_trace(here: Here, table: Path) -> None:
    whole = fit(here, "clients.csv", "-t", "churn", "--ard", "no", "--no-report")
    trace = Path("clients/trace.jsonl")
    lines = trace.read_text().splitlines()
    model = load("clients/model.skops").estimator
    for kept in (2, len(lines) // 2, len(lines) - 1, len(lines)):
        # as after a kill: the first lines only, the next one torn
        trace.write_text("\n".join(lines[:kept]) + '\n{"run": "au')
        resumed = fit(here, "clients.csv", "-t", "churn", "--ard", "no", "--resume", "--no-report")
        again = load("clients/model.skops").estimator
        assert resumed["value"] == whole["value"]
        assert again.C_ == model.C_
        assert again.kernel_ == model.kernel_
        assert np.array_equal(again.dual_coef_, model.dual_coef_)
        assert [r.point.tolist() for r in Trace.load(trace)] == [
            json.loads(line)["point"] for line in lines[1:]
        ]
    refused(here("fit", "clients.csv", "-t", "churn", "--resume"), "ard was 'no', now 'auto'")
    clients(90).to_csv("clients.csv", index=False)
    ended = here("fit", "clients.csv", "-t", "churn", "--ard", "no", "--resume")
    refused(ended, "for other data")


def test_many_rows_are_announced(here: Here, table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = clients(3300)
    frame.to_csv("many.csv", index=False)
    ended = here("fit", "many.csv", "-t", "churn", "--max-time", "0.5s", "--no-report")
    assert ended.code == 0
    said = " ".join(ended.err.split())
    assert "3,300 rows: C and the length scales are chosen on 3 samples of 2,000 rows" in said
    assert "at the latest" in said
    found = fit(
        here, "many.csv", "-t", "churn", "-c", "xi-alpha", "--rows", "100", "--search", "grid"
    )
    assert found["rows"] == 100
    assert any("100 of 3,300 rows are used" in note for note in found["notes"])


@pytest.mark.parametrize("rows", [3_001, 6_000, 25_000, 100_000, 10**6])
def test_fewer_rows_are_advised_than_there_are(rows: int) -> None:
    advised = re.search(r"--rows (\d+)", plan(rows, 10, 2, None))
    assert advised is not None
    assert SMALL <= int(advised.group(1)) < rows


def test_columns_of_one_name_are_told(here: Here, table: Path) -> None:
    Path("twice.csv").write_text(
        Path("clients.csv").read_text().replace("age", "member", 1).replace("town", "member", 1)
    )
    found = fit(here, "twice.csv", "-t", "churn")
    said = "'member' is the name of more than one column: the others are called 'member (2)', "
    assert said + "'member (3)'" in found["notes"]
    assert fit(here, "clients.csv", "-t", "churn")["notes"][0].startswith("column 'client_id'")


def test_a_named_criterion_sees_a_sample_of_many_rows(
    here: Here, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("svmselect.cli.fit.SMALL", 60)
    found = fit(here, "clients.csv", "-t", "churn", "-c", "gacv", "--search", "grid")
    assert found["rows"] == 60
    assert any("60 of 80 rows are used" in note for note in found["notes"])


def test_what_does_not_fit_in_memory_is_thinned_or_refused(
    here: Here, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("svmselect.cli.prepare._ROOM", 600)
    clients(160).to_csv("clients.csv", index=False)
    found = fit(here, "clients.csv", "-t", "churn", "--rows", "150")
    assert found["rows"] in (119, 120, 121)  # of 5 encoded columns: 600 / 5
    assert any("of 150 rows are used" in note for note in found["notes"])
    found = fit(here, "clients.csv", "-t", "churn")  # in passes
    assert found["rows"] == 160
    ended = here("fit", "clients.csv", "-t", "churn", "--test", "clients.csv")
    refused(ended, "more than 120 rows", "svmselect predict")


def test_ctrl_c_keeps_the_best_so_far(
    here: Here, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = signal.getsignal(signal.SIGINT)
    monkeypatch.setattr(Bar, "step", interrupting(3))
    ended = here("fit", "clients.csv", "-t", "churn", "--no-report")
    assert ended.code == 130
    assert "stopping with the best so far" in ended.err
    assert "Interrupted: this is the best found so far." in ended.out
    estimator = load("clients/model.skops").estimator
    monkeypatch.undo()
    assert len(estimator.trace_) < len(AutoClassifier(random_state=0).fit(*_rows(table)).trace_)
    assert signal.getsignal(signal.SIGINT) is before


def test_ctrl_c_twice_ends_at_once(
    here: Here, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(bar: Bar) -> None:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(Bar, "step", interrupted)
    ended = here("fit", "clients.csv", "-t", "churn", "--no-report")
    assert ended.code == 130
    assert ended.err.endswith("svmselect: interrupted; nothing more was written\n")
    assert not Path("clients/model.skops").exists()


@pytest.mark.slow
def test_ctrl_c_where_there_are_workers(table: Path) -> None:
    options = ("-t", "churn", "-c", "evidence-ep", "--ard", "yes", "--jobs", "2", "--no-report")
    process = subprocess.Popen(
        [sys.executable, "-m", "svmselect", "fit", "clients.csv", *options],
        env={**os.environ, **ENVIRONMENT},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # so that workers get the signal too, as on a terminal
    )
    trace = Path("clients/trace.jsonl")
    while process.poll() is None and not (trace.exists() and trace.read_text().count("\n") > 2):
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate()
    assert process.returncode == 130, err
    assert "stopping with the best so far" in err
    assert "Interrupted: this is the best found so far." in out
    assert load("clients/model.skops").estimator.C_ > 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nothing.csv", "-t", "y"], ["there is no file nothing.csv"]),
        (["empty.csv", "-t", "y"], ["empty.csv is empty"]),
        (["header.csv", "-t", "b"], ["a header and no rows"]),
        (["one.csv", "-t", "a"], ["one column only"]),
        (["class.csv", "-t", "b"], ["'b' of class.csv has one class only, 'x'"]),
        (["numbers.csv", "-t", "b"], ["100 different values", "regression"]),
        (["constant.csv", "-t", "b"], ["no input left"]),
        (["infinite.csv", "-t", "b"], ["'a' of infinite.csv is infinite in row 1"]),
        (["clients.csv"], ["which column of clients.csv", "--target NAME"]),
        (["clients.csv", "-t", "nope"], ["no column 'nope'", "client_id, age"]),
        (["clients.csv", "-t", "churn", "--ignore", "nope"], ["no column 'nope'"]),
        (["clients.csv", "-t", "churn", "-c", "nope"], ["criterion 'nope' is not one of"]),
        (["clients.csv", "-t", "churn", "--search", "nope"], ["search 'nope' is not one of"]),
        (["clients.csv", "-t", "churn", "-k", "nope"], ["nope"]),
        (["clients.csv", "-t", "churn", "-k", "sigmoid"], ["not positive definite"]),
        (["clients.csv", "-t", "churn", "--holdout", "1.5"], ["--holdout 1.5"]),
        (["clients.csv", "-t", "churn", "--holdout", "0.1", "--test", "x"], ["give one of them"]),
        (["clients.csv", "-t", "churn", "--test", "class.csv"], ["has no column 'churn'"]),
        (["clients.csv", "-t", "churn", "--test", "other.csv"], ["the class 'unsure'"]),
        (["clients.csv", "-t", "churn", "--max-time", "soon"], ["'soon' is no time"]),
        (["clients.csv", "-t", "churn", "--ard", "perhaps"], ["perhaps"]),
        (["clients.csv", "-t", "churn", "--nonsense"], ["--nonsense", "fit --help"]),
        ([], ["Missing argument 'DATA'", "fit --help"]),
    ],
)
def test_refused(here: Here, table: Path, arguments: list[str], words: list[str]) -> None:
    Path("empty.csv").write_text("")
    Path("header.csv").write_text("a,b\n")
    Path("one.csv").write_text("a\n1\n2\n")
    Path("class.csv").write_text("a,b\n1,x\n2,x\n")
    Path("numbers.csv").write_text("a,b\n" + "".join(f"{i % 7},{i}.5\n" for i in range(100)))
    Path("constant.csv").write_text("a,b\n1,x\n1,y\n1,x\n1,y\n")
    Path("infinite.csv").write_text("a,b\ninf,x\n1,y\n2,x\n3,y\n")
    frame = clients()
    frame.loc[3, "churn"] = "unsure"
    frame.to_csv("other.csv", index=False)
    refused(here("fit", *arguments), *words)
    assert not Path("clients").exists()


def test_debug_shows_the_traceback(table: Path) -> None:
    from svmselect.cli import main

    with pytest.raises(ValueError, match="no column 'nope'"):
        main(["fit", "clients.csv", "-t", "nope", "--debug"])


def test_defects_are_called_so(here: Here, table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*arguments: object) -> None:
        raise RuntimeError("a screw is loose")

    monkeypatch.setattr("svmselect.cli.fit.prepare", broken)
    ended = here("fit", "clients.csv", "-t", "churn")
    assert ended.code == 1
    assert "defect" in ended.err
    assert "a screw is loose" in ended.err


def test_groups_class_weights_and_scoring(here: Here, table: Path) -> None:
    frame = clients()
    frame["house"] = np.arange(len(frame)) // 4
    frame.to_csv("houses.csv", index=False)
    options = ("--class-weight", "left=3", "--scoring", "balanced_accuracy", "--groups", "house")
    found = fit(here, "houses.csv", "-t", "churn", *options, "--drop", "client_id")
    model = AutoClassifier(class_weight={"left": 3.0}, scoring="balanced_accuracy", random_state=0)
    X = frame[["age", "town", "member"]]
    model.fit(X, frame["churn"].to_numpy(dtype=str), groups=frame["house"])
    assert found["C"] == pytest.approx(model.C_)
    assert found["value"] == pytest.approx(model.best_score_)
    assert found["columns"]["house"] == "left out: its values are the groups"
    apart = split(frame["churn"].to_numpy(dtype=str), 0.25, 0, frame["house"].to_numpy())[1]
    assert not set(frame["house"].iloc[apart]) & set(frame["house"].drop(index=apart))
    for wrong, words in (
        (("--class-weight", "left"), "write balanced, or LABEL=WEIGHT"),
        (("--scoring", "balanced_acuracy"), "do you mean balanced_accuracy"),
        (("--groups", "churn"), "this is the target"),
    ):
        refused(here("fit", "houses.csv", "-t", "churn", *wrong), words)


def test_roles_of_columns_can_be_said(here: Here, table: Path) -> None:
    frame = clients()
    frame["code"] = np.arange(len(frame)) % 3
    frame["size"] = np.array(["small", "mid", "big"])[np.arange(len(frame)) % 3]
    frame["since"] = [f"{1 + d % 28}.3.2020" for d in range(len(frame))]
    frame.to_csv("roles.csv", index=False)
    told = ("--categorical", "code", "--ordered", "size=small,mid,big", "--drop", "town")
    found = fit(here, "roles.csv", "-t", "churn", *told)["columns"]
    assert found["code"] == "a category of 0, 1, 2"
    assert found["size"] == "an ordered category, small < mid < big"
    assert found["since"] == "a date: time, weekday"
    assert found["town"] == "left out: as asked"
    assert here("fit", "roles.csv", "-t", "churn", *told).code == 0
    page = Path("roles/report.html").read_text(encoding="utf-8")
    assert "What became of each column" in page
    assert "an ordered category, small &lt; mid &lt; big" in page
    assert here("predict", "roles/model.skops", "roles.csv", "-o", "p.csv").code == 0
    dates = fit(here, "roles.csv", "-t", "churn", "--categorical", "since")["columns"]
    assert dates["since"].startswith("a category of 2020-03-01, 2020-03-02")
    for wrong, words in (
        ("size", "say the order too"),
        ("size=small,big", "'mid' occurs and is not named"),
        ("size=small,mid,big,mid", "a level is named twice"),
        ("since=1,2", "dates have an order already"),
    ):
        refused(here("fit", "roles.csv", "-t", "churn", "--ordered", wrong), words)


def test_classes_of_a_row_or_two(here: Here, table: Path) -> None:
    frame = clients()
    frame.loc[0, "churn"] = "odd"
    frame.loc[1:2, "churn"] = "strange"
    frame.to_csv("rare.csv", index=False)
    quick = ("rare.csv", "-t", "churn", "--loss", "hinge", "--ard", "no", "-o", "out")
    for way, classes in (
        ("keep", ["left", "odd", "stayed", "strange"]),
        ("drop", ["left", "stayed"]),
        ("merge", ["left", "stayed", "strange"]),
    ):
        assert fit(here, *quick, "--rare", way)["classes"]["odd"] == 1  # of the file
        assert load("out/model.skops").classes == classes
    refused(here("fit", *quick, "--rare", "forget"), "forget")
    frame["churn"] = np.where(np.arange(len(frame)) == 3, "odd", "stayed")
    frame.to_csv("rare.csv", index=False)
    assert fit(here, *quick, "--holdout", "0.25")["classes"]["odd"] == 1
    assert load("out/model.skops").classes == ["odd", "stayed"]
    frame.assign(churn=np.arange(len(frame)) % 2).iloc[:2].to_csv("rare.csv", index=False)
    refused(here("fit", *quick), "no class of more than one row")
