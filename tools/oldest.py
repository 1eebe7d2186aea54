"""Print the lower bounds of the dependencies as exact pins, for `make test-oldest`.

Those of the core, and of the extras that the plain tests use.
"""

import tomllib
from pathlib import Path

pyproject = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())
project = pyproject["project"]
extras = project["optional-dependencies"]
frames = [requirement for requirement in extras["test"] if requirement.startswith("polars")]
for requirement in [*project["dependencies"], *extras["parquet"], *frames]:
    print(requirement.replace(">=", "=="))
