"""A result on paper: CSV of all rows, a Markdown page, and a picture for each figure."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from svmselect.experiments.reproduction.result import Result
from svmselect.experiments.reproduction.row import Row
from svmselect.files.whole import replacing, replacing_text, write_whole

COLUMNS = (
    "exhibit", "row", "column", "quantity", "published", "published_spread", "ours", "ours_sd",
    "trials", "verdict", "standard_errors_apart", "counted", "beats_published_best", "note",
)  # fmt: skip


def write(result: Result) -> Result:
    """Write ``<paper>.csv``, ``<paper>.md`` and ``figure-N.png`` into the result's folder."""
    folder, name = result.folder, result.paper.name
    folder.mkdir(parents=True, exist_ok=True)
    table = folder / f"{name}.csv"
    with replacing_text(table) as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for exhibit, rows in result.rows.items():
            writer.writerows(_fields(exhibit, row) for row in rows)
    pictures = tuple(_pictures(result))
    page = folder / f"{name}.md"
    whole = replace(result, files=(table, page, *pictures))
    write_whole(page, markdown(whole))
    return whole


def markdown(result: Result, reading: str = "") -> str:
    """The page: claims, settings, a table an exhibit, verdicts counted, what was not run and why.

    ``reading`` is text that goes between the claims and the tables.
    """
    paper = result.paper
    lines = [f"# {paper.title}", "", paper.reference, "", _amount(result), "", *_agreement(result)]
    lines += [*_claims(result), *_disagreements(result)]
    if reading:
        lines += [reading.strip(), ""]
    lines += ["## What was run", ""] if paper.notes else []
    lines += [f"- {note}" for note in paper.notes]
    lines += [""] if paper.notes else []
    drawn = {path.stem: path.name for path in result.files if path.suffix == ".png"}
    for exhibit in result.exhibits:
        lines += [f"## {exhibit.name.capitalize()}: {exhibit.title}", ""]
        picture = drawn.get(exhibit.name.replace(" ", "-"))
        lines += [f"![{exhibit.title}]({picture})", ""] if picture else []
        table = _grid if exhibit.grid else _table
        lines += [*table(result.rows[exhibit.name]), ""]
        if exhibit.beside is not None:
            heads, *cells = exhibit.beside(result.outcomes)
            lines += [_line(list(heads)), _line(["---"] * len(heads))]
            lines += [*(_line(list(row)) for row in cells), ""]
    for title, entries in (
        ("Data sets that could not be had", list(result.missing)),
        ("Trials that failed", [f"{key}: {what}" for key, what in result.failures.items()]),
    ):
        if entries:
            lines += [f"## {title}", "", *(f"- {entry}" for entry in entries), ""]
    return "\n".join(lines)


def _agreement(result: Result) -> list[str]:
    """Both counts, and what they do not count."""
    agree, judged = result.agreement
    if not judged:
        return []
    close, told = result.agreement_in_mean
    lines = []
    if told:
        share = f"{100 * close / told:.0f} %"
        lines.append(
            f"- By the standard error of the difference of means or medians: {close} of {told} "
            f"rows agree ({share}), within two of them."
        )
    lines.append(
        f"- By the spread of single trials: {agree} of {judged} rows agree "
        f"({100 * agree / judged:.0f} %), within two standard deviations, the quartiles, or the "
        "tolerance that the notes give. That is a lenient yardstick."
    )
    reasons = Counter(r.uncounted for rows in result.rows.values() for r in rows if r.uncounted)
    if reasons:
        told_why = "; ".join(f"{count} because {why}" for why, count in reasons.items())
        lines.append(f"- Not counted: {told_why}.")
    counts = ", ".join(f"{verdict}: {count}" for verdict, count in result.verdicts.items())
    return [*lines, f"- Rows by verdict: {counts}.", ""]


def _claims(result: Result) -> list[str]:
    """The paper's claims, and what our trials say to each."""
    decisions = result.decisions
    if not decisions:
        return []
    words = Counter(decision.verdict for _, decision in decisions)
    counts = ", ".join(f"{words[word]} {word}" for word in ("holds", "fails", "not tested"))
    lines = ["## Claims", ""]
    lines += [f"Of {len(decisions)}: {counts}. The tests are run on the trials of this page.", ""]
    lines += [_line(["where", "claim", "test", "verdict", "found"]), _line(["---"] * 5)]
    for claim, decision in decisions:
        verdict = f"**{decision.verdict}**"
        lines.append(_line([claim.where, claim.claim, claim.how, verdict, decision.found]))
    return [*lines, ""]


def _disagreements(result: Result) -> list[str]:
    """The three largest disagreements, and the experiments that tell what is behind them."""
    if not result.paper.explanations:
        return []
    lines = ["## Largest disagreements", ""]
    lines += ["In standard errors of the difference; each with experiments on what may be behind"]
    lines += ["it, whose trials are among those of this page.", ""]
    heads = ["what", "published; ours; apart", "supposed", "experiment", "verdict", "found"]
    lines += [_line(heads), _line(["---"] * len(heads))]
    for one in result.disagreements:
        row = one.row
        assert row.published is not None
        numbers = f"{row.published.value:g}; {row.value:.3g}; {row.apart:+.1f}"
        where = f"{one.exhibit}: {row.row}, {row.column}"
        for explanation, decision in one.tried:
            verdict = f"**{decision.verdict}**"
            cells = [where, numbers, explanation.claim, explanation.how, verdict, decision.found]
            lines.append(_line(cells))
    return [*lines, ""]


def _grid(rows: tuple[Row, ...]) -> Iterator[str]:
    """Lines are rows, columns columns; one table for each quantity."""
    for quantity in dict.fromkeys(row.quantity for row in rows):
        part = [row for row in rows if row.quantity == quantity]
        columns = list(dict.fromkeys(row.column for row in part))
        yield f"{quantity.capitalize()}: published; ours (trials). = marks agreement by the"
        yield "standard error of the difference, ~ by the spread of single trials only, + better"
        yield "and - worse ones."
        yield ""
        yield _line(["", *columns])
        yield _line(["---"] * (1 + len(columns)))
        for name in dict.fromkeys(row.row for row in part):
            cells = {row.column: row for row in part if row.row == name}
            yield _line([name, *(_cell(cells.get(column)) for column in columns)])
        yield ""


def _cell(row: Row | None) -> str:
    if row is None:
        return ""
    printed = "" if row.published is None else f"{row.published.value:g}; "
    if row.value is None:
        return f"{printed}not run"
    mark = ""
    if row.agrees_in_mean:
        mark = " ="
    elif row.agrees:
        mark = " ~"
    elif row.agrees is False:
        mark = {"ours better": " +", "ours worse": " -"}.get(row.verdict, " !")
    return f"{printed}{row.value:.3g} ({row.trials}){mark}"


def _amount(result: Result) -> str:
    """How many trials there are, and what they took."""
    most = max((row.trials for rows in result.rows.values() for row in rows), default=0)
    count = f"{most} trial{'' if most == 1 else 's'} a cell"
    if most != result.trials:
        count += f" at most (asked for: {result.trials})"
    how = ", slow columns reduced" if result.reduced else ""
    how += f"; {_duration(result.seconds)} of work" if result.seconds else ""
    cut = "" if result.complete else " Stopped before the end; each row has its count."
    return f"{count}{how}.{cut}"


def _table(rows: tuple[Row, ...]) -> Iterator[str]:
    if not rows:
        return
    noted = any(row.note for row in rows)
    heads = ["", "", "quantity", "published", "ours", "trials", "verdict", "standard errors apart"]
    yield _line([*heads, "note"] if noted else heads)
    yield _line(["---"] * (len(heads) + noted))
    for row in rows:
        printed = "" if row.published is None else f"{row.published.value:g}"
        if row.published is not None and row.published.spread:
            printed += f" ({', '.join(filter(None, (row.published.spread, row.published.whose)))})"
        ours = "" if row.value is None else f"{row.value:.3g}"
        ours += "" if row.sd is None else f" ({round(row.sd, 9):.2g})"  # no round-off for a zero
        verdict = row.verdict + ("; beats the published best" if row.beats_best else "")
        if row.uncounted:
            verdict += " (not counted)"
        cells = [row.row, row.column, row.quantity, printed, ours, str(row.trials), verdict]
        cells.append(_apart(row))
        yield _line([*cells, row.note] if noted else cells)


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def _fields(exhibit: str, row: Row) -> list[str | float | int | None]:
    published, spread = (
        ("", "") if row.published is None else (row.published.value, row.published.spread)
    )
    return [
        exhibit, row.row, row.column, row.quantity, published, spread, row.value, row.sd,
        row.trials, row.verdict, _apart(row), "" if row.agrees is None else "yes",
        "yes" if row.beats_best else "", row.note,
    ]  # fmt: skip


def _apart(row: Row) -> str:
    """The distance from the published number in standard errors of the difference."""
    return "" if row.apart is None else f"{row.apart:+.1f}"


def _pictures(result: Result) -> Iterator[Path]:
    """Draw what can be drawn; a figure whose cells are all absent is left out."""
    from matplotlib.figure import Figure

    for exhibit in result.exhibits:
        if exhibit.draw is None or not any(row.ours for row in result.rows[exhibit.name]):
            continue
        figure = Figure(figsize=(9, 6), layout="constrained")
        exhibit.draw(result.outcomes, figure)
        path = result.folder / f"{exhibit.name.replace(' ', '-')}.png"
        with replacing(path) as file:
            figure.savefig(file, format="png", dpi=110)
        yield path


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} minutes"
