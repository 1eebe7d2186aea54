"""The compiled code by itself: each header stands alone, and all compiles without a warning."""

from __future__ import annotations

import shutil
import subprocess
import sysconfig
from pathlib import Path

import nanobind
import pytest

import svmselect.machine

FOLDER = Path(svmselect.machine.__file__).parent
HEADERS = sorted(FOLDER.glob("*.hpp"))
UNITS = sorted(FOLDER.glob("*.cpp"))
STRICT = ["-std=c++17", "-pedantic-errors", "-Wall", "-Wextra", "-Wconversion", "-Werror"]
# As the optimiser sees it: only then is it noticed what may be used before it is set.
OPTIMISED = ["-O2", "-c", "-o", "/dev/null"]
COMPILERS = [one for one in ("g++", "clang++") if shutil.which(one)]  # one of the two is enough


def check(compiler: str, *arguments: str | Path) -> None:
    command = [compiler, *STRICT, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_there_is_something_to_compile_and_to_compile_it_with() -> None:
    assert HEADERS
    assert UNITS
    assert COMPILERS


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("header", HEADERS, ids=lambda path: path.name)
def test_each_header_stands_alone_and_has_no_warnings(
    compiler: str, header: Path, tmp_path: Path
) -> None:
    unit = tmp_path / "unit.cpp"
    unit.write_text(f'#include "{header}"\n')
    check(compiler, "-fsyntax-only", unit)


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("unit", UNITS, ids=lambda path: path.name)
def test_the_extension_has_no_warnings(compiler: str, unit: Path) -> None:
    others = (nanobind.include_dir(), sysconfig.get_path("include"))
    check(compiler, *OPTIMISED, *(part for folder in others for part in ("-isystem", folder)), unit)
