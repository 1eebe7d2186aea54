"""The catalogue, the order of sources, the checks, and partitions."""

import numpy as np
import pytest

from svmselect import datasets
from svmselect.datasets import DatasetMissing, partition

PAPERS = {
    "glasmachers-igel": 28,
    "gold-sollich": 5,
    "kobayashi-komaki": 6,
    "kwok": 3,
    "wahba-lin-zhang": 2,
}


def write(folder, name, X, y, **more):
    np.savez(folder / f"{name}.npz", X=X, y=np.asarray(y, dtype=np.int8), **more)


@pytest.mark.parametrize(("paper", "count"), PAPERS.items())
def test_every_paper_has_its_sets(paper, count):
    assert sum(paper in entry.papers for entry in datasets.catalogue().values()) == count


def test_listing_says_what_is_here(tmp_path):
    write(tmp_path, "sonar", np.zeros((208, 60)), np.ones(208))
    lines = {line.name: line for line in datasets.available(tmp_path)}
    assert list(lines) == sorted(lines)
    assert lines["sonar"].here == "folder"
    assert lines["flare-solar"].here is None
    assert lines["twonorm"].here == "generated"
    assert (lines["wdbc"].n, lines["wdbc"].d, lines["wdbc"].here) == (569, 30, "scikit-learn")


def test_missing_says_how_to_get_it(tmp_path):
    with pytest.raises(DatasetMissing, match=r"raetsch_banana\.npz.*OpenML data set 1460"):
        datasets.load("banana", cache=tmp_path)


def test_unknown_name_lists_the_known():
    with pytest.raises(
        ValueError, match=r"no data set 'iris'; the names are balance-scale, banana"
    ):
        datasets.load("iris")


def test_folder_must_exist(tmp_path):
    with pytest.raises(ValueError, match="is not a folder"):
        datasets.load("sonar", tmp_path / "nowhere")


def test_folder_comes_first_and_is_checked(tmp_path):
    rng = np.random.default_rng(0)
    y = np.where(np.arange(625) < 288, 1, -1)
    X = rng.random((625, 4))
    write(tmp_path, "balance-scale", X, y, feature=np.array(list("abcd")))
    held = datasets.load("balance-scale", tmp_path)
    assert (held.source, held.names) == ("folder", ("a", "b", "c", "d"))
    assert np.array_equal(held.X, X)
    assert not held.X.flags.writeable
    write(tmp_path, "balance-scale", X, -y)
    with pytest.raises(ValueError, match=r"has 625 rows, 4 inputs and 337 .* 288 are expected"):
        datasets.load("balance-scale", tmp_path)
    np.savez(tmp_path / "balance-scale.npz", X=X)
    with pytest.raises(ValueError, match="has no array y"):
        datasets.load("balance-scale", tmp_path)


def test_partitions_must_cover_every_row(tmp_path):
    rows = np.arange(625)
    y = np.where(rows < 288, 1, -1)
    X = np.ones((625, 4))
    write(tmp_path, "balance-scale", X, y, train=rows[None, :300], test=rows[None, 299:-1])
    with pytest.raises(ValueError, match="does not cover every row once"):
        datasets.load("balance-scale", tmp_path)


def test_partition_original_first_then_seeded(tmp_path):
    rows = np.arange(625)
    y = np.where(rows < 288, 1, -1)
    write(
        tmp_path,
        "balance-scale",
        np.ones((625, 4)),
        y,
        train=rows[None, :300],
        test=rows[None, 300:],
    )
    data = datasets.load("balance-scale", tmp_path)
    train, test, original = partition(data, 0, 300)
    assert original
    assert np.array_equal(np.r_[train, test], rows)
    drawn = [partition(data, i, 300) for i in (1, 2)]
    for train, test, original in drawn:
        assert not original
        assert (len(train), len(test)) == (300, 325)
        assert np.array_equal(np.sort(np.r_[train, test]), rows)
    assert not np.array_equal(drawn[0][0], drawn[1][0])
    assert np.array_equal(drawn[0][0], partition(data, 1, 300)[0])
    assert not np.array_equal(drawn[0][0], partition(data, 1, 300, seed=1)[0])
    assert not partition(data, 0, 200)[2]
    with pytest.raises(ValueError, match="train_size=625"):
        partition(data, 0, 625)


@pytest.mark.parametrize(
    ("name", "sizes"), {"gs-wdbc": (300, 269), "gs-twonorm": (300, 7100)}.items()
)
def test_gold_sollich_preparation(name, sizes):
    data = datasets.load(name)
    assert np.array_equal(data.train[0], np.arange(sizes[0]))
    assert np.array_equal(data.test[0], np.arange(sizes[0], sum(sizes)))
    assert data.X.mean(axis=0) == pytest.approx(np.zeros(data.d), abs=1e-12)
    assert data.X.std(axis=0) == pytest.approx(np.ones(data.d))


def test_real_folder_loads_whole(data_dir):
    """Every set the folder can give has the catalogue's counts; original partitions come along."""
    held = {line.name: line for line in datasets.available(data_dir) if line.here == "folder"}
    assert len(held) >= 20
    for name in held:
        datasets.load(name, data_dir)
    assert datasets.load("banana", data_dir).train.shape == (10, 400)
    assert datasets.load("ionosphere", data_dir).d == 33
