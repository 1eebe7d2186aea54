"""What ``svmselect reproduce`` does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from svmselect.cli.console import Output, duration
from svmselect.cli.progress import Bar, Stopper

INTERRUPTED = 130


def run(paper: str, options: dict[str, Any], output: Output) -> int:
    """Run the trials, and tell what agrees."""
    from svmselect.experiments import reproduce

    with Bar(f"trials of {paper}", 1, output) as bar, Stopper(output) as stopper:

        def follow(progress: Any) -> bool:
            bar.reach(progress.done, progress.total)
            return stopper.asked

        result = reproduce(paper, callback=follow, **options)
    agreed, judged = result.agreement
    output.result(
        {
            "paper": paper,
            "trials": result.trials,
            "reduced": result.reduced,
            "complete": result.complete,
            "agree": agreed,
            "compared": judged,
            "verdicts": dict(result.verdicts),
            "missing": list(result.missing),
            "failures": dict(result.failures),
            "files": [str(file) for file in result.files],
            "seconds": result.seconds,
        }
    )
    titles = {exhibit.name: exhibit.title for exhibit in result.exhibits}
    for name, rows in result.rows.items():
        quantities = sorted({row.quantity for row in rows})
        alike = f" ({quantities[0]})" if len(quantities) == 1 else ""
        output.tell(f"{name}: {titles[name]}{alike}")
        output.table(*_table(rows, len(quantities) > 1), left=2)
        output.say("")
    for message in _reasons(result):
        output.note(message)
    for key, message in list(result.failures.items())[:5]:
        output.note(f"{key} failed: {message}")
    if result.reduced:
        output.note("one trial with reduced settings; --trials 2 or more runs it as the paper did")
    output.say(f"{agreed} of {judged} rows agree with the paper; {duration(result.seconds)}")
    for file in result.files:
        output.say(f"Written: {file}")
    if not result.complete:
        output.say("Interrupted: --resume goes on with it.")
        return INTERRUPTED
    return 0


def _reasons(result: Any) -> list[str]:
    """Why rows were not run and what to do about it, each reason once."""
    known = [*result.missing, *result.failures.values()]
    rest = [
        f"not run: {row.missing}"
        for rows in result.rows.values()
        for row in rows
        if row.value is None and row.missing and not any(one in row.missing for one in known)
    ]
    return list(dict.fromkeys([*result.missing, *rest]))


def _table(rows: Sequence[Any], quantities: bool) -> tuple[list[str], list[list[str]]]:
    """Published beside ours, and what each number is if they are of several kinds."""
    made = []
    for row in rows:
        what = f"{row.column}, {row.quantity}" if quantities else row.column
        ours = "" if row.value is None else f"{row.value:.4g}"
        spread = "" if row.sd is None else f" ({row.sd:.2g})"
        printed = "" if row.published is None else f"{row.published.value:g}"
        if row.published is not None and row.published.spread:
            printed += f" ({row.published.spread})"
        # why a row was not run, and the remedy, is told below the tables at full width
        verdict = "not run" if row.value is None else row.verdict
        made.append([row.row, what, printed, ours + spread, verdict])
    return ["row", "column", "published", "ours", "verdict"], made
