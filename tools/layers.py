"""The contracts of `pyproject.toml` on who imports whom, held without installing the package."""

import sys
from pathlib import Path

from importlinter.cli import lint_imports

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))
sys.exit(lint_imports(no_cache=True))
