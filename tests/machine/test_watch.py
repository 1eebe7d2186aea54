"""Ctrl-C ends what runs in compiled code, from whichever thread it is asked."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from threading import Thread

import numpy as np
import pytest

from machine.problems import cloud
from svmselect.kernels import RBF
from svmselect.machine import box_qp

pytest.importorskip("svmselect.machine._native", reason="the extension did not build")

PROBLEM = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in the background
import numpy as np
from svmselect.kernels import RBF
from svmselect.machine import box_qp, solve
from svmselect.machine.batch import Group
from svmselect.machine.train import train_together
rng = np.random.default_rng(0)
n, C = {n}, 1e5
y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
K = RBF(2.0)(rng.normal(size=(n, 5)))
qp = box_qp.BoxQP(K, np.zeros(n), y, np.where(y < 0, -C, 0), np.where(y > 0, C, 0), 0.0)
print("ready", flush=True)
{call}
print("too late")
"""
CALLS = {
    "descent": (400, "box_qp.backend().decompose(*qp.arguments(), 0 * y, y.copy(), -1.0, 10**15)"),
    "settling": (4000, "box_qp.backend().settle(*qp.arguments(), 0 * y, y.copy(), 0.0, 10**6)"),
    "all of it": (4000, "solve(K, y, C)"),
    "a batch on threads": (
        1200,
        "w = np.array([np.arange(n) % 40 != i for i in range(40)], dtype=float)\n"
        "train_together(K, [Group(None, y, w, [None] * 40)], C, 'hinge', True, threads=2)",
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_an_interrupt_ends_it_at_once(name: str) -> None:
    n, call = CALLS[name]
    script = PROBLEM.format(n=n, call=call)
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        try:
            assert child.stdout is not None
            assert child.stdout.readline() == "ready\n"
            time.sleep(0.4)
            child.send_signal(signal.SIGINT)
            begin = time.perf_counter()
            out, err = child.communicate(timeout=30)
        finally:
            child.kill()
    assert time.perf_counter() - begin < 1.5
    assert out == ""
    assert err.rstrip().endswith("KeyboardInterrupt")


def test_other_threads_are_left_in_peace() -> None:
    X, y = cloud(300, seed=3)
    qp = box_qp.BoxQP(
        RBF(1.0)(X), np.zeros(300), y, np.where(y < 0, -1e8, 0.0), np.where(y > 0, 1e8, 0.0), 0.0
    )
    found = []

    def descend() -> None:
        beta, r = np.zeros(300), y.copy()
        steps, *_ = box_qp.backend().decompose(*qp.arguments(), beta, r, -1.0, 400_000)
        found.append((steps, beta))

    threads = [Thread(target=descend) for _ in range(2)]
    before = signal.signal(signal.SIGINT, lambda *_: found.append("noticed"))
    try:
        for thread in threads:
            thread.start()
        signal.raise_signal(signal.SIGINT)
        for thread in threads:
            thread.join()
    finally:
        signal.signal(signal.SIGINT, before)
    assert found.pop(0) == "noticed"  # by the main thread, as it should be
    assert [steps for steps, _ in found] == [400_000] * 2
    np.testing.assert_array_equal(found[0][1], found[1][1])
