"""Nothing leaves the machine: every look at the network is noticed, and there is none."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from cli.running import ENVIRONMENT, clients

# An audit hook sees what Python code asks of the system, whichever library asks.
WATCHED = """
import sys
def look(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"):
        raise SystemExit(f"reached for the network: {event} {arguments}")
sys.addaudithook(look)
"""
COMMANDS = """
import os
os.chdir(sys.argv[1])
from svmselect.cli import main
for command in (
    "fit clients.csv -t churn -o out",
    "predict out/model.skops clients.csv -o predicted.csv",
    "score clients.csv -t churn -c gacv",
    "report out/trace.jsonl -o page.html",
):
    try:
        main(command.split())
    except SystemExit as ended:
        if ended.code:
            raise
print("all done")
"""
REACHES = """
import socket
socket.create_connection(("127.0.0.1", 9), timeout=1)
"""


def ended(script: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", WATCHED + script, *map(str, arguments)],
        env={**os.environ, **ENVIRONMENT}, capture_output=True, text=True,
    )  # fmt: skip


def test_nothing_reaches_for_the_network(tmp_path: Path) -> None:
    clients().to_csv(tmp_path / "clients.csv", index=False)
    done = ended(COMMANDS, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("all done\n")
    assert (tmp_path / "predicted.csv").exists()
    assert (tmp_path / "page.html").exists()


def test_it_would_be_noticed() -> None:
    done = ended(REACHES)
    assert done.returncode == 1
    assert "reached for the network: socket." in done.stderr
