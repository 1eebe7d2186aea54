"""Write model files, and what they predict, for the tests: `python -m tools.stored_models`.

They go to `tests/estimators/stored/FORMAT/`, where a file of each format stays for good, so that
later versions are held to read it. Before the first release the files of format 1 may be made anew;
after a release only a new format may be added, with `FORMAT` raised in `model_file.py`.
`frame-by-object` is kept from then, whose columns are an object each, and `three-classes-by-power`,
whose probabilities are recalibrated by one number.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from svmselect import AutoClassifier, AutoKLR, AutoSVC, save
from svmselect.estimators.model_file import FORMAT

FOLDER = Path(__file__).parents[1] / "tests" / "estimators" / "stored"


def rows(n: int = 40) -> pd.DataFrame:
    """Numbers, a category, gaps."""
    rng = np.random.default_rng(0)
    size = rng.normal(size=n).round(3)
    size[3] = np.nan
    return pd.DataFrame(
        {
            "size": size,
            "place": rng.choice(["Bern", "Zug", "Chur"], n),
            "age": rng.integers(9, 90, n),
        }
    )


def inputs(name: str) -> Any:
    """What a stored model was fitted to and predicts."""
    if name.startswith("frame"):
        return rows()
    X = np.random.default_rng(1).normal(size=(40, 2)).round(3)
    return sparse.csr_array(np.where(np.abs(X) > 1.6, X, 0.0)) if name == "sparse" else X


def models() -> dict[str, Any]:
    """One of each kind."""
    X = inputs("two-classes")
    two, three = X[:, 0] + 0.3 * X[:, 1] > 0, np.digitize(X[:, 0] + X[:, 1] ** 2, [0.3, 1.2])
    plain = {"ard": "no", "random_state": 0}
    return {
        "two-classes": AutoSVC(**plain).fit(X, two),
        "three-classes": AutoKLR(**plain).fit(X, three),
        "averaged": AutoClassifier(random_state=0).fit(X, two),
        "by-criterion": AutoSVC("matern", criterion="gacv", search="grid", **plain).fit(X, two),
        "sparse": AutoSVC(criterion="gacv", search="grid", **plain).fit(inputs("sparse"), two),
        "frame": AutoSVC(criterion="gacv", search="grid", **plain).fit(
            rows(), np.where(rows()["age"] > 45, "old", "young")
        ),
    }


if __name__ == "__main__":
    folder = FOLDER / str(FORMAT)
    folder.mkdir(parents=True, exist_ok=True)
    for name, model in models().items():
        save(model, folder / f"{name}.skops")
        found = {
            "classes": model.classes_.tolist(),
            "probabilities": model.predict_proba(inputs(name)).tolist(),
        }
        (folder / f"{name}.json").write_text(json.dumps(found) + "\n")
