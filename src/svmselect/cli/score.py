"""What ``svmselect score`` does."""

from __future__ import annotations

import ast
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from svmselect.cli.console import Output, duration, number
from svmselect.cli.model import SMALL
from svmselect.cli.prepare import TableOptions, prepare, subset


@dataclass(frozen=True)
class ScoreOptions:
    """A criterion, and where it is to be evaluated."""

    criterion: str
    C: float = 1.0
    kernel: str = "rbf"
    parameters: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    loss: str = "hinge"
    intercept: bool = True
    standardize: bool = True
    gradient: bool = False


def run(data: str, table: TableOptions, options: ScoreOptions, output: Output) -> None:
    """Read, evaluate and tell."""
    from svmselect.criteria import get_criterion
    from svmselect.selection import score

    get_criterion(options.criterion)
    kernel = parametrised(options.kernel, options.parameters)
    chosen = dict(_setting(text, "--option") for text in options.options)
    chosen.setdefault("random_state", table.seed)
    prepared = prepare(data, table)
    output.tell(prepared.words)
    for note in prepared.notes:
        output.note(note)
    y = prepared.y
    X = prepared.matrix(options.standardize)
    if len(prepared.classes) != 2:
        raise ValueError(
            f"{prepared.target!r} has {len(prepared.classes)} classes, and a criterion is of two; "
            "svmselect fit and compare take any number"
        )
    if len(y) > SMALL and table.rows is None:
        kept = subset(len(y), y, SMALL, table.seed)
        output.note(f"{len(kept):,} of {len(y):,} rows are used; --rows changes that")
        X, y = X[kept], y[kept]
    began = time.perf_counter()
    found = score(
        X, y, options.criterion, C=options.C, kernel=kernel, loss=options.loss,
        fit_intercept=options.intercept, gradient=options.gradient, **chosen,
    )  # fmt: skip
    seconds = time.perf_counter() - began
    slopes = None if found.gradient is None else dict(zip(found.names, found.gradient, strict=True))
    better = "greater" if found.greater_is_better else "smaller"
    output.result(
        {
            "criterion": options.criterion,
            "value": found.value,
            "greater_is_better": found.greater_is_better,
            "stderr": found.stderr,
            "gradient": slopes,
            "C": options.C,
            "kernel": repr(kernel),
            "rows": len(y),
            "seconds": seconds,
            "details": dict(found.details),
        }
    )
    spread = "" if found.stderr is None else f" ± {number(found.stderr)}"
    rows = [
        (options.criterion, f"{found.value:.6g}{spread} ({better} is better)"),
        ("at", f"C = {number(options.C)}, {kernel!r}, {options.loss}"),
        ("time", duration(seconds)),
    ]
    if slopes is not None:
        rows += [(f"slope, {name}", f"{slope:.6g}") for name, slope in slopes.items()]
    elif options.gradient:
        rows.append(("slope", "this criterion has none"))
    output.say("")
    output.pairs(rows)


def parametrised(name: str, settings: tuple[str, ...]) -> Any:
    """A kernel by name, with parameters set by theirs."""
    from svmselect.kernels import as_kernel

    kernel = as_kernel(name)
    values = np.exp(kernel.theta)
    for text in settings:
        key, value = _setting(text, "--parameter")
        places = [i for i, full in enumerate(kernel.names) if key in (full, full.split(".")[-1])]
        if not places:
            raise ValueError(
                f"the kernel {name!r} has no parameter {key!r}; it has "
                f"{', '.join(one.split('.')[-1] for one in kernel.names) or 'none'}"
            )
        if not isinstance(value, int | float) or not value > 0:
            raise ValueError(f"--parameter {text}: give a positive number")
        values[places] = float(value)
    return kernel.at(np.log(values))


def _setting(text: str, option: str) -> tuple[str, Any]:
    """NAME=VALUE, the value a number, True, False, a pair of numbers or a word."""
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise ValueError(f"{option} {text}: write NAME=VALUE")
    try:
        return name.strip(), ast.literal_eval(value.strip())
    except (ValueError, SyntaxError):
        return name.strip(), value.strip()
