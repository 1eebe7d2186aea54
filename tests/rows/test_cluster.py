"""Collections of Dask's as rows, computed in this process; see estimators/test_on_dask.py."""

import numpy as np
import pandas as pd
import pytest

from svmselect.parallel import Halted
from svmselect.rows import ArrayRows
from svmselect.rows.cluster import ClusterRows, array_chunk, bare, sizes_of, some
from svmselect.rows.scan import scan

pytestmark = pytest.mark.cluster  # where Dask is installed; imported by the tests, therefore

rng = np.random.default_rng(0)
N = 700
X = rng.normal(size=(N, 3))
y = rng.choice(["no", "yes"], N)
SIZES = (300, 300, 100)


def blocks():
    import dask.array as da

    parts = da.from_array(X, chunks=(300, 3)).to_delayed().ravel()
    return tuple(zip(parts, np.split(y, [300, 600]), strict=True))


def test_a_collection_is_an_array_in_blocks():
    rows = ClusterRows("X", 3, blocks(), SIZES, array_chunk, None)
    told = []
    found = rows.total(scan, 5, 80, told=lambda done: told.append(done) or False).cut()
    whole = ArrayRows(X, y).total(scan, 5, 80).cut()
    for name in ("rows", "labels", "numbers", "X", "y"):
        np.testing.assert_array_equal(getattr(found, name), getattr(whole, name))
    assert told == [300, 600, 700]
    with pytest.raises(Halted):
        rows.total(scan, 5, 80, told=lambda done: done > 300)


def test_sizes_are_counted():
    assert sizes_of(blocks(), None) == SIZES


def test_blocks_of_other_lengths_are_refused():
    parts = [(part, y[:100]) for part, _ in blocks()]
    rows = ClusterRows("X", 3, tuple(parts), SIZES, array_chunk, None)
    with pytest.raises(ValueError, match="300 rows and that of y 100"):
        rows.total(scan, 5, 80)


def test_a_sample_of_frames_does_not_depend_on_partitions():
    import dask.dataframe as dd

    frame = pd.DataFrame(X, columns=list("abc"))
    found = []
    for count in (1, 5):
        parts = [(one,) for one in dd.from_pandas(frame, npartitions=count).to_delayed()]
        rows = ClusterRows("X", 0, tuple(parts), sizes_of(parts, None), bare, None)
        found.append(rows.total(some, 3, 50).cut().frame.to_numpy())
        assert len(found[-1]) == 50
    np.testing.assert_array_equal(*(np.sort(one, axis=0) for one in found))
