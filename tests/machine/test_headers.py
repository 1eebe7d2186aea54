"""The compiled code by itself: each header stands alone and compiles without a warning."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

import svmselect.machine

HEADERS = sorted(Path(svmselect.machine.__file__).parent.glob("*.hpp"))
STRICT = ["-std=c++17", "-pedantic-errors", "-Wall", "-Wextra", "-Wconversion", "-Werror"]


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_no_warnings(compiler: str, tmp_path: Path) -> None:
    assert HEADERS
    if shutil.which(compiler) is None:
        return  # one of the two is enough
    for header in HEADERS:
        unit = tmp_path / f"{header.stem}.cpp"
        unit.write_text(f'#include "{header}"\n')
        done = subprocess.run(
            [compiler, *STRICT, "-fsyntax-only", str(unit)], capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
