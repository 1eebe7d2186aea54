"""Ctrl-C ends what runs in compiled code, from whichever thread it is asked."""

from __future__ import annotations

import signal
import subprocess
import sys
from threading import Thread

import numpy as np
import pytest

from machine.problems import cloud
from svmselect.kernels import RBF
from svmselect.machine import box_qp

pytest.importorskip("svmselect.machine._native", reason="the extension did not build")

PROBLEM = """
import signal
import time
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

# Processor time, so that other processes do not matter: after 0.4 s of it comes the signal.
signal.signal(signal.SIGPROF, signal.default_int_handler)
began = time.process_time()
signal.setitimer(signal.ITIMER_PROF, 0.4)
try:
    {call}
except KeyboardInterrupt:
    print(time.process_time() - began)
"""
CALLS = {
    "descent": (400, "box_qp.backend().decompose(*qp.arguments(), 0 * y, y.copy(), -1.0, 10**15)"),
    "settling": (4000, "box_qp.backend().settle(*qp.arguments(), 0 * y, y.copy(), 0.0, 10**6)"),
    "all of it": (4000, "solve(K, y, C)"),
    "a batch on threads": (
        1200,
        "w = np.array([np.arange(n) % 40 != i for i in range(40)], dtype=float); "
        "train_together(K, [Group(None, y, w, [None] * 40)], C, 'hinge', True, threads=2)",
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_signal_ends_it_at_once(name: str) -> None:
    n, call = CALLS[name]
    script = PROBLEM.format(n=n, call=call)
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=300
    )
    assert done.stderr == ""
    # the timer counts in ticks; all of it is more than four, where it ends at all
    assert 0.2 < float(done.stdout) < 2.0


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
