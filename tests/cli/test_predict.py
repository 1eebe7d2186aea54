"""``svmselect predict``: piece by piece, by name, all or nothing; and files that are no models."""

import csv
import io
import json
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import svmselect
from cli.running import Here, clients, refused
from svmselect import AutoSVC


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model file of the clients."""
    from svmselect.cli import main

    folder = tmp_path_factory.mktemp("model")
    clients().to_csv(folder / "clients.csv", index=False)
    with pytest.raises(SystemExit) as ended:
        main(
            ["fit", f"{folder}/clients.csv", "-t", "churn", "-o", f"{folder}", "-q", "--no-report"]
        )
    assert ended.value.code == 0
    return folder / "model.skops"


def test_pieces_make_no_difference(
    here: Here, table: Path, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clients(95, seed=5).to_csv("new.csv", index=False)
    whole = here("predict", model, "new.csv")
    monkeypatch.setattr("svmselect.tables.source.PIECE", 10)
    pieces = here("predict", model, "new.csv")
    assert whole.code == pieces.code == 0
    assert whole.out == pieces.out
    found = pd.read_csv(io.StringIO(whole.out))
    known = svmselect.load(model)
    frame = clients(95, seed=5)
    X = frame[["age", "town", "member"]]
    np.testing.assert_allclose(found.iloc[:, 1:], known.estimator.predict_proba(X), rtol=1e-5)
    np.testing.assert_array_equal(found["prediction"], known.estimator.predict(X))
    wrong = (found["prediction"] != frame["churn"]).mean()
    assert f"error {100 * wrong:.1f} %" in whole.err


def test_the_file_of_the_fit_is_known_again(here: Here, table: Path, model: Path) -> None:
    own = here("predict", model, "clients.csv")
    assert "clients.csv is the file that the model was fitted to" in " ".join(own.err.split())
    told = json.loads(here("predict", model, "clients.csv", "-o", "p.csv", "--json").out)
    assert told["fitted_to"] is True
    clients(80, seed=5).to_csv("clients.csv", index=False)
    other = here("predict", model, "clients.csv")
    assert other.code == 0
    assert "was fitted to" not in other.err


def test_data_frames_are_predicted_like_files(
    here: Here, table: Path, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = clients(45, seed=5)[["town", "member", "age"]]
    frame.to_csv("new.csv", index=False)
    expected = pd.read_csv(io.StringIO(here("predict", model, "new.csv").out))
    monkeypatch.setattr("svmselect.tables.source.PIECE", 10)
    known = svmselect.load(model)
    labels, p = known.predict_frame(frame.set_index(np.arange(45)[::-1]))
    np.testing.assert_array_equal(labels, expected["prediction"])
    np.testing.assert_allclose(p, expected.iloc[:, 1:], rtol=1e-5)
    with pytest.raises(ValueError, match="no column 'age'"):
        known.predict_frame(frame[["town", "member"]])
    with pytest.raises(ValueError, match="no rows"):
        known.predict_frame(frame[:0])


def test_columns_kept_and_json(here: Here, table: Path, model: Path) -> None:
    ended = here("predict", model, table, "-o", "p.csv", "--keep", "client_id", "--json")
    found = pd.read_csv("p.csv")
    assert list(found)[:2] == ["client_id", "prediction"]
    np.testing.assert_array_equal(found["client_id"], clients()["client_id"])
    fields = json.loads(ended.out)
    assert fields["predictions"] == found["prediction"].value_counts().to_dict()
    assert fields["error"]["value"] == (found["prediction"] != clients()["churn"]).mean()
    refused(here("predict", model, table, "--json"), "add -o FILE")


def test_a_dash_is_standard_output(here: Here, table: Path, model: Path) -> None:
    plain, dashed = (here("predict", model, table, *more) for more in ((), ("-o", "-")))
    assert dashed.out == plain.out
    assert not Path("-").exists()


def test_texts_not_seen_are_reported(here: Here, table: Path, model: Path) -> None:
    frame = clients()
    frame.loc[:4, "town"] = "Genf"
    frame.to_csv("new.csv", index=False)
    ended = here("predict", model, "new.csv", "-o", "p.csv")
    assert ended.code == 0
    assert "column 'town' has 5 values that the model has not seen ('Genf')" in " ".join(
        ended.err.split()
    )


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda frame: frame.drop(columns="age"), ["no column 'age', which the model needs"]),
        (lambda frame: frame.assign(age=["x"] * 80), ["'x' in row 1", "a number"]),
        (lambda frame: frame.assign(age=[1.0] * 79 + [np.inf]), ["'age'", "infinite in row 80"]),
        (
            lambda frame: frame.assign(town=["Ulm"] * 80),
            ["'town'", "no value that the model knows"],
        ),
    ],
)
def test_all_or_nothing(
    here: Here, table: Path, model: Path, monkeypatch: pytest.MonkeyPatch, change, words
) -> None:
    monkeypatch.setattr("svmselect.tables.source.PIECE", 25)
    change(clients()).to_csv("new.csv", index=False)
    Path("p.csv").write_text("precious")
    refused(here("predict", model, "new.csv", "-o", "p.csv"), *words)
    assert Path("p.csv").read_text() == "precious"
    assert sorted(file.name for file in Path().iterdir()) == ["clients.csv", "new.csv", "p.csv"]


def test_models_saved_from_python(here: Here, table: Path) -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, 2)), columns=["a", "b"])
    y = np.where(X["a"] > 0, "p", "n")
    X[["b", "a"]].to_csv("new.csv", index=False)
    named = AutoSVC(random_state=0).fit(X, y)
    svmselect.save(named, "named.skops")
    ended = here("predict", "named.skops", "new.csv")
    found = pd.read_csv(io.StringIO(ended.out))
    np.testing.assert_allclose(found.iloc[:, 1:], named.predict_proba(X), rtol=1e-5)
    bare = AutoSVC(random_state=0).fit(X.to_numpy(), y)
    svmselect.save(bare, "bare.skops")
    X.to_csv("new.csv", index=False)
    found = pd.read_csv(io.StringIO(here("predict", "bare.skops", "new.csv").out))
    np.testing.assert_allclose(found.iloc[:, 1:], bare.predict_proba(X.to_numpy()), rtol=1e-5)
    refused(here("predict", "bare.skops", table), "takes 2 columns")


def rewritten(content: bytes, change) -> bytes:
    """A zip archive with its members changed: name, bytes -> bytes."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(made, "w") as new:
        for name in old.namelist():
            new.writestr(name, change(name, old.read(name)))
    return made.getvalue()


def other_numbers(name: str, content: bytes) -> bytes:
    """One byte of an array is another."""
    return content[:-1] + bytes([content[-1] ^ 1]) if name.endswith(".npy") else content


def other_label(name: str, content: bytes) -> bytes:
    return content.replace(b"churn", b"saint")


def other_type(name: str, content: bytes) -> bytes:
    return content.replace(b'"TableModel"', b'"system"').replace(
        b'"svmselect.tables.model"', b'"os"'
    )


def no_digest(content: bytes) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(made, "w") as new:
        for name in old.namelist():
            if "sha256" not in name:
                new.writestr(name, old.read(name))
    return made.getvalue()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda content: rewritten(content, other_numbers), "was changed after"),
        (lambda content: rewritten(content, other_label), "was changed after"),
        (lambda content: rewritten(content, other_type), "not trusted: os.system"),
        (lambda content: rewritten(content, lambda name, _: b"{}"), "no model file"),
        (lambda content: rewritten(content, lambda name, _: b"nonsense"), "no model file"),
        (no_digest, "has no digest"),
        (lambda content: content[: len(content) // 2], "damaged or cut short"),
        (lambda content: content[:200] + b"\0\0\0\0" + content[204:], "damaged or cut short"),
        (lambda content: b"PK\3\4nothing", "damaged or cut short"),
        (lambda content: b"", "no model file"),
        (lambda content: b"\x80\x04K\x01.", "no model file"),
    ],
)
def test_files_that_are_no_models_or_were_changed(
    here: Here, table: Path, model: Path, change, words: str
) -> None:
    Path("m.skops").write_bytes(change(model.read_bytes()))
    refused(here("predict", "m.skops", table), "m.skops", words)


def test_no_model_file(here: Here, table: Path) -> None:
    refused(here("predict", "nothing.skops", table), "there is no file nothing.skops")
    refused(here("predict", ".", table), "a folder without a model.skops")


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("=1+1", "'=1+1"), ("=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"), ("+49 30", "'+49 30"),
        ("-a", "'-a"), ("-1+2", "'-1+2"), ("@SUM(A1)", "'@SUM(A1)"), ("\t=1", "'\t=1"),
        ("\r=1", "'\r=1"), ("\n=1", "'\n=1"), (" =1", "' =1"), ("＝1", "'＝1"), ("-inf", "'-inf"),
        ("-1_000", "'-1_000"), ("-", "'-"), ("-١", "'-١"),
        ("-1.5", "-1.5"), ("+1", "+1"), ("-1e-5", "-1e-5"), ("1-2", "1-2"), ("a=b", "a=b"),
        ("", ""), ("'=1", "'=1"), ("Bern", "Bern"),
    ],
)  # fmt: skip
def test_which_cells_are_formulas(cell: str, expected: str) -> None:
    from svmselect.cli.formulas import escaped

    assert escaped(cell) == expected


def test_formulas_are_escaped_where_asked_to(here: Here, table: Path, tmp_path: Path) -> None:
    frame = clients()
    frame["=note"] = "plain"
    frame.loc[0, "=note"] = '=HYPERLINK("http://x","a")'
    frame["change"] = -1.5
    frame["churn"] = frame["churn"].map({"left": "-left", "stayed": "-1"})
    frame.to_csv("odd.csv", index=False)
    fitted = here("fit", "odd.csv", "-t", "churn", "--ignore", "=note", "-o", "odd", "--no-report")
    assert fitted.code == 0, fitted
    asked = ("predict", "odd/model.skops", "odd.csv", "--keep", "=note", "--keep", "change")
    plain, marked = here(*asked).out, here(*asked, "--escape-formulas").out
    rows = list(csv.reader(io.StringIO(marked)))
    assert rows[0][:3] == ["'=note", "change", "prediction"]
    assert rows[1][:2] == ['\'=HYPERLINK("http://x","a")', "-1.5"]
    assert rows[2][0] == "plain"
    assert {row[2] for row in rows[1:]} == {"'-left", "-1"}
    before = list(csv.reader(io.StringIO(plain)))
    assert before[1][0] == '=HYPERLINK("http://x","a")'
    assert [row[3:] for row in before] == [row[3:] for row in rows]
