"""Collections of Dask's: one machine's result, wherever they are, and whoever dies meanwhile."""

import os
import signal
import time

import numpy as np
import pandas as pd
import pytest

from svmselect import AutoSVC
from svmselect.estimators import by_rows
from svmselect.estimators.strategies import grown

pytestmark = pytest.mark.cluster  # where Dask is installed; imported by the tests, therefore

rng = np.random.default_rng(0)
N = 3000
frame = pd.DataFrame(rng.normal(size=(N, 2)), columns=["a", "b"])
frame["kind"] = rng.choice(["u", "v", "w"], N)
rule = np.sin(2 * frame["a"]) + frame["b"] + (frame["kind"] == "u") + 0.3 * rng.normal(size=N)
frame["y"] = np.where(rule > 0, "yes", "no")
inputs, X = frame.drop(columns="y"), frame[["a", "b"]].to_numpy()


def few(**given):
    return grown.Budget(landmarks=60, first=30, **given)


@pytest.fixture(autouse=True)
def several_are_few(monkeypatch):
    monkeypatch.setattr(by_rows, "SEVERAL", 1000)
    monkeypatch.setattr(by_rows, "CHOSEN_ON", 400)
    monkeypatch.setattr(by_rows, "Budget", few)


def model():
    return AutoSVC(random_state=0, ard="no")


def on_dask(count=4):
    import dask.dataframe as dd

    made = dd.from_pandas(frame, npartitions=count)
    return made.drop(columns="y"), made["y"]


def same(found, expected, rows):
    np.testing.assert_allclose(
        found.decision_function(rows), expected.decision_function(rows), rtol=1e-6, atol=1e-8
    )


def test_collections_without_a_cluster():
    import dask.array as da

    whole = model().fit(inputs, frame["y"])
    found = model().fit(*on_dask())
    same(found, whole, inputs)
    lazy = found.predict_proba(on_dask()[0])
    np.testing.assert_allclose(lazy.compute(), found.predict_proba(inputs), rtol=1e-12)
    assert found.predict(on_dask()[0]).compute().tolist() == found.predict(inputs).tolist()
    plain, weights = model().fit(X, frame["y"], np.arange(N) % 3), np.arange(N) % 3
    rows = da.from_array(X, chunks=(800, 1))
    for y, w in (
        (frame["y"].to_numpy(), weights),
        (da.from_array(frame["y"].to_numpy().astype(str), chunks=500), da.from_array(weights)),
    ):
        found = model().fit(rows, y, w)
        same(found, plain, X)
    values = found.decision_function(rows)
    assert values.chunks == ((800, 800, 800, 600),)
    np.testing.assert_allclose(values.compute(), found.decision_function(X), rtol=1e-12)
    assert found.predict_proba(rows).compute().shape == (N, 2)


def test_files_that_dask_reads_keep_their_partitions(tmp_path):
    import dask.dataframe as dd

    # Dask would read the one column of labels in fewer partitions than the others
    for i, at in enumerate(range(0, N, 500)):
        frame[at : at + 500].to_parquet(tmp_path / f"{i}.parquet")
    lazy = dd.read_parquet(tmp_path)
    found = model().fit(lazy.drop(columns="y"), lazy["y"])
    same(found, model().fit(inputs, frame["y"]), inputs)
    assert len(found.predict(lazy.drop(columns="y")).compute()) == N


def test_what_does_not_fit_together():
    import dask.array as da

    rows, y = on_dask()
    for given, said in (
        ((rows, None), "y is None"),
        ((rows, frame["y"][:100]), "3,000 rows and y 100 entries"),
        ((rows, on_dask(3)[1]), "4 partitions and y 3"),
        ((da.from_array(X), da.from_array(X[:50, 0])), "3,000 rows and y 50 entries"),
        ((rows, y, np.ones(7)), "sample_weight 7 entries"),
    ):
        with pytest.raises(ValueError, match=said):
            model().fit(*given)


@pytest.fixture(scope="module")
def cluster():
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=3, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.mark.slow
def test_workers_give_the_result_of_one_machine(cluster):
    whole = model().fit(inputs, frame["y"])
    rows, y = on_dask(7)
    found = model().fit(rows.persist(), y.persist())
    same(found, whole, inputs)
    np.testing.assert_allclose(
        found.predict_proba(rows).compute(), found.predict_proba(inputs), rtol=1e-12
    )


@pytest.mark.slow
def test_a_killed_worker_loses_no_block_and_none_counts_twice(cluster, tmp_path):
    import dask.array as da

    from svmselect.parallel import Dask
    from svmselect.rows.cluster import ClusterRows, array_chunk

    path = str(tmp_path / "died")

    def mortal(chunk):  # counts rows; the first worker that is asked of one block dies
        time.sleep(0.1)
        if chunk.first == 1250 and not os.path.exists(path):
            with open(path, "w"):
                pass
            os.kill(os.getpid(), signal.SIGKILL)
        return np.array([len(chunk), chunk.X.sum()])

    persisted = da.from_array(X, chunks=(250, 2)).persist()
    parts = persisted.to_delayed().ravel()
    blocks = tuple(zip(parts, np.split(frame["y"].to_numpy(), 12), strict=True))
    rows = ClusterRows("X", 2, blocks, (250,) * 12, array_chunk, Dask.running())
    found = rows.total(mortal)
    assert os.path.exists(path)
    np.testing.assert_allclose(found, [N, X.sum()], rtol=1e-12)


@pytest.mark.slow
def test_a_fit_survives_a_killed_worker(cluster):
    import dask.array as da

    whole = model().fit(X, frame["y"])
    killed = []

    def kill(done, rows, number):
        if number == 5 and not killed:
            name = next(iter(cluster.scheduler_info()["workers"]))
            killed.append(cluster.run(os.getpid, workers=[name])[name])
            os.kill(killed[0], signal.SIGKILL)
        return False

    from svmselect.estimators.callbacks import Watch
    from svmselect.estimators.opened import opened

    found = model()
    rows = da.from_array(X, chunks=(400, 2))
    with opened(found, rows, frame["y"], None) as given:
        found._fit(*given, None, Watch(passing=kill))
    assert killed
    same(found, whole, X)
