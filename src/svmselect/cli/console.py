"""Where words go: results to standard output, notes and progress to standard error."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

_WIDTH = 80  # of what is not a terminal


@dataclass(frozen=True)
class Output:
    """How much to say, and to whom: people, or (``as_json``) a program."""

    quiet: bool = False
    as_json: bool = False

    @property
    def talks(self) -> bool:
        """Whether people read along."""
        return not (self.quiet or self.as_json)

    def note(self, text: str) -> None:
        """Something a person should know, on standard error."""
        if self.talks:
            _paragraph(Text("note: ", style="yellow") + Text(text), stderr=True)

    def tell(self, text: str) -> None:
        """A sentence of the result."""
        if self.talks:
            _paragraph(Text(text))

    def say(self, text: str) -> None:
        """A line of the result, never broken: it may hold a path."""
        if self.talks:
            _console().print(Text(text), soft_wrap=True)

    def pairs(self, rows: Sequence[tuple[str, str]]) -> None:
        """Names and what they are, in two columns."""
        if not self.talks:
            return
        grid = Table.grid(padding=(0, 2))
        grid.add_column(style="bold", no_wrap=True)
        grid.add_column(overflow="fold")
        for name, text in rows:
            grid.add_row(Text(name), Text(text))
        _unpadded(grid)

    def table(self, columns: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> None:
        """A table; the first ``left`` columns are words, the others numbers."""
        if not self.talks:
            return
        made = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
        for i, column in enumerate(columns):
            words = i < left
            made.add_column(
                Text(column, style="bold"), justify="left" if words else "right", overflow="fold"
            )
        for row in rows:
            made.add_row(*(Text(cell) for cell in row))
        _unpadded(made)

    def result(self, fields: dict[str, Any]) -> None:
        """Everything, for a program."""
        if self.as_json:
            sys.stdout.write(json.dumps(plain(fields), allow_nan=False, ensure_ascii=False) + "\n")


def complain(text: str) -> None:
    """An error, on standard error."""
    _console(True).print(Text("svmselect: ", style="bold red") + Text(text), soft_wrap=True)


def _paragraph(text: Text, stderr: bool = False) -> None:
    """Words wrapped on a terminal; one line where it is none, for those who search it."""
    console = _console(stderr)
    console.print(text, soft_wrap=not console.is_terminal)


def _unpadded(table: Table) -> None:
    """Print without blanks at the ends of lines, which rich adds and which pipes do not want."""
    console = _console()
    with console.capture() as captured:
        console.print(table)
    lines = [line.rstrip() for line in captured.get().splitlines()]
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.flush()


def _console(stderr: bool = False) -> Console:
    stream = sys.stderr if stderr else sys.stdout
    wide = None if stream.isatty() else _WIDTH
    return Console(stderr=stderr, width=wide, markup=False, highlight=False, emoji=False)


def plain(value: Any) -> Any:
    """What JSON knows; a number that is none becomes null."""
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if isinstance(value, bool | str | int) or value is None:
        return value
    as_list = getattr(value, "tolist", None)
    if as_list is not None:
        return plain(as_list())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return str(value)


def percent(rate: float) -> str:
    """A rate as people read it."""
    return f"{100.0 * rate:.1f} %"


def duration(seconds: float) -> str:
    """Seconds as people read them."""
    if seconds < 10.0:
        return f"{seconds:.1f} s"
    if seconds < 120.0:
        return f"{seconds:.0f} s"
    if seconds < 7200.0:
        return f"{seconds / 60.0:.0f} min"
    return f"{seconds / 3600.0:.1f} h"


def number(value: float) -> str:
    """A number of four digits at most."""
    return f"{value:.3g}"


def count(n: int, what: str) -> str:
    """1,000 rows."""
    return f"{n:,} {what}{'' if n == 1 else 's'}"
