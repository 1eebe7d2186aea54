"""A selection as plain values: what a model file holds of it, and nothing of the rows themselves.

The problem, and what only ``select`` has, is left out: a model can be given away without its data.
"""

from __future__ import annotations

import json
from dataclasses import astuple
from typing import Any

from svmselect.probability.calibration import Sigmoid
from svmselect.search.trace import Trace, from_line, to_line, without_hessian
from svmselect.selection.result import Selection
from svmselect.types import ErrorEstimate, Note, Status

_AS_THEY_ARE = (
    "C", "kernel", "value", "criterion", "loss", "fit_intercept", "normalised", "rows", "kept",
    "folds", "rounds", "folded", "standardised", "strategy", "seed", "seconds",
)  # fmt: skip


def as_plain(selection: Selection) -> dict[str, Any]:
    """Numbers, words, arrays and kernels only."""
    s = selection
    names = s.trace[0].names if len(s.trace) else ("log C",)
    plain: dict[str, Any] = {name: getattr(s, name) for name in _AS_THEY_ARE}
    plain |= {
        "names": list(names),
        "lines": [to_line(without_hessian(record), names) for record in s.trace],
        "status": [s.status.name, s.status.advice],
        "notes": [[note.kind, str(note)] for note in s.notes],
        "error": None if s.error is None else list(astuple(s.error)),
        "calibration": [[one.slope, one.shift, one.spread] for one in s.calibration],
        "members": list(s.members),
    }
    return plain


def from_plain(plain: dict[str, Any]) -> Selection:
    """Undo ``as_plain``; held-out rows and the problem stay behind."""
    names = tuple(plain["names"])
    records = tuple(from_line(json.loads(line), names) for line in plain["lines"])
    error = plain["error"]
    return Selection(
        **{name: plain[name] for name in _AS_THEY_ARE},
        trace=Trace(records),
        status=Status(*plain["status"]),
        notes=tuple(Note(*note) for note in plain["notes"]),
        error=None if error is None else ErrorEstimate(*error),
        calibration=tuple(Sigmoid(*one) for one in plain["calibration"]),
        members=tuple(plain["members"]),
    )
