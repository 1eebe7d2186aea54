"""Files of 100,000 rows and more: what is announced, what is used, and how much memory it takes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from cli.running import ENVIRONMENT

pytestmark = pytest.mark.slow

ROWS = 100_000
# the peak of memory of a command, in bytes, as the last line of standard error
MEASURED = """
import resource, sys
from svmselect.cli import main
try:
    main(sys.argv[1:])
finally:
    print(1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)
"""


def measured(*arguments: object, cwd: Path) -> tuple[str, str, int]:
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, **ENVIRONMENT},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    *notes, peak = done.stderr.splitlines()
    return done.stdout, "\n".join(notes), int(peak)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("many")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROWS, 6)).round(5)
    f = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + 0.3 * rng.normal(size=ROWS)
    frame = pd.DataFrame(X, columns=[f"v{i}" for i in range(6)])
    frame["group"] = rng.choice(list("abc"), ROWS)
    frame["y"] = np.where(f > 0, "yes", "no")
    frame.to_csv(folder / "big.csv", index=False)
    return folder


def test_fit_and_predict(folder: Path) -> None:
    options = ("--target", "y", "--holdout", "0.2", "--max-time", "30s")
    out, notes, peak = measured("fit", "big.csv", *options, cwd=folder)
    assert "100,000 rows, 7 inputs" in out
    assert "80,000 rows: C and the length scales are chosen on 3 samples of 2,000 rows" in notes
    assert "trained on all rows through 1,000 landmarks" in notes
    assert "the choice ends after 30 s at the latest" in notes
    assert peak < 2**31
    assert (folder / "big" / "report.html").exists()
    out, _, peak = measured(
        "predict", "big/model.skops", "big.csv", "-o", "p.csv", "--json", cwd=folder
    )
    found = json.loads(out)
    assert found["rows"] == ROWS
    assert found["error"]["value"] < 0.2
    # ten times the rows take no more memory
    lines = (folder / "big.csv").read_text().splitlines(keepends=True)
    with (folder / "bigger.csv").open("w") as file:
        file.write(lines[0])
        for _ in range(10):
            file.writelines(lines[1:])
    out, _, more = measured(
        "predict", "big/model.skops", "bigger.csv", "-o", "q.csv", "--json", cwd=folder
    )
    assert json.loads(out)["rows"] == 10 * ROWS
    assert more < 1.2 * peak


def test_a_named_criterion_takes_a_sample(folder: Path) -> None:
    options = ("--target", "y", "--criterion", "kric", "--max-time", "10s", "--no-report")
    _, notes, peak = measured("fit", "big.csv", *options, "-o", "named", cwd=folder)
    assert "3,000 of 100,000 rows are used" in notes
    assert peak < 2**31
