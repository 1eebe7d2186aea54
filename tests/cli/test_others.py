"""score, compare, report, list and reproduce in this process: values and refusals."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import svmselect
from cli.running import Here, clients, refused
from svmselect import AutoSVC
from svmselect.cli.options import seconds
from svmselect.cli.prepare import TableOptions, prepare, split
from svmselect.kernels import RBF


@pytest.fixture
def points(table: Path) -> tuple[np.ndarray, np.ndarray]:
    prepared = prepare("clients.csv", TableOptions(target="churn"))
    return prepared.matrix(True), prepared.y


def test_score_at_a_point(here: Here, points) -> None:
    X, y = points
    expected = svmselect.score(
        X, y, "smoothed-cv", C=3.0, kernel=RBF(2.0), loss="squared_hinge", gradient=True, cv=3,
        random_state=5,
    )  # fmt: skip
    ended = here(
        "score", "clients.csv", "-t", "churn", "-c", "smoothed-cv", "-C", "3", "-p",
        "length_scale=2", "--loss", "squared_hinge", "--gradient", "--option", "cv=3", "--seed",
        "5", "--json",
    )  # fmt: skip
    found = json.loads(ended.out)
    assert found["value"] == pytest.approx(expected.value)
    assert list(found["gradient"]) == list(expected.names)
    np.testing.assert_allclose(list(found["gradient"].values()), expected.gradient)


def test_score_in_words(here: Here, table: Path) -> None:
    ended = here("score", "clients.csv", "-t", "churn", "-c", "cv-error", "--gradient")
    assert ended.code == 0
    assert "(smaller is better)" in ended.out
    assert "this criterion has none" in ended.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-c", "nope"], "criterion 'nope'"),
        (["-c", "gacv", "-p", "width=2"], "no parameter 'width'; it has length_scale"),
        (["-c", "gacv", "-p", "length_scale=-2"], "positive number"),
        (["-c", "gacv", "-p", "length_scale"], "NAME=VALUE"),
        (["-c", "gacv", "--option", "cv=3"], "no option 'cv'"),
        (["-c", "radius-margin"], "squared_hinge"),
        (["-c", "laplace"], "fit_intercept=False"),
        (["-c", "gacv", "-C", "0"], "C must be a positive"),
        ([], "--criterion"),
    ],
)
def test_score_refuses(here: Here, table: Path, arguments: list[str], words: str) -> None:
    refused(here("score", "clients.csv", "-t", "churn", *arguments), words)


def test_score_is_for_two_classes(here: Here, table: Path) -> None:
    refused(here("score", "clients.csv", "-t", "town", "-c", "gacv"), "3 classes")


def test_compare_is_what_the_estimators_do(here: Here, table: Path) -> None:
    X = pd.read_csv("clients.csv").drop(columns=["client_id", "country"])  # as the notes say
    y = X.pop("churn").to_numpy()
    rest, apart = split(y, 0.4, 2)
    ended = here(
        "compare", "clients.csv", "-t", "churn", "-c", "gacv", "-c", "radius-margin", "--holdout",
        "0.4", "--seed", "2", "--json",
    )  # fmt: skip
    found = json.loads(ended.out)
    assert found["test"] == f"{len(apart)} rows held apart"
    said = []
    for entry, loss in zip(found["criteria"], ("hinge", "squared_hinge"), strict=True):
        model = AutoSVC(criterion=entry["criterion"], loss=loss, random_state=2)
        said.append(model.fit(X.iloc[rest], y[rest]).predict(X.iloc[apart]))
        assert entry["C"] == pytest.approx(model.C_)
        assert entry["error"]["value"] == pytest.approx(np.mean(said[-1] != y[apart]))
    agreement = found["criteria"][0]["agreement"]
    assert agreement == {"gacv": 1.0, "radius-margin": pytest.approx(np.mean(said[0] == said[1]))}


def test_compare_goes_on_where_one_fails(here: Here, table: Path) -> None:
    arguments = ("compare", "clients.csv", "-t", "churn", "-c", "gacv", "-c", "dbtc")
    ended = here(*arguments, "--search", "lbfgs")  # gacv has no gradient to follow
    assert ended.code == 0
    assert "gacv could not be used" in ended.err
    assert "dbtc " in ended.out
    refused(here(*arguments[:-2], "--search", "lbfgs"), "no criterion could be used")
    refused(here(*arguments[:-1], "nope"), "criterion 'nope'")


def test_report_of_a_plain_search(here: Here, points) -> None:
    X, y = points
    svmselect.select(X, y, criterion="gacv", search="grid", checkpoint="search.jsonl")
    ended = here("report", "search.jsonl", "--json")
    assert json.loads(ended.out) == {"report": "report.html"}
    assert "gacv" in Path("report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "there is no file t.jsonl"),
        (b"", "no complete first line"),
        (b"{}\n", "is not a trace"),
        (b"a,b\n1,2\n", "is not a trace"),
        (b"\xff\xfe\0\0\n", "is no"),
    ],
)
def test_report_refuses(here: Here, table: Path, content: bytes | None, words: str) -> None:
    if content is not None:
        Path("t.jsonl").write_bytes(content)
    refused(here("report", "t.jsonl"), words)


@pytest.mark.parametrize("what", ["criteria", "kernels", "searches", "datasets", "papers"])
def test_lists(here: Here, what: str) -> None:
    import svmselect.datasets
    import svmselect.experiments
    import svmselect.search

    known: dict[str, Any] = {
        "criteria": svmselect.criteria.available(),
        "kernels": svmselect.kernels.available(),
        "searches": svmselect.search.available(),
        "datasets": {one.name: one for one in svmselect.datasets.available()},
        "papers": svmselect.experiments.available(),
    }
    listed = [one["name"] for one in json.loads(here("list", what, "--json").out)[what]]
    assert listed == list(known[what])
    ended = here("list", what)
    lines = ended.out.splitlines()
    assert max(map(len, lines)) <= 80
    assert {line.split()[0] for line in lines if line[:1].strip()} >= set(listed)


def test_without_a_word_everything_is_listed(here: Here) -> None:
    kinds = ["criteria", "kernels", "searches", "datasets", "papers"]
    assert list(json.loads(here("list", "--json").out)) == kinds
    ended = here("list")
    assert ended.code == 0
    assert [line[:-1] for line in ended.out.splitlines() if line[:-1] in kinds] == kinds


def test_lists_refuse(here: Here) -> None:
    refused(here("list", "nonsense"), "nonsense")


def test_reproduce_hands_its_options_on(
    here: Here, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from svmselect import experiments
    from svmselect.experiments import Exhibit, Paper, Published, Row, Task

    seen: list[Task] = []

    def run(task: Task, data_dir: Path | None) -> dict[str, float]:
        seen.append(task)
        return {"error": 2.0 + task.trial}

    def tasks(trials: int, reduced: bool) -> list[Task]:
        return [Task(("toy", "gacv"), trial, trial, {}) for trial in range(trials)]

    def rows(outcomes: Any) -> list[Row]:
        values = outcomes.values("toy", "gacv", of="error")
        return [Row("toy", "gacv", "error", values, Published(2.5, sd=1.0))]

    exhibits = (Exhibit("table", 1, "a table", tasks, rows), Exhibit("table", 2, "b", tasks, rows))
    paper = Paper("toy-paper", "A toy", "nobody, never", exhibits, run)
    monkeypatch.setattr(experiments, "available", lambda: {"toy-paper": paper})
    ended = here("reproduce", "toy-paper", "--table", "1", "--trials", "2", "-o", "r", "--json")
    found = json.loads(ended.out)
    assert [task.trial for task in seen] == [0, 1]
    assert (found["trials"], found["agree"], found["compared"]) == (2, 1, 1)
    assert Path("r/toy-paper.csv").exists()
    ended = here("reproduce", "toy-paper", "--table", "1", "--trials", "2", "-o", "r", "--resume")
    assert len(seen) == 2  # nothing is run twice
    assert "1 of 1 rows agree with the paper" in ended.out
    assert "within 2 sd" in ended.out
    refused(here("reproduce", "toy-paper", "--table", "9"), "9")


def test_why_a_row_was_not_run_is_told_once_and_at_full_width(
    here: Here, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from experiments.toy_paper import PAPER
    from svmselect import experiments

    monkeypatch.setattr(experiments, "available", lambda: {"toy": PAPER})
    ended = here("reproduce", "toy", "--table", "1", "-o", "r")
    remedy = "put absent.npz into the folder data_dir"
    assert remedy not in ended.out
    assert "not run" in ended.out
    assert [line for line in ended.err.splitlines() if remedy in line] == [f"note: {remedy}"]


@pytest.mark.parametrize(
    ("text", "value"), [("60", 60.0), ("60s", 60.0), ("1.5m", 90.0), ("2 h", 7200.0), (".5s", 0.5)]
)
def test_times(text: str, value: float) -> None:
    assert seconds(text) == value


@pytest.mark.parametrize("text", ["", "0s", "-3s", "3 weeks", "s"])
def test_no_times(text: str) -> None:
    import typer

    with pytest.raises(typer.BadParameter, match="is no time"):
        seconds(text)


def test_labels_may_hold_anything(here: Here, table: Path) -> None:
    """Names and labels with markup, quotes and line ends come through as they are."""
    frame = clients()
    odd = {"left": "[bold]a[/bold]", "stayed": '<script>"b"\n</script>'}
    frame["churn"] = frame["churn"].map(odd)
    frame = frame.rename(columns={"age": "[red]age"})
    frame.to_csv("odd.csv", index=False)
    ended = here("fit", "odd.csv", "-t", "churn", "--no-report", "--ard", "yes")
    assert ended.code == 0
    assert "[bold]a[/bold]" in ended.out
    assert "[red]age" in ended.out
    assert here("predict", "odd/model.skops", "odd.csv", "-o", "p.csv").code == 0
    assert set(pd.read_csv("p.csv")["prediction"]) == set(odd.values())


@pytest.mark.parametrize("name", ["d.csv.gz", "d.csv.bz2", "d.csv.xz", "d.parquet"])
def test_a_damaged_file_is_the_news_of_the_user(here: Here, table: Path, name: str) -> None:
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
        clients().to_parquet(name, compression="gzip")
    else:
        clients().to_csv(name)  # packed, by its name
    content = Path(name).read_bytes()
    Path(name).write_bytes(content[: len(content) // 2])
    refused(here("score", name, "-t", "churn", "-c", "gacv"), name, "damaged")
    Path(name).write_bytes(content[:60] + bytes(40) + content[100:])
    refused(here("score", name, "-t", "churn", "-c", "gacv"), name, "damaged")
    Path(name).write_bytes(content)
    assert here("score", name, "-t", "churn", "-c", "gacv").code == 0


def test_an_end_of_file_nobody_expected_is_no_interruption(
    here: Here, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ends(*arguments: object) -> None:
        raise EOFError("no more")

    monkeypatch.setattr("svmselect.cli.score.run", ends)
    ended = here("score", "clients.csv", "-t", "churn", "-c", "gacv")
    assert ended.code == 1
    assert "defect" in ended.err
