"""Every command through the real entry point, as a user gives it."""

import importlib.metadata
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import svmselect
from cli.running import Ended, clients, refused, run

ANSI = re.compile(r"\x1b\[")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the commands are given; clients.csv is German: BOM, semicolons, decimal commas."""
    folder = tmp_path_factory.mktemp("work")
    frame = clients(120)
    frame.to_csv(folder / "clients.csv", index=False, sep=";", decimal=",", encoding="utf-8-sig")
    return folder


@pytest.fixture(scope="module")
def fitted(folder: Path) -> Ended:
    return run("fit", "clients.csv", "--target", "churn", "--holdout", "0.25", cwd=folder)


def test_fit(fitted: Ended, folder: Path) -> None:
    assert fitted.code == 0, fitted.err
    lines = fitted.out.splitlines()
    assert lines[0].startswith("clients.csv (text separated by semicolons, decimal commas): 120 ")
    for name in ("chosen", "by", "test error", "expected error", "by guessing", "inputs", "time"):
        assert sum(line.startswith(f"{name}  ") for line in lines) == 1
    assert re.search(
        r"expected error +\d+\.\d % \(95 % interval \d+\.\d to \d+\.\d %\)", fitted.out
    )
    assert "Open this page: clients/report.html" in lines
    assert max(map(len, lines[1:])) <= 80
    assert not ANSI.search(fitted.out + fitted.err)
    assert [line == line.rstrip() for line in lines]
    assert "note: column 'client_id' is left out: it names the rows" in fitted.err
    assert "note: column 'country' is left out: it has one value only, CH" in fitted.err
    assert {file.name for file in (folder / "clients").iterdir()} == {
        "model.skops", "trace.jsonl", "report.html",
    }  # fmt: skip


def test_predict(fitted: Ended, folder: Path) -> None:
    new = clients(50, seed=1)
    new[["town", "country", "age", "member"]].to_csv(folder / "new.tsv", sep="\t", index=False)
    ended = run("predict", "clients/model.skops", "new.tsv", "-o", "out.csv", cwd=folder)
    assert ended.code == 0, ended.err
    assert "50 rows: " in ended.out
    found = pd.read_csv(folder / "out.csv")
    assert list(found) == ["prediction", "probability_left", "probability_stayed"]
    np.testing.assert_allclose(found.iloc[:, 1:].sum(axis=1), 1.0, atol=1e-5)
    more = np.where(found["probability_left"] > 0.5, "left", "stayed")
    assert (found["prediction"] == more).all()
    assert (found["prediction"] == new["churn"]).mean() > 0.8


def test_report(fitted: Ended, folder: Path) -> None:
    ended = run("report", "clients/trace.jsonl", "-o", "again/page.html", cwd=folder)
    assert (ended.code, ended.out) == (0, "Open this page: again/page.html\n")
    again = (folder / "again" / "page.html").read_bytes()
    assert again == (folder / "clients" / "report.html").read_bytes()


def test_compare(folder: Path) -> None:
    wanted = ["--criterion", "gacv", "--criterion", "xi-alpha"]
    ended = run("compare", "clients.csv", "--target", "churn", *wanted, cwd=folder)
    assert ended.code == 0, ended.err
    rows = {line.split()[0]: line for line in ended.out.splitlines() if line}
    for name in ("gacv", "xi-alpha"):
        assert re.search(r" \d+\.\d % +\d+\.\d to \d+\.\d +\d+% +\d+ +\d+\.\d s$", rows[name])


def test_list() -> None:
    ended = run("list", "criteria", "--json", cwd=Path.cwd())
    assert ended.code == 0
    found = [one["name"] for one in json.loads(ended.out)["criteria"]]
    assert found == list(svmselect.criteria.available())


def test_version() -> None:
    ended = run("--version", cwd=Path.cwd())
    assert (ended.code, ended.out) == (0, f"svmselect {svmselect.__version__}\n")


def test_demo(tmp_path: Path) -> None:
    ended = run("demo", cwd=tmp_path)
    assert ended.code == 0, ended.err
    page = ended.out.splitlines()[-2].removeprefix("Open this page: ")
    assert "<html" in (tmp_path / page).read_text(encoding="utf-8")


def test_reproduce_knows_its_papers() -> None:
    refused(run("reproduce", "nobody", cwd=Path.cwd()), "'nobody' is not one of 'gl")


FORMATS = ("plain.csv", "bom.csv", "semicolons.csv", "tabs.tsv", "t.parquet", "t.svm", "t.arff")


@pytest.fixture(scope="module")
def formats(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same numbers in files of every format; the texts have commas in them."""
    from sklearn.datasets import dump_svmlight_file

    folder = tmp_path_factory.mktemp("formats")
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 3)).round(4)
    names = ["x1", "x2", "x3"]
    frame = pd.DataFrame(X, columns=names)
    sign = np.where(X[:, 0] + X[:, 1] > 0, 1, -1)
    frame["label"] = np.where(sign > 0, "yes, indeed", "no")
    frame.to_csv(folder / "plain.csv", index=False)
    frame.to_csv(folder / "bom.csv", index=False, encoding="utf-8-sig")
    frame.to_csv(folder / "semicolons.csv", index=False, sep=";", decimal=",")
    frame.to_csv(folder / "tabs.tsv", index=False, sep="\t")
    frame.to_parquet(folder / "t.parquet")
    dump_svmlight_file(X, sign, str(folder / "t.svm"), zero_based=False)
    head = ["@relation t", *(f"@attribute {n} numeric" for n in names)]
    head += ["@attribute label {'yes, indeed', no}", "@data"]
    quoted = frame["label"].map(lambda text: f"'{text}'")
    lines = [",".join(map(repr, row)) for row in X.tolist()]
    body = [f"{line},{text}" for line, text in zip(lines, quoted, strict=True)]
    (folder / "t.arff").write_text("\n".join([*head, *body]))
    return folder


@pytest.mark.parametrize("name", [*FORMATS, "-"])
def test_score_of_the_same_table_in_every_format(formats: Path, name: str) -> None:
    stdin = (formats / "semicolons.csv").read_bytes() if name == "-" else None
    arguments = ("score", name, "--target", "label", "-c", "gacv", "-C", "2", "--json")
    ended = run(*arguments, cwd=formats, stdin=stdin)
    assert ended.code == 0, ended.err
    frame = pd.read_csv(formats / "plain.csv")
    X = frame[["x1", "x2", "x3"]].to_numpy()
    expected = svmselect.score((X - X.mean(0)) / X.std(0), frame["label"], "gacv", C=2.0)
    assert json.loads(ended.out)["value"] == pytest.approx(expected.value, rel=1e-6)


def test_the_command_is_installed() -> None:
    (entry,) = importlib.metadata.entry_points(group="console_scripts", name="svmselect")
    assert entry.value == "svmselect.cli:main"


def test_the_start_is_light() -> None:
    """What --help loads: nothing that takes long."""
    import subprocess
    import sys

    code = (
        "import sys\nfrom svmselect.cli import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    loaded = set(done.stdout.splitlines()[-1].split())
    assert not loaded & {"numpy", "scipy", "sklearn", "pandas", "matplotlib", "torch", "skops"}
