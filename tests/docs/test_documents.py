"""What the README and the examples show runs as it stands."""

import contextlib
import re
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from figures import open_figures

ROOT = Path(__file__).parents[2]
SLOW = {"landscape", "searches"}
OWN = {"breast_cancer"}  # test_breast_cancer_is_predicted_well
EXAMPLES = [
    pytest.param(path, id=path.stem, marks=[pytest.mark.slow] if path.stem in SLOW else [])
    for path in sorted((ROOT / "examples").glob("*.py"))
    if path.stem not in OWN
]


@contextlib.contextmanager
def collected(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """Figures drawn within; ``show`` does nothing meanwhile."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    monkeypatch.setattr(pyplot, "show", lambda *_, **__: None)
    drawn: list[Any] = []
    try:
        yield drawn
    finally:
        drawn += open_figures()


def test_readme_code_runs() -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert blocks
    shared: dict[str, object] = {}  # a reader runs them one after the other
    for block in blocks:
        exec(compile(block, "README.md", "exec"), shared)


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_local_links_lead_somewhere(name: str) -> None:
    links = re.findall(r"\]\(([^)#\s]+)", (ROOT / name).read_text())
    local = [link for link in links if "://" not in link]
    assert [link for link in local if not (ROOT / link).exists()] == []
    assert local or name != "README.md"


def test_contributing_names_files_that_are_there() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text()
    part = text.split("## Where a change goes")[1].split("\n## ")[0]
    rows = [line.split("|")[2:4] for line in part.splitlines() if line.startswith("| ")][1:]
    assert len(rows) == 10
    for there, folder in ((0, "src/svmselect"), (1, "tests")):
        paths = re.findall(r"`([a-z_]+/[\w./]*)`", " ".join(row[there] for row in rows))
        assert len(paths) >= len(rows)
        assert [
            p for p in paths if not (ROOT / p).exists() and not (ROOT / folder / p).exists()
        ] == []
    named = "\n".join(path.read_text() for path in (ROOT / "src" / "svmselect").rglob("*.py"))
    words = re.findall(r"`([A-Za-z_]+)`", " ".join(row[0] for row in rows))
    assert [w for w in words if not re.search(rf"(class|def) {w}\b", named)] == []


@pytest.mark.parametrize("script", EXAMPLES)
def test_example_runs(
    script: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with collected(monkeypatch) as drawn:
        runpy.run_path(str(script), run_name="__main__")
    assert capsys.readouterr().out
    assert all(axes.has_data() for figure in drawn for axes in figure.axes)
    assert drawn or "matplotlib" not in script.read_text()


def test_the_gallery_has_six_pictures_or_more() -> None:
    drawing = [p for p in (ROOT / "examples").glob("*.py") if "matplotlib" in p.read_text()]
    assert len(drawing) >= 6


def test_breast_cancer_is_predicted_well(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(ROOT / "examples" / "breast_cancer.py"), run_name="__main__")
    found = re.search(r"held-out error +([\d.]+)%", capsys.readouterr().out)
    assert found is not None
    assert float(found[1]) < 5.0
