"""How much of the solver and of the probabilities the tests reach: `make coverage`.

Reads what coverage.py measured (`build/coverage/coverage.json`), prints a table in Markdown, and
ends with exit code 1 where a package's branches are covered to less than LEAST per cent. The
compiled code is not counted; its oracles, sanitizers and fuzzing are what holds it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

MEASURED = Path("build/coverage/coverage.json")
LEAST = 95.0
PACKAGES = ("machine", "probability")


def counts(files: dict[str, Any], package: str) -> dict[str, int]:
    """Lines and branches of a package, and how many of them were reached."""
    of_it = [
        v["summary"] for k, v in files.items() if f"svmselect/{package}/" in k.replace("\\", "/")
    ]
    names = ("num_statements", "covered_lines", "num_branches", "covered_branches")
    return {name: sum(one[name] for one in of_it) for name in names}


def table(files: dict[str, Any]) -> tuple[str, bool]:
    """The table, and whether enough is covered."""
    rows, enough = ["| package | lines | branches |", "|---|---|---|"], True
    for package in PACKAGES:
        found = counts(files, package)
        lines = 100.0 * found["covered_lines"] / max(1, found["num_statements"])
        branches = 100.0 * found["covered_branches"] / max(1, found["num_branches"])
        enough = enough and found["num_branches"] > 0 and branches >= LEAST
        rows.append(
            f"| `{package}` | {lines:.1f} % of {found['num_statements']} | "
            f"{branches:.1f} % of {found['num_branches']} |"
        )
    return "\n".join(rows), enough


if __name__ == "__main__":
    shown, enough = table(json.loads(MEASURED.read_text())["files"])
    print(shown)
    sys.exit(0 if enough else f"branch coverage is below {LEAST:g} %")
