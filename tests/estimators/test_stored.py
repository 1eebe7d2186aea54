"""Model files of all versions: those of a known format are read, others are refused by name."""

from __future__ import annotations

import json
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
import pytest
from sklearn.exceptions import InconsistentVersionWarning

import svmselect
from estimators.test_persist import members, packed
from svmselect import load
from svmselect.estimators.model_file import FORMAT, MAKER
from tools.stored_models import FOLDER, inputs

STORED = sorted(FOLDER.glob("[0-9]*/*.skops"))
BEFORE = sorted((FOLDER / "before").glob("*.skops"))
NAMES = {
    "two-classes", "three-classes", "averaged", "by-criterion", "sparse", "frame",
}  # fmt: skip
# the files are of the scikit-learn that was there when they were made
pytestmark = pytest.mark.filterwarnings(
    f"ignore::{InconsistentVersionWarning.__module__}.{InconsistentVersionWarning.__qualname__}"
)


def title(path: Path) -> str:
    return f"{path.parent.name}-{path.stem}"


def test_there_are_files_of_each_format() -> None:
    folders = {path.parent.name for path in STORED}
    assert folders == {str(number) for number in range(1, FORMAT + 1)}
    assert {path.stem for path in STORED} >= NAMES
    assert BEFORE


@pytest.mark.parametrize("path", STORED, ids=title)
def test_files_of_all_formats_are_read(path: Path) -> None:
    """If this fails after a change of what models hold: see tools/stored_models.py."""
    model = load(path)
    known = json.loads(path.with_suffix(".json").read_text())
    assert model.classes_.tolist() == known["classes"]
    np.testing.assert_allclose(
        model.predict_proba(inputs(path.stem)), known["probabilities"], rtol=1e-6, atol=1e-9
    )
    assert model.explain()


@pytest.mark.parametrize("path", BEFORE, ids=title)
def test_files_of_before_the_first_release_are_refused_by_name(path: Path) -> None:
    with pytest.raises(ValueError, match=r"another version of svmselect.*fit again") as told:
        load(path)
    assert path.name in str(told.value)
    assert "\n" not in str(told.value)


def test_a_file_says_who_wrote_it(tmp_path: Path) -> None:
    svmselect.save(load(STORED[0]), tmp_path / "m")
    with ZipFile(tmp_path / "m") as archive:
        found = json.loads(archive.read(MAKER))
    assert found == {"format": FORMAT, "version": svmselect.__version__}


def with_maker(tmp_path: Path, maker: bytes) -> Path:
    made = members(STORED[0].read_bytes()) | {MAKER: maker}
    (tmp_path / "m").write_bytes(packed(made, ZIP_DEFLATED))
    return tmp_path / "m"


def test_files_of_a_later_format_are_refused_by_version(tmp_path: Path) -> None:
    later = json.dumps({"format": FORMAT + 1, "version": "7.1.0rc1"}).encode()
    with pytest.raises(ValueError, match=r"was written by svmselect 7\.1\.0rc1, whose model files"):
        load(with_maker(tmp_path, later))


@pytest.mark.parametrize(
    "maker",
    [b"", b"{", b"[]", b"{}", b"[" * 5000, b'{"format": "1", "version": "1"}', b'{"format": 2}',
     b'{"format": 2, "version": "a\\nb"}', b'{"format": 2, "version": ["1"]}'],
)  # fmt: skip
def test_nonsense_about_the_writer_is_damage(tmp_path: Path, maker: bytes) -> None:
    with pytest.raises(ValueError, match="is damaged or cut short"):
        load(with_maker(tmp_path, maker))
