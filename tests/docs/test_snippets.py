"""What stands on the pages runs, block after block, as a reader would run it."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot  # noqa: F401  # the oldest one warns as it is loaded, which is no page's fault
import pytest

from snippets import Block, blocks, reading

DOCS = Path(__file__).parents[2] / "docs"
MADE = ("criteria", "kernels", "searches", "gallery")  # from bodies/ and examples/
NOT_RUN = ("papers",)  # run by their own commands, for hours
PAGES = sorted(
    path for path in DOCS.rglob("*.md") if path.relative_to(DOCS).parts[0] not in (*MADE, *NOT_RUN)
)
SLOW = {"guide/command_line"}  # starts a process for every command
ONNX = {"guide/deployment"}  # writes and runs a graph


def _page(path: Path) -> object:
    name = path.relative_to(DOCS).with_suffix("").as_posix()
    marks = [
        mark
        for mark, pages in ((pytest.mark.slow, SLOW), (pytest.mark.onnx, ONNX))
        if name in pages
    ]
    return pytest.param(path, id=name, marks=marks)


@pytest.mark.parametrize("path", [_page(path) for path in PAGES if blocks(path.read_text())])
def test_page_runs(path: Path) -> None:
    with reading(path.name) as page:
        shown = [page.run(block) for block in blocks(path.read_text())]
    assert any(output.text or output.figures for output in shown)


def test_blocks_are_found_with_their_lines() -> None:
    text = "a\n```python\nx = 1\n```\n\n```text\nno\n```\n```console\n$ echo b\n```\n"
    assert blocks(text) == [Block("python", "x = 1\n", 3), Block("console", "$ echo b\n", 10)]


def test_blocks_of_a_page_share_what_they_define_and_a_folder() -> None:
    with reading("a page") as page:
        page.run(Block("python", "x = 6\nwith open('file', 'w') as f:\n    f.write('there')", 1))
        assert page.run(Block("python", "print(7 * x)", 9)).text == "42\n"
        assert (
            page.run(Block("console", "$ cat file\n$ echo b", 12)).text
            == "$ cat file\nthere\n$ echo b\nb"
        )


@pytest.mark.parametrize(("language", "code"), [("python", "1 / 0"), ("console", "$ exit 3")])
def test_an_error_says_where(language: str, code: str) -> None:
    with reading("a page") as page, pytest.raises((ZeroDivisionError, RuntimeError)) as caught:
        page.run(Block(language, code, 7))
    assert caught.value.__notes__ == ["in the block at line 7 of a page"]
