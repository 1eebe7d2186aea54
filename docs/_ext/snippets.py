"""Code on a page: finding it and running it, block by block, as a reader would.

A page's ``python`` blocks share one module; its ``console`` blocks are command lines, those that
begin with ``$ ``. Both run in one empty folder of their own. Sphinx shows what they print, and the
tests run them without Sphinx, so what stands on a page is what happens.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from figures import open_figures

LANGUAGES = ("python", "console")
_FENCE = re.compile(r"^```(python|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """One fenced block that is run, and the line of the page it begins on."""

    language: str
    code: str
    line: int


@dataclass(frozen=True)
class Output:
    """What a block printed, and the figures it left open."""

    text: str
    figures: tuple[Any, ...] = ()


def blocks(text: str) -> list[Block]:
    """All blocks of a page that are run, in order."""
    return [
        Block(found[1], found[2], text.count("\n", 0, found.start()) + 2)
        for found in _FENCE.finditer(text)
    ]


@dataclass
class Page:
    """A page being read from top to bottom; what one block defines the next ones know."""

    name: str
    folder: Path
    module: ModuleType = field(init=False)

    def __post_init__(self) -> None:
        self.module = ModuleType("page_" + re.sub(r"\W", "_", self.name))

    def run(self, block: Block) -> Output:
        """Run one block; an error in it is an error here, with the place on the page."""
        try:
            if block.language == "console":
                return Output(self._shell(block.code))
            return self._python(block)
        except Exception as error:
            error.add_note(f"in the block at line {block.line} of {self.name}")
            raise

    def _python(self, block: Block) -> Output:
        code = compile("\n" * (block.line - 1) + block.code, self.name, "exec")
        with contextlib.redirect_stdout(io.StringIO()) as printed, warnings.catch_warnings():
            warnings.simplefilter("error")
            exec(code, vars(self.module))
        return Output(printed.getvalue(), open_figures())

    def _shell(self, code: str) -> str:
        shown = []
        for line in code.splitlines():
            if line.startswith("$ "):
                shown += [line, _command(line[2:], self.folder)]
        return "\n".join(part.rstrip("\n") for part in shown if part)


@contextlib.contextmanager
def reading(name: str) -> Iterator[Page]:
    """Open a page: its module can be imported, so that what it defines can be pickled."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        page = Page(name, Path(folder))
        sys.modules[page.module.__name__] = page.module
        os.chdir(folder)
        try:
            yield page
        finally:
            os.chdir(before)
            del sys.modules[page.module.__name__]


def _command(line: str, folder: Path) -> str:
    """Run one command line, ``svmselect`` being the one of this Python; it must succeed."""
    ours = f'svmselect() {{ "{sys.executable}" -m svmselect "$@"; }}'
    plain = {"COLUMNS": "88", "NO_COLOR": "1", "TERM": "dumb"}
    done = subprocess.run(
        f"{ours}\n{line}",
        shell=True,
        cwd=folder,
        env={**os.environ, **plain},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode:
        raise RuntimeError(f"{line!r} ended with {done.returncode}: {done.stdout}")
    return done.stdout
