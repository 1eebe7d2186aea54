"""Traces and checkpoints."""

import json
import warnings

import numpy as np

from fuzz.tables import folder
from svmselect import report
from svmselect.search.checkpoint import Journal, seed_of
from svmselect.search.trace import Record, Trace, provenance, to_line
from svmselect.types import Evaluation, Status

NAMES = ("log C", "rbf.length_scale")
HEADER = provenance(3, "abc", NAMES, {"search": "IRprop()"})
TOKENS = (
    b'"run"', b'"index"', b'"point"', b'"loss"', b'"gradient"', b'"details"', b'"status"', b"null",
    b"NaN", b'"nan"', b"Infinity", b'"hessian"', b'{"svmselect": "trace"', b"1e999", b"[]", b"{}",
)  # fmt: skip


def seeds() -> list[bytes]:
    """A few evaluations, with all that one can have."""
    lines = [json.dumps(HEADER) + "\n"]
    for i in range(4):
        point = np.array([0.1 * i, -1.0])
        one = Evaluation(
            point, 0.25 + i, point, hessian=np.eye(2), stderr=0.5, details={"value": 1.0}
        )
        lines.append(to_line(Record("0", i, NAMES, one), NAMES))
    odd = Evaluation(np.zeros(1), np.inf, status=Status("odd", "why"))
    lines.append(to_line(Record("iso/0", 0, ("log C",), odd), NAMES))
    return ["".join(lines).encode()]


def check(data: bytes) -> None:
    """Read it, go on with it, and draw it."""
    path = folder() / "t.jsonl"

    def go_on() -> None:
        journal = Journal(path, HEADER)
        journal.append(Record("0", 99, NAMES, Evaluation(np.zeros(2), 1.0)))
        Trace.load(path).best()

    for action in (
        lambda: Trace.load(path), lambda: seed_of(path), lambda: report.of_trace(path), go_on,
    ):  # fmt: skip
        path.write_bytes(data)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                warnings.filterwarnings("ignore", "overflow", RuntimeWarning)
                action()
        except ValueError as error:
            if path.name not in str(error) or "\n" in str(error):
                raise AssertionError(f"no sentence for the user: {str(error)!r}") from error
