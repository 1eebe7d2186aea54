"""Print the lower bounds of the core dependencies as exact pins, for `make test-oldest`."""

import tomllib
from pathlib import Path

pyproject = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())
for requirement in pyproject["project"]["dependencies"]:
    print(requirement.replace(">=", "=="))
