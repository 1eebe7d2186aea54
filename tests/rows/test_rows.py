"""Rows in chunks: keys, the first pass, arrays, iterators, what is refused."""

import numpy as np
import pytest

from svmselect.parallel import Halted
from svmselect.rows import ArrayRows, Chunk, spooled
from svmselect.rows.base import keys
from svmselect.rows.opening import elsewhere, rows_of
from svmselect.rows.scan import Bound, scan

rng = np.random.default_rng(0)
N = 1000
X = rng.normal(size=(N, 3))
y = rng.choice(["no", "perhaps", "yes"], N)
w = rng.integers(0, 3, N).astype(float)


def sums(chunk, power):
    return np.array([len(chunk), np.sum(chunk.counts()), np.sum(np.asarray(chunk.X) ** power)])


def test_keys_look_random_and_belong_to_numbers():
    k = keys(np.arange(100_000), 3)
    assert (k >= 0).all()
    assert (k < 1).all()
    assert np.abs(np.histogram(k, 10, (0, 1))[0] / 10_000 - 1).max() < 0.05
    assert abs(np.corrcoef(k[:-1], k[1:])[0, 1]) < 0.02
    other = keys(np.arange(100_000), 4)
    assert abs(np.corrcoef(k, other)[0, 1]) < 0.02
    np.testing.assert_array_equal(keys(np.array([7, 99]), 3), k[[7, 99]])


@pytest.mark.parametrize("bound", [None, Bound])
@pytest.mark.parametrize(("size", "workers"), [(N, 1), (130, 1), (7, 3)])
def test_the_first_pass_is_the_same_however_rows_are_cut(size, workers, bound):
    one = None if bound is None else bound()
    found = ArrayRows(X, y, w, workers, size=size).total(scan, 5, 100, one).cut()
    assert one is None or one.key == found.key[-1]
    there = np.flatnonzero(w > 0)
    least = there[np.argsort(keys(there, 5))[:100]]
    np.testing.assert_array_equal(found.numbers, least)
    np.testing.assert_array_equal(found.X, X[least])
    np.testing.assert_array_equal(found.y, y[least])
    np.testing.assert_array_equal(found.weights, w[least])
    assert found.rows == len(there)
    assert found.mass == pytest.approx(w.sum())
    assert found.labels == {name: int(np.sum(y[there] == name)) for name in np.unique(y)}


def test_every_row_once_and_told_of_it():
    told = []
    rows = ArrayRows(X, y, w, 2, size=64)
    found = rows.total(sums, 2, told=lambda done: told.append(done) or False)
    np.testing.assert_allclose(found, [N, w.sum(), np.sum(X**2)])
    assert told == sorted(told)
    assert told[-1] == N
    with pytest.raises(Halted):
        rows.total(sums, 2, told=lambda done: done > 200)


def test_an_error_of_a_chunk_comes_back():
    bad = X.copy()
    bad[700, 1] = np.nan
    with pytest.raises(ValueError, match="input 2 of row 701 is nan"):
        ArrayRows(bad, y, None, 2, size=64).total(scan, 0, 10)
    with pytest.raises(ValueError, match="rows 1 and on are object"):
        ArrayRows(X.astype(object), y).total(scan, 0, 10)
    with pytest.raises(ValueError, match="weight is negative"):
        ArrayRows(X, y, w - 1.0).total(scan, 0, 10)


def pieces(X=X, y=y, w=w):
    for at in range(0, len(y), 170):
        part = slice(at, at + 170)
        yield (X[part], y[part]) if w is None else (X[part], y[part], w[part])


@pytest.mark.parametrize("labels", [y, y.astype(object), (y == "yes").astype(int)])
def test_iterators_are_arrays_in_pieces(labels, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    whole = ArrayRows(X, labels, w).total(scan, 1, 50).cut()
    for given in (pieces(y=labels), list(pieces(y=labels))):
        with spooled(given) as rows:
            assert rows.width == 3
            for _ in range(2):  # again and again
                found = rows.total(scan, 1, 50).cut()
                np.testing.assert_array_equal(found.X, whole.X)
                np.testing.assert_array_equal(found.y, whole.y)
                np.testing.assert_array_equal(found.weights, whole.weights)
    assert not list(tmp_path.iterdir())


def test_pieces_that_are_none():
    with (
        pytest.raises(ValueError, match="piece 2 of the iterator is no pair"),
        spooled(iter([(X, y), (X, y[:3])])),
    ):
        pass
    with pytest.raises(ValueError, match="gave nothing"), spooled(iter([])):
        pass
    with spooled([(X, y), (X[:, :2], y)]) as rows, pytest.raises(ValueError, match="2 columns"):
        rows.total(sums, 1)


def test_what_lies_elsewhere(tmp_path):
    mapped = np.memmap(tmp_path / "x", np.float64, "w+", shape=(4, 2))
    assert elsewhere(mapped)
    assert elsewhere(pieces())
    assert all(elsewhere(one) for one in ("name", tmp_path, ["a.csv", tmp_path]))
    assert not any(elsewhere(one) for one in (X, X.tolist(), [], None))
    with pytest.raises(ValueError, match="one entry a row"), rows_of(mapped, [1, 2], None):
        pass
    with pytest.raises(ValueError, match="has the labels in it"), rows_of(pieces(), y, None):
        pass


def test_rows_without_a_label_do_not_count():
    chunk = Chunk(X[:3], np.array([0, -1, 1]), np.array(["a", "b"]), None, 0)
    assert chunk.counts().tolist() == [1.0, 0.0, 1.0]
    assert chunk.codes(np.array(["a", "b"])).tolist() == [0, -1, 1]
    assert scan(chunk, 0, 10).labels == {"a": 1, "b": 1}
