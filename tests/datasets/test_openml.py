"""OpenML through a local stand-in: fetched once, kept, checked."""

import numpy as np
import pandas as pd
import pytest
import sklearn.datasets
from sklearn.utils import Bunch

from svmselect import datasets
from svmselect.datasets import DatasetMissing


@pytest.fixture
def openml(monkeypatch):
    """Stand in for OpenML's blood transfusion set; gives the list of data sets asked for."""
    asked = []

    def fetch(*, data_id, as_frame, parser):
        asked.append(data_id)
        rng = np.random.default_rng(0)
        frame = pd.DataFrame(rng.integers(50, size=(748, 4)), columns=["V1", "V2", "V3", "V4"])
        frame.insert(0, "Class", pd.Categorical(np.where(np.arange(748) < 178, "2", "1")))
        return Bunch(frame=frame, target_names=["Class"])

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)
    return asked


def test_fetched_once_on_request(openml, tmp_path):
    with pytest.raises(DatasetMissing, match="download=True"):
        datasets.load("transfusion", cache=tmp_path)
    assert openml == []
    first = datasets.load("transfusion", download=True, cache=tmp_path)
    again = datasets.load("transfusion", cache=tmp_path)
    assert openml == [1464]
    assert np.array_equal(first.X, again.X)
    assert again.names == ("V1", "V2", "V3", "V4")
    assert again.source == "OpenML"
    assert np.array_equal(again.y > 0, np.arange(748) < 178)


def test_changed_file_is_refused(openml, tmp_path):
    datasets.load("transfusion", download=True, cache=tmp_path)
    path = tmp_path / "transfusion.npz"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(bytes(content))
    with pytest.raises(ValueError, match="remove it and fetch it again"):
        datasets.load("transfusion", cache=tmp_path)


def test_cache_of_the_user(openml, tmp_path, monkeypatch):
    monkeypatch.setenv("SVMSELECT_CACHE", str(tmp_path))
    datasets.load("transfusion", download=True)
    assert {path.name for path in tmp_path.iterdir()} == {
        "transfusion.npz",
        "transfusion.npz.sha256",
    }
