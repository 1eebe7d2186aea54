"""Shared by all tests: reproducible hypothesis, the data folder, and skips that CI refuses."""

import os
from collections.abc import Generator
from pathlib import Path

import hypothesis
import pytest

ROOT = Path(__file__).parents[1]

# The same examples on every run, and no time limit a busy machine could break.
hypothesis.settings.register_profile("fixed", derandomize=True, deadline=None, database=None)
hypothesis.settings.load_profile("fixed")

# Their signals, forks, limits and compilers are those of POSIX.
POSIX = (
    "cli", "experiments", "faults", "files", "report", "machine/test_headers.py",
    "machine/test_watch.py", "selection/test_select.py", "test_parallel.py",
)  # fmt: skip
collect_ignore = [*POSIX] if os.name == "nt" else []

# Reasons to skip that are no defect of the installation.
NO_DATA = "no data folder: set SVMSELECT_DATA to one"
NO_GPU = "no GPU"
NEEDS_NEWER = "needs a newer"  # say which package and version; for the oldest we allow
ALLOWED_SKIPS = (NO_DATA, NO_GPU, NEEDS_NEWER)


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of real data sets: $SVMSELECT_DATA, else ../shared/data; else the test skips."""
    folder = Path(os.environ.get("SVMSELECT_DATA") or ROOT.parent / "shared" / "data")
    if not folder.is_dir():
        pytest.skip(NO_DATA)
    return folder


def _refuse_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    """Under SVMSELECT_NO_SKIP, turn a skip into a failure unless its reason is allowed."""
    if not os.environ.get("SVMSELECT_NO_SKIP") or not report.skipped or "wasxfail" in vars(report):
        return
    # A skip reads (file, line, "Skipped: reason").
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    if not reason.removeprefix("Skipped: ").startswith(ALLOWED_SKIPS):
        report.outcome = "failed"
        report.longrepr = f"SVMSELECT_NO_SKIP is set and this was skipped. {reason}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    _refuse_skip(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    _refuse_skip(report)
    return report
