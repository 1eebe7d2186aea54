"""The page in headless Chromium: no errors, figures drawn, parts that move, every width."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from svmselect import AutoSVC, report
from svmselect.report import Report

pytestmark = pytest.mark.browser

FIGURES = ["error", "calibration", "found", "precision", "learning", "trace", "landscape"]


@pytest.fixture(params=["ugly", "three_classes"])
def page(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / "report.html"
    report.write(request.getfixturevalue(request.param), path)
    return path


@pytest.fixture
def ugly_page(ugly: Report, tmp_path: Path) -> Path:
    path = tmp_path / "report.html"
    report.write(ugly, path)
    return path


@pytest.mark.parametrize("width", [360, 768, 1440])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_loads_without_errors_and_fits(page: Path, tab: Any, width: int, scheme: str) -> None:
    tab.open(page, width, scheme=scheme)
    assert tab.errors == []
    assert tab.requests == [page.as_uri()]
    assert tab.run("document.documentElement.scrollWidth") <= width
    # nothing is cut off inside either, but for what scrolls by itself
    wide = """[...document.querySelectorAll("main *, header *, footer *")].filter(e =>
        e.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
        .map(e => e.outerHTML.slice(0, 80))"""
    assert tab.run(wide) == []


@pytest.mark.parametrize("width", [360, 1440])
def test_every_figure_is_drawn_and_readable(page: Path, tab: Any, width: int) -> None:
    tab.open(page, width)
    for name in FIGURES:
        box = tab.run(f"""(() => {{
            const svg = document.querySelector("#figure-{name} svg");
            const box = svg.getBoundingClientRect(), points = [...svg.querySelectorAll(".pt")];
            const marks = points.map(e => e.getBoundingClientRect()).filter(r =>
                r.width > 0 && r.left >= box.left - 8 && r.right <= box.right + 8
                && r.top >= box.top - 8 && r.bottom <= box.bottom + 8);
            const words = [...svg.querySelectorAll("text")].map(e => e.getBoundingClientRect());
            const cut = words.filter(r => r.height > 0 && (r.left < box.left - 1
                || r.right > box.right + 1 || r.top < box.top - 1 || r.bottom > box.bottom + 1));
            return {{cut: cut.length, width: box.width, height: box.height,
                     marks: marks.length, all: points.length,
                     letters: Math.min(...words.map(r => r.height).filter(h => h > 0))}};
        }})()""")
        assert box["width"] > 0.6 * min(width, 500), name
        assert box["height"] > 60, name
        assert box["all"] == box["marks"] > 0, name
        assert box["cut"] == 0, name
        assert box["letters"] > 12, name  # the height of a line: letters of 10 px
    assert tab.run("parseFloat(getComputedStyle(document.body).fontSize)") >= 16
    # lines of text stay short enough to read
    assert tab.run("Math.max(...[...document.querySelectorAll('p')].map(p => p.offsetWidth))") < 720


def test_light_and_dark_differ_and_keep_their_contrast(ugly_page: Path, tab: Any) -> None:
    grounds = {}
    for scheme in ("light", "dark"):
        tab.open(ugly_page, scheme=scheme)
        style = "getComputedStyle(document.body)"
        ground, ink, soft = (
            _luminance(tab.run(expression))
            for expression in (
                f"{style}.backgroundColor",
                f"{style}.color",
                "getComputedStyle(document.querySelector('.subtitle')).color",
            )
        )
        grounds[scheme] = ground
        for text in (ink, soft):
            high, low = max(ground, text), min(ground, text)
            assert (high + 0.05) / (low + 0.05) > 4.5, scheme
    assert grounds["light"] > 0.8
    assert grounds["dark"] < 0.05


def test_nothing_from_the_data_runs(ugly_page: Path, tab: Any) -> None:
    tab.open(ugly_page)
    assert "hacked" in tab.run("document.title")  # as text, among the rest of the title
    assert tab.run("document.title").startswith("Report <script>")
    assert tab.run("document.querySelectorAll('script').length") == 1
    assert tab.run("document.querySelectorAll('img, b').length") == 0
    assert tab.run("document.querySelectorAll('[onerror]').length") == 0
    names = tab.run("[...document.querySelectorAll('#relevance tbody th')].map(e => e.textContent)")
    assert "<script>document.title='hacked'</script>" in names
    assert "</script><script>" in tab.run(
        "document.querySelector('#figure-calibration').textContent"
    )


def test_points_tell_their_value(page: Path, tab: Any) -> None:
    tab.open(page)
    for name in FIGURES:
        place = tab.run(f"""(() => {{
            const point = document.querySelector("#figure-{name} .pt");
            point.scrollIntoView({{block: "center"}});
            const box = point.getBoundingClientRect();
            return [box.left + box.width / 2, box.top + box.height / 2];
        }})()""")
        tip = f"document.querySelector('#figure-{name} .tip')"
        assert tab.run(f"{tip}.hidden") is True
        tab.move(*place)
        assert tab.run(f"{tip}.hidden") is False
        assert any(c.isdigit() for c in tab.run(f"{tip}.textContent"))
        inside = f"{tip}.getBoundingClientRect().right <= innerWidth"
        assert tab.run(inside) is True
        tab.move(2, 2)
        assert tab.run(f"{tip}.hidden") is True


def test_points_are_reached_by_keys(page: Path, tab: Any) -> None:
    tab.open(page)
    tab.run("document.querySelector('#figure-trace svg').focus()")
    seen = []
    for _ in range(3):
        tab.press("ArrowRight")
        seen.append(tab.run("document.querySelector('#figure-trace .tip').textContent"))
    assert [words.partition(":")[0] for words in seen] == ["1", "2", "3"]
    tab.press("Escape")
    assert tab.run("document.querySelector('#figure-trace .tip').hidden") is True


def test_the_table_of_inputs_sorts_and_folds(ugly_page: Path, tab: Any, ugly: Report) -> None:
    assert ugly.inputs is not None
    tab.open(ugly_page)
    shown = """[...document.querySelectorAll('#relevance tbody tr')]
        .filter(r => r.offsetHeight > 0).map(r => r.cells[0].textContent)"""
    relevant = sorted(zip(-ugly.inputs.influence, ugly.inputs.names, strict=True))
    assert tab.run(shown) == [name for _, name in relevant][:12]
    click = "document.querySelectorAll('#relevance thead button')[{}].click()"
    tab.run(click.format(2))  # influence, which was descending: now ascending
    assert tab.run(shown) == [name for _, name in relevant][::-1][:12]
    tab.run("document.querySelector('#inputs .more').click()")
    assert tab.run(shown) == [name for _, name in relevant][::-1]
    tab.run(click.format(0))
    assert sorted(tab.run(shown)) == sorted(ugly.inputs.names)
    assert tab.run(shown)[-1] == "x" * 150
    sorting = (
        "[...document.querySelectorAll('#relevance th')].map(e => e.getAttribute('aria-sort'))"
    )
    assert tab.run(sorting)[0] == "ascending"
    assert tab.errors == []


def test_commands_are_copied(ugly_page: Path, tab: Any) -> None:
    tab.open(ugly_page)
    for granted, said in (("granted", "Copied"), ("denied", "Selected")):
        permission = {"name": "clipboard-write"}
        tab.call("Browser.setPermission", permission=permission, setting=granted)
        tab.open(ugly_page)
        tab.run("document.querySelector('#next pre').scrollIntoView({block: 'center'})")
        place = tab.run("""(() => {
            const box = document.querySelector('#next .copied button').getBoundingClientRect();
            return [box.left + box.width / 2, box.top + box.height / 2];
        })()""")
        for kind in ("mousePressed", "mouseReleased"):
            tab.call(
                "Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], button="left",
                clickCount=1,
            )  # fmt: skip
        label = "document.querySelector('#next .copied button').textContent"
        assert said in tab.run(f"new Promise(done => setTimeout(() => done({label}), 200))")
        assert tab.errors == []


def test_it_says_the_same_without_script(ugly_page: Path, tab: Any) -> None:
    tab.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        tab.open(ugly_page)
        assert tab.run("document.querySelectorAll('#figure-trace .pt title').length") > 10
        assert tab.run("document.querySelectorAll('#relevance tbody tr').length") == 20
        assert tab.run("document.querySelectorAll('tr.far, button').length") == 0
        assert "svmselect" in tab.run("document.querySelector('#next pre').textContent")
    finally:
        tab.call("Emulation.setScriptExecutionDisabled", value=False)


def test_print_is_light_and_complete(ugly_page: Path, tab: Any) -> None:
    tab.open(ugly_page, scheme="dark")
    dark = [{"name": "prefers-color-scheme", "value": "dark"}]
    tab.call("Emulation.setEmulatedMedia", media="print", features=dark)
    try:
        assert _luminance(tab.run("getComputedStyle(document.body).backgroundColor")) > 0.95
        rows = (
            "[...document.querySelectorAll('#relevance tbody tr')].every(r => r.offsetHeight > 0)"
        )
        assert tab.run(rows) is True
    finally:
        tab.call("Emulation.setEmulatedMedia", media="")


def _luminance(colour: str) -> float:
    """Relative luminance of rgb(r, g, b), as the guidelines on contrast define it."""
    parts = [float(c) / 255 for c in colour.partition("(")[2].rstrip(")").split(",")[:3]]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("width", [390, 1200])
def test_what_became_of_columns_has_room_and_no_button_hides_a_command(
    tmp_path: Path, tab: Any, width: int
) -> None:
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"size": rng.normal(size=60), "place": rng.choice(["a", "b", "c"], 60)})
    y = np.where(rows["size"] > 0, "yes", "no")
    model = AutoSVC(random_state=0, ard="no").fit(rows, y)
    made = report.of_fit(model, rows, y, settings={"command": "svmselect fit " + "x" * 200})
    path = tmp_path / "report.html"
    report.write(made, path)
    tab.open(path, width)
    wide = tab.run("""[...document.querySelectorAll("#columns thead th")].map(e =>
        e.getBoundingClientRect().width)""")
    assert wide[2] > 0.45 * sum(wide)
    assert wide[2] > wide[0]
    hidden = tab.run("""[...document.querySelectorAll(".copied")].filter(e => {
        const box = e.querySelector("pre").getBoundingClientRect();
        const button = e.querySelector("button").getBoundingClientRect();
        return box.left < button.right && box.right > button.left
            && box.top < button.bottom && box.bottom > button.top;
    }).length""")
    assert hidden == 0
    assert tab.run("document.documentElement.scrollWidth") <= width
