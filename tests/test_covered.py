"""The judge of coverage: what it counts, and that too little is an error."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[1] / "tools" / "covered.py"


def judged(folder: Path, machine: int, probability: int) -> subprocess.CompletedProcess[str]:
    """With so many of a hundred branches reached, half of them in each of two files."""
    files = {}
    for package, reached in (("machine", machine), ("probability", probability)):
        for i, part in enumerate((reached // 2, reached - reached // 2)):
            summary = {
                "num_statements": 10, "covered_lines": 9, "num_branches": 50,
                "covered_branches": part,
            }  # fmt: skip
            files[f"src/svmselect/{package}/{i}.py"] = {"summary": summary}
    files["src/svmselect/other/0.py"] = files["src/svmselect/machine/0.py"]
    path = folder / "build" / "coverage" / "coverage.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"files": files}))
    return subprocess.run([sys.executable, str(TOOL)], cwd=folder, capture_output=True, text=True)


@pytest.mark.parametrize(("machine", "probability", "code"), [(95, 99, 0), (94, 99, 1), (99, 3, 1)])
def test_both_packages_have_to_reach_it(
    tmp_path: Path, machine: int, probability: int, code: int
) -> None:
    done = judged(tmp_path, machine, probability)
    assert done.returncode == code, done.stderr
    assert f"| `machine` | 90.0 % of 20 | {machine}.0 % of 100 |" in done.stdout
    assert f"| `probability` | 90.0 % of 20 | {probability}.0 % of 100 |" in done.stdout
    assert ("below 95 %" in done.stderr) == bool(code)
