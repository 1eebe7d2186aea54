"""Fixtures of the command line's tests."""

from pathlib import Path

import pytest

from cli.running import Here, clients


@pytest.fixture(autouse=True)
def one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test is a session of its own: a Ctrl-C in one is not the first of two in the next."""
    monkeypatch.setattr("svmselect.progress.interrupt.SOON", 0.0)


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
