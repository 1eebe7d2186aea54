"""The skip policy of conftest.py, on a small test suite of its own."""

import os
import subprocess
import sys
from pathlib import Path

SUITE = """
import pytest

def test_missing_package():
    pytest.importorskip("no_such_package")

def test_missing_data(data_dir):
    raise AssertionError

@pytest.mark.xfail
def test_expected_failure():
    raise AssertionError
"""
MODULE = """
import pytest

pytest.importorskip("no_such_package")
"""


def run_suite(folder: Path, no_skip: str) -> str:
    (folder / "conftest.py").write_text(Path(__file__).with_name("conftest.py").read_text())
    (folder / "test_suite.py").write_text(SUITE)
    (folder / "test_module.py").write_text(MODULE)
    environment = {**os.environ, "SVMSELECT_NO_SKIP": no_skip}
    environment["SVMSELECT_DATA"] = str(folder / "absent")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist"]
    command += ["--continue-on-collection-errors", "."]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    return done.stdout.splitlines()[-1]


def test_skips_are_allowed_by_default(tmp_path: Path) -> None:
    assert "3 skipped, 1 xfailed" in run_suite(tmp_path, no_skip="")


def test_missing_packages_fail_where_skips_are_refused(tmp_path: Path) -> None:
    assert "1 failed, 1 skipped, 1 xfailed, 1 error" in run_suite(tmp_path, no_skip="1")
