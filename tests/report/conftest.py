"""Reports to look at, and a headless Chromium that is driven by its own protocol over a pipe."""

from __future__ import annotations

import json
import os
import select as readiness
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from svmselect import AutoSVC, report
from svmselect.report import Report, Rival

UGLY = (
    "<script>document.title='hacked'</script>",
    "\"quoted\" & 'single' <img src=x onerror=\"document.title='hacked'\">",
    "x" * 150,
    "a long name of a column with many words in it (units: mmol/l), as people write them",
)
LABELS = ("a & <b>never</b>", "b </script><script>document.title='hacked'</script>")
WAIT = 60.0

# Chromium reads commands from descriptor 3 and answers on 4.
LAUNCH = """
import fcntl, os, sys
high = [fcntl.fcntl(int(end), fcntl.F_DUPFD, 10) for end in sys.argv[1:3]]
for end, wanted in zip(high, (3, 4)):
    os.dup2(end, wanted)
os.execv(sys.argv[3], sys.argv[3:])
"""


def problem(n: int = 90, d: int = 20) -> tuple[Any, Any]:
    """Two inputs of many decide, by their product, so each gets a length scale of its own."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    y = np.where(X[:, 0] * X[:, 1] + 0.2 * rng.normal(size=n) > 0, *LABELS)
    return X, y


@pytest.fixture(scope="session")
def ugly() -> Report:
    """Many inputs with names and labels that would break a careless page; everything is there."""
    X, y = problem()
    model = AutoSVC(random_state=0, ard="yes").fit(X, y)
    names = [*UGLY, *(f"column {a}" for a in range(4, X.shape[1]))]
    return report.of_fit(
        model,
        X,
        y,
        names=names,
        title=f"Report {UGLY[0]}",
        held_out=problem(60),
        grid=Rival("plain grid", "C = 1", 0.1, 0.2, 110, 3.5),
        warnings=[f"{UGLY[1]} looks like an identifier"],
        settings={"command": f"svmselect fit '{UGLY[0]}'", "file": UGLY[1]},
    )


@pytest.fixture(scope="session")
def three_classes() -> Report:
    """Three classes, one length scale, nothing held apart."""
    rng = np.random.default_rng(1)
    y = np.repeat(["a", "b", "c"], 25)
    X = rng.normal(size=(75, 2)) + np.repeat([[0, 0], [2, 0], [0, 2]], 25, axis=0)
    return report.of_fit(AutoSVC(random_state=0, ard="no").fit(X, y), X, y, title="Three classes")


class Tab:
    """A page in headless Chromium.

    Commands and answers are JSON ended by NUL on two file descriptors (--remote-debugging-pipe),
    so no driver is needed. ``errors`` are exceptions, failed loads and messages of the console.
    """

    def __init__(self, executable: str, profile: Path) -> None:
        to_browser, self._write = os.pipe()
        self._read, from_browser = os.pipe()
        options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        options += ["--no-first-run", "--remote-debugging-pipe", f"--user-data-dir={profile}"]
        ends = [str(to_browser), str(from_browser)]
        self._process = subprocess.Popen(
            [sys.executable, "-c", LAUNCH, *ends, executable, *options, "about:blank"],
            pass_fds=(to_browser, from_browser),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_browser)
        os.close(from_browser)
        self._rest, self._number = b"", 0
        self.events: list[dict[str, Any]] = []
        self._session: str | None = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def close(self) -> None:
        """End the browser."""
        os.close(self._write)
        self._process.terminate()
        self._process.wait(WAIT)
        os.close(self._read)

    def call(self, method: str, **parameters: Any) -> Any:
        """Send a command and wait for its answer; events that come before it are kept."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") != self._number:
                self.events.append(answer)
            elif "error" in answer:
                raise RuntimeError(f"{method}: {answer['error']}")
            else:
                return answer["result"]

    def _next(self) -> dict[str, Any]:
        until = time.monotonic() + WAIT
        while b"\0" not in self._rest:
            left = until - time.monotonic()
            if left <= 0 or not readiness.select([self._read], [], [], left)[0]:
                raise TimeoutError("Chromium does not answer")
            part = os.read(self._read, 2**16)
            if not part:
                raise RuntimeError("Chromium has ended")
            self._rest += part
        line, _, self._rest = self._rest.partition(b"\0")
        return dict(json.loads(line))

    def open(self, path: Path, width: int = 1440, height: int = 900, scheme: str = "light") -> None:
        """Load a file in a window of this size."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self.call("Emulation.setEmulatedMedia", features=[feature])
        self.events.clear()
        self.call("Page.navigate", url=path.as_uri())
        until = time.monotonic() + WAIT
        while not any(e.get("method") == "Page.loadEventFired" for e in self.events):
            assert time.monotonic() < until, "the page does not load"
            self.events.append(self._next())

    def run(self, script: str) -> Any:
        """The value of a JavaScript expression."""
        answer = self.call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in answer:
            raise RuntimeError(str(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def move(self, x: float, y: float) -> None:
        """Move the pointer."""
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def press(self, key: str) -> None:
        """Press and release a key."""
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key)

    @property
    def errors(self) -> list[str]:
        """Whatever went wrong since the page was opened."""
        bad = ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded")
        bad += ("Network.loadingFailed",)
        self.run("0")  # what is on its way arrives before the answer
        return [json.dumps(e["params"]) for e in self.events if e.get("method") in bad]

    @property
    def requests(self) -> list[str]:
        """Addresses the page has asked for."""
        sent = [e for e in self.events if e.get("method") == "Network.requestWillBeSent"]
        return [e["params"]["request"]["url"] for e in sent]


@pytest.fixture(scope="session")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tab]:
    """One browser for all tests of a worker; without one they are skipped."""
    names = ("chromium", "chromium-browser", "google-chrome", "chrome")
    found = [path for path in map(shutil.which, names) if path is not None]
    if not found:
        pytest.skip("no Chromium: install it, e.g. by apt-get install chromium")
    made = Tab(found[0], tmp_path_factory.mktemp("profile"))
    yield made
    made.close()
