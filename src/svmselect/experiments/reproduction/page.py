"""A result on paper: CSV of all rows, a Markdown page, and a picture for each figure."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from svmselect.experiments.reproduction.result import Result
from svmselect.experiments.reproduction.row import Row
from svmselect.files.whole import replacing, replacing_text, write_whole

COLUMNS = (
    "exhibit", "row", "column", "quantity", "published", "published_spread", "ours", "ours_sd",
    "trials", "verdict", "beats_published_best", "note",
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


def markdown(result: Result) -> str:
    """The page: settings, a table an exhibit, verdicts counted, what was not run and why."""
    paper = result.paper
    agree, judged = result.agreement
    lines = [f"# {paper.title}", "", paper.reference, ""]
    lines += [_amount(result), ""]
    if judged:
        share = f"{agree} of {judged} rows agree with the paper ({100 * agree / judged:.0f} %)."
        lines += [share, ""]
    counts = ", ".join(f"{verdict}: {count}" for verdict, count in result.verdicts.items())
    lines += [f"Verdicts: {counts}.", ""]
    lines += [f"- {note}" for note in paper.notes]
    lines += [""] if paper.notes else []
    drawn = {path.stem: path.name for path in result.files if path.suffix == ".png"}
    for exhibit in result.exhibits:
        lines += [f"## {exhibit.name.capitalize()}: {exhibit.title}", ""]
        picture = drawn.get(exhibit.name.replace(" ", "-"))
        lines += [f"![{exhibit.title}]({picture})", ""] if picture else []
        lines += [*_table(result.rows[exhibit.name]), ""]
    for title, entries in (
        ("Data sets that could not be had", list(result.missing)),
        ("Trials that failed", [f"{key}: {what}" for key, what in result.failures.items()]),
    ):
        if entries:
            lines += [f"## {title}", "", *(f"- {entry}" for entry in entries), ""]
    return "\n".join(lines)


def _amount(result: Result) -> str:
    """How many trials there are, and what they took."""
    most = max((len(row.ours) for rows in result.rows.values() for row in rows), default=0)
    count = f"{most} trial{'' if most == 1 else 's'} a cell"
    if most != result.trials:
        count += f" at most (asked for: {result.trials})"
    how = ", slow columns reduced" if result.reduced else ""
    cut = "" if result.complete else " Stopped before the end; each row has its count."
    return f"{count}{how}; {_duration(result.seconds)} of work.{cut}"


def _table(rows: tuple[Row, ...]) -> Iterator[str]:
    if not rows:
        return
    noted = any(row.note for row in rows)
    heads = ["", "", "quantity", "published", "ours", "trials", "verdict"]
    yield _line([*heads, "note"] if noted else heads)
    yield _line(["---"] * (len(heads) + noted))
    for row in rows:
        printed = "" if row.published is None else f"{row.published.value:g}"
        if row.published is not None and row.published.spread:
            printed += f" ({row.published.spread})"
        ours = "" if row.value is None else f"{row.value:.3g}"
        ours += "" if row.sd is None else f" ({round(row.sd, 9):.2g})"  # no round-off for a zero
        verdict = row.verdict + ("; beats the published best" if row.beats_best else "")
        cells = [row.row, row.column, row.quantity, printed, ours, str(len(row.ours)), verdict]
        yield _line([*cells, row.note] if noted else cells)


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def _fields(exhibit: str, row: Row) -> list[str | float | int | None]:
    published, spread = (
        ("", "") if row.published is None else (row.published.value, row.published.spread)
    )
    return [
        exhibit, row.row, row.column, row.quantity, published, spread, row.value, row.sd,
        len(row.ours), row.verdict, "yes" if row.beats_best else "", row.note,
    ]  # fmt: skip


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
