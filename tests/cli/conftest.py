"""Fixtures of the command line's tests."""

from pathlib import Path

import pytest

from cli.running import Here, clients


@pytest.fixture
def here(capsys: pytest.CaptureFixture[str]) -> Here:
    """The command line in this process."""
    return Here(capsys)


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of one's own, which is the current one, with clients.csv in it."""
    monkeypatch.chdir(tmp_path)
    clients().to_csv(tmp_path / "clients.csv", index=False)
    return tmp_path / "clients.csv"
