"""The gallery runs scripts, keeps what they did, and makes pages of it."""

from __future__ import annotations

import sys
from pathlib import Path

import figures
import gallery
import pytest

SCRIPT = '''"""A title

Words about it. More words.
"""

import matplotlib.pyplot as plt

figure, ax = plt.subplots()
ax.plot([1, 2], [3, 4])
ax.set(title="A line", xlabel="here", ylabel="there")
print("forty-two")  # fmt: skip
plt.show()
'''


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    docs, examples = tmp_path / "docs", tmp_path / "examples"
    docs.mkdir()
    examples.mkdir()
    (examples / "line.py").write_text(SCRIPT)
    (examples / "words.py").write_text('"""Only words\n\nNo picture."""\nprint("hello")\n')
    return docs, examples


def test_pages_have_title_words_picture_output_and_code(folders: tuple[Path, Path]) -> None:
    docs, examples = folders
    gallery.write(docs, examples)
    page = (docs / "gallery" / "line.md").read_text()
    assert page.startswith(
        "# A title\n\nWords about it. More words.\n\n![A title](line-0.png){width=563px}\n"
    )
    assert "```text\nforty-two\n```" in page
    assert 'print("forty-two")\nplt.show()\n```' in page
    assert (docs / "gallery" / "line-0.png").read_bytes().startswith(b"\x89PNG")
    index = (docs / "gallery" / "index.md").read_text()
    assert index.index("(line.md)") < index.index("(words.md)")
    assert "\nline\nwords\n" in index


def test_a_script_is_run_again_only_when_it_has_changed(
    folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    docs, examples = folders
    gallery.write(docs, examples)
    ran = []
    monkeypatch.setattr(gallery, "run", lambda script, folder: ran.append(script.stem) or ("", []))
    gallery.write(docs, examples)
    assert ran == []
    (examples / "line.py").write_text(SCRIPT + "\n")
    (examples / "words.py").unlink()
    gallery.write(docs, examples)
    assert ran == ["line"]
    assert not (docs / "gallery" / "words.md").exists()


def test_a_script_without_words_is_refused() -> None:
    with pytest.raises(ValueError, match="begins with a docstring"):
        gallery.parts("x = 1\n")


def test_figures_are_described_and_closed() -> None:
    with figures.collected() as drawn:
        from matplotlib import pyplot

        _, ax = pyplot.subplots()
        ax.set(title="A\nline", xlabel="here", ylabel="there")
    assert [figures.words(figure) for figure in drawn] == ["A line; there against here"]
    assert sys.modules["matplotlib.pyplot"].get_fignums() == []
