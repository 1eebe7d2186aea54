"""Run one target for a while: `python -m fuzz.run TARGET --seconds 60`.

The inputs come from the target's seeds and its corpus of past failures, changed at random. The
first that fails is written to `build/fuzz/`, and the exit code is 1; mend what it shows, then put
the file into `fuzz/corpus/TARGET/`, which the plain tests run.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import signal
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import numpy as np

from fuzz.mutate import mutated

HERE = Path(__file__).parent
FAILED = HERE.parent / "build" / "fuzz"
LONGEST = 60  # seconds for one input, on a machine that may be busy
_KEPT = 200  # inputs that others are made of


def names() -> list[str]:
    """The targets."""
    return sorted(path.stem for path in (HERE / "targets").glob("[a-z]*.py"))


def target(name: str) -> ModuleType:
    """A target by its name."""
    return importlib.import_module(f"fuzz.targets.{name}")


def corpus(name: str) -> list[Path]:
    """The past failures of a target."""
    return sorted((HERE / "corpus" / name).glob("*"))


@contextmanager
def in_time(seconds: int) -> Iterator[None]:
    """What takes longer is a failure too."""

    def over(*_: object) -> None:
        raise TimeoutError(f"more than {seconds} s for one input")

    before = signal.signal(signal.SIGALRM, over)
    begun = time.monotonic()
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    if time.monotonic() - begun > seconds:  # a reader may have taken the alarm for damage
        over()


def run(name: str, seconds: float, seed: int) -> int:
    """Try inputs until the time is over or one fails; the exit code."""
    one = target(name)
    rng = np.random.default_rng(seed)
    pool = [*one.seeds(), *(path.read_bytes() for path in corpus(name))]
    tokens = getattr(one, "TOKENS", ())
    firm = len(pool)
    ahead = list(pool)
    end, count = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        data = ahead.pop() if ahead else mutated(pool[rng.integers(len(pool))], rng, pool, tokens)
        try:
            with in_time(LONGEST):
                one.check(data)
        except BaseException:
            print(traceback.format_exc())
            print(f"{name}: input {count} of seed {seed} failed: {_keep(name, data)}")
            return 1
        count += 1
        if rng.random() < 0.05:  # changes upon changes
            pool.append(data)
            if len(pool) > _KEPT:
                del pool[firm]
    print(f"{name}: {count} inputs in {seconds:g} s, none failed (seed {seed})")
    return 0


def _keep(name: str, data: bytes) -> Path:
    folder = FAILED / name
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / hashlib.sha256(data).hexdigest()[:16]
    path.write_bytes(data)
    return path


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target", choices=names())
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 2**32)
    given = parser.parse_args()
    raise SystemExit(run(given.target, given.seconds, given.seed))
